"""Mining at night: once a day, if enabled and nobody is at work."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from skilld.daemon import schedule
from skilld.daemon.engine import Engine
from skilld.ingest.discover import Host
from skilld.past import PastSession
from skilld.protocol import MEND_RULES, MINE_SESSIONS, SYNC_MACHINES, SYNC_TEAMS, Job, Result
from skilld.settings import Settings
from skilld.store.meta import CORRECTIONS_READ, FOREVER, PAUSED_UNTIL
from skilld.types import Outcome
from skilld.worker.spawn import VerbWorker
from support.new_store import new_store
from support.waiting import LIMIT

EVENING, NIGHT = datetime(2026, 3, 1, 22, tzinfo=UTC).timestamp(), datetime(2026, 3, 2, 3, 30, tzinfo=UTC).timestamp()
A_DAY = 86400.0


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    settings = Settings(model="offline", mine={"nightly": True})
    return Engine(new_store(tmp_path / "skilld.db"), settings, Host(tmp_path, {}), EVENING)


def test_mining_is_scheduled_once_a_night_and_once_after_sleeping_for_nights(engine: Engine) -> None:
    assert not schedule.due_verb(engine, NIGHT - 3600)
    assert schedule.due_verb(engine, NIGHT) == MINE_SESSIONS
    assert not any(schedule.due_verb(engine, NIGHT + hours * 3600) for hours in (1, 10, 20))
    assert schedule.due_verb(engine, NIGHT + 5 * A_DAY)
    assert not schedule.due_verb(engine, NIGHT + 5 * A_DAY + 60)


def test_it_waits_until_nobody_is_active_and_the_pause_ends(engine: Engine) -> None:
    engine.store.transcripts.record_activity("codex", "s1", cwd=None, activity=NIGHT - 60)
    assert not schedule.due_verb(engine, NIGHT)
    engine.store.meta.set(PAUSED_UNTIL, FOREVER)
    assert not schedule.due_verb(engine, NIGHT + 3600)
    engine.store.meta.delete(PAUSED_UNTIL)
    assert schedule.due_verb(engine, NIGHT + 3600)


def test_it_is_off_by_default(tmp_path: Path) -> None:
    engine = Engine(new_store(tmp_path / "skilld.db"), Settings(), Host(tmp_path, {}), EVENING)
    assert not schedule.due_verb(engine, NIGHT)


def test_rules_are_checked_every_night_and_by_day_after_corrections(tmp_path: Path) -> None:
    store = new_store(tmp_path / "skilld.db")
    engine = Engine(store, Settings(), Host(tmp_path, {}), EVENING)
    assert schedule.due_verb(engine, NIGHT) is None
    bare = PastSession("codex", "s1", "/p", "", 1.0, (), (), (), ())
    store.past.save("/t.jsonl", 1, 1.0, [bare])
    store.meta.set(CORRECTIONS_READ, True)  # noqa: FBT003 - a value
    assert schedule.due_verb(engine, NIGHT) is None, "no session had a rule loaded"
    store.past.save("/t.jsonl", 1, 1.0, [replace(bare, loaded=("/p/AGENTS.md",))])
    assert [schedule.due_verb(engine, NIGHT), schedule.due_verb(engine, NIGHT + 60)] == [MEND_RULES, None]
    store.meta.set(CORRECTIONS_READ, True)  # noqa: FBT003 - a value
    store.meta.set(PAUSED_UNTIL, FOREVER)
    assert schedule.due_verb(engine, NIGHT + 7200) is None
    store.meta.delete(PAUSED_UNTIL)
    assert [schedule.due_verb(engine, NIGHT + 7200), schedule.due_verb(engine, NIGHT + 7260)] == [MEND_RULES, None]


def test_a_joined_team_is_synced_once_an_hour(tmp_path: Path) -> None:
    store, noon = new_store(tmp_path / "skilld.db"), EVENING - 10 * 3600
    engine = Engine(store, Settings(), Host(tmp_path, {}), noon)
    assert schedule.due_verb(engine, noon) is None
    engine.use_settings(Settings(team={"repositories": ["/p"]}, machines={"remote": "git@example.org:me/m.git"}))
    assert [schedule.due_verb(engine, noon) for _ in range(3)] == [SYNC_TEAMS, SYNC_MACHINES, None]
    assert schedule.due_verb(engine, noon + 3599) is None
    assert schedule.due_verb(engine, noon + 3600) == SYNC_TEAMS
    assert schedule.due_verb(engine, noon - A_DAY) == SYNC_TEAMS, "a clock that was set back holds nothing up"
    store.meta.set(PAUSED_UNTIL, FOREVER)
    assert schedule.due_verb(engine, noon + A_DAY) is None


def test_the_job_runs_the_program_itself_and_returns_a_result(home: Path) -> None:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "SKILLD_MODEL": "offline"}
    root = Path(__file__).parents[2]
    with VerbWorker({**environment, "PYTHONPATH": str(root)}) as worker:
        assert worker.do(Job(MINE_SESSIONS, 0o077), LIMIT) == Result(outcome=Outcome.NOTHING)
        refused = worker.do(Job(MEND_RULES, 0o077), LIMIT)
        assert (refused.outcome, refused.exit) == (Outcome.RETRY, 5)  # only a daemon's, and nobody is at a terminal
