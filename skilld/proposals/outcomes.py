"""What deciding gives back, and the one thing it is given besides proposals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from skilld.types import Proposal, State

Apply = Callable[[bytes], bytes]
"""Bytes of a SKILL.md (b"": there is none) to its edited bytes; raises SkilldError when an anchor is gone."""


Refit = Callable[[bytes, bytes, bytes], bytes]
"""A SKILL.md before and after an edit, and another version, to that version edited; else raises SkilldError."""


class Way(StrEnum):
    """How a decision was carried out."""

    GIT = "git"  # the plain git command did it
    ANCHORS = "anchors"  # git's merge conflicted; the change was made again by its lines
    NOTHING = "nothing"  # it was so already; no commit was made


@dataclass(frozen=True, slots=True)
class Landed:
    """The commit that carries the decision out; HEAD where none was needed."""

    commit: str
    way: Way


class Seen(StrEnum):
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

    `branch` is the short name of the branch that an undecided proposal stands on; empty where that is not known.
    `at` is when it was decided, as a Unix time, 0 where that is not known: a commit may have any date.
    """

    id: str
    seen: Seen
    commit: str = ""
    how: str = ""
    note: str = ""
    branch: str = field(default="", compare=False)
    at: float = field(default=0.0, compare=False)


# What an observation means for a proposal's state. Pure.

# Seconds for which a dropped proposal can be restored before that counts as a rejection: it may have been a slip.
PATIENCE = 86400.0
AWAY = "its repository is gone"  # the note of what comes back with it: it may be on a disk that is not mounted


@dataclass(frozen=True, slots=True)
class Settled:
    """A proposal's state after a look at git. `missing_since` is the Unix time at which it was dropped, or None."""

    state: State
    commit: str = ""
    note: str = ""
    missing_since: float | None = None


def settle(proposal: Proposal, seen: Observation, missing_since: float | None, now: float) -> Settled:
    """Return the state that follows; the same state where nothing does."""
    note = seen.note or proposal.note
    match seen.seen:
        case Seen.LANDED if proposal.state is not State.ACCEPTED:
            return Settled(State.ACCEPTED, seen.commit, seen.note)
        case Seen.REVERTED if proposal.state in {State.ACCEPTED, State.OPEN, State.DROPPED}:
            return Settled(State.REVERTED, "", seen.note)
        case Seen.GONE | Seen.ENDED if proposal.state is State.OPEN and proposal.commit:
            return Settled(State.STALE, "", seen.note or AWAY)
        case Seen.NOTHING | Seen.DROPPED if is_away(proposal):
            found = State.OPEN if seen.seen is Seen.NOTHING else State.DROPPED
            return Settled(found, note="its repository is back", missing_since=now if found is State.DROPPED else None)
        case Seen.DROPPED if proposal.state in {State.OPEN, State.DROPPED}:
            return _dropped(proposal, missing_since, now)
        case Seen.GONE if proposal.state is State.DROPPED and seen.note:  # the repository is there, its commit is not
            return _dropped(proposal, missing_since, now)
        case Seen.NOTHING if proposal.state is State.DROPPED:
            return Settled(State.OPEN, note=note)
    waits = seen.seen is Seen.BUSY or proposal.state is State.DROPPED
    return Settled(proposal.state, note=note, missing_since=missing_since if waits else None)


def is_away(proposal: Proposal) -> bool:
    """Whether a proposal is stale only for as long as its repository cannot be found."""
    return proposal.state is State.STALE and proposal.note == AWAY


def _dropped(proposal: Proposal, missing_since: float | None, now: float) -> Settled:
    since = now if missing_since is None else missing_since
    if now - since >= PATIENCE:
        return Settled(State.REJECTED, note="dropped from the staging branch")
    return Settled(State.DROPPED, note=proposal.note, missing_since=since)
