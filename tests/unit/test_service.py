"""Installing under a service manager that is a script: requests, files, and what is left alone.

The real one is tests/live/test_systemd.py.
"""

from __future__ import annotations

import io
import json
import os
import plistlib
import stat
import sys
from pathlib import Path

import pytest

from skilld.__main__ import main
from skilld.cli import doctor, service
from skilld.daemon.lock import Lock
from skilld.paths import places, private_dir
from skilld.service.launchd import Launchd
from skilld.service.systemd import Systemd
from skilld.service.values import ManagerError, missing_variables, needed_variables, run_command, service_path
from support.rows import for_each
from support.service_managers import LAUNCHCTL, RUNNING, SYSTEMCTL, FakeManager


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the shell have nothing that a service would miss, and no terminal be asked."""
    for name in ("HTTPS_PROXY", "SKILLD_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "stdin", io.StringIO())


@pytest.fixture
def systemctl(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> FakeManager:
    fake = FakeManager(tmp_path / "bin", "systemctl", SYSTEMCTL)
    monkeypatch.setenv("PATH", f"{fake.folder}:/usr/bin:/bin")
    manager = Systemd(dict(os.environ), home, places().config)
    monkeypatch.setattr(service, "service_manager", lambda: manager)
    return fake


@pytest.fixture
def launchctl(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> FakeManager:
    fake = FakeManager(tmp_path / "bin", "launchctl", LAUNCHCTL)
    monkeypatch.setenv("PATH", f"{fake.folder}:/usr/bin:/bin")
    monkeypatch.setattr(service, "service_manager", lambda: Launchd(dict(os.environ), home))
    return fake


def test_systemd_is_only_asked_for_what_changed(systemctl: FakeManager, home: Path) -> None:
    assert main(["service", "install"]) == 0
    unit = home / ".config/systemd/user/skilld.service"
    assert f'ExecStart=:"{sys.executable}" "-P" "-m" "skilld" run\n' in unit.read_text(encoding="utf-8")
    first = ["daemon-reload", "enable --quiet skilld.service", "reset-failed skilld.service", "restart skilld.service"]
    assert systemctl.requests() == first
    (systemctl.folder / "shown").write_text(RUNNING, encoding="utf-8")
    before = unit.stat().st_ino
    assert main(["service", "install"]) == 0
    assert systemctl.requests()[-1] == "start skilld.service"
    assert unit.stat().st_ino == before
    unit.write_text("[Service]\n", encoding="utf-8")
    assert main(["service", "install"]) == 0
    assert systemctl.requests() == first


def test_removal_stops_the_service_and_deletes_only_its_own_files(systemctl: FakeManager, home: Path) -> None:
    assert main(["service", "install"]) == 0
    others = home / ".config/systemd/user/other.service"
    others.write_text("mine", encoding="utf-8")
    systemctl.requests()
    assert main(["service", "uninstall"]) == 0
    assert systemctl.requests() == [
        "disable --quiet --now skilld.service",
        "daemon-reload",
        "reset-failed skilld.service",
    ]
    assert list(others.parent.iterdir()) == [others]
    assert main(["service", "uninstall"]) == 0
    assert systemctl.requests() == []


def test_a_service_without_its_manager_is_removed(systemctl: FakeManager, home: Path) -> None:
    assert main(["service", "install"]) == 0
    wanted = home / ".config/systemd/user/default.target.wants/skilld.service"
    wanted.parent.mkdir()
    wanted.symlink_to("../skilld.service")
    (systemctl.folder / "fails").write_text("Failed to connect to bus: No medium found", encoding="utf-8")
    assert main(["service", "uninstall"]) == 0
    assert list((home / ".config/systemd").rglob("*skilld*")) == []


def test_a_symlink_in_place_of_the_unit_is_replaced_and_not_followed(systemctl: FakeManager, home: Path) -> None:
    unit = home / ".config/systemd/user/skilld.service"
    unit.parent.mkdir(parents=True)
    unit.symlink_to(home / "precious")
    (home / "precious").write_text("mine", encoding="utf-8")
    assert main(["service", "install"]) == 0
    assert (unit.is_symlink(), (home / "precious").read_text(encoding="utf-8")) == (False, "mine")
    assert systemctl.requests()


def test_the_state_is_shown_as_the_manager_reports_it(
    systemctl: FakeManager, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["service", "install"]) == 0
    (systemctl.folder / "shown").write_text(RUNNING, encoding="utf-8")
    capsys.readouterr()
    assert main(["service", "status", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    told = {name: document[name] for name in ("installed", "enabled", "running", "state", "says", "pid", "restarts")}
    assert told == {
        "installed": True,
        "enabled": True,
        "running": True,
        "state": "active",
        "says": "at work",
        "pid": 4711,
        "restarts": 2,
    }
    assert document["program"] == sys.executable


def test_without_a_manager_nothing_is_installed_and_the_cause_is_reported(
    systemctl: FakeManager, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (systemctl.folder / "fails").write_text("Failed to connect to bus: No medium found", encoding="utf-8")
    assert main(["service", "install"]) == 1
    errors = capsys.readouterr().err
    assert "No medium found" in errors
    assert "skilld run" in errors
    assert not (home / ".config/systemd").exists()
    assert main(["service", "status"]) == 0
    told = capsys.readouterr().out
    assert "No medium found" in told
    assert "service install" not in told
    assert main(["service", "start"]) == 1
    assert main(["service", "install", "--dry-run"]) == 0
    assert "[Service]" in capsys.readouterr().out


def test_without_a_manager_nobody_is_told_to_stop_a_daemon_first(
    systemctl: FakeManager, capsys: pytest.CaptureFixture[str]
) -> None:
    (systemctl.folder / "fails").write_text("Failed to connect to bus", encoding="utf-8")
    private_dir(places().state)
    lock = Lock.acquire(places().lock)
    assert main(["service", "install"]) == 1
    lock.release()
    assert "Failed to connect to bus" in capsys.readouterr().err


def test_a_service_that_cannot_be_enabled_leaves_no_file(systemctl: FakeManager, home: Path) -> None:
    program = systemctl.folder / "systemctl"
    program.write_text(program.read_text() + '[ "$1" != enable ] || { echo refused >&2; exit 1; }\n', encoding="utf-8")
    assert main(["service", "install"]) == 1
    assert [path for path in (home / ".config/systemd").rglob("*") if path.is_file()] == []


def test_a_service_that_cannot_be_written_whole_leaves_no_file(
    systemctl: FakeManager, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    (places().config / "service.env").mkdir(parents=True)
    assert main(["service", "install", "--environment", "keep"]) == 1
    assert "service.env: it is not a regular file" in capsys.readouterr().err
    assert [path for path in (home / ".config/systemd").rglob("*") if path.is_file()] == []
    assert systemctl.requests() == []


def test_a_manager_that_does_not_answer_is_not_waited_for_long(systemctl: FakeManager) -> None:
    program = systemctl.folder / "systemctl"
    program.write_text("#!/bin/sh\nexec sleep 600\n", encoding="utf-8")
    with pytest.raises(ManagerError, match="longer than 0 seconds"):
        run_command({"PATH": str(systemctl.folder) + ":/usr/bin:/bin"}, "systemctl", "show", seconds=0.2)


def test_no_service_is_installed_beside_a_daemon_in_a_terminal(systemctl: FakeManager) -> None:
    private_dir(places().state)
    lock = Lock.acquire(places().lock)
    assert main(["service", "install"]) == 4
    lock.release()
    assert systemctl.requests() == []


def test_settings_only_in_the_shell_are_refused_kept_or_dropped(
    systemctl: FakeManager, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SKILLD_MODEL_API_KEY", "not-for-eyes")
    assert main(["service", "install"]) == 5
    captured = capsys.readouterr()
    assert "SKILLD_MODEL_API_KEY" in captured.err
    assert "not-for-eyes" not in captured.out + captured.err
    assert not (home / ".config/systemd").exists()
    file = home / ".config/skilld/service.env"
    assert main(["service", "install", "--environment", "keep"]) == 0
    assert file.read_text(encoding="utf-8") == 'SKILLD_MODEL_API_KEY="not-for-eyes"\n'
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    unit = (home / ".config/systemd/user/skilld.service").read_text(encoding="utf-8")
    assert f"EnvironmentFile={file}\n" in unit
    assert "not-for-eyes" not in unit
    assert main(["service", "install", "--environment", "leave"]) == 0
    assert not file.exists()
    assert systemctl.requests()


def test_the_doctor_names_what_the_service_lacks(
    systemctl: FakeManager, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "service_manager", service.service_manager)
    monkeypatch.setenv("SKILLD_MODEL", "offline")
    (systemctl.folder / "shown").write_text(RUNNING, encoding="utf-8")

    def printed_text() -> str:
        capsys.readouterr()
        assert main(["doctor", "--json"]) in {0, 1}
        (check,) = (check for check in json.loads(capsys.readouterr().out)["checks"] if check["name"] == "service")
        return str(check["detail"])

    assert main(["service", "install", "--environment", "leave"]) == 0
    assert printed_text() == "runs without SKILLD_MODEL, which your shell sets"
    assert main(["service", "install", "--environment", "keep"]) == 0
    assert printed_text() == "running under systemd"


def test_launchd_loads_reloads_and_unloads_it(
    launchctl: FakeManager, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = home / "Library/LaunchAgents/dev.skilld.daemon.plist"
    domain = f"gui/{os.geteuid()}"
    target = f"{domain}/dev.skilld.daemon"
    assert main(["service", "install"]) == 0
    assert launchctl.requests() == [f"enable {target}", f"bootstrap {domain} {agent}"]
    assert stat.S_IMODE(agent.stat().st_mode) == 0o644
    assert main(["service", "install"]) == 0
    assert launchctl.requests() == [f"enable {target}"]
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example")  # launchd gives that one to all
    monkeypatch.setenv("SKILLD_MODEL", "offline")
    assert main(["service", "install", "--environment", "keep"]) == 0
    assert launchctl.requests() == [f"bootout {target}", f"enable {target}", f"bootstrap {domain} {agent}"]
    assert stat.S_IMODE(agent.stat().st_mode) == 0o600
    variables = plistlib.loads(agent.read_bytes())["EnvironmentVariables"]
    assert (variables.keys(), variables["SKILLD_MODEL"]) == ({"SKILLD_MODEL", "PATH"}, "offline")
    assert main(["service", "stop"]) == 0
    assert main(["service", "start"]) == 0
    assert launchctl.requests() == [f"bootout {target}", f"enable {target}", f"bootstrap {domain} {agent}"]
    assert main(["service", "uninstall"]) == 0
    assert launchctl.requests() == [f"bootout {target}"]
    assert not agent.exists()


def test_a_slow_launchd_stop_is_awaited(launchctl: FakeManager, home: Path) -> None:
    assert main(["service", "install"]) == 0
    (launchctl.folder / "slow").touch()
    assert main(["service", "stop"]) == 0
    assert not (launchctl.folder / "loaded").exists()
    assert main(["service", "start"]) == 0
    assert Launchd(dict(os.environ), home).state().running


def test_launchd_state_is_parsed_from_its_output(launchctl: FakeManager, home: Path) -> None:
    manager = Launchd(dict(os.environ), home)
    assert (manager.state().installed, manager.state().state) == (False, "not loaded")
    assert main(["service", "install"]) == 0
    state = manager.state()
    assert (state.running, state.pid, state.restarts, state.program) == (True, 4711, 2, sys.executable)
    assert launchctl.requests()


SHELL = {
    "HOME": "/h",
    "PATH": "/usr/bin",
    "EDITOR": "vi",
    "GITHUB_TOKEN": "x",
    "HTTPS_PROXY": "p",
    "CODEX_HOME": "/c",
    "SKILLD_BATCH__TURNS": "3",
    "SKILLD_CHILD": "1",
    "OPENAI_API_KEY": "o",
    "ANTHROPIC_API_KEY": "a",
    "GROQ_API_KEY": "g",
    "AWS_PROFILE": "w",
    "OLLAMA_HOST": "l",
    "XDG_DATA_HOME": "",
}
ALWAYS = {"HOME", "HTTPS_PROXY", "CODEX_HOME", "SKILLD_BATCH__TURNS"}


@for_each(
    ("model", "has_key", "more"),
    [
        ("offline", False, set()),
        ("auto", False, {"OLLAMA_HOST"}),
        ("openai/gpt-5-mini", False, {"OPENAI_API_KEY"}),
        ("openai/gpt-5-mini", True, set()),
        ("groq/llama-4", False, {"GROQ_API_KEY"}),
        ("bedrock/claude", False, {"AWS_PROFILE"}),
        ("ollama_chat/qwen3", False, {"OLLAMA_HOST"}),
        ("gpt-5-mini", False, {"OPENAI_API_KEY", "ANTHROPIC_API_KEY"}),
        ("cli:nothing", False, set()),
    ],
)
def test_only_variables_the_daemon_and_its_model_read_are_checked(model: str, has_key: bool, more: set[str]) -> None:  # noqa: FBT001 - a row of the table
    assert needed_variables(SHELL, model, has_key=has_key).keys() == ALWAYS | more


def test_a_value_the_manager_sets_differently_is_missing_too() -> None:
    assert missing_variables({"A": "1", "B": "2", "C": "3"}, {"A": "1", "B": "3"}) == {"B": "2", "C": "3"}


def test_the_path_keeps_the_shells_order_without_relative_folders() -> None:
    assert service_path("/b:.::bin:/a:/b") == "/b:/a:/usr/local/bin:/usr/bin:/bin"
