from __future__ import annotations

from skilld.proposals.model import RESTORABLE_SECONDS, GitStatus, Observation, ObservedState, next_state
from skilld.types import Proposal, State
from support.proposals import make_proposal
from support.rows import for_each

NOW = 1_800_000_000.0
LONG_AGO = NOW - RESTORABLE_SECONDS


def proposal(state: State, commit: str = "c1") -> Proposal:
    return make_proposal(id="p1", state=state, commit=commit, note="known")


@for_each(
    ("state", "seen", "missing_since", "after"),
    [
        (State.OPEN, GitStatus.NOTHING, None, ObservedState(State.OPEN, note="known")),
        (State.OPEN, GitStatus.LANDED, None, ObservedState(State.ACCEPTED, "c9", "edited")),
        (State.REJECTED, GitStatus.LANDED, None, ObservedState(State.ACCEPTED, "c9", "edited")),
        (State.REVERTED, GitStatus.LANDED, None, ObservedState(State.ACCEPTED, "c9", "edited")),
        (State.ACCEPTED, GitStatus.LANDED, None, ObservedState(State.ACCEPTED, "c9", "edited")),
        (State.ACCEPTED, GitStatus.REVERTED, None, ObservedState(State.REVERTED, "c9", "edited")),
        (State.OPEN, GitStatus.REVERTED, None, ObservedState(State.REVERTED, "c9", "edited")),
        (State.REJECTED, GitStatus.REVERTED, None, ObservedState(State.REJECTED, note="edited")),
        (State.OPEN, GitStatus.GONE, None, ObservedState(State.STALE, note="edited")),
        (State.ACCEPTED, GitStatus.GONE, None, ObservedState(State.ACCEPTED, note="edited")),
        (State.OPEN, GitStatus.DROPPED, None, ObservedState(State.DROPPED, note="known", missing_since=NOW)),
        (State.DROPPED, GitStatus.DROPPED, LONG_AGO + 1, ObservedState(State.DROPPED, note="known",
            missing_since=LONG_AGO + 1)),
        (State.DROPPED, GitStatus.DROPPED, LONG_AGO, ObservedState(State.REJECTED,
            note="dropped from the staging branch")),
        (State.DROPPED, GitStatus.BUSY, LONG_AGO, ObservedState(State.DROPPED, note="known", missing_since=LONG_AGO)),
        (State.DROPPED, GitStatus.NOTHING, LONG_AGO, ObservedState(State.OPEN, note="known")),
        (State.DROPPED, GitStatus.LANDED, LONG_AGO, ObservedState(State.ACCEPTED, "c9", "edited")),
        (State.DROPPED, GitStatus.REVERTED, LONG_AGO, ObservedState(State.REVERTED, "c9", "edited")),
        (State.DROPPED, GitStatus.GONE, LONG_AGO, ObservedState(State.REJECTED,
            note="dropped from the staging branch")),
        (State.OPEN, GitStatus.ENDED, None, ObservedState(State.STALE, note="edited")),
        (State.OPEN, GitStatus.BUSY, LONG_AGO, ObservedState(State.OPEN, note="known", missing_since=LONG_AGO)),
    ],
)  # fmt: skip
def test_each_observation_sets_the_state_it_means(
    state: State, seen: GitStatus, missing_since: float | None, after: ObservedState
) -> None:
    note = "edited" if seen in {GitStatus.LANDED, GitStatus.REVERTED, GitStatus.GONE, GitStatus.ENDED} else ""
    assert next_state(proposal(state), Observation("p1", seen, "c9", "", note), missing_since, NOW) == after


def test_a_proposal_lost_with_its_repository_returns_with_it() -> None:
    gone = next_state(proposal(State.OPEN), Observation("p1", GitStatus.GONE), None, NOW)
    assert gone == ObservedState(State.STALE, note="its repository is gone")
    for note, state in ((gone.note, State.OPEN), ("it does not fit", State.STALE)):
        stale = make_proposal(id="p1", state=State.STALE, commit="c1", note=note)
        assert next_state(stale, Observation("p1", GitStatus.NOTHING), None, NOW).state is state


def test_a_proposal_waiting_for_its_commit_is_not_gone() -> None:
    waiting = proposal(State.OPEN, commit="")
    assert next_state(waiting, Observation("p1", GitStatus.GONE), None, NOW).state is State.OPEN


def test_the_grace_day_of_a_dropped_proposal_pauses_while_its_repository_is_unreachable() -> None:
    waits = next_state(proposal(State.DROPPED), Observation("p1", GitStatus.GONE), LONG_AGO, NOW)
    assert waits == ObservedState(State.DROPPED, note="known", missing_since=LONG_AGO)


def test_a_proposal_dropped_while_unreachable_gets_a_day_from_its_return() -> None:
    away = make_proposal(id="p1", state=State.STALE, commit="c1", note="its repository is gone")
    observed_state = next_state(away, Observation("p1", GitStatus.DROPPED), LONG_AGO, NOW)
    assert observed_state == ObservedState(State.DROPPED, note="its repository is back", missing_since=NOW)
