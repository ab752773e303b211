"""One review session without a screen: what is open, how it looks, deciding, and undoing that.

Every call opens the store for itself, so that a screen may make it on any thread; decisions go one after the other.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from pathlib import Path

from skilld.clock import ago, seconds
from skilld.daemon.jobs import where_they_are
from skilld.edit.derive_operations import compare_lines
from skilld.errors import SkilldError
from skilld.evals.results import result_lines
from skilld.ingest.discover import Host
from skilld.jobs import relocation
from skilld.library.archive import move_to_trash
from skilld.library.rows import LibraryRow, disabled_skills, load_rows, set_enabled
from skilld.pipeline import messages
from skilld.proposals import amend, worktree
from skilld.proposals.decide import Decision, DecisionReport, accepting, decide, rejecting
from skilld.proposals.explain import Part, ProposalReader, parts, read_versions
from skilld.proposals.poll import prepare_observation, record_observation
from skilld.proposals.remarks import (
    DECIDED_STATES,
    borrowed_lines,
    describe_borrowed_lines,
    describe_decision_time,
    describe_repeat,
    describe_standing,
    find_descendants,
    list_contradictions,
    recent_doubts,
    unwanted_said_again,
)
from skilld.proposals.undo_accept import undo_accept
from skilld.redact import Redactor
from skilld.redact.key import load_key
from skilld.report.gather import gather
from skilld.report.values import Report
from skilld.skills import Skill
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.store.overview import LiveSession
from skilld.text import cut, fold, safe_text
from skilld.types import Evidence, Message, Op, Proposal, State, TargetKind

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_AROUND = 3  # unchanged lines shown above and below a change
_ALIKE = 0.4  # two lines less alike than this are two lines, not one that was reworded

Segment = tuple[str, bool]  # text, and whether it is what differs


@dataclass(frozen=True, slots=True)
class Row:
    """One line: `kind` is a blank (unchanged), `-`, `+`, or `@` (lines are left out here). Harmless for a terminal."""

    kind: str
    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        """The line without its marks."""
        return "".join(text for text, _ in self.segments)


def rows(before: bytes, after: bytes) -> list[Row]:
    """Return the change from `before` to `after` as rows."""
    old, new = (safe_text(data.decode("utf-8", "replace"), newlines=True).splitlines() for data in (before, after))
    found: list[Row] = []
    pieces = compare_lines(old, new)
    for number, piece in enumerate(pieces):
        lines = old[piece.old_start : piece.old_end]
        if piece.equal:
            found += _unchanged(lines, first=number == 0, last=number == len(pieces) - 1)
        else:
            found += _changed(lines, new[piece.new_start : piece.new_end])
    return found


def _unchanged(lines: Sequence[str], *, first: bool, last: bool) -> list[Row]:
    head = [] if first else lines[:_AROUND]
    tail = [] if last else lines[max(len(head), len(lines) - _AROUND) :]
    gap = [Row("@", ())] if len(head) + len(tail) < len(lines) and not last else []
    plain = [[Row(" ", ((line, False),)) for line in part] for part in (head, tail)]
    return [*plain[0], *gap, *plain[1]]


def _changed(old: Sequence[str], new: Sequence[str]) -> Iterator[Row]:
    """Yield the lines taken away, then those added; lines that are one reworded are marked by their words."""
    partner = _partners(old, new)
    mine = {i: _words(line, new[partner[i]]) for i, line in enumerate(old) if i in partner}
    other = {j: _words(new[j], old[i]) for i, j in partner.items()}
    for i, line in enumerate(old):
        yield Row("-", mine.get(i, ((line, False),)))
    for j, line in enumerate(new):
        yield Row("+", other.get(j, ((line, False),)))


def _partners(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    found: dict[int, int] = {}
    start = 0
    for i, line in enumerate(old):
        scores = [(SequenceMatcher(None, line, new[j], autojunk=False).ratio(), -j) for j in range(start, len(new))]
        best = max(scores, default=(0.0, 0))
        if best[0] >= _ALIKE:
            found[i] = -best[1]
            start = found[i] + 1
    return found


def _words(line: str, other: str) -> tuple[Segment, ...]:
    """Return a line in segments: what the other line has too, and what it has not."""
    mine, theirs = _WORDS.findall(line), _WORDS.findall(other)
    pieces: list[Segment] = []
    for tag, i, j, _, _ in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        if i != j:
            pieces.append(("".join(mine[i:j]), tag != "equal"))
    return tuple(pieces)


_MAX_WORDS = 20  # of a search
_MAX_CONTEXT = 400  # characters of a message around the quote
_BESIDE = 240  # and of one before or after it


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One message: who said it, and its text before, in and after the quote. Harmless for a terminal.

    `at` is its number in its batch. A `gap` says that the message shown above it is not the one before it.
    """

    by_person: bool
    before: str
    quote: str = ""
    after: str = ""
    at: int = field(default=-1, compare=False)
    gap: bool = False


def around(messages: Sequence[Message], evidence: Evidence) -> list[Excerpt]:
    """Return the message with the quote and its neighbours."""
    at = next((i for i, message in enumerate(messages) if message.turn_key == evidence.turn), None)
    if at is None:
        return []
    beside = {i: messages[i] for i in (at - 1, at + 1) if 0 <= i < len(messages)}
    shown = {i: Excerpt(message.by_person, _line(message.text, _BESIDE)) for i, message in beside.items()}
    shown[at] = _quoted(messages[at], evidence.quote)
    return [replace(shown[i], at=i) for i in sorted(shown)]


def below(last: int | None, excerpts: Sequence[Excerpt]) -> list[Excerpt]:
    """Return what to show below the message with the number `last`, None if that is of another batch."""
    left = [one for one in excerpts if one.quote or one.at != last]
    return [replace(one, gap=last is None or one.at != last + 1) for one in left[:1]] + left[1:]


def _quoted(message: Message, quote: str) -> Excerpt:
    text, wanted = safe_text(fold(message.text)), safe_text(fold(quote))
    before, found, after = text.partition(wanted) if wanted else ("", "", "")
    if not found:
        return Excerpt(message.by_person, _line(message.text, _MAX_CONTEXT))
    head = before if len(before) <= _MAX_CONTEXT else "… " + before[-_MAX_CONTEXT:]
    return Excerpt(message.by_person, head, found, after if len(after) <= _MAX_CONTEXT else after[:_MAX_CONTEXT] + " …")


def _line(text: str, limit: int) -> str:
    return cut(safe_text(fold(text)), limit)


_TAKES_AWAY = (Op.REPLACE, Op.DELETE, Op.REPLACE_SECTION, Op.DELETE_SECTION)  # lines that are named by the anchor
_LIVE = 86400.0  # a session in which something was said so lately is shown


@dataclass(frozen=True, slots=True)
class ReviewContext:
    """Where a review takes place: its database, and whose folders these are; `removed` is what git is not to see."""

    database: Path
    find_skills: Callable[[Sequence[Path]], list[Skill]]
    removed: Mapping[str, str]
    home: Path
    environment: Mapping[str, str]
    trash: Path
    redaction_key: Path
    targets: Collection[TargetKind] = tuple(TargetKind)
    first_step: str = ""  # how to begin, where skilld never ran


@dataclass(frozen=True, slots=True)
class ProposalView:
    """What there is to see of a proposal: its change, its parts, each quote in its context, and what to mind."""

    rows: tuple[Row, ...]
    parts: tuple[Part, ...]
    said: tuple[tuple[Excerpt, ...], ...]
    remarks: tuple[str, ...]  # what to mind before deciding
    notes: tuple[str, ...]  # what is only to be known
    text: str  # the whole skill as proposed; empty where it cannot be told
    lenders: tuple[str, ...] = ()  # the IDs of the open proposals of which there are lines in the text


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        known = path.stat()
    except OSError:
        return ()
    return known.st_ino, known.st_mtime_ns, known.st_size


def _says(proposal: Proposal) -> tuple[object, ...]:
    """Return what a person decides on: where it goes may change with the lines around it."""
    edit = [(one.text, one.anchor if one.op in _TAKES_AWAY else "") for one in proposal.operations]
    return proposal.path, proposal.summary, edit


def no_skill(*, has_any: bool) -> str:
    """Return what a list of skills without rows says; `has_any` where only the search found none."""
    return "No skills match." if has_any else "You have no skills yet. Press n to create some from your past sessions."


def forgetting(ask: Sequence[Learning]) -> str:
    """Return the question before a learning is forgotten."""
    return f"Forget this learning? To get it back, you would have to say it again.\n{ask[0].change}"


def borrows(lenders: Sequence[str]) -> str:
    """Return what is said of a text that has lines of other open proposals, given by their IDs."""
    return f"The text also contains lines of other open proposals, which stay open: {', '.join(lenders)}."


def has_words(proposal: Proposal, words: str) -> bool:
    """Whether a proposal has all these words: in what it says, in its file's path, or in the person's own."""
    quotes = (evidence.quote for evidence in proposal.evidence)
    text = "\n".join((proposal.id, proposal.skill, proposal.path, proposal.summary, *quotes)).casefold()
    return all(word in text for word in words.casefold().split()[:_MAX_WORDS])


class ReviewSession:
    """A person and their open proposals."""

    def __init__(self, around: ReviewContext) -> None:
        self._around = around
        self.none_open = f"No open proposals. {around.first_step}".rstrip()
        self._one_at_a_time = threading.Lock()
        self._undoing = threading.Lock()
        self._done: set[str] = set()  # what was decided on in this sitting
        self.told: dict[str, tuple[str, ...]] = {}  # by its ID, what came of each last, with the way back

    def _redact(self, text: str) -> str:
        return Redactor(load_key(self._around.redaction_key)).redact(text) if text else ""

    @property
    def _host(self) -> Host:
        return Host(self._around.home, self._around.environment)

    @property
    def home(self) -> Path:
        """The person's home folder."""
        return self._around.home

    def proposals(self, ids: Collection[str] = ()) -> list[Proposal]:
        """Return what is open, newest first, then what can be restored; with `ids`, those and what came out of them."""
        with self._store() as store:
            found = [one for state in (State.OPEN, State.DROPPED) for one in store.proposals.in_states([state])[::-1]]
            return find_descendants(store, ids, found) if ids else found

    def decided(self) -> list[Proposal]:
        """Return what was decided on, newest first."""
        with self._store() as store:
            return sorted(store.proposals.in_states(DECIDED_STATES), key=lambda one: one.decided_at, reverse=True)

    def version(self) -> tuple[object, ...]:
        """Return what is another value once somebody has written to the database."""
        return tuple(_stamp(self._around.database.with_name(self._around.database.name + end)) for end in ("", "-wal"))

    def take_in(self) -> None:
        """Take in what was decided with plain git since the last look; slow where many are open."""
        with self._store() as store:
            read = prepare_observation(store)
        if read is not None:
            result = read()
            with self._one_at_a_time, self._store() as store:
                record_observation(store, result, time.time())

    def doubts(self) -> list[str]:
        """Return decisions that may not be the person's last word, as an agent made them or it was said again since."""
        with self._store() as store:
            now = time.time()
            again = (f"{one.id} {describe_repeat(store, one)}" for one in unwanted_said_again(store, now))
            return [*recent_doubts(store, now), *again]

    def look(self, proposal: Proposal) -> ProposalView:
        """Return what there is to see of a proposal. Reads git and the transcripts."""
        found = read_versions(proposal)
        shown = tuple(rows(*found)) if found is not None else ()
        said, gone = self._said(proposal)
        text = found[1].decode("utf-8", "replace") if found else ""
        with self._store() as store:
            others = tuple(borrowed_lines(store, proposal, text.splitlines()))
            notes = (
                describe_decision_time(proposal, time.time()),
                describe_standing(store, proposal, time.time()),
                proposal.note,
                *describe_borrowed_lines(store, proposal, [one.text for one in shown if one.kind == " "]),
                *result_lines(store, proposal),
                gone,
            )
            remarks = [*list_contradictions(store, proposal)]
        unfit = ProposalReader().applicability(proposal).unfit if proposal.state is State.OPEN else ""
        remarks = [*filter(None, (unfit, *remarks, *proposal.flags))]
        notes = tuple(filter(None, notes))
        if found is None:
            return ProposalView((), (), said, (*remarks, "its file can no longer be read"), notes, "")
        try:
            pieces = tuple(parts(found[0], proposal.operations))
        except SkilldError:
            pieces = ()  # the person amended its commit: it is one piece
        return ProposalView(shown, pieces, said, tuple(remarks), notes, text, others)

    def _said(self, proposal: Proposal) -> tuple[tuple[tuple[Excerpt, ...], ...], str]:
        """Return each quote in its context, as far as it can be read again, and why not all of them could."""
        with self._store() as store:
            batches = [store.batches.of_turn(evidence.turn) for evidence in proposal.evidence]
            jobs = [replace(batch.job, sources=where_they_are(store, batch)) if batch else None for batch in batches]
        read: dict[str, Sequence[Message]] = {}
        said: list[tuple[Excerpt, ...]] = []
        last: tuple[str, int] | None = None  # the batch and the number of the message shown last
        gone = ""
        for evidence, job in zip(proposal.evidence, jobs, strict=True):
            try:
                if job and job.batch not in read:
                    redact = Redactor(load_key(self._around.redaction_key)).redact
                    read[job.batch] = messages.read_batch(job, redact)
                shown = around(read[job.batch], evidence) if job else []
                if job and shown and last is not None:
                    shown = below(last[1] if last[0] == job.batch else None, shown)
                last = (job.batch, shown[-1].at) if job and shown else last
                said.append(tuple(shown))
            except SkilldError as error:
                said.append(())
                gone = str(error)
        return tuple(said), gone

    def accept(self, proposal_id: str, seen: Proposal | None = None) -> DecisionReport:
        """Accept. Raises SkilldError, with nothing changed, where that is refused; so do all that follow.

        One that says something else by now than the one `seen` is refused.
        """
        return self._decide(proposal_id, accepting(self._around.removed), seen)

    def accept_all(self, those: Sequence[Proposal]) -> DecisionReport:
        """Accept these in order. Where one is refused the others before it stay accepted, and it is said why."""
        lines: list[str] = []
        for one in those:
            try:
                told = self.accept(one.id, one)
            except SkilldError as error:
                why = ". ".join(part for part in (str(error), error.remedy) if part)
                return DecisionReport(tuple(lines), (f"{one.id} was not accepted, so the rest were not tried. {why}",))
            lines += (*told.lines, *told.warnings)
        return DecisionReport(tuple(lines))

    def reject(self, proposal_id: str, why: str, seen: Proposal | None = None) -> DecisionReport:
        """Reject, with a reason or none; what is kept of it holds no secret."""
        return self._decide(proposal_id, rejecting(self._redact(why)), seen)

    def accept_edited(self, proposal_id: str, text: str, opened: str = "") -> DecisionReport:
        """Accept the person's own text of the whole skill, made of the one `opened`, in place of what was proposed."""
        with self._deciding(proposal_id) as (store, proposal):
            told = amend.accept_edited(store, proposal, text, self._around.removed, opened)
            return self._made(proposal_id, told)

    def accept_parts(self, proposal_id: str, chosen: Collection[int], seen: Proposal | None = None) -> DecisionReport:
        """Accept these parts, by number from 0; the others stay open."""
        with self._deciding(proposal_id, seen) as (store, proposal):
            told = amend.accept_parts(store, proposal, chosen, self._around.removed)
            return self._made(proposal_id, told)

    def own_file(self, proposal: Proposal) -> str:
        """Return the name of the person's own file, to which what it says may go instead; empty if it may not."""
        with self._store() as store:
            return relocation.personal_file_name(store, proposal, self._host)

    def accept_elsewhere(self, proposal_id: str, path: str) -> DecisionReport:
        """Accept what a proposal says in the file with this path."""
        with self._deciding(proposal_id) as (store, proposal):
            made, told = relocation.accept_elsewhere(
                store, proposal, Path(path), self._host, redact=self._redact, decision=accepting(self._around.removed)
            )
            return self._made(made, told)

    def undo(self, agree: Callable[[str], bool | None] = lambda _: False) -> DecisionReport:
        """Undo the person's last decision, one of another sitting only where they `agree`; a commit is reverted."""
        with self._undoing:  # of two quick presses the second means the decision before
            with self._one_at_a_time, self._store() as store:  # a decision that is being made is the last
                last = store.proposals.last_decided()
            if last is None:
                return DecisionReport(("There is nothing to undo.",))
            when = ago(seconds(last.decided_at) or 0.0, time.time())
            question = f"Undo your last decision? {last.id} was {last.state.value} {when}.\n{last.summary}"
            if last.id not in self._done and not agree(question):
                return DecisionReport(("Nothing was undone.",))
            with self._deciding(last.id) as (store, proposal):
                rejected = proposal.state is State.REJECTED
                told = amend.reopen(store, proposal) if rejected else undo_accept(store, proposal, self._around.removed)
                self.told[last.id] = told.lines
                return told

    def waiting(self) -> list[list[Learning]]:
        """Return what was said and waits for a place, each ask with all the times it was said, the newest first."""
        with self._store() as store:
            return relocation.group_learnings(store.learnings.all())

    def propose(self, ask: Sequence[Learning]) -> Proposal:
        """Propose what waits for the best place there is. Raises SkilldError, with nothing changed, without one."""
        with self._one_at_a_time, self._store() as store:
            return relocation.propose_learning(store, ask, self._host, self._around.targets, self._redact)

    def forget(self, ask: Sequence[Learning]) -> None:
        """Delete what waits, however often it was said."""
        with self._one_at_a_time, self._store() as store, store.transaction():
            for one in ask:
                store.learnings.forget(one.id)

    def skills(self) -> list[LibraryRow]:
        """Return the person's skills. Reads the disk."""
        around = self._around
        with self._store() as store:
            return load_rows(store, around.find_skills, around.home, around.environment, now=time.time())

    def switch_skill(self, skill: LibraryRow) -> bool:
        """Have skilld offer a skill to agents, or no more; return whether it does now."""
        with self._store() as store:
            on = skill.path in disabled_skills(store)
            set_enabled(store, [skill.path], on=on)
        return on

    def edit_skill(self, skill: LibraryRow, editor: Callable[[str], str]) -> bool:
        """Open a skill in an editor; it is the person's file, so it is written as they leave it. Whether it changed."""
        try:
            before = skill.path.read_bytes().decode("utf-8")
        except (OSError, UnicodeError) as error:
            raise SkilldError("Could not open the skill", str(error)) from error
        after = editor(before)
        if after != before:
            worktree.replace_file(skill.path, before.encode("utf-8"), after.encode("utf-8"))
        return after != before

    def delete_skill(self, skill: LibraryRow) -> Path:
        """Move a skill's folder to the trash and return where it is now."""
        return move_to_trash(skill.skill, self._around.trash)

    def sessions(self) -> list[LiveSession]:
        """Return the sessions of the last day, newest first."""
        with self._store() as store:
            return store.overview.sessions_since(time.time() - _LIVE)

    def report(self) -> Report:
        """Return what was taught, where it went and what came of it, without words. Reads the disk, and git."""
        with self._store() as store:
            return gather(store, time.time())

    def _decide(self, proposal_id: str, decision: Decision, seen: Proposal | None) -> DecisionReport:
        with self._deciding(proposal_id, seen) as (store, proposal):
            return self._made(proposal_id, decide(store, proposal, decision))

    def _made(self, proposal_id: str, told: DecisionReport) -> DecisionReport:
        self._done.add(proposal_id)
        self.told[proposal_id] = told.lines
        return told.with_undo_key("u")

    @contextmanager
    def _deciding(self, proposal_id: str, seen: Proposal | None = None) -> Iterator[tuple[Store, Proposal]]:
        """Give the store and the proposal as it is now: deciding on another may have moved it."""
        with self._one_at_a_time, self._store() as store:
            proposal = store.proposals.get(proposal_id)
            if proposal is None:
                raise SkilldError("No such proposal", proposal_id)
            if seen is not None and _says(proposal) != _says(seen):
                raise SkilldError(
                    "Nothing was decided", f"{proposal_id} has changed since it was shown", "Look at it again."
                )
            yield store, proposal

    @contextmanager
    def _store(self) -> Iterator[Store]:
        with closing(Store.open(self._around.database)) as store:
            yield store
