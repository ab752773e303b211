"""What enters and leaves proposing: frozen values, no behaviour beyond a sentence for the person."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from skilld.clock import seconds
from skilld.text import counted, cut, one_line, sentence_starts
from skilld.types import Proposal, State, TargetKind

REMEDY_PREFIX = (
    "effect-"  # what the batch of a proposal begins with that is about a rule: what is done about it, and its id
)
ACROSS_PREFIX = "across-"  # ... that offers a rule accepted for one agent in the file of another one
EVALS_PREFIX = "evals-"  # what the batch of a proposal begins with that brings cases to test a skill with
TRIM_PREFIX = "trim-"  # of the batch of a cut that `skilld trim` proposes

# What `creation` makes a file of from an update alone: a skill needs a description, a rule its paths.
CREATABLE = frozenset({TargetKind.INSTRUCTIONS, TargetKind.PERSONAL})

Apply = Callable[[bytes], bytes]
"""Bytes of a SKILL.md (b"": there is none) to its edited bytes; raises SkilldError when an anchor is gone."""


Refit = Callable[[bytes, bytes, bytes], bytes]
"""A SKILL.md before and after an edit, and another version, to that version edited; else raises SkilldError."""


@dataclass(frozen=True, slots=True)
class ProposalEdit:
    """A proposal and its edit.

    `refit` makes the same edit in another version than the one it was made in; without it, `apply` does. `also` are the
    edits of further files, by their paths in the repository: one that does not fit is left out.
    """

    proposal: Proposal
    apply: Apply
    refit: Refit | None = None
    also: Mapping[str, Apply] = field(default_factory=dict)

    def new_commit(self, commit: str) -> dict[str, str]:
        """Return where it stands now, by its id; nothing if that is known."""
        known = self.proposal.commit
        return {self.proposal.id: commit} if known and known != commit else {}


@dataclass(frozen=True, slots=True)
class Request:
    """A proposal to be made: its time pins the commit's dates.

    `standing` are the open proposals of the same repository, each with the commit it has as far as the store knows;
    `dropped` the ids of decided ones that may still be on the branch. `private` is the folder of skilld's own
    repositories, for a skill that git does not track; without it such a skill is refused. `restored` says that the
    person took it off the branch, or out of theirs, and wants it back: that its ref or their history still holds it is
    no reason to leave it where it is. `remark` is a sentence for the message.
    """

    edit: ProposalEdit
    standing: tuple[ProposalEdit, ...] = ()
    dropped: frozenset[str] = frozenset()
    private: Path | None = None
    restored: bool = False
    remark: str = ""

    @property
    def proposal(self) -> Proposal:
        """What is to be made."""
        return self.edit.proposal

    @property
    def epoch(self) -> int:
        """Its time in seconds since 1970."""
        moment = seconds(self.proposal.created_at)
        if moment is None:
            raise ValueError(f"{self.proposal.created_at!r} is not a time")
        return int(moment)


@dataclass(frozen=True, slots=True)
class Base:
    """The commit the staging branch rests on.

    `ahead` counts the commits up to it that the default branch does not have; 0 if it is on the default branch, or
    where no default branch can be told (`default` is None then). `branch` is a branch that has it, where `ahead` is
    not 0: the one that is checked out, if it does.
    """

    commit: str
    branch: str | None = None
    default: str | None = None
    ahead: int = 0

    @property
    def warning(self) -> str:
        """A sentence when merging the branch would bring in more than the proposals, else the empty string."""
        if not self.ahead:
            return ""
        branch = self.branch or "a detached HEAD"
        return f"is based on {branch}, which has {counted(self.ahead, 'commit')} not on {self.default}"


@dataclass(slots=True)
class StagingState:
    """The staging branch after a call.

    `tip` is None if the branch is gone because nothing is left on it. `moved` has the new commit of each proposal
    that was made again, `at` that of every open one on it, `stale` the reason for each that could not be made again,
    `present` those that the skill says already, `doubled` those that another open proposal says. `held` says why the
    branch was left as it was, or is empty.
    """

    tip: str | None
    base_info: Base | None
    moved: dict[str, str] = field(default_factory=dict)
    at: dict[str, str] = field(default_factory=dict)
    stale: dict[str, str] = field(default_factory=dict)
    present: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    held: str = ""

    @property
    def base(self) -> str:
        """The commit it rests on; empty if it rests on none."""
        return self.base_info.commit if self.base_info else ""

    @property
    def top(self) -> str:
        """The commit that the next one goes on."""
        return self.tip or self.base

    @property
    def ended(self) -> set[str]:
        """The proposals that are not on it any more."""
        return {*self.stale, *self.present, *self.doubled}


@dataclass(frozen=True, slots=True)
class ProposalCommit:
    """The edit is a commit. `fresh` is false where an earlier try had made it already (`id` is that proposal's).

    `repo` is the address of the repository: the top of its work tree, or the git directory of one of skilld's own.
    """

    id: str
    commit: str
    base: str
    branch: str
    repo: str
    relpath: str
    line: StagingState
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class WaitsForPerson:
    """It waits for the person: to commit the SKILL.md that alone it fits, or to be done with the staging branch."""

    reason: str


@dataclass(frozen=True, slots=True)
class AnchorNotFound:
    """The edit's anchors stand neither in HEAD's SKILL.md nor in an uncommitted one."""

    reason: str


@dataclass(frozen=True, slots=True)
class EditConflict:
    """The edit fits HEAD's SKILL.md, but not after these open proposals."""

    proposals: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class NoChange:
    """The skill, or an open proposal for it, says this already."""


ProposeOutcome = ProposalCommit | WaitsForPerson | AnchorNotFound | EditConflict | NoChange


# The message of a proposal's commit, of redacted text. Shape: subject, reason, quotes, then our trailers as the last
# paragraph. Text of a model or a person stands only in the first three, and a line of it that a program could read as a
# trailer, a patch or a commit's name is marked with a bar. `git interpret-trailers` judges it in
# tests/unit/test_propose_message.py.

MAX_SUBJECT = 71
LINE_WIDTH = 72
MAX_QUOTE = 200
_MAX_SKILL_NAME = 32

# "Token:" in any of the separators that trailer.separators may name, a divider or patch, a comment, a reverted commit.
_MISREADABLE_PATTERN = re.compile(
    r"\s*([A-Za-z0-9-]+\s*[:=#]|-|#|diff |Index|From |\(cherry picked|This reverts|This reapplies|reverts commit)",
    re.IGNORECASE,
)


def compose(
    *, skill: str, summary: str, reason: str, quotes: Iterable[str], trailers: dict[str, str], remark: str = ""
) -> bytes:
    """Return the message of a proposal.

    `trailers` are written in their order as `Skilld-<key>: <value>`; empty ones, and an empty reason, quote or remark,
    are left out. At most 200 characters of each quote are kept.
    """
    paragraphs = [_subject(skill, summary)]
    paragraphs += [_paragraph(text) for text in (reason, *map(_quoted, quotes), remark) if text.strip()]
    rows = [f"Skilld-{key}: {one_line(value)}" for key, value in trailers.items() if value.strip()]
    return ("\n\n".join([*paragraphs, "\n".join(rows)]) + "\n").encode("utf-8", "backslashreplace")


def _subject(skill: str, summary: str) -> str:
    head = f"skilld({cut(one_line(skill) or 'skill', _MAX_SKILL_NAME)}): "
    return head + _shorten(one_line(summary) or "update", MAX_SUBJECT - len(head))


def _shorten(text: str, room: int) -> str:
    """Return `text` cut to `room` characters: its last full stop, behind a sentence, behind a word, else anywhere."""
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
    return f'"{cut(text, MAX_QUOTE)}"' if text else ""


def _paragraph(text: str) -> str:
    lines = textwrap.wrap(one_line(text), LINE_WIDTH - 2, break_on_hyphens=False)
    return "\n".join(f"| {line}" if _MISREADABLE_PATTERN.match(line) else line for line in lines)


class CommitMethod(StrEnum):
    """How a decision was carried out."""

    GIT = "git"  # the plain git command did it
    ANCHORS = "anchors"  # git's merge conflicted; the change was made again by its lines
    NOTHING = "nothing"  # it was so already; no commit was made


@dataclass(frozen=True, slots=True)
class DecisionCommit:
    """The commit that carries the decision out; HEAD where none was needed."""

    commit: str
    way: CommitMethod


class GitStatus(StrEnum):
    """What git shows of a proposal."""

    NOTHING = "nothing"
    LANDED = "landed"
    REVERTED = "reverted"
    DROPPED = "dropped"  # off the staging branch, and on no remote-tracking one
    ENDED = "ended"  # taken off the staging branch by skilld, since its edit has no place any more
    BUSY = "busy"  # the person is at work on the staging branch: not judged
    GONE = "gone"  # the repository, or the proposal's commit in it


@dataclass(frozen=True, slots=True)
class Observation:
    """What was seen of one proposal: the commit that shows it, how it was told, and a remark for the person.

    `branch` is the short name of the branch that an undecided proposal is on; empty if that is not known.
    `at` is when it was decided, as a Unix time, 0 if that is not known: a commit may have any date.
    """

    id: str
    seen: GitStatus
    commit: str = ""
    how: str = ""
    note: str = ""
    branch: str = field(default="", compare=False)
    at: float = field(default=0.0, compare=False)


# Seconds for which a dropped proposal can be restored before that counts as a rejection: it may have been a slip.
RESTORABLE_SECONDS = 86400.0
WRITTEN_NOTE = "written to the file, not committed"  # the note of what was accepted so, until a commit has it
DISCARDED_NOTE = "accepted with --worktree, then removed from the file before it was committed"
UNDONE_NOTE = "accepted, but its commit was later removed from its branch"
_COMMITTED_NOTE = "you committed it"
REPO_GONE_NOTE = (
    "its repository is gone"  # the note of what comes back with it: it may be on a disk that is not mounted
)


@dataclass(frozen=True, slots=True)
class ObservedState:
    """A proposal's state after a look at git. `missing_since` is the Unix time at which it was dropped, or None."""

    state: State
    commit: str = ""
    note: str = ""
    missing_since: float | None = None


def next_state(proposal: Proposal, seen: Observation, missing_since: float | None, now: float) -> ObservedState:
    """Return the state that follows; the same state where nothing does."""
    note = seen.note or proposal.note
    match seen.seen:
        case GitStatus.LANDED if proposal.state is not State.ACCEPTED or is_only_written(proposal):
            return ObservedState(
                State.ACCEPTED, seen.commit, seen.note or (_COMMITTED_NOTE if is_only_written(proposal) else "")
            )
        case GitStatus.REVERTED if proposal.state in {State.ACCEPTED, State.OPEN, State.DROPPED}:
            return ObservedState(State.REVERTED, "", seen.note)
        case GitStatus.GONE | GitStatus.ENDED if proposal.state is State.OPEN and proposal.commit:
            return ObservedState(State.STALE, "", seen.note or REPO_GONE_NOTE)
        case GitStatus.NOTHING | GitStatus.DROPPED if is_repo_gone(proposal):
            found = State.OPEN if seen.seen is GitStatus.NOTHING else State.DROPPED
            return ObservedState(
                found, note="its repository is back", missing_since=now if found is State.DROPPED else None
            )
        case GitStatus.DROPPED if (
            proposal.state in {State.OPEN, State.DROPPED} or is_only_written(proposal) or seen.note == UNDONE_NOTE
        ):
            return _dropped_state(replace(proposal, note=note), missing_since, now)
        case GitStatus.GONE if (
            proposal.state is State.DROPPED and seen.note
        ):  # the repository is there, its commit is not
            return _dropped_state(proposal, missing_since, now)
        case GitStatus.NOTHING if proposal.state is State.DROPPED:
            return ObservedState(State.OPEN, note=note)
    waits = seen.seen is GitStatus.BUSY or proposal.state is State.DROPPED
    return ObservedState(proposal.state, note=note, missing_since=missing_since if waits else None)


def is_only_written(proposal: Proposal) -> bool:
    """Whether an accepted proposal is in its file only, as far as is known."""
    return proposal.state is State.ACCEPTED and proposal.note == WRITTEN_NOTE


def without_remark(proposal: Proposal) -> Proposal:
    """Return the proposal without a note of what became of it in its file, which another decision ends."""
    return replace(proposal, note="") if proposal.note in {WRITTEN_NOTE, DISCARDED_NOTE, UNDONE_NOTE} else proposal


def is_repo_gone(proposal: Proposal) -> bool:
    """Whether a proposal is stale only for as long as its repository cannot be found."""
    return proposal.state is State.STALE and proposal.note == REPO_GONE_NOTE


def _dropped_state(proposal: Proposal, missing_since: float | None, now: float) -> ObservedState:
    since = now if missing_since is None else missing_since
    if now - since >= RESTORABLE_SECONDS:
        return ObservedState(State.REJECTED, note="dropped from the staging branch")
    return ObservedState(State.DROPPED, note=proposal.note, missing_since=since)
