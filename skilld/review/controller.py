"""One review session without a screen: what is open, how it looks, deciding, and undoing.

Every call opens the store itself, so that it may run on any thread; decisions are made one at a time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from skilld.clock import parse_time, time_ago
from skilld.errors import SkilldError
from skilld.evals.results import result_lines
from skilld.files import below_home, file_stamp
from skilld.ingest.discover import Host
from skilld.jobs import relocation
from skilld.jobs.asks import current_asks
from skilld.jobs.one_by_one import accept_parts_of_batch, parts_for_batch, why_not_any_more, why_one_by_one
from skilld.library.archive import move_to_trash
from skilld.library.rows import LibraryRow, disabled_skills, load_rows, set_enabled, without_copies
from skilld.proposals import amend, whole_files
from skilld.proposals.decide import Decision, DecisionReport, accepting, decide, rejecting
from skilld.proposals.explain import (
    Part,
    ProposalReader,
    describe_destination,
    parts,
    read_versions,
    shown_versions,
    side_versions,
)
from skilld.proposals.passed_over import first_few, forget_ask
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
    proposed_at,
    recent_doubts,
    unwanted_said_again,
)
from skilld.proposals.undo_accept import undo_accept
from skilld.redact import Redactor
from skilld.redact.key import load_key
from skilld.report.gather import gather
from skilld.report.values import Report
from skilld.review.diff import DiffRow, diff_rows
from skilld.review.excerpts import Excerpt, read_excerpts
from skilld.skills import Skill, is_left_alone
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.store.meta import DOUBTS_SHOWN
from skilld.store.overview import LiveSession
from skilld.text import join_words, pluralize
from skilld.types import Op, Proposal, State, TargetKind
from skilld.values import value_class

_MAX_SEARCH_WORDS = 20
_REMOVING_OPS = (Op.REPLACE, Op.DELETE, Op.REPLACE_SECTION, Op.DELETE_SECTION)  # they remove the anchor's lines
_LIVE_SECONDS = 86400.0  # sessions with a turn this recent are shown


@value_class
class ReviewContext:
    """What a review works with: database, folders, environment.

    `open_store` opens the database for each call, as a verb does: only if nobody else can read or change it.
    """

    database: Path
    open_store: Callable[[], Store]
    find_skills: Callable[[Sequence[Path]], list[Skill]]
    home: Path
    environment: Mapping[str, str]
    trash: Path
    redaction_key: Path
    targets: Collection[TargetKind] = tuple(TargetKind)
    first_step: str = ""  # how to begin, if skilld has never run
    passed_over: Callable[[], Sequence[Learning]] = list  # reads what was said recently and not treated as a rule


@value_class
class ProposalView:
    """What is shown of a proposal: its change, its parts, each quote in its context, and remarks."""

    rows: tuple[DiffRow, ...]
    parts: tuple[Part, ...]
    excerpts: tuple[tuple[Excerpt, ...], ...]
    remarks: tuple[str, ...]  # to consider before deciding
    notes: tuple[str, ...]  # for information
    text: str  # the whole skill as proposed; empty if it cannot be read
    lenders: tuple[str, ...] = ()  # the IDs of other open proposals with lines in the text
    before: str = ""  # the whole skill without the proposal
    beside: tuple[tuple[str, tuple[DiffRow, ...]], ...] = ()  # the change of each other file


def _content_key(proposal: Proposal) -> tuple[object, ...]:
    """Return what a person decides on; the position is not part of it, as it may change with the lines around it."""
    edit = [(one.text, one.anchor if one.op in _REMOVING_OPS else "") for one in proposal.operations]
    return proposal.path, proposal.summary, edit


def no_skills_text(*, has_any: bool) -> str:
    """Return the text of an empty list of skills; `has_any` means that only the search found none."""
    return "No skills match." if has_any else "You have no skills yet. Press n to create some from your past sessions."


def switched_text(skill: LibraryRow, *, offered: bool) -> str:
    """Return what happened to a skill that was turned on or off."""
    return f"{skill.name} is {'offered to agents again' if offered else 'no longer offered to agents'}"


def forget_question(ask: Sequence[Learning]) -> str:
    """Return the question to confirm that a learning is forgotten."""
    return f"Forget this learning? To get it back, you would have to say it again.\n{ask[0].change}"


def borrowed_lines_note(lenders: Sequence[str]) -> str:
    """Return the note on a text that has lines of other open proposals, given by their IDs."""
    return f"The text also contains lines of other open proposals, which stay open: {', '.join(lenders)}."


def has_words(proposal: Proposal, words: str) -> bool:
    """Whether a proposal has all these words: in its summary, its file's path, or the person's quotes."""
    quotes = (evidence.quote for evidence in proposal.evidence)
    text = "\n".join((proposal.id, proposal.skill, proposal.path, proposal.summary, *quotes)).casefold()
    return all(word in text for word in words.casefold().split()[:_MAX_SEARCH_WORDS])


class ReviewSession:
    """A person and their open proposals."""

    def __init__(self, around: ReviewContext) -> None:
        self._context = around
        self.none_open = f"No open proposals. {around.first_step}".rstrip()
        self._decision_lock = threading.Lock()
        self._undo_lock = threading.Lock()
        self._made_at: dict[str, float | None] = {}  # by ID
        self._decided_here: set[str] = set()  # IDs of what was decided in this session
        self.outcomes: dict[str, tuple[str, ...]] = {}  # by ID, the last outcome of each, with how to undo it
        self.reopened = ""  # the ID of the last one that was reopened by an undo
        self.not_shown = ""  # which learnings are not listed, and how to see them

    def _redact(self, text: str) -> str:
        return Redactor(load_key(self._context.redaction_key)).redact(text) if text else ""

    @property
    def _host(self) -> Host:
        return Host(self._context.home, self._context.environment)

    @property
    def home(self) -> Path:
        """The person's home folder."""
        return self._context.home

    def short_path(self, path: str | Path) -> str:
        """Return a path as people write it: with `~` for their home folder."""
        return below_home(path, self.home)

    def proposals(self, ids: Collection[str] = ()) -> list[Proposal]:
        """Return open proposals, newest first, then restorable ones; with `ids`, those and their successors."""
        with self._store() as store:
            found = [one for state in (State.OPEN, State.DROPPED) for one in store.proposals.in_states([state])[::-1]]
            self._made_at |= {one.id: proposed_at(store, one) for one in found}
            return find_descendants(store, ids, found) if ids else found

    def made_at(self, proposal: Proposal) -> float | None:
        """Return when a proposal was made (Unix time), None if unknown."""
        return self._made_at.get(proposal.id) or parse_time(proposal.created_at)

    def decided(self) -> list[Proposal]:
        """Return the decided proposals, newest first."""
        with self._store() as store:
            return sorted(store.proposals.in_states(DECIDED_STATES), key=lambda one: one.decided_at, reverse=True)

    def version(self) -> tuple[object, ...]:
        """Return a value that changes when the database is written to."""
        file = self._context.database
        return file_stamp(file), file_stamp(file.with_name(f"{file.name}-wal"))

    @property
    def deciding(self) -> bool:
        """Whether a decision is under way, which may be stored in several steps."""
        return self._decision_lock.locked()

    def update_from_git(self) -> None:
        """Record what was decided with plain git in the meantime; slow if many are open."""
        with self._store() as store:
            read = prepare_observation(store)
        if read is not None:
            result = read()
            with self._decision_lock, self._store() as store:
                record_observation(store, result, time.time())

    def doubts(self) -> list[str]:
        """Return decisions to check: those made by an agent, once, and rejected proposals that were said again.

        Several of the first kind are one line: each alone would cover a part of the screen.
        """
        with self._store() as store:
            now = time.time()
            again = [f"{one.id} {describe_repeat(store, one)}" for one in unwanted_said_again(store, now)]
            doubts = {text.partition(":")[0]: text for text in recent_doubts(store, now)}
            shown = store.meta.get(DOUBTS_SHOWN, [])
            store.meta.set(DOUBTS_SHOWN, [*doubts])
        found = [text for name, text in doubts.items() if name not in shown]
        if len(found) > 1:
            names = ", ".join(name for name in doubts if name not in shown)
            count = f"{len(found)} decisions this week"
            found = [f"{count} were made with plain git, by you or an agent: {names} (skilld show ID)"]
        return [*found, *again]

    def view(self, proposal: Proposal) -> ProposalView:
        """Return the view of a proposal. Reads git and the transcripts."""
        found = read_versions(proposal)
        compared = shown_versions(proposal) if found is not None else None
        shown = tuple(diff_rows(*compared)) if compared is not None else ()
        before, text = (data.decode("utf-8", "replace") for data in compared) if compared else ("", "")
        with self._store() as store:
            excerpts, gone = read_excerpts(store, proposal, self._context.redaction_key)
            others = tuple(borrowed_lines(store, proposal, text.splitlines()))
            notes = (
                describe_decision_time(proposal, time.time()),
                describe_standing(store, proposal, time.time()),
                proposal.note,
                describe_destination(proposal),
                *describe_borrowed_lines(store, proposal, [one.text for one in shown if one.kind == " "]),
                *result_lines(store, proposal),
                gone,
            )
            remarks = [*list_contradictions(store, proposal)]
        unfit = ProposalReader().applicability(proposal).obstacle if proposal.state is State.OPEN else ""
        remarks = [*filter(None, (unfit, *remarks, *proposal.flags))]
        notes = tuple(filter(None, notes))
        if found is None:
            return ProposalView((), (), excerpts, (*remarks, "its file can no longer be read"), notes, "")
        try:
            pieces = tuple(parts(found[0], proposal.operations, proposal.updates))
        except SkilldError:
            pieces = ()  # the person amended its commit, so it has no parts
        beside = tuple((name, tuple(diff_rows(was, now))) for name, was, now in side_versions(proposal))
        return ProposalView(shown, pieces, excerpts, tuple(remarks), notes, text, others, before, beside)

    def accept(self, proposal_id: str, seen: Proposal | None = None) -> DecisionReport:
        """Accept a proposal. Like the methods below, raises SkilldError, with nothing changed, if that is refused.

        It is refused if the proposal now says something else than the one that was `seen`.
        """
        return self._decide(proposal_id, accepting(), seen)

    def accept_all(self, those: Sequence[Proposal]) -> DecisionReport:
        """Accept these in order, except those that must be decided on one by one; the report says which and why.

        If one is refused, those before it stay accepted.
        """
        left, parts = self._left_open(those)
        lines = [why for name, why in left.items() if name not in parts]
        for one in those:
            if one.id in left and one.id not in parts:
                continue
            with self._store() as store:
                now = store.proposals.get(one.id) or one
                why = None if one.id in parts else why_not_any_more(store, now)
            if why is not None:
                lines += filter(None, [why])
                continue
            try:
                report = self._accept_some(one, parts[one.id]) if one.id in parts else self.accept(one.id, one)
            except SkilldError as error:
                why = ". ".join(part for part in (str(error), error.remedy) if part)
                return DecisionReport(tuple(lines), (f"{one.id} was not accepted, so the rest were not tried. {why}",))
            lines += (*report.lines, *report.warnings)
        return DecisionReport(tuple(lines))

    def accept_all_question(self, those: Sequence[Proposal], file: str) -> str:
        """Return the question to ask before `accept_all`; empty if all of these must be decided on one by one."""
        left, parts = self._left_open(those)
        whole, number = len(left) - len(parts), len(those) - len(left)
        more = f" {whole} more must be decided on one by one." if whole else ""
        some = f"parts of {f'{len(parts)} more' if number else pluralize(len(parts), 'proposal')}" if parts else ""
        chosen = join_words([*filter(None, [pluralize(number, "proposal") if number else "", some])])
        return f"Accept {chosen} for {file}?{more}" if chosen else ""

    def _left_open(self, those: Sequence[Proposal]) -> tuple[dict[str, str], dict[str, set[int]]]:
        """Return why some must be decided on one by one, by ID, and the parts to accept of some of these."""
        with self._store() as store:
            left = {one.id: why for one in those if (why := why_one_by_one(store, one))}
            return left, {one.id: some for one in those if one.id in left and (some := parts_for_batch(store, one))}

    def _accept_some(self, seen: Proposal, parts: Collection[int]) -> DecisionReport:
        with self._locked_proposal(seen.id, seen) as (store, proposal):
            return self._finish(seen.id, accept_parts_of_batch(store, proposal, parts))

    def reject(self, proposal_id: str, why: str, seen: Proposal | None = None) -> DecisionReport:
        """Reject a proposal, with a reason or none; the reason is stored without secrets."""
        return self._decide(proposal_id, rejecting(self._redact(why)), seen)

    def edited_rows(self, before: str, text: str) -> tuple[DiffRow, ...]:
        """Return what the person's own text changes in a file, without secrets."""
        return tuple(diff_rows(*(self._redact(one).encode("utf-8", "replace") for one in (before, text))))

    def accept_edited(self, proposal_id: str, text: str, opened: str = "") -> DecisionReport:
        """Accept the person's own text of the whole skill, edited from the one `opened`, instead of the proposal."""
        with self._locked_proposal(proposal_id) as (store, proposal):
            return self._finish(proposal_id, amend.accept_edited(store, proposal, text, opened))

    def accept_parts(self, proposal_id: str, chosen: Collection[int], seen: Proposal | None = None) -> DecisionReport:
        """Accept these parts, by number from 0; the others stay open."""
        with self._locked_proposal(proposal_id, seen) as (store, proposal):
            report = amend.decide_parts(store, proposal, chosen, accepting())
            return self._finish(proposal_id, report)

    def own_file(self, proposal: Proposal) -> str:
        """Return the name of the person's own file, if the proposal may go there instead; otherwise empty."""
        with self._store() as store:
            return relocation.personal_file_name(store, proposal, self._host)

    def accept_elsewhere(self, proposal_id: str, path: str, seen: Proposal | None = None) -> DecisionReport:
        """Apply a proposal to the file at this path instead."""
        with self._locked_proposal(proposal_id, seen) as (store, proposal):
            made, report = relocation.accept_elsewhere(
                store, proposal, Path(path), self._host, redact=self._redact, decision=accepting()
            )
            return self._finish(made, report)

    def undo(self, agree: Callable[[str], bool | None] = lambda _: False) -> DecisionReport:
        """Undo the person's last decision, reverting a commit; one of another session only if they `agree`."""
        with self._undo_lock:  # of two quick presses, the second undoes the decision before
            with self._decision_lock, self._store() as store:  # waits for a decision that is being made
                last = store.proposals.last_decided()
            if last is None:
                return DecisionReport(("There is nothing to undo.",))
            when = time_ago(parse_time(last.decided_at) or 0.0, time.time())
            question = f"Undo your last decision? {last.id} was {last.state.value} {when}.\n{last.summary}"
            if last.id not in self._decided_here and not agree(question):
                return DecisionReport(("Nothing was undone.",))
            with self._locked_proposal(last.id) as (store, proposal):
                is_rejected = proposal.state is State.REJECTED
                report = amend.reopen(store, proposal) if is_rejected else undo_accept(store, proposal)
                self.outcomes[last.id] = report.lines
                self.reopened = last.id
                return report

    def waiting_learnings(self) -> list[list[Learning]]:
        """Return the learnings by ask, the newest first; then a few things said recently and not treated as a rule."""
        with self._store() as store:
            asks = current_asks(store, store.learnings.said())
        missed, self.not_shown = first_few(self._context.passed_over())
        return [*asks, *([one] for one in missed)]

    def propose(self, ask: Sequence[Learning]) -> Proposal:
        """Propose a learning for the best file. Raises SkilldError, with nothing changed, if there is none."""
        with self._decision_lock, self._store() as store:
            return relocation.propose_learning(store, ask, self._host, self._context.targets, self._redact)

    def forget(self, ask: Sequence[Learning]) -> None:
        """Delete a learning, however often it was said."""
        with self._decision_lock, self._store() as store, store.transaction():
            forget_ask(store, ask)

    def skills(self) -> list[LibraryRow]:
        """Return the person's skills. Reads the disk."""
        around = self._context
        with self._store() as store:
            rows = load_rows(store, around.find_skills, around.home, around.environment, now=time.time())
        return without_copies(rows, Path())

    def switch_skill(self, skill: LibraryRow) -> bool:
        """Turn a skill on or off for agents; return whether it is on now."""
        with self._store() as store:
            on = skill.path in disabled_skills(store)
            set_enabled(store, [skill.path], on=on)
        return on

    def edit_skill(self, skill: LibraryRow, editor: Callable[[str], str]) -> bool:
        """Open a skill in the person's editor and save it as they leave it; return whether it changed."""
        try:
            before = skill.path.read_bytes().decode("utf-8")
        except (OSError, UnicodeError) as error:
            raise SkilldError("Could not open the skill", str(error)) from error
        after = editor(before)
        if after != before:
            whole_files.replace_file(skill.path, before.encode("utf-8"), after.encode("utf-8"))
        return after != before

    def delete_skill(self, skill: LibraryRow) -> Path:
        """Move a skill's folder to the trash; return its new path."""
        return move_to_trash(skill.skill, self._context.trash)

    def sessions(self) -> list[LiveSession]:
        """Return the sessions of the last day in projects that do not opt out, newest first."""
        with self._store() as store:
            found = store.overview.sessions_since(time.time() - _LIVE_SECONDS)
        return [one for one in found if not (one.cwd and one.cwd.startswith("/") and is_left_alone(Path(one.cwd)))]

    def report(self) -> Report:
        """Return the report without the person's words. Reads the disk and git."""
        with self._store() as store:
            return gather(store, time.time())

    def _decide(self, proposal_id: str, decision: Decision, seen: Proposal | None) -> DecisionReport:
        with self._locked_proposal(proposal_id, seen) as (store, proposal):
            return self._finish(proposal_id, decide(store, proposal, decision))

    def _finish(self, proposal_id: str, report: DecisionReport) -> DecisionReport:
        self._decided_here.add(proposal_id)
        self.outcomes[proposal_id] = report.lines
        return report.with_undo_key("u")

    @contextmanager
    def _locked_proposal(self, proposal_id: str, seen: Proposal | None = None) -> Iterator[tuple[Store, Proposal]]:
        """Yield the store and the current proposal, under the lock: deciding on another may have changed it."""
        with self._decision_lock, self._store() as store:
            proposal = store.proposals.get(proposal_id)
            if proposal is None:
                raise SkilldError("No such proposal", proposal_id)
            if seen is not None and _content_key(proposal) != _content_key(seen):
                cause = f"{proposal_id} has changed since it was shown"
                raise SkilldError("Nothing was decided", cause, "Look at it again.")
            yield store, proposal

    def _store(self) -> closing[Store]:
        return closing(self._context.open_store())
