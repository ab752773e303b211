"""The service under a real user manager of systemd, as a plain user: started, seen, frozen, stopped, removed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.claude_lines import prompt_line
from support.fake_callers import in_terminal
from support.user_manager import ROOT, USER, UserManager, unavailable_reason, user_manager
from support.waiting import wait_for

pytestmark = [pytest.mark.live, pytest.mark.xdist_group("the service manager")]
UNIT = "skilld.service"
# Everything that systemd would read as something else.
ODD = "o dd %h $HOME ${HOME} = é"
QUOTED = 'a "q" \\x \'b'  # not for a program's path: systemd starts none that has these
PYTHON = ROOT / ".venv/bin/python"


@pytest.fixture
def manager() -> Iterator[UserManager]:
    why = unavailable_reason()
    if why:
        pytest.skip(why)
    if not PYTHON.exists():
        pytest.skip("the programs are tested as they are installed: make test-live")
    with user_manager() as made:
        made.write(".config/skilld/config.toml", 'model = "offline"\nnotify = { enabled = false }\n')
        yield made


@pytest.fixture
def python(manager: UserManager) -> Path:
    """Return a Python with skilld at a place whose name means something else to systemd in every part of it."""
    odd = manager.home / ODD
    (odd / "bin").mkdir(parents=True)
    (odd / "pyvenv.cfg").write_bytes((ROOT / ".venv/pyvenv.cfg").read_bytes())
    (odd / "lib").symlink_to(ROOT / ".venv/lib")
    (odd / "bin/python").symlink_to(PYTHON.resolve())
    return odd / "bin/python"


def test_a_plain_user_installs_starts_stops_and_removes_it(manager: UserManager, python: Path) -> None:
    manager.write(".claude/projects/-p/empty.jsonl", "")  # doctor fails where no agent is
    path = f"{manager.home}/{ODD}/bin:/{QUOTED}:/usr/local/bin:/usr/bin:/bin"

    def skilld(*arguments: str) -> str:
        done = manager.run(
            *in_terminal(python=PYTHON), str(python), "-P", "-m", "skilld", *arguments, env={"PATH": path}
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "Installed and running" in skilld("service", "install")
    state = json.loads(skilld("service", "status", "--json"))
    assert (state["installed"], state["enabled"], state["running"]) == (True, True, True)
    assert state["says"] == "following transcripts; batches waiting: 0; proposals open: 0"
    process = Path("/proc") / str(state["pid"])
    assert process.stat().st_uid == USER
    assert (process / "cmdline").read_bytes().split(b"\0")[:-1] == [
        *(part.encode() for part in (str(python), "-P", "-m", "skilld", "run"))
    ]
    assert f"PATH={path}".encode() in (process / "environ").read_bytes().split(b"\0")
    assert json.loads(skilld("status", "--json"))["running"]
    checks = {check["name"]: check for check in json.loads(skilld("doctor", "--json"))["checks"]}
    assert (checks["service"]["detail"], checks["daemon"]["verdict"]) == ("running under systemd", "ok")

    assert "nothing to change" in skilld("service", "install")
    assert json.loads(skilld("service", "status", "--json"))["pid"] == state["pid"]

    assert skilld("service", "stop") == "Stopped the service.\n"
    after = manager.shown(UNIT, "ActiveState", "Result", "ExecMainStatus", "NRestarts")
    assert after == {"ActiveState": "inactive", "Result": "success", "ExecMainStatus": "0", "NRestarts": "0"}
    assert skilld("service", "stop") == "The service was not running.\n"
    assert skilld("service", "start") == "Started the service.\n"
    assert skilld("service", "start") == "The service is already running.\n"

    skilld("uninstall", "--purge", "--yes")
    assert manager.shown(UNIT, "LoadState", "ActiveState") == {"LoadState": "not-found", "ActiveState": "inactive"}
    assert list(manager.home.rglob("*skilld*")) == []


def test_a_variable_that_only_the_shell_has_is_refused_or_kept_with_consent(manager: UserManager, python: Path) -> None:
    shell = {"HTTPS_PROXY": "http://ada:p$a\"s\\s%h@proxy.example:8080/ '"}
    command = (*in_terminal(python=PYTHON), str(python), "-P", "-m", "skilld", "service", "install")
    refused = manager.run(*command, env=shell)
    assert (refused.returncode, "HTTPS_PROXY" in refused.stderr) == (5, True)
    assert "ada" not in refused.stderr
    assert manager.shown(UNIT, "LoadState") == {"LoadState": "not-found"}

    kept = manager.run(*command, "--environment", "keep", env=shell)
    assert kept.returncode == 0, kept.stderr
    file = manager.home / ".config/skilld/service.env"
    assert (file.stat().st_mode & 0o777, file.stat().st_uid) == (0o600, USER)
    environment = Path("/proc", manager.shown(UNIT, "MainPID")["MainPID"], "environ").read_bytes().split(b"\0")
    assert f"HTTPS_PROXY={shell['HTTPS_PROXY']}".encode() in environment

    without = manager.run(*command)
    assert (without.returncode, file.exists()) == (0, False)
    removed = manager.run(*command[:-1], "uninstall")
    assert (removed.returncode, removed.stdout.count("Removed")) == (0, 1)
    assert manager.shown(UNIT, "LoadState", "ActiveState") == {"LoadState": "not-found", "ActiveState": "inactive"}


def test_a_frozen_stage_is_noticed_and_the_daemon_started_again(manager: UserManager) -> None:
    frozen = manager.home / "frozen"
    manager.write(
        ".config/systemd/user/skilld.service.d/test.conf",
        "[Service]\nWatchdogSec=4\nRestartSec=1\n"
        f"Environment=PYTHONPATH={Path(__file__).parent / 'freeze'} PYTHONFROZEN={frozen}\n",
    )
    installed = manager.run(*in_terminal(python=PYTHON), str(PYTHON), "-P", "-m", "skilld", "service", "install")
    assert installed.returncode == 0, installed.stderr
    before = manager.shown(UNIT, "MainPID", "NRestarts")
    assert before["NRestarts"] == "0"

    frozen.touch()
    manager.write(".claude/projects/-p/s1.jsonl", prompt_line("t1").decode())
    why = wait_for("systemd to end it", lambda: manager.shown(UNIT, "Result")["Result"].replace("success", ""))
    assert why == "watchdog"
    wait_for("systemd to start it again", lambda: manager.shown(UNIT, "NRestarts")["NRestarts"] != "0")
    frozen.unlink()
    wait_for("it to run again", lambda: manager.shown(UNIT, "SubState")["SubState"] == "running")
    assert manager.shown(UNIT, "MainPID")["MainPID"] != before["MainPID"]
    status = manager.run(str(PYTHON), "-P", "-m", "skilld", "status", "--json")
    assert json.loads(status.stdout)["agents"]["claude-code"]["turns"] == 1
