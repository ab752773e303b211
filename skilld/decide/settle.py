"""What an observation means for a proposal's state. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from skilld.decide.values import Observation, Seen
from skilld.types import Proposal, State

# Seconds: so long a proposal may be off the staging branch before that is taken for a no: a rebase may be under way.
PATIENCE = 86400.0
AWAY = "its repository is gone"  # the note of what comes back with it: it may be on a disk that is not mounted


@dataclass(frozen=True, slots=True)
class Settled:
    """A proposal's state after a look at git. `missing_since` is a Unix time, or None where it is on the branch."""

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
        case Seen.REVERTED if proposal.state in {State.ACCEPTED, State.OPEN}:
            return Settled(State.REVERTED, "", seen.note)
        case Seen.GONE if proposal.state is State.OPEN and proposal.commit:
            return Settled(State.STALE, "", seen.note or AWAY)
        case Seen.NOTHING if proposal.state is State.STALE and proposal.note == AWAY:
            return Settled(State.OPEN, "", "its repository is back")
        case Seen.DROPPED if proposal.state is State.OPEN:
            since = now if missing_since is None else missing_since
            if now - since >= PATIENCE:
                return Settled(State.REJECTED, "", "dropped from the staging branch")
            return Settled(State.OPEN, note=note, missing_since=since)
        case Seen.BUSY:
            return Settled(proposal.state, note=note, missing_since=missing_since)
        case _:
            return Settled(proposal.state, note=note)
