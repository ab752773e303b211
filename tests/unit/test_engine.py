"""What the daemon decides, driven with values: transcripts on disk, the clock and workers' results as arguments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skilld.daemon.engine import Engine
from skilld.ingest.discover import Host
from skilld.protocol import AnalyseBatch, BatchResult, Obstacle, Plan, Result, Source
from skilld.settings import Settings
from skilld.store import Store
from skilld.store.batches import StoredBatch
from skilld.store.meta import LAST_ERROR, PAUSED_UNTIL
from skilld.types import Cause, Outcome, State, Usage
from support.claude_lines import append, ended, typed, write
from support.proposals import COMMITTED, a_proposal

NOW = 1772442000.0
LASTING = "from now on always put the ticket number first"
PROPOSAL = a_proposal(**COMMITTED)


class Desk:
    """An engine over a store and one folder of transcripts."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.path = home / ".claude/projects/-p/s1.jsonl"
        self.path.parent.mkdir(parents=True)
        self.store = Store.open(home / "skilld.db")
        self.engine = self.start()

    def start(self, **settings: Any) -> Engine:
        """Start over, as after a kill."""
        self.engine = Engine(self.store, Settings(model="offline", **settings), Host(self.home, {}), NOW)
        return self.engine

    def say(self, *texts: str) -> None:
        """Have a person say something, a second after the last word of the session."""
        said = self.path.read_bytes().count(b"\n") if self.path.exists() else 0
        lines = [typed(f"t{said + number}", text) for number, text in enumerate(texts)]
        write(self.path, self.path.read_bytes() if said else b"", *lines, mtime=NOW + said)
        self.engine.follower.sweep()

    def batch(self) -> StoredBatch:
        """Close what is due and return the batch that a worker would get, marked as running."""
        self.engine.close_due(NOW)
        batch = self.engine.next_batch(NOW)
        assert batch is not None
        self.engine.start(batch)
        return batch

    def counts(self) -> tuple[int, int, int]:
        """Return how many batches wait, are done, are parked."""
        return tuple(self.store.batches.counts().values())  # type: ignore[return-value]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.store.close()


FIVE = ("hello", LASTING, "ok", "thanks", "go on")


def test_five_turns_make_a_batch_and_a_restart_does_not_make_another(desk: Desk) -> None:
    desk.say(*FIVE[:4])
    assert desk.engine.close_due(NOW) == 0
    desk.say(FIVE[4])
    assert desk.engine.close_due(NOW) == 1
    assert desk.engine.close_due(NOW) == 0
    desk.start()
    desk.engine.follower.sweep()
    assert desk.engine.close_due(NOW + 1e6) == 0
    assert desk.counts() == (1, 0, 0)


def test_what_is_left_over_is_judged_when_the_session_was_idle(desk: Desk) -> None:
    desk.say("hello", LASTING)
    assert desk.engine.close_due(NOW + 599) == 0
    assert desk.engine.close_due(NOW + 601) == 1


def test_what_is_left_over_is_judged_at_once_when_the_session_is_over(desk: Desk) -> None:
    desk.say(LASTING)
    append(desk.path, ended())
    desk.engine.follower.sweep()
    assert desk.engine.close_due(NOW) == 1


def test_chatter_is_done_without_a_worker(desk: Desk) -> None:
    desk.say("hi", "ok", "thanks", "go on", "looks good")
    assert desk.engine.close_due(NOW) == 0
    assert desk.engine.next_batch(NOW) is None
    assert desk.counts() == (0, 1, 0)


def test_paused_a_batch_is_closed_and_handed_to_nobody(desk: Desk) -> None:
    desk.store.meta.set(PAUSED_UNTIL, NOW + 60)
    desk.say(*FIVE)
    assert desk.engine.close_due(NOW) == 1
    assert desk.engine.next_batch(NOW) is None
    assert desk.engine.next_batch(NOW + 60) is not None


def test_the_stored_job_holds_no_word_and_no_key(desk: Desk) -> None:
    desk.start(model_api_key="sk-secret")
    desk.say(*FIVE)
    desk.engine.close_due(NOW)
    batch = desk.engine.next_batch(NOW)
    assert batch is not None
    assert LASTING not in repr(batch.job)
    assert batch.job.turns == tuple(f"claude-code:t{number}" for number in range(5))
    assert batch.job.sources == (Source(str(desk.path), 0, desk.path.stat().st_size),)
    desk.engine.start(batch)
    kept = b"".join(path.read_bytes() for path in desk.home.glob("skilld.*"))
    assert b"sk-secret" not in kept
    assert LASTING.encode() not in kept


def test_a_result_with_a_proposal_is_kept_once(desk: Desk) -> None:
    desk.say(*FIVE)
    batch = desk.batch()
    result = BatchResult(outcome=Outcome.PROPOSED, proposals=(PROPOSAL,), usage=Usage(2), model="m")
    assert desk.engine.finish(batch, result, NOW) == [PROPOSAL]
    assert desk.engine.finish(batch, replace(result, usage=Usage()), NOW) == []
    assert desk.counts() == (0, 1, 0)
    assert desk.store.usage.rows()[0]["calls"] == 2


def test_passing_trouble_is_tried_again_ever_later_and_then_parked(desk: Desk) -> None:
    desk.say(*FIVE)
    waits = []
    now = NOW
    for _ in range(4):
        desk.engine.close_due(now)
        batch = desk.engine.next_batch(now)
        assert batch is not None
        desk.engine.start(batch)
        desk.engine.finish(batch, Result(outcome=Outcome.RETRY, detail="no network"), now)
        row = desk.store._db.execute("SELECT state, not_before FROM batches").fetchone()
        waits.append((row["state"], row["not_before"] - now))
        now = row["not_before"]
    assert waits[:3] == [("pending", 30.0), ("pending", 60.0), ("pending", 120.0)]
    assert waits[3][0] == "parked"
    assert desk.store.meta.get(LAST_ERROR)["message"] == "no network"
    assert desk.store.batches.retry() == 1


def test_an_error_is_forgotten_once_its_batch_is_judged(desk: Desk) -> None:
    desk.say(*FIVE)
    batch = desk.batch()
    desk.engine.finish(batch, Result(outcome=Outcome.RETRY, detail="no network"), NOW)
    desk.engine.finish(batch, BatchResult(outcome=Outcome.NOTHING), NOW + 60)
    assert desk.store.meta.get(LAST_ERROR) is None


@pytest.mark.parametrize(("asked", "waits"), [(90, 90.0), (None, 30.0), (1, 30.0), (1e12, 86400.0)])
def test_a_server_may_ask_for_a_longer_wait_but_not_for_ever(desk: Desk, asked: float | None, waits: float) -> None:
    desk.say(*FIVE)
    batch = desk.batch()
    desk.engine.finish(batch, Result(outcome=Outcome.RETRY, detail="busy", retry_after=asked), NOW)
    assert desk.engine.next_batch(NOW + waits - 1) is None
    assert desk.engine.next_batch(NOW + waits) is not None


def test_a_failure_is_parked_at_once_and_a_refusal_is_done(desk: Desk) -> None:
    desk.say(*FIVE)
    desk.engine.finish(desk.batch(), Result(outcome=Outcome.FAILED, detail="the key was rejected"), NOW)
    assert desk.counts() == (0, 0, 1)
    desk.say(*FIVE)
    desk.engine.finish(desk.batch(), Result(outcome=Outcome.REFUSED, detail="no JSON"), NOW)
    assert desk.counts() == (0, 1, 1)
    assert desk.store.meta.get(LAST_ERROR)["message"] == "no JSON"


def test_a_session_of_now_goes_before_those_that_were_read_again(desk: Desk) -> None:
    old = desk.path.with_name("s0.jsonl")
    write(old, *(typed(f"o{number}", text, session="s0") for number, text in enumerate(FIVE)), mtime=NOW - 86400)
    desk.engine.follower.sweep()
    desk.engine.close_due(NOW)
    desk.say(*FIVE)
    desk.engine.close_due(NOW)
    first = desk.batch()
    assert (first.session_id, desk.batch().session_id) == ("s1", "s0")


def test_a_worker_that_died_with_the_daemon_is_replaced(desk: Desk) -> None:
    desk.say(*FIVE)
    first = desk.batch()
    desk.start()
    assert desk.engine.next_batch(NOW) is None
    assert desk.store.batches.recover() == 1
    again = desk.engine.next_batch(NOW)
    assert again is not None
    assert again.id == first.id


def test_a_plan_is_kept_with_what_it_cost_and_handed_to_the_second_try(desk: Desk) -> None:
    desk.say(*FIVE)
    batch = desk.batch()
    plan = BatchResult(outcome=Outcome.PROPOSED, proposals=(PROPOSAL,), usage=Usage(2), model="m")
    desk.engine.save_plan(batch, plan, NOW)
    desk.store.batches.recover()
    again = desk.engine.next_batch(NOW)
    assert again is not None
    work = desk.engine.start(again).work
    assert isinstance(work, AnalyseBatch)
    assert work.batch.plan == Plan((PROPOSAL,))
    assert desk.store.proposals.count(State.OPEN) == 0
    assert desk.store.usage.rows()[0]["calls"] == 2


@pytest.mark.parametrize("changed", [".skilld.toml", ".git/refs/heads/main"])
def test_what_a_refused_project_changes_has_its_batch_done_again(desk: Desk, changed: str) -> None:
    project = desk.home / "project"
    write(project / ".git/HEAD", b"ref: refs/heads/main\n")
    (project / ".git/refs/heads").mkdir(parents=True)
    write(desk.path, *(typed(f"t{number}", text, cwd=str(project)) for number, text in enumerate(FIVE)), mtime=NOW)
    desk.engine.follower.sweep()
    refused = BatchResult(outcome=Outcome.FAILED, detail="no", cause=Obstacle(Cause.REPOSITORY, str(project)))
    desk.engine.finish(desk.batch(), refused, NOW)
    assert desk.counts() == (0, 0, 1)
    assert desk.engine.obstacles.retry_cleared(NOW + 60) == 0
    write(project / changed, b"#\n")
    assert desk.engine.obstacles.retry_cleared(NOW + 120) == 1
