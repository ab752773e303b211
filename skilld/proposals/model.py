"""The values that modules about proposals exchange, a commit's message, and the rules for a proposal's next state."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath

from skilld.text import one_line, pluralize, sentence_starts, truncate
from skilld.types import OBSERVED_TURN, Proposal, State, TargetKind, Update
from skilld.values import value_class

REMEDY_PREFIX = "effect-"  # of the batch ID of a remedy's proposal; the remedy's kind and its rule's ID follow
ACROSS_PREFIX = "across-"  # of a proposal that offers a rule accepted for one agent in another one's file
MOVED_PREFIX = "moved-"  # of a proposal that was moved to another file, with its judge
EVALS_PREFIX = "evals-"  # of a proposal of cases to test a skill with
TRIM_PREFIX = "trim-"  # of a cut that `skilld trim` proposes
MINE_PREFIX = "mine-"  # of what `skilld mine` proposes, from several sessions
IMPORT_PREFIX = "import-"  # of a skill that `skilld skills import` proposes
OVERTAKEN_PREFIX = "overtaken: "  # of the note of a proposal whose line a newer one takes away
REVIEWS_PREFIX = "reviews-"  # of what reviewers keep asking for, found by `skilld mine --reviews`

BY_HAND_FLAG = "the wording comes from a file you specified, not from you"

# Files that `creation` can make from an update alone: a skill needs a description, a rule its paths.
CREATABLE = frozenset({TargetKind.INSTRUCTIONS, TargetKind.PERSONAL})

Apply = Callable[[bytes], bytes]
"""From the bytes of a SKILL.md (b"": none) to the edited bytes; raises SkilldError if an anchor is gone."""


def top_folder(proposal: Proposal) -> Path:
    """Return the top of the work tree that a proposal's file is in; for a file that git does not track, its folder."""
    top = proposal.path.removesuffix(f"/{proposal.relpath}") if proposal.relpath else proposal.path
    return Path(top) if top != proposal.path else Path(top).parent


def at_path(proposal: Proposal, relpath: str) -> Proposal:
    """Return the proposal with its file at another path of the repository; one named after it is renamed."""
    if relpath in {"", proposal.relpath}:
        return proposal
    old, new = PurePosixPath(proposal.relpath), PurePosixPath(relpath)
    skill = new.parent.name if new.name == old.name else str(new)
    names = {str(old): str(new), old.name: new.name, old.parent.name: skill}
    path = proposal.path.removesuffix(proposal.relpath) + relpath
    return replace(proposal, path=path, relpath=relpath, skill=names.get(proposal.skill, proposal.skill))


def heard_by(proposal: Proposal) -> list[str]:
    """Return the agents that the person said it to."""
    return list(
        dict.fromkeys(filter(None, (proposal.agent, *(one.turn.partition(":")[0] for one in proposal.evidence))))
    )


def agent_told(proposal: Proposal) -> str:
    """Return the agent that a proposal is meant for: the one it was said to, or the one that missed it."""
    return proposal.agents[0] if proposal.batch_id.startswith(ACROSS_PREFIX) and proposal.agents else proposal.agent


def project_name(proposal: Proposal) -> str:
    """Return the name of the project that a proposal's file is in, also if git does not track that file."""
    folder = top_folder(proposal)
    own = str(folder) != proposal.repo  # a repository of skilld's own, for a folder such as .claude/skills
    while own and (folder.name.startswith(".") or (folder.name == "skills" and folder.parent.name.startswith("."))):
        folder = folder.parent
    return folder.name


def said_updates(proposal: Proposal) -> list[Update]:
    """Return the part of what a proposal writes that the person said, and nothing that was only observed."""
    plain = Update(None, "", proposal.summary, "", proposal.kind, 1, "")
    every = proposal.updates or (plain,)
    return [one for one in every if one.turn != OBSERVED_TURN] if proposal.evidence else []


@value_class
class Base:
    """The commit the staging branch is based on.

    `ahead` counts the commits up to it that the default branch does not have; 0 if it is on the default branch, or if
    the default branch is unknown (`default` is None). If `ahead` is not 0, `branch` is a branch that contains it,
    preferably the checked-out one.
    """

    commit: str
    branch: str | None = None
    default: str | None = None
    ahead: int = 0

    @property
    def warning(self) -> str:
        """A sentence if merging the branch would bring in more than the proposals; empty otherwise."""
        if not self.ahead:
            return ""
        branch = self.branch or "a detached HEAD"
        return f"is based on {branch}, which has {pluralize(self.ahead, 'commit')} not on {self.default}"


@dataclass(slots=True)
class StagingState:
    """The staging branch after a call.

    `tip` is None if the branch is gone because it became empty. `moved` has the new commit of each rebuilt proposal,
    `at` the commit of every open one on the branch, `ended` the new state of each that is no longer on it, and why.
    `held_reason` says why the branch was left unchanged, or is empty.
    """

    tip: str | None
    base_info: Base | None
    moved: dict[str, str] = field(default_factory=dict)
    at: dict[str, str] = field(default_factory=dict)
    ended: dict[str, tuple[State, str]] = field(default_factory=dict)
    held_reason: str = ""

    @property
    def base(self) -> str:
        """The commit it is based on, or empty."""
        return self.base_info.commit if self.base_info else ""

    @property
    def top(self) -> str:
        """The parent of the next commit."""
        return self.tip or self.base


@value_class
class ProposalCommit:
    """The edit was committed, now or by an earlier try (`id` is that proposal's).

    `repo` is the address of the repository: the top of its work tree, or the git directory of one of skilld's own.
    """

    id: str
    commit: str
    base: str
    branch: str
    repo: str
    relpath: str
    staging: StagingState


@value_class
class WaitsForPerson:
    """The person must first commit the SKILL.md that it fits, or finish their work on the staging branch."""

    reason: str


ProposeOutcome = ProposalCommit | WaitsForPerson | None  # None: the skill, or an open proposal for it, says it already


# The message of a proposal's commit, from redacted text: subject, reason, quotes, then our trailers as the last
# paragraph. Text of a model or a person is only in the first three, and a line of it that a program could read as a
# trailer, a patch or a commit's name is marked with a bar. tests/unit/test_propose_message.py checks this with
# `git interpret-trailers`.

MAX_SUBJECT = 71
LINE_WIDTH = 72
MAX_QUOTE = 200
_MAX_SKILL_NAME = 32

# A "Token:" with any separator that trailer.separators may name, a divider or patch, a comment, a reverted commit.
_MISREADABLE_PATTERN = re.compile(
    r"\s*([A-Za-z0-9-]+\s*[:=#]|-|#|diff |Index|From |\(cherry picked|This reverts|This reapplies|reverts commit)",
    re.IGNORECASE,
)


def compose(
    *, skill: str, summary: str, reason: str, quotes: Iterable[str], trailers: dict[str, str], remark: str = ""
) -> bytes:
    """Return the commit message of a proposal.

    `trailers` are written in order as `Skilld-<key>: <value>`. Empty trailers, reasons, quotes and remarks are left
    out. At most 200 characters of each quote are kept.
    """
    paragraphs = [compose_subject(skill, summary)]
    paragraphs += [_paragraph(text) for text in (reason, *map(_quoted, quotes), remark) if text.strip()]
    rows = [f"Skilld-{key}: {one_line(value)}" for key, value in trailers.items() if value.strip()]
    return ("\n\n".join([*paragraphs, "\n".join(rows)]) + "\n").encode("utf-8", "backslashreplace")


def without_words(message: bytes) -> bytes:
    """Return the message of a proposal's commit as `compose` makes it without quotes and session."""
    subject, *paragraphs = message.decode("utf-8", "surrogateescape").split("\n\n")
    if not paragraphs or "Skilld-Proposal: " not in paragraphs[-1]:
        return message
    rows = [row for row in paragraphs.pop().split("\n") if not row.startswith("Skilld-Session: ")]
    kept = [text for text in paragraphs if not _is_quote(text)]
    return "\n\n".join([subject, *kept, "\n".join(rows)]).encode("utf-8", "surrogateescape")


def _is_quote(paragraph: str) -> bool:
    text = "\n".join(line.removeprefix("| ") for line in paragraph.split("\n"))
    return text.startswith('"') and text.rstrip().endswith('"')


def compose_subject(skill: str, summary: str) -> str:
    """Return the first line of that message."""
    head = f"skilld({truncate(one_line(skill) or 'skill', _MAX_SKILL_NAME)}): "
    return head + _shorten(one_line(summary) or "update", MAX_SUBJECT - len(head))


def _shorten(text: str, room: int) -> str:
    """Return `text` cut to `room` characters: without its full stop, after a sentence, after a word, or anywhere."""
    text = text.removesuffix(".") if len(text) == room + 1 else text
    if len(text) <= room:
        return text
    sentences = text[: max((start for start in sentence_starts(text) if start <= room - 2), default=0)].rstrip()
    if len(sentences) > room // 2:
        return f"{sentences} …"
    words = text[:room].rpartition(" ")[0].rstrip(" ,;:")
    return (words if len(words) > room // 2 else text[: room - 1].rstrip()) + "…"


def _quoted(quote: str) -> str:
    text = one_line(quote)
    return f'"{truncate(text, MAX_QUOTE)}"' if text else ""


def _paragraph(text: str) -> str:
    lines = textwrap.wrap(one_line(text), LINE_WIDTH - 2, break_on_hyphens=False)
    return "\n".join(f"| {line}" if _MISREADABLE_PATTERN.match(line) else line for line in lines)


class CommitMethod(StrEnum):
    """How a decision was carried out."""

    GIT = "git"  # by the plain git command
    ANCHORS = "anchors"  # git's merge conflicted; the change was made by its lines
    NOTHING = "nothing"  # nothing to do, no commit


@value_class
class DecisionCommit:
    """The commit that carries out the decision; HEAD if none was needed."""

    commit: str
    method: CommitMethod


class GitStatus(StrEnum):
    """What git shows of a proposal."""

    NOTHING = "nothing"
    LANDED = "landed"
    REVERTED = "reverted"
    DISCARDED = "discarded"  # written to the file, and removed from it before it was committed
    DROPPED = "dropped"  # off the staging branch, and on no remote-tracking one
    ENDED = "ended"  # skilld removed it from the staging branch, since its edit no longer fits
    SAID = "said"  # open, but somebody wrote into the file what it says
    BUSY = "busy"  # unknown while the person works on the staging branch
    GONE = "gone"  # the repository, or the proposal's commit in it, is missing


@value_class
class Observation:
    """What git shows of one proposal: its status, the commit that shows it, how it was found, a note for the person.

    `branch` is the short name of the branch that an undecided proposal is on, empty if unknown. `at` is the Unix time
    of the decision, 0 if unknown: a commit may have any date. `relpath` is where its file is now, empty if unknown.
    """

    id: str
    seen: GitStatus
    commit: str = ""
    how: str = ""
    note: str = ""
    branch: str = field(default="", compare=False)
    at: float = field(default=0.0, compare=False)
    relpath: str = field(default="", compare=False)


# How long a dropped proposal can be restored before it counts as rejected, or reverted: it may have been a slip.
RESTORABLE_SECONDS = 86400.0
EDITED_NOTE = "edited by you"
CHANGED_NOTE = "changed since"  # on the branch, by anybody
MOVED_TO = "moved to "  # the file that has its lines now
WRITTEN_NOTE = "written to the file, not committed"  # until a commit contains it
PUT_AWAY = "; now only "  # after another note: in a stash, on a branch that is not checked out, ...
DISCARDED_NOTE = "accepted with --worktree, then removed from the file before it was committed"
UNDONE_NOTE = "accepted, but its commit was later removed from its branch"
ELSEWHERE_NOTE = "committed"  # before PUT_AWAY, if there was no note
_COMMITTED_NOTE = "you committed it"
FOUND_NOTES = ("the file now says this", "you made this change yourself")  # by a rebuild, and by staging
BY_HAND_NOTE = ", added since without skilld, says this"  # after the file and the line
ACCEPTED_NOTE = ", which was accepted, says this"  # after the ID of another proposal
PARTLY_BY_HAND_NOTE = ", added since without skilld, says a part of this"  # likewise
REPO_BACK_NOTE = "its repository is back"
REPO_GONE_NOTE = "its repository is gone"  # it may be on an unmounted disk: the proposal then comes back with it


@value_class
class ObservedState:
    """A proposal's state after reading git. `missing_since` is the Unix time at which it was dropped, or None."""

    state: State
    commit: str = ""
    note: str = ""
    missing_since: float | None = None


def next_state(proposal: Proposal, seen: Observation, missing_since: float | None, now: float) -> ObservedState:
    """Return the state that follows from an observation; the same state if nothing changes."""
    note = seen.note or (_without_place(proposal.note) if seen.seen is GitStatus.LANDED else proposal.note)
    match seen.seen:
        case GitStatus.LANDED if proposal.state is not State.ACCEPTED or is_only_written(proposal):
            return ObservedState(
                State.ACCEPTED, seen.commit, seen.note or (_COMMITTED_NOTE if is_only_written(proposal) else "")
            )
        case GitStatus.LANDED if not proposal.landed:  # a rebuild had found it in the file
            return ObservedState(State.ACCEPTED, seen.commit, note)
        case GitStatus.REVERTED if proposal.state in {State.ACCEPTED, State.OPEN, State.DROPPED}:
            return ObservedState(State.REVERTED, seen.commit, seen.note)
        case GitStatus.GONE | GitStatus.ENDED | GitStatus.SAID if proposal.state is State.OPEN and proposal.commit:
            after = State.SUPERSEDED if seen.seen is GitStatus.SAID else State.STALE
            return ObservedState(after, "", seen.note or REPO_GONE_NOTE)
        case GitStatus.NOTHING | GitStatus.DROPPED if is_repo_gone(proposal):
            found = State.OPEN if seen.seen is GitStatus.NOTHING else State.DROPPED
            return ObservedState(found, note=REPO_BACK_NOTE, missing_since=now if found is State.DROPPED else None)
        case GitStatus.DROPPED | GitStatus.GONE if _is_dropped(proposal, seen):
            known = proposal if seen.seen is GitStatus.GONE else replace(proposal, note=note)
            return _dropped_state(known, missing_since, now)
        case GitStatus.NOTHING if proposal.state is State.DROPPED:
            return ObservedState(State.OPEN, note=note)
    waits = seen.seen is GitStatus.BUSY or proposal.state is State.DROPPED
    return ObservedState(proposal.state, note=note, missing_since=missing_since if waits else None)


def is_undecided(proposal: Proposal) -> bool:
    """Whether a proposal is open, or was until the person removed it from the staging branch."""
    return proposal.state in {State.OPEN, State.DROPPED}


def is_only_written(proposal: Proposal) -> bool:
    """Whether an accepted proposal is, as far as known, only in its file and not committed."""
    return proposal.state is State.ACCEPTED and proposal.note.startswith(WRITTEN_NOTE)


def is_said_since(proposal: Proposal) -> bool:
    """Whether a proposal was closed because what it says came into the file: by hand, or by another proposal."""
    return proposal.state is State.SUPERSEDED and proposal.note.endswith((BY_HAND_NOTE, ACCEPTED_NOTE))


def is_overtaken(proposal: Proposal) -> bool:
    """Whether a proposal was closed because a newer one takes away the line that it rewords."""
    return proposal.state is State.SUPERSEDED and proposal.note.startswith(OVERTAKEN_PREFIX)


def is_partly_by_hand(proposal: Proposal) -> bool:
    """Whether somebody wrote into the file a part of what an open proposal says."""
    return proposal.state is State.OPEN and proposal.note.endswith(PARTLY_BY_HAND_NOTE)


def is_edited(proposal: Proposal) -> bool:
    """Whether a proposal has the person's own text."""
    return proposal.note == EDITED_NOTE


def is_put_away(proposal: Proposal) -> bool:
    """Whether an accepted proposal is not in its file, but in a stash, on another branch or the like."""
    return proposal.state is State.ACCEPTED and PUT_AWAY in proposal.note


def is_undone(proposal: Proposal) -> bool:
    """Whether a proposal was accepted, and its commit removed from its branch later."""
    return proposal.note == UNDONE_NOTE


def put_away_note(note: str, place: str) -> str:
    """Return the note of an accepted proposal that is now only at a place, such as "in a stash"."""
    return f"{_without_place(note) or ELSEWHERE_NOTE}{PUT_AWAY}{place}"


def _without_place(note: str) -> str:
    left = note.partition(PUT_AWAY)[0]
    return "" if left == ELSEWHERE_NOTE else left


def without_remark(proposal: Proposal) -> Proposal:
    """Return the proposal without a note about its file, which a new decision makes obsolete."""
    note = _without_place(proposal.note)
    obsolete = {WRITTEN_NOTE, DISCARDED_NOTE, UNDONE_NOTE, _COMMITTED_NOTE}
    return replace(proposal, note="" if note in obsolete or is_partly_by_hand(proposal) else note)


def is_repo_gone(proposal: Proposal) -> bool:
    """Whether a proposal is stale only because its repository cannot be found at the moment."""
    return proposal.state is State.STALE and proposal.note == REPO_GONE_NOTE


def _is_dropped(proposal: Proposal, seen: Observation) -> bool:
    if seen.seen is GitStatus.GONE:  # with a note: the repository exists, the proposal's commit does not
        return proposal.state is State.DROPPED and bool(seen.note)
    return is_undecided(proposal) or seen.note == UNDONE_NOTE


def _dropped_state(proposal: Proposal, missing_since: float | None, now: float) -> ObservedState:
    since = now if missing_since is None else missing_since
    if now - since >= RESTORABLE_SECONDS:
        was_accepted = is_undone(proposal)
        note = UNDONE_NOTE if was_accepted else "dropped from the staging branch"
        return ObservedState(State.REVERTED if was_accepted else State.REJECTED, note=note)
    return ObservedState(State.DROPPED, note=proposal.note, missing_since=since)
