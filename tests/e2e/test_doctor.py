"""Broken setups, built for real: the doctor names the right part, the cause and the remedy."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from skilld import __version__
from skilld.agents import ADAPTERS
from skilld.cli.common import store
from skilld.clock import local_day
from skilld.daemon.lock import Lock, show_life
from skilld.protocol import BatchJob
from skilld.store import Store
from skilld.store.batches import StoredBatch
from skilld.store.meta import DAEMON, INSTALLED_AT, PAUSED_UNTIL, UNAVAILABLE_JUDGES
from skilld.types import ClosedBy, Usage
from support.claude_lines import prompt_line, write_transcript
from support.program import Program
from support.proposals import make_proposal
from support.stub_model import StubModel

Said = dict[str, dict[str, str]]


class BrokenSetup:
    """A home in which all is well but the desktop's bus, for the offline back-end, with one session of Claude Code."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.program = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"})
        self.state = home / ".local/state/skilld"
        self.session = write_transcript(home / ".claude/projects/-p/s0.jsonl", prompt_line("t0"))
        store().close()

    def examine(self, *arguments: str) -> Said:
        """Return what the doctor says, by name."""
        checks = self.program.json("doctor", *arguments)["checks"]
        assert len({check["name"] for check in checks}) == len(checks)
        return {check["name"]: check for check in checks}

    def why_nothing(self) -> list[str]:
        return list(self.program.json("doctor")["why_nothing"])

    def set(self, **variables: str) -> None:
        self.program.environment.update(variables)


@pytest.fixture
def setup(home: Path) -> BrokenSetup:
    return BrokenSetup(home)


def failed_checks(said: Said) -> set[str]:
    """Return what is wrong but for the daemon, which runs in few of these homes, and the account of the tests."""
    return {name for name, check in said.items() if check["verdict"] in {"warn", "fail"}} - {"daemon", "account"}


def test_a_healthy_setup_passes_and_checking_changes_nothing(setup: BrokenSetup) -> None:
    with setup.program.daemon():
        said = setup.examine()
    assert failed_checks(said) == set()
    absent = {f"agent {name}" for name in ADAPTERS if name != "claude-code"}
    assert {name for name, check in said.items() if check["verdict"] == "skip"} == absent | {"service", "notices"}
    assert said["agent claude-code"]["detail"].startswith("1 session file, last activity ")
    fresh = setup.home / "fresh"
    fresh.mkdir()
    setup.set(HOME=str(fresh))
    assert setup.examine()["database"]["verdict"] == "ok"
    assert list(fresh.iterdir()) == []


def _damage(setup: BrokenSetup) -> None:
    database = setup.state / "skilld.db"
    sqlite3.connect(database).execute("PRAGMA wal_checkpoint(TRUNCATE)").connection.close()
    database.write_bytes(database.read_bytes()[:4096] + b"\xff" * 8192)


def _move_project_away(setup: BrokenSetup) -> None:
    folder = setup.session.parent
    folder.rename(setup.home / "sessions")
    folder.symlink_to(setup.home / "sessions")


def _set_clock_back(setup: BrokenSetup) -> None:
    ahead = time.time() + 3625  # rounded to minutes when it is looked at, up to 55 seconds from now
    os.utime(setup.session, (ahead, ahead))


UNIT = b'[Service]\nExecStart=:"/nowhere/bin/python" "-m" "skilld" run\n'
BROKEN: dict[str, tuple[Callable[[BrokenSetup], object], str, str]] = {
    "settings": (
        lambda one: write_transcript(one.home / ".config/skilld/config.toml", b"modle = 'offline'\n"),
        "did you mean model?",
        "config.toml",
    ),
    "permissions": (lambda one: one.state.chmod(0o755), "", "chmod 700 /"),
    "agents": (lambda one: shutil.rmtree(one.home / ".claude"), "", "roots.claude-code"),
    "database": (_damage, "damaged", "skilld run"),
    "agent claude-code": (_move_project_away, "/projects/-p is a link, so the sessions behind it", "Move the sessions"),
    "pause": (lambda one: one.program.run("pause"), "paused until you resume", "skilld resume"),
    "clock": (_set_clock_back, "60 minutes in the future", ""),
    "service": (
        lambda one: write_transcript(one.home / ".config/systemd/user/skilld.service", UNIT),
        "starts /nowhere/bin/python, which no longer exists",
        "",
    ),
    "notices": (lambda one: one.set(SKILLD_NOTIFY__ENABLED="true"), "no D-Bus session bus", ""),
}


@pytest.mark.parametrize("check", BROKEN)
def test_only_the_broken_part_is_named(setup: BrokenSetup, check: str) -> None:
    if sys.platform != "linux" and check in {"service", "notices"}:
        pytest.skip("systemd and a session bus are Linux's")
    spoil, detail, remedy = BROKEN[check]
    spoil(setup)
    said = setup.examine()
    assert failed_checks(said) == {check}
    assert detail in said[check]["detail"]
    assert remedy in said[check]["remedy"]


def test_02_a_state_folder_that_cannot_be_written(setup: BrokenSetup) -> None:
    setup.program.keep_out()
    setup.state.chmod(0o500)
    document = setup.program.json("doctor")
    said, why = {check["name"]: check for check in document["checks"]}, document["why_nothing"]
    paused = setup.program.run("pause")
    setup.state.chmod(0o700)
    assert failed_checks(said) == {"permissions"}
    assert said["permissions"]["remedy"] == f"chmod u+rwx {setup.state}"
    assert len(why) == 1, "the database can be read"
    assert why[0].startswith("skilld has not run here yet")
    assert (paused.returncode, "readonly database" in paused.stderr, "skilld doctor" in paused.stderr) == (
        1,
        True,
        True,
    )


def test_03_git_missing_or_too_old(setup: BrokenSetup, tmp_path: Path) -> None:
    setup.set(PATH=str(tmp_path))
    said = setup.examine()
    assert failed_checks(said) == {"git"}
    assert "Install git" in said["git"]["remedy"]
    (tmp_path / "git").write_text("#!/bin/sh\necho git version 2.20.1\n", encoding="utf-8")
    (tmp_path / "git").chmod(0o755)
    setup.set(PATH=f"{tmp_path}:/usr/bin:/bin")
    assert setup.examine()["git"]["detail"] == "2.20 is too old, 2.36 or newer is required"


def test_04_an_agents_folder_moved_to_a_missing_place(setup: BrokenSetup) -> None:
    setup.set(CLAUDE_CONFIG_DIR=str(setup.home / "gone"))
    said = setup.examine()
    assert failed_checks(said) == {"agent claude-code"}
    assert "CLAUDE_CONFIG_DIR points to" in said["agent claude-code"]["detail"]
    del setup.program.environment["CLAUDE_CONFIG_DIR"]
    setup.set(SKILLD_ROOTS__CODEX=str(setup.home / "gone"))
    assert "roots.codex" in setup.examine()["agent codex"]["detail"]


def test_06_unreadable_transcripts(setup: BrokenSetup) -> None:
    folder = setup.session.parents[1]
    folder.chmod(0)
    setup.program.keep_out()
    said = setup.examine()
    folder.chmod(0o700)
    assert failed_checks(said) == {"agent claude-code"}
    assert said["agent claude-code"]["remedy"] == f"chmod u+rx {folder}"


def test_07_a_model_without_its_key_and_an_agent_that_is_not_installed(setup: BrokenSetup) -> None:
    setup.set(SKILLD_MODEL="openai/gpt-5-mini")
    said = setup.examine()
    assert failed_checks(said) == {"judge"}
    assert said["judge"]["detail"] == "openai/gpt-5-mini: OPENAI_API_KEY is not set"
    setup.set(OPENAI_API_KEY="dummy")
    assert failed_checks(setup.examine()) == set()
    setup.set(SKILLD_MODEL="cli:claude", PATH="/usr/bin:/bin")
    assert "claude is not on PATH" in setup.examine()["judge"]["detail"]


def test_08_a_backend_that_refuses(setup: BrokenSetup, tmp_path: Path) -> None:
    claude = tmp_path / "claude"
    claude.write_text("#!/bin/sh\necho 'Invalid API key. Please run /login' >&2\nexit 1\n", encoding="utf-8")
    claude.chmod(0o755)
    setup.set(SKILLD_MODEL="cli:claude", PATH=f"{tmp_path}:{setup.program.environment['PATH']}")
    assert failed_checks(setup.examine()) == set()
    said = setup.examine("--ask")
    assert failed_checks(said) == {"judge"}
    assert "it is not logged in" in said["judge"]["detail"]
    assert "/login" in said["judge"]["remedy"]


def test_a_working_backend_is_asked_a_neutral_question_and_billed(setup: BrokenSetup) -> None:
    with StubModel() as model:
        model.queue("[]")
        setup.set(SKILLD_MODEL="openai/stub", SKILLD_MODEL_BASE_URL=model.base_url)
        assert setup.examine("--ask")["judge"]["detail"].endswith("it answered a test question (110 tokens)")
        (body,) = model.bodies
    assert "always use tabs" not in json.dumps(body)
    spent = setup.program.json("status")["spend_today"]
    assert (spent["calls"], spent["tests"]) == (1, 1)


def test_09_a_spent_budget(setup: BrokenSetup) -> None:
    store().usage.add(local_day(time.time()), "m", "", Usage(calls=60))
    setup.set(SKILLD_MODEL="openai/stub", OPENAI_API_KEY="dummy")
    said = setup.examine("--ask")
    assert failed_checks(said) == {"budget", "judge"}
    assert "60 of 60 model calls" in said["budget"]["detail"]
    assert "budget" in said["judge"]["detail"]


def test_before_setup_nothing_fails_for_not_being_set_up(setup: BrokenSetup) -> None:
    shutil.rmtree(setup.home / ".claude")
    result = setup.program.run("doctor")
    assert (result.returncode, result.stdout.splitlines()[-1]) == (0, "No checks failed.")
    said = setup.examine()
    assert (said["daemon"]["verdict"], said["daemon"]["remedy"]) == ("skip", "skilld setup")
    assert said["daemon"]["detail"] == "not set up yet: skilld has not run here"
    assert said["agents"]["verdict"] == "warn"
    write_transcript(setup.home / ".config/skilld/config.toml", b"model = 'offline'\n")
    assert {name: setup.examine()[name]["verdict"] for name in ("daemon", "agents")} == {
        "daemon": "fail",
        "agents": "fail",
    }


def test_11_a_daemon_that_is_stopped_or_hangs(setup: BrokenSetup) -> None:
    known = store()
    known.meta.set(INSTALLED_AT, 1_795_000_000.0)
    known.close()
    said = setup.examine()
    assert (said["daemon"]["verdict"], said["daemon"]["detail"]) == ("fail", "not running")
    assert said["daemon"]["remedy"].endswith(("skilld run", "skilld run)"))
    place = setup.state / "daemon.lock"
    lock = Lock.acquire(place)
    show_life(place, time.time() - 600)
    assert setup.examine()["daemon"]["detail"] == "not responding; last seen 10 minutes ago"
    assert "older skilld" not in setup.program.run("status").stdout
    older = "an older skilld is still running, from before the upgrade"
    again = "Stop it (Ctrl-C where it runs), then: skilld run"
    place.write_text(json.dumps(json.loads(place.read_text()) | {"code": "of an older version"}))
    for silent, verdict in ((600, "fail"), (0, "warn")):
        show_life(place, time.time() - silent)
        check = setup.examine()["daemon"]
        assert (check["verdict"], check["detail"], check["remedy"]) == (verdict, older, again)
        assert f"{older}. {again}" in " ".join(setup.program.run("status").stdout.split())
    lock.release()
    assert "older skilld" not in setup.program.run("status").stdout


def test_why_nothing_was_proposed_is_explained_step_by_step(setup: BrokenSetup) -> None:
    assert "skilld has not run here yet" in setup.why_nothing()[0]
    assert "--backfill 7" in setup.why_nothing()[0]
    assert setup.program.run("run", "--once").returncode == 0
    lasting = [f"From now on, always use {what} in this project." for what in ("tabs", "UTC", "British spelling")]
    turns = [*lasting, "thanks", "ok, go on", "looks good", "now run the tests"]
    write_transcript(
        setup.home / ".claude/projects/-p/s1.jsonl", *(prompt_line(f"n{i}", text) for i, text in enumerate(turns))
    )
    assert setup.program.run("run", "--once").returncode == 0
    first, *more = setup.why_nothing()
    assert first == "7 messages read: 5 judged (3 with a lasting instruction), 2 skipped (no lasting instructions)"
    status = setup.program.run("status").stdout
    assert "turns     5 judged: 3 with a lasting instruction, 2 without\n          2 skipped (no lasting" in status
    assert more[0] == "3 lasting instructions kept, but not in any file yet (list: skilld learnings)"


def test_links_to_sessions_are_named_and_other_links_are_not(setup: BrokenSetup) -> None:
    project, away = setup.session.parent, setup.home / "away"
    away.mkdir()
    (away / "notes.md").write_text("- Mine.\n")
    (project / "memory").symlink_to(away)
    (project / "gone.jsonl").symlink_to(away / "gone.jsonl")
    (project / "latest.jsonl").symlink_to(setup.session)
    (project.parent / "-twice").symlink_to(project)
    assert failed_checks(setup.examine()) == set()
    assert "is a link" not in setup.program.run("run", "--once").stdout
    (project / "latest.jsonl").unlink()
    setup.session.rename(away / "s9.jsonl")
    setup.session.symlink_to(away / "s9.jsonl")
    (project.parent / "-q").mkdir()
    (project.parent / "-q/s9.jsonl").symlink_to(away / "s9.jsonl")
    detail = setup.examine()["agent claude-code"]["detail"]
    assert detail.endswith(" is a link, so the sessions behind it are not read (and 1 more)")
    assert detail in " ".join(setup.program.run("run", "--once", "--backfill", "1").stdout.split())


@pytest.mark.parametrize("file", [True, False])
def test_transcripts_that_any_user_can_change_are_named(setup: BrokenSetup, *, file: bool) -> None:
    path = setup.session if file else setup.session.parent
    path.chmod(path.stat().st_mode | 0o020)  # the umask of many systems lets a person's own group write
    assert failed_checks(setup.examine()) == set()
    path.chmod(path.stat().st_mode | 0o002)
    said = setup.examine()["agent claude-code"]
    assert (said["verdict"], said["detail"]) == ("warn", f"any user can change {path}")
    assert said["remedy"] == f"chmod -R o-w {path}"
    subprocess.run(said["remedy"], shell=True, check=True)  # noqa: S602 - as a person types it
    assert failed_checks(setup.examine()) == set()


@pytest.mark.parametrize("name", ["skilld.db", "skilld.db-wal", "redaction.key"])
@pytest.mark.parametrize("verb", ["proposals", "status", "pause"])
def test_what_others_can_change_is_refused_by_every_verb(setup: BrokenSetup, verb: str, name: str) -> None:
    assert setup.program.run("run", "--once").returncode == 0
    path = setup.state / name
    path.touch(0o600)
    assert setup.program.run(verb).returncode == 0
    path.touch(0o600)
    path.chmod(0o666)
    result = setup.program.run(verb)
    assert (result.returncode, f"chmod go= ~/.local/state/skilld/{name}\n" in result.stderr) == (1, True), result.stderr
    assert setup.examine()["permissions"]["verdict"] == "fail"
    path.touch()  # SQLite deletes an empty log
    path.chmod(0o600)
    assert setup.program.run(verb).returncode == 0


def test_doctor_output_is_safe_for_a_terminal(setup: BrokenSetup) -> None:
    setup.set(CLAUDE_CONFIG_DIR=str(setup.home / "go\x1b[31mne"))
    result = setup.program.run("doctor")
    assert (result.returncode, "\x1b" in result.stdout) == (1, False)
    assert "go\\x1b[31mne" in result.stdout
    assert "1 of " in result.stdout or "2 of " in result.stdout


def _park_batch(known: Store) -> None:
    at = "2026-03-02T09:00:00Z"
    known.batches.add(StoredBatch("b", "claude-code", "s0", ClosedBy.FULL, "pending", BatchJob(), 0, at), [])
    known.batches.park("b", "error", "no answer")


def _move_away(known: Store) -> None:
    absent = {"why": "not logged in", "remedy": "claude", "limit": False, "since": 0, "until": 9e9, "times": 1}
    known.meta.set(UNAVAILABLE_JUDGES, {"offline": absent})


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda known: known.meta.set(PAUSED_UNTIL, "until you resume"), []),  # the person's own choice
        (_park_batch, ["batches"]),
        (lambda known: known.proposals.add(make_proposal()), ["proposals"]),
        (_move_away, ["judge offline"]),
    ],
    ids=["paused", "parked", "open proposal", "back-end away"],
)
def test_status_check_tells_a_script_what_needs_attention(
    setup: BrokenSetup, change: Callable[[Store], object], named: list[str]
) -> None:
    """R8, U2: 4 without a daemon, 1 where something needs the person, else 0; plain `status` is 0 all the same."""
    known = store()
    change(known)
    known.close()
    without = setup.program.run("status", "--check")
    assert (without.returncode, without.stdout) == (4, "daemon: not running -> skilld run\n")
    assert setup.program.run("status").returncode == 0
    lock = Lock.acquire(setup.state / "daemon.lock")
    try:
        result = setup.program.run("status", "--check", "--json")
        told = setup.program.run("status", "--check").stdout.splitlines()
        assert setup.program.run("status").returncode == 0
    finally:
        lock.release()
    assert [one["what"] for one in json.loads(result.stdout)["needs"]] == named
    assert result.returncode == bool(named)
    assert [line.partition(":")[0] for line in told] == (named or ["Nothing needs your attention."])


def test_18_3_doctor_exits_1_if_a_check_fails_and_otherwise_0(setup: BrokenSetup) -> None:
    """A warning is no failure, and `--json` exits as the lines do."""
    known = store()
    known.meta.set(DAEMON, {"version": __version__})
    known.close()
    lock = Lock.acquire(setup.state / "daemon.lock")
    try:
        well = setup.program.run("doctor")
        assert (well.returncode, well.stdout.splitlines()[-1]) == (0, "No checks failed.")
        assert setup.program.run("pause").returncode == 0
        warned = setup.program.run("doctor", "--json")
    finally:
        lock.release()
    verdicts = {check["name"]: check["verdict"] for check in json.loads(warned.stdout)["checks"]}
    assert (warned.returncode, verdicts["pause"], "fail" in verdicts.values()) == (0, "warn", False)
    for arguments in (["doctor"], ["doctor", "--json"]):
        assert setup.program.run(*arguments).returncode == 1, "no daemon runs"


def test_18_3_invalid_settings_need_attention(setup: BrokenSetup) -> None:
    """To a script they are one more thing to see to, not the 2 of a command that was mistyped."""
    write_transcript(setup.home / ".config/skilld/config.toml", b"modle = 'offline'\n")
    assert setup.program.run("status", "--check").returncode == 4
    lock = Lock.acquire(setup.state / "daemon.lock")
    try:
        result = setup.program.run("status", "--check")
        done = setup.program.run("status", "--check", "--json")
    finally:
        lock.release()
    assert result.returncode == done.returncode == 1
    assert result.stdout.startswith("settings: unknown setting modle (did you mean model?) (line 1) -> Fix ")
    document = json.loads(done.stdout)
    assert (document["running"], [one["what"] for one in document["needs"]]) == (True, ["settings"])


def test_an_own_server_is_set_up_in_one_command_and_named(setup: BrokenSetup) -> None:
    skilld = setup.program
    del skilld.environment["SKILLD_MODEL"]
    lacking = skilld.run("setup", "openai/own").stdout
    assert "OPENAI_API_KEY is not set" in lacking
    assert "for another server: skilld setup openai/own --base-url URL" in lacking
    with StubModel() as model:
        model.queue("[]", "[]")
        host = model.base_url.removeprefix("http://").partition("/")[0]
        said = skilld.run("setup", "openai/own", "--base-url", model.base_url.replace("://", "://me:s3cr3t@")).stdout
        assert "The model answered a test question (110 tokens)." in said
        assert f"Judge: openai/own, at {host}, saved in " in said
        assert (
            "The model answered a test question" in skilld.run("config", "set", "model_base_url", model.base_url).stdout
        )
        assert len(model.bodies) == 2
    assert skilld.json("status")["backend"]["why"] == f"you chose it, at {host}"
    judge = setup.examine()["judge"]["detail"]
    assert judge == f"openai/own: you chose it, at {host}; it last answered on {local_day(time.time())}"
    assert "s3cr3t" not in said + skilld.run("status").stdout
    refused = skilld.run("setup", "--base-url", model.base_url)
    assert (refused.returncode, "--base-url needs MODEL" in refused.stderr) == (2, True)
    assert skilld.run("setup", "own", "--base-url", "http://127.0.0.1:9").returncode == 2
    assert skilld.run("config", "get", "model_base_url").stdout == f"{model.base_url}\n"
