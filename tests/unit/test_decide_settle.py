from __future__ import annotations

import pytest

from skilld.proposals.model import PATIENCE, Observation, Seen, Settled, settle
from skilld.types import Proposal, State
from support.proposals import a_proposal

NOW = 1_800_000_000.0
LONG_AGO = NOW - PATIENCE


def proposal(state: State, commit: str = "c1") -> Proposal:
    return a_proposal(id="p1", state=state, commit=commit, note="known")


@pytest.mark.parametrize(
    ("state", "seen", "missing_since", "after"),
    [
        (State.OPEN, Seen.NOTHING, None, Settled(State.OPEN, note="known")),
        (State.OPEN, Seen.LANDED, None, Settled(State.ACCEPTED, "c9", "edited")),
        (State.REJECTED, Seen.LANDED, None, Settled(State.ACCEPTED, "c9", "edited")),
        (State.REVERTED, Seen.LANDED, None, Settled(State.ACCEPTED, "c9", "edited")),
        (State.ACCEPTED, Seen.LANDED, None, Settled(State.ACCEPTED, note="edited")),
        (State.ACCEPTED, Seen.REVERTED, None, Settled(State.REVERTED, note="edited")),
        (State.OPEN, Seen.REVERTED, None, Settled(State.REVERTED, note="edited")),
        (State.REJECTED, Seen.REVERTED, None, Settled(State.REJECTED, note="edited")),
        (State.OPEN, Seen.GONE, None, Settled(State.STALE, note="edited")),
        (State.ACCEPTED, Seen.GONE, None, Settled(State.ACCEPTED, note="edited")),
        (State.OPEN, Seen.DROPPED, None, Settled(State.DROPPED, note="known", missing_since=NOW)),
        (State.DROPPED, Seen.DROPPED, LONG_AGO + 1, Settled(State.DROPPED, note="known", missing_since=LONG_AGO + 1)),
        (State.DROPPED, Seen.DROPPED, LONG_AGO, Settled(State.REJECTED, note="dropped from the staging branch")),
        (State.DROPPED, Seen.BUSY, LONG_AGO, Settled(State.DROPPED, note="known", missing_since=LONG_AGO)),
        (State.DROPPED, Seen.NOTHING, LONG_AGO, Settled(State.OPEN, note="known")),
        (State.DROPPED, Seen.LANDED, LONG_AGO, Settled(State.ACCEPTED, "c9", "edited")),
        (State.DROPPED, Seen.REVERTED, LONG_AGO, Settled(State.REVERTED, note="edited")),
        (State.DROPPED, Seen.GONE, LONG_AGO, Settled(State.REJECTED, note="dropped from the staging branch")),
        (State.OPEN, Seen.ENDED, None, Settled(State.STALE, note="edited")),
        (State.OPEN, Seen.BUSY, LONG_AGO, Settled(State.OPEN, note="known", missing_since=LONG_AGO)),
    ],
)
def test_what_an_observation_means(state: State, seen: Seen, missing_since: float | None, after: Settled) -> None:
    note = "edited" if seen in {Seen.LANDED, Seen.REVERTED, Seen.GONE, Seen.ENDED} else ""
    assert settle(proposal(state), Observation("p1", seen, "c9", "", note), missing_since, NOW) == after


def test_what_went_with_its_repository_comes_back_with_it() -> None:
    gone = settle(proposal(State.OPEN), Observation("p1", Seen.GONE), None, NOW)
    assert gone == Settled(State.STALE, note="its repository is gone")
    for note, state in ((gone.note, State.OPEN), ("it does not fit", State.STALE)):
        stale = a_proposal(id="p1", state=State.STALE, commit="c1", note=note)
        assert settle(stale, Observation("p1", Seen.NOTHING), None, NOW).state is state


def test_a_proposal_that_waits_for_its_commit_is_not_gone() -> None:
    waiting = proposal(State.OPEN, commit="")
    assert settle(waiting, Observation("p1", Seen.GONE), None, NOW).state is State.OPEN


def test_the_day_of_a_dropped_one_does_not_end_while_its_repository_is_out_of_reach() -> None:
    waits = settle(proposal(State.DROPPED), Observation("p1", Seen.GONE), LONG_AGO, NOW)
    assert waits == Settled(State.DROPPED, note="known", missing_since=LONG_AGO)


def test_what_was_dropped_while_its_repository_was_out_of_reach_has_a_day_from_its_return() -> None:
    away = a_proposal(id="p1", state=State.STALE, commit="c1", note="its repository is gone")
    found = settle(away, Observation("p1", Seen.DROPPED), LONG_AGO, NOW)
    assert found == Settled(State.DROPPED, note="its repository is back", missing_since=NOW)
