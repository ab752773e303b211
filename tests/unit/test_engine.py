"""The daemon's decisions, driven by values: transcripts, the clock and workers' results as arguments."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skilld.clock import local_day, parse_time, rfc3339
from skilld.daemon.engine import Engine
from skilld.daemon.obstacles import Setbacks
from skilld.ingest import side_files
from skilld.ingest.discover import Host
from skilld.pipeline.messages import read_batch
from skilld.protocol import AnalyseBatch, BatchResult, Obstacle, Plan, Result, Source
from skilld.settings import Settings
from skilld.store.batches import Delay, StoredBatch
from skilld.store.connection import Connection
from skilld.store.meta import LAST_ERROR, PAUSED_UNTIL
from skilld.types import Cause, Outcome, State, Usage
from support.claude_lines import append_lines, prompt_line, session_end_line, write_transcript
from support.new_store import new_store
from support.proposals import COMMIT_FIELDS, make_proposal

NOW = 1772442000.0
LASTING = "from now on always put the ticket number first"
PROPOSAL = make_proposal(**COMMIT_FIELDS)


class EngineHarness:
    """An engine over a store and one folder of transcripts."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.path = home / ".claude/projects/-p/s1.jsonl"
        self.path.parent.mkdir(parents=True)
        self.store = new_store(home / "skilld.db")
        self.engine = self.start()

    def start(self, **settings: Any) -> Engine:
        """Start over, as after a kill."""
        offline = Settings(model="offline", **settings)
        self.engine = Engine(self.store, offline, Host(self.home, {}), NOW, redact=str.strip)
        return self.engine

    def say(self, *texts: str) -> None:
        """Have a person say something, a second after the last word of the session."""
        said = self.path.read_bytes().count(b"\n") if self.path.exists() else 0
        lines = [prompt_line(f"t{said + number}", text) for number, text in enumerate(texts)]
        write_transcript(self.path, self.path.read_bytes() if said else b"", *lines, mtime=NOW + said)
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
def harness(tmp_path: Path) -> Iterator[EngineHarness]:
    made = EngineHarness(tmp_path)
    yield made
    made.store.close()


FIVE = ("hello", LASTING, "ok", "thanks", "go on")


def test_five_turns_make_a_batch_and_a_restart_makes_no_second(harness: EngineHarness) -> None:
    harness.say(*FIVE[:4])
    assert harness.engine.close_due(NOW) == 0
    harness.say(FIVE[4])
    assert harness.engine.close_due(NOW) == 1
    assert harness.engine.close_due(NOW) == 0
    harness.start()
    harness.engine.follower.sweep()
    assert harness.engine.close_due(NOW + 1e6) == 0
    assert harness.counts() == (1, 0, 0)


def test_the_remainder_is_judged_when_the_session_is_idle(harness: EngineHarness) -> None:
    harness.say("hello", LASTING)
    assert harness.engine.close_due(NOW + 599) == 0
    assert harness.engine.close_due(NOW + 601) == 1


def test_the_remainder_is_judged_at_once_when_the_session_ends(harness: EngineHarness) -> None:
    harness.say(LASTING)
    append_lines(harness.path, session_end_line())
    harness.engine.follower.sweep()
    assert harness.engine.close_due(NOW) == 1


def test_chatter_is_finished_without_a_worker(harness: EngineHarness) -> None:
    harness.say("hi", "ok", "thanks", "go on", "looks good")
    assert harness.engine.close_due(NOW) == 0
    assert harness.engine.next_batch(NOW) is None
    assert harness.counts() == (0, 1, 0)


def test_only_words_that_wait_for_a_worker_are_kept(harness: EngineHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: NOW)
    harness.say("hi", "ok", "thanks", "go on", "looks good", "thanks again")
    harness.engine.close_due(NOW)
    assert harness.store.words.keys() == [], "chatter is not kept, not even what is in no batch"
    harness.say(LASTING)
    assert harness.store.words.keys() == ["claude-code:t6"]
    harness.engine.close_due(NOW + 700)
    batch = harness.engine.next_batch(NOW + 700)
    assert batch is not None
    for outcome, kept in (("failed", ["claude-code:t6"]), ("nothing", [])):
        harness.store.batches.finish(batch.id, outcome, "", "")  # and killed before the words are overwritten
        harness.start()
        assert harness.store.words.keys() == kept


def test_words_of_a_clock_that_is_ahead_are_no_repeat_of_themselves(harness: EngineHarness) -> None:
    ahead = rfc3339(time.time() + 1740)
    write_transcript(harness.path, b"", prompt_line("a", LASTING, at=ahead), prompt_line("b", at="not a time"))
    before = time.time()
    harness.engine.follower.sweep()
    at = parse_time(harness.store.transcripts.said_at("claude-code:a"))
    assert at is not None
    assert before - 1 <= at <= time.time()


def test_while_paused_batches_close_but_are_not_started(harness: EngineHarness) -> None:
    harness.store.meta.set(PAUSED_UNTIL, NOW + 60)
    harness.say(*FIVE)
    assert harness.engine.close_due(NOW) == 1
    assert harness.engine.next_batch(NOW) is None
    assert harness.engine.next_batch(NOW + 60) is not None


def test_the_stored_job_holds_no_text_and_no_key(harness: EngineHarness) -> None:
    harness.start(model_api_key="sk-secret")
    harness.say(*FIVE)
    harness.engine.close_due(NOW)
    batch = harness.engine.next_batch(NOW)
    assert batch is not None
    assert LASTING not in repr(batch.job)
    assert batch.job.turns == tuple(f"claude-code:t{number}" for number in range(5))
    assert batch.job.sources == (Source(str(harness.path), 0, harness.path.stat().st_size),)
    harness.engine.start(batch)
    kept = b"".join(path.read_bytes() for path in harness.home.glob("skilld.*"))
    assert b"sk-secret" not in kept
    assert LASTING.encode() not in kept


def test_the_worker_finds_a_turn_that_was_written_while_the_file_was_read(
    harness: EngineHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.say(*FIVE[:3])
    late = [prompt_line("t4", FIVE[4])]
    monkeypatch.setattr(side_files, "provide", lambda *_: append_lines(harness.path, late.pop()) if late else None)
    append_lines(harness.path, prompt_line("t3", FIVE[3]))  # opened, then grown, then read
    harness.engine.follower.sweep()
    harness.engine.close_touched(NOW)
    harness.engine.follower.sweep()
    assert [message.text for message in read_batch(harness.batch().job, str)] == [*FIVE]


def test_a_result_with_a_proposal_is_kept_once(harness: EngineHarness) -> None:
    harness.say(*FIVE)
    batch = harness.batch()
    result = BatchResult(outcome=Outcome.PROPOSED, proposals=(PROPOSAL,), usage=Usage(2), model="m")
    assert harness.engine.finish(batch, result, NOW) == [PROPOSAL]
    assert harness.engine.finish(batch, replace(result, usage=Usage()), NOW) == []
    assert harness.counts() == (0, 1, 0)


def test_temporary_failures_are_retried_ever_later_and_then_parked(harness: EngineHarness) -> None:
    harness.say(*FIVE)
    waits = []
    now = NOW
    for _ in range(4):
        harness.engine.close_due(now)
        batch = harness.engine.next_batch(now)
        assert batch is not None
        harness.engine.start(batch)
        harness.engine.finish(batch, Result(outcome=Outcome.RETRY, detail="no network"), now)
        row = harness.store._db.execute("SELECT state, not_before FROM batches").fetchone()
        waits.append((row["state"], row["not_before"] - now))
        now = row["not_before"]
    assert waits[:3] == [("pending", 30.0), ("pending", 60.0), ("pending", 120.0)]
    assert waits[3][0] == "parked"
    assert harness.store.meta.get(LAST_ERROR)["message"] == "no network"
    assert harness.store.batches.retry() == 1


def test_a_reason_to_wait_is_told_once_until_no_batch_has_it(harness: EngineHarness) -> None:
    setbacks, away = Setbacks(harness.store), Result(outcome=Outcome.RETRY, detail="no network")
    harness.say(*FIVE)
    batch = harness.batch()
    told = []
    for result in (away, away, Result(outcome=Outcome.FAILED, detail="no key"), BatchResult(outcome=Outcome.NOTHING)):
        harness.engine.finish(batch, result, NOW)
        told.append(setbacks.new_reason(batch.id, NOW))
        batch = harness.store.batches.get(batch.id) or batch
    assert told == [
        "Waiting to judge a batch: no network; next try in 30 s",
        "",
        "Could not judge a batch: no key. To see what to do: skilld doctor",
        "",
    ]
    harness.engine.finish(batch, away, NOW)
    assert "no network" in setbacks.new_reason(batch.id, NOW)


def test_a_budget_that_was_spent_within_a_batch_is_told_once(harness: EngineHarness) -> None:
    harness.say(*FIVE)
    batch = harness.batch()
    harness.store.usage.add(local_day(NOW), "m", "", Usage(10**6))
    harness.engine.finish(batch, Result(outcome=Outcome.RETRY, detail="the budget is spent"), NOW)
    assert "the budget is spent: " in harness.store.batches.delays()[0].why
    assert Setbacks(harness.store).new_reason(batch.id, NOW) == ""
    assert "model calls used" in str(harness.engine.new_budget_reason())
    assert harness.engine.new_budget_reason() is None


def test_why_batches_wait_is_known_even_if_another_failed_last(harness: EngineHarness) -> None:
    harness.say(*FIVE)
    first = harness.batch()
    harness.engine.finish(first, Result(outcome=Outcome.RETRY, detail="no network"), NOW)
    harness.store.meta.delete(LAST_ERROR)  # another one failed, and then succeeded
    assert harness.store.batches.delays() == [Delay("no network", 1, NOW + 30)]
    harness.engine.start(first)
    assert harness.store.batches.delays(), "also while it is tried again"
    assert harness.store.batches.retry() == 0
    harness.engine.finish(first, BatchResult(outcome=Outcome.NOTHING), NOW + 60)
    assert harness.store.batches.delays() == []


def test_an_error_is_forgotten_once_its_batch_is_judged(harness: EngineHarness) -> None:
    harness.say(*FIVE)
    batch = harness.batch()
    harness.engine.finish(batch, Result(outcome=Outcome.RETRY, detail="no network"), NOW)
    harness.engine.finish(batch, BatchResult(outcome=Outcome.NOTHING), NOW + 60)
    assert harness.store.meta.get(LAST_ERROR) is None


@pytest.mark.parametrize(("asked", "waits"), [(90, 90.0), (None, 30.0), (1, 30.0), (1e12, 86400.0)])
def test_a_server_may_ask_for_a_longer_but_bounded_wait(
    harness: EngineHarness, asked: float | None, waits: float
) -> None:
    harness.say(*FIVE)
    batch = harness.batch()
    harness.engine.finish(batch, Result(outcome=Outcome.RETRY, detail="busy", retry_after=asked), NOW)
    assert harness.engine.next_batch(NOW + waits - 1) is None
    assert harness.engine.next_batch(NOW + waits) is not None


def test_a_failure_is_parked_at_once_and_a_refusal_is_done(harness: EngineHarness) -> None:
    harness.say(*FIVE)
    harness.engine.finish(harness.batch(), Result(outcome=Outcome.FAILED, detail="the key was rejected"), NOW)
    assert harness.counts() == (0, 0, 1)
    harness.say(*FIVE)
    harness.engine.finish(harness.batch(), Result(outcome=Outcome.REFUSED, detail="no JSON"), NOW)
    assert harness.counts() == (0, 1, 1)
    assert harness.store.meta.get(LAST_ERROR)["message"] == "no JSON"


def test_current_sessions_go_before_backfilled_ones(harness: EngineHarness) -> None:
    old = harness.path.with_name("s0.jsonl")
    write_transcript(
        old, *(prompt_line(f"o{number}", text, session="s0") for number, text in enumerate(FIVE)), mtime=NOW - 86400
    )
    harness.engine.follower.sweep()
    harness.engine.close_due(NOW)
    harness.say(*FIVE)
    harness.engine.close_due(NOW)
    first = harness.batch()
    assert (first.session_id, harness.batch().session_id) == ("s1", "s0")


def test_a_job_lost_with_the_daemon_is_started_again(harness: EngineHarness) -> None:
    harness.say(*FIVE)
    first = harness.batch()
    harness.start()
    assert harness.engine.next_batch(NOW) is None
    assert harness.store.batches.recover() == 1
    batch = harness.engine.next_batch(NOW)
    assert batch is not None
    assert batch.id == first.id


def test_a_plan_is_stored_and_reused_by_the_next_try(harness: EngineHarness) -> None:
    harness.say(*FIVE)
    batch = harness.batch()
    plan = BatchResult(outcome=Outcome.PROPOSED, proposals=(PROPOSAL,), usage=Usage(2), model="m")
    harness.engine.save_plan(batch, plan, NOW)
    harness.store.batches.recover()
    again = harness.engine.next_batch(NOW)
    assert again is not None
    work = harness.engine.start(again).work
    assert isinstance(work, AnalyseBatch)
    assert work.batch.plan == Plan((PROPOSAL,))
    assert harness.store.proposals.count(State.OPEN) == 0


@pytest.mark.parametrize("changed", [".skilld.toml", ".git/refs/heads/main", "../main/.git/refs/heads/main"])
def test_a_change_in_a_refused_project_restarts_its_batch(harness: EngineHarness, changed: str) -> None:
    project = harness.home / "project"
    git_dir = common = project / ".git"
    if "../" in changed:  # it is a linked work tree
        common = harness.home / "main/.git"
        git_dir = common / "worktrees/project"
        write_transcript(project / ".git", f"gitdir: {git_dir}\n".encode())
        write_transcript(git_dir / "commondir", b"../..\n")
    write_transcript(git_dir / "HEAD", b"ref: refs/heads/main\n")
    (common / "refs/heads").mkdir(parents=True)
    write_transcript(
        harness.path,
        *(prompt_line(f"t{number}", text, cwd=str(project)) for number, text in enumerate(FIVE)),
        mtime=NOW,
    )
    harness.engine.follower.sweep()
    result = BatchResult(outcome=Outcome.FAILED, detail="no", cause=Obstacle(Cause.REPOSITORY, str(project)))
    harness.engine.finish(harness.batch(), result, NOW)
    assert harness.counts() == (0, 0, 1)
    assert harness.engine.obstacles.retry_cleared(NOW + 60) == 0
    write_transcript(project / changed, b"#\n")
    assert harness.engine.obstacles.retry_cleared(NOW + 120) == 1


def test_only_what_cannot_be_read_again_is_synced(harness: EngineHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    harness.engine.close_due(NOW)
    commits: list[int] = []
    execute = Connection.execute

    def record(db: Connection, *arguments: Any) -> sqlite3.Cursor:
        if arguments[0] == "COMMIT":
            commits.append(execute(db, "PRAGMA synchronous").fetchone()[0])
        return execute(db, *arguments)

    monkeypatch.setattr(Connection, "execute", record)
    harness.say("hello", "ok", "thanks", "go on", "yes")
    harness.engine.close_due(NOW)
    assert set(commits) == {1}  # NORMAL: turns and chatter
    harness.say(*FIVE)
    harness.engine.close_due(NOW)
    assert commits[-1] == 2  # FULL: a batch for a worker


def test_a_raised_budget_releases_what_waits_for_it(harness: EngineHarness) -> None:
    settings = harness.engine.settings.model_copy(update={"model": "openai/stub"})
    harness.engine.use_settings(settings)
    harness.say(*FIVE)
    harness.engine.close_due(NOW)
    harness.store.usage.add(local_day(NOW), "m", "", Usage(settings.budget.calls))
    assert harness.engine.next_batch(NOW) is None
    assert harness.engine.next_batch(NOW + 1) is None
    raised = settings.budget.model_copy(update={"calls": settings.budget.calls + 1})
    harness.engine.use_settings(settings.model_copy(update={"budget": raised}))
    assert harness.engine.next_batch(NOW + 1) is not None


def test_another_judge_is_asked_at_once_about_what_waits_for_a_limit(harness: EngineHarness) -> None:
    harness.say(*FIVE)
    why = "Codex: it has reached its usage limit; skilld will ask again at 12:00"
    harness.engine.finish(harness.batch(), Result(outcome=Outcome.RETRY, detail=why), NOW)
    assert harness.engine.next_batch(NOW + 1) is None
    harness.engine.use_settings(harness.engine.settings)
    assert harness.engine.next_batch(NOW + 1) is not None


def test_other_settings_do_not_hurry_what_failed(harness: EngineHarness) -> None:
    harness.say(*FIVE)
    harness.engine.finish(harness.batch(), Result(outcome=Outcome.RETRY, detail="no network"), NOW)
    harness.engine.use_settings(harness.engine.settings)
    assert harness.engine.next_batch(NOW + 1) is None
