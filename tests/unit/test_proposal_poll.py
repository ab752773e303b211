"""When git is checked, and what a check may change in the store."""

from __future__ import annotations

import time
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest

from skilld.cli import pause, proposals
from skilld.proposals import poll
from skilld.proposals.poll import PollSchedule, record_observation
from skilld.protocol import GitResult
from skilld.store import Store
from skilld.store.journal import journal_of
from skilld.store.meta import PAUSED_UNTIL
from skilld.types import Changes, CommitChange, Op, Operation, Outcome, State, StateChange
from support.proposals import COMMIT_FIELDS, make_proposal
from support.repos import Person, new_repo

NOW = 1772442000.0
AT = "2026-03-02T09:00:00Z"
PROPOSAL = make_proposal(id="a", created_at=AT, **COMMIT_FIELDS)


DONE = Outcome.NOTHING


def run_check(*decisions: StateChange) -> GitResult:
    return GitResult(outcome=DONE, changes=Changes(decisions=decisions))


def _state(store: Store, name: str = "a") -> State:
    found = store.proposals.get(name)
    assert found is not None
    return found.state


def test_nothing_is_checked_where_nothing_was_proposed(store: Store) -> None:
    assert PollSchedule(store).job(NOW) is None


def test_a_check_runs_when_something_moved_and_at_least_every_hour(store: Store, tmp_path: Path) -> None:
    person = new_repo(tmp_path / "repo")
    store.proposals.add(replace(PROPOSAL, repo=str(person.root), path=str(person.skill)))
    observing = PollSchedule(store)
    assert observing.job(NOW) is not None
    assert observing.job(NOW + 5) is None
    person.commit("something else", {"other": "x"})
    assert observing.job(NOW + 10) is not None
    person.git("branch", "side")
    assert observing.job(NOW + 15) is not None
    assert observing.job(NOW + 20) is None
    assert observing.job(NOW + 3700) is not None


def test_looking_for_moved_folders_takes_a_small_share_of_the_processor(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    used, looks = [0.0], list[float]()

    def look(_store: Store, now: float) -> None:
        looks.append(now)
        used[0] += 0.37 if len(looks) == 1 else 0.001

    monkeypatch.setattr(poll, "follow_moved_folders", look)
    monkeypatch.setattr(time, "process_time", lambda: used[0])
    observing = PollSchedule(store)
    for second in range(0, 900, 20):
        observing.job(NOW + second)
    assert looks == [NOW, NOW + 740, NOW + 800, NOW + 860]


def test_known_states_are_shown_if_nothing_can_be_written(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    person = new_repo(tmp_path / "repo")
    store.proposals.add(replace(PROPOSAL, repo=str(person.root), path=str(person.skill)))
    journal_of(store.path).unlink()
    journal_of(store.path).mkdir()
    proposals.refresh_or_warn(store)
    captured = capsys.readouterr()
    assert (captured.out, captured.err.split(": ")[0]) == ("", "Could not use the database")
    assert _state(store) is State.OPEN


def test_a_remote_that_is_added_is_noticed(store: Store, person: Person) -> None:
    store.proposals.add(replace(PROPOSAL, repo=str(person.root), path=str(person.skill)))
    schedule = PollSchedule(store)
    assert schedule.job(NOW) is not None
    assert schedule.job(NOW + 1) is None
    person.git("remote", "add", "origin", "https://example.org/x.git")
    assert schedule.job(NOW + 2) is not None


def test_nothing_is_checked_while_paused(store: Store) -> None:
    store.proposals.add(PROPOSAL)
    store.meta.set(PAUSED_UNTIL, NOW + 60)
    assert PollSchedule(store).job(NOW) is None
    assert PollSchedule(store).job(NOW + 60) is not None


def test_old_decisions_are_left_alone(store: Store) -> None:
    store.proposals.add(replace(PROPOSAL, state=State.ACCEPTED, decided_at=AT))
    assert PollSchedule(store).job(NOW + 29 * 86400) is not None
    assert PollSchedule(store).job(NOW + 31 * 86400) is None


def test_a_revert_is_not_taken_for_the_accepting_commit(store: Store) -> None:
    store.proposals.add(PROPOSAL)
    for before, after, commit in ((State.OPEN, State.ACCEPTED, "3" * 40), (State.ACCEPTED, State.REVERTED, "4" * 40)):
        record_observation(store, run_check(StateChange("a", before, after, commit)), NOW)
    proposal = store.proposals.get("a")
    assert proposal is not None
    assert (proposal.state, proposal.landed) == (State.REVERTED, "3" * 40)


def test_a_commit_moved_within_one_check_is_found_where_it_moved(store: Store) -> None:
    store.proposals.add(replace(PROPOSAL, commit=""))
    edit = (Operation(Op.INSERT_AFTER, "- another line", "- b"),)
    moved = Changes(moved=(CommitChange("a", "3" * 40, "4" * 40),))
    record_observation(
        store, GitResult(outcome=DONE, committed=(replace(PROPOSAL, operations=edit),), changes=moved), NOW
    )
    proposal = store.proposals.get("a")
    assert proposal is not None
    assert (proposal.commit, proposal.base, proposal.operations) == ("3" * 40, "4" * 40, edit)


def test_a_missing_repository_is_checked_too(store: Store) -> None:
    store.proposals.add(replace(PROPOSAL, repo="/nowhere/at/all"))
    job = PollSchedule(store).job(NOW)
    assert job is not None
    assert [proposal.id for proposal in job.proposals] == ["a"]


def test_a_check_records_what_it_found(store: Store) -> None:
    store.proposals.add(PROPOSAL)
    store.proposals.add(replace(PROPOSAL, id="b"))
    merged = StateChange("a", State.OPEN, State.ACCEPTED, "3" * 40, "merged")
    changes = Changes(decisions=(merged,), moved=(CommitChange("b", "4" * 40, "5" * 40),))
    record_observation(store, GitResult(outcome=DONE, changes=changes), NOW)
    first, second = store.proposals.get("a"), store.proposals.get("b")
    assert first is not None
    assert second is not None
    assert (first.state, first.landed, first.note, first.decided_at) == (State.ACCEPTED, "3" * 40, "merged", AT)
    assert (second.state, second.commit, second.base) == (State.OPEN, "4" * 40, "5" * 40)


def test_a_decision_made_meanwhile_wins(store: Store) -> None:
    store.proposals.add(PROPOSAL)
    store.proposals.decide(PROPOSAL, State.ACCEPTED, AT, who="command")
    record_observation(store, run_check(StateChange("a", State.OPEN, State.STALE, note="the skill moved on")), NOW)
    assert _state(store) is State.ACCEPTED


def test_a_decision_about_a_missing_proposal_is_ignored(store: Store) -> None:
    store.proposals.add(PROPOSAL)
    gone = StateChange("gone", State.OPEN, State.ACCEPTED)
    record_observation(store, run_check(gone, StateChange("a", State.OPEN, State.STALE)), NOW)
    assert [proposal.id for proposal in store.proposals.in_states([*State])] == ["a"]
    assert _state(store) is State.STALE, "what stands behind it is written down"


def test_the_time_off_the_branch_counts_from_the_first_check_that_missed_it(store: Store) -> None:
    store.proposals.add(PROPOSAL)
    record_observation(store, GitResult(outcome=DONE, missing={"a": NOW}), NOW)
    assert store.proposals.missing_since("a") == AT
    job = PollSchedule(store).job(NOW + 60)
    assert job is not None
    assert job.missing == {"a": NOW}
    record_observation(store, GitResult(outcome=DONE, missing={"a": None}), NOW)
    assert store.proposals.missing_since("a") == ""


def test_pause_says_what_it_keeps_and_resume_says_if_nothing_was_paused(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del home
    run = Namespace(duration=None)
    for verb in (pause.pause, pause.resume, pause.resume):
        assert verb(run) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "What you say in the meantime will be judged when you resume. To resume: skilld resume",
        "Resumed.",
        "skilld was not paused.",
    ]
