"""The settings `status` shows from the cache: only while nothing they come from has changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skilld.daemon.engine import Engine
from skilld.daemon.notices import Notices
from skilld.daemon.reload import SettingsFile
from skilld.daemon.settings_cache import (
    BudgetLimits,
    ShownSettings,
    daemon_settings,
    judge_variables,
    load_settings,
    settings_origin,
    shown_settings,
    store_settings,
)
from skilld.ingest.discover import Host
from skilld.settings import load_file
from skilld.store import Store
from skilld.store.meta import ACTIVE_SETTINGS
from support.program import Program

NOW = 1_780_000_000.0


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text('model = "offline"\n[batch]\nidle_minutes = 3\n[budget]\ncalls = 7\nusd = 2\n')
    path.chmod(0o600)
    return path


@pytest.fixture
def cached(store: Store, file: Path) -> str:
    """Return the origin of settings that were kept."""
    cached = settings_origin(file, {"SKILLD_MODEL": "offline"})
    store_settings(store, load_file(file), cached)
    return cached


def test_the_cache_equals_the_settings(store: Store, file: Path, cached: str) -> None:
    assert (
        load_settings(store, cached)
        == shown_settings(load_file(file))
        == ShownSettings("offline", 3.0, BudgetLimits(7, 400_000, 2.0))
    )


def test_the_cache_starts_empty(store: Store, file: Path) -> None:
    assert load_settings(store, settings_origin(file, {})) is None


@pytest.mark.usefixtures("cached")
def test_a_rewritten_file_is_read_again(store: Store, file: Path) -> None:
    facts = file.stat()
    file.write_bytes(file.read_bytes())
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert load_settings(store, settings_origin(file, {"SKILLD_MODEL": "offline"})) is None


@pytest.mark.usefixtures("cached")
def test_changed_rights_and_missing_or_unreachable_files_invalidate_the_cache(store: Store, file: Path) -> None:
    same = {"SKILLD_MODEL": "offline"}
    assert load_settings(store, settings_origin(file, same)) is not None
    file.chmod(0o666)  # settings that are refused
    assert load_settings(store, settings_origin(file, same)) is None
    store_settings(
        store, load_file(file.with_name("absent")), settings_origin(file.with_name("below") / file.name, same)
    )
    file.unlink()
    assert load_settings(store, settings_origin(file, same)) == ShownSettings(
        "auto", 10, BudgetLimits(60, 400_000, 1.0)
    )
    unreachable = settings_origin(Path("/dev/null/config.toml"), same)
    store_settings(store, load_file(file), unreachable)
    assert (unreachable, load_settings(store, unreachable)) == ("", None)


@pytest.mark.parametrize("environment", [{}, {"SKILLD_MODEL": "auto"}, {"SKILLD_MODEL": "offline", "skilld_x": "1"}])
@pytest.mark.usefixtures("cached")
def test_changed_variables_invalidate_the_cache(store: Store, file: Path, environment: dict[str, str]) -> None:
    assert load_settings(store, settings_origin(file, environment)) is None


@pytest.mark.usefixtures("cached")
def test_another_version_reads_the_settings_itself(store: Store, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skilld.daemon.settings_cache.__version__", "0.0.0")
    assert load_settings(store, settings_origin(file, {"SKILLD_MODEL": "offline"})) is None


def test_a_key_leaves_no_trace_in_the_cache(file: Path) -> None:
    environments = [{"SKILLD_MODEL_API_KEY": key, "SKILLD_MODEL_BASE_URL": f"https://{key}@host"} for key in "ab"]
    assert settings_origin(file, environments[0]) == settings_origin(file, environments[1]) != settings_origin(file, {})


def test_what_decides_who_judges_is_kept_without_a_login() -> None:
    path = "/opt/homebrew/opt/node@20/bin:/usr/bin"
    assert judge_variables({"PATH": path, "OLLAMA_HOST": "http://me:pw@host", "OPENAI_API_KEY": "k"}) == {"PATH": path}


def test_settings_of_a_daemon_of_another_version_are_read(store: Store, file: Path) -> None:
    store_settings(store, load_file(file), "x")
    store.meta.set(ACTIVE_SETTINGS, {**store.meta.get(ACTIVE_SETTINGS, {}), "later": 1})
    assert daemon_settings(store) == shown_settings(load_file(file))


def test_status_reads_no_settings_the_daemon_cached_and_shows_the_same(tmp_path: Path) -> None:
    program, watched = Program(tmp_path), Program(tmp_path, {"PYTHONPROFILEIMPORTTIME": "1"})

    def run_status() -> tuple[str, bool]:
        result = watched.run("status", "--json")
        assert result.returncode == 0, result.stderr
        return result.stdout, "pydantic" in result.stderr

    assert program.run("run", "--once").returncode == 0
    quick = run_status()
    assert quick[1] is False
    watched.environment["SKILLD_BATCH__TURNS"] = "5"  # what it is by default
    assert run_status() == (quick[0], True)
    assert program.run("config", "set", "budget.calls", "7").returncode == 0
    assert program.json("status")["budget"]["calls"] == 7


def test_a_change_applied_by_the_daemon_is_cached(tmp_path: Path, store: Store, file: Path) -> None:
    engine = Engine(store, load_file(file), Host(tmp_path, {}), NOW)
    notices = Notices(store, engine.settings.notify, None, lambda _: None, {})
    followed = SettingsFile(file, engine.settings)
    followed.apply_changes(engine, notices, NOW)
    assert load_settings(store, settings_origin(file, os.environ)) is None
    file.write_text("[batch]\nidle_minutes = 4\n")
    followed.apply_changes(engine, notices, NOW)
    assert load_settings(store, settings_origin(file, os.environ)) == shown_settings(engine.settings)
    assert engine.settings.batch.idle_minutes == 4
