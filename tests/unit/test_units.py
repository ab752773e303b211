"""The service files: that they parse, name only keys that exist and work, and start what they should.

systemd and launchd both accept nonsense in silence (a wrong key is at most a warning), so the keys are listed here.
"""

from __future__ import annotations

import configparser
import os
import plistlib
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SERVICE = ROOT / "systemd" / "skilld.service"
AGENT = ROOT / "launchd" / "dev.skilld.daemon.plist"

# From the manual pages systemd.unit, systemd.service, systemd.exec and systemd.resource-control.
KNOWN = {
    "Unit": {"Description", "Documentation", "StartLimitIntervalSec", "StartLimitBurst"},
    "Service": {
        *("Type", "NotifyAccess", "ExecStart", "Restart", "RestartSec", "RestartPreventExitStatus", "WatchdogSec"),
        *("TimeoutStopSec", "KillMode", "OOMPolicy", "MemoryMax", "Nice", "IOSchedulingClass"),
        *("NoNewPrivileges", "RestrictAddressFamilies", "RestrictRealtime", "LockPersonality"),
    },
    "Install": {"WantedBy"},
}
# From the manual page launchd.plist: each key and the type of its value.
PLIST_KEYS: dict[str, type] = {
    "Label": str,
    "ProgramArguments": list,
    "RunAtLoad": bool,
    "KeepAlive": dict,
    "ThrottleInterval": int,
    "ExitTimeOut": int,
    "ProcessType": str,
    "LowPriorityIO": bool,
    "Nice": int,
    "Umask": int,
    "EnvironmentVariables": dict,
}


@pytest.fixture(scope="module")
def unit() -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=True, delimiters=("=",), comment_prefixes=("#", ";"))
    parser.optionxform = str  # type: ignore[assignment,method-assign] # systemd's keys are case-sensitive
    parser.read_string(SERVICE.read_text(encoding="utf-8"))
    return parser


@pytest.fixture(scope="module")
def agent() -> dict[str, Any]:
    loaded: dict[str, Any] = plistlib.loads(AGENT.read_bytes())
    return loaded


def test_the_unit_has_only_known_keys(unit: configparser.RawConfigParser) -> None:
    assert unit.sections() == list(KNOWN)
    for section, known in KNOWN.items():
        assert set(unit[section]) <= known


def test_the_unit_starts_the_daemon_and_waits_for_its_word(unit: configparser.RawConfigParser) -> None:
    service = unit["Service"]
    assert service["ExecStart"] == "@SKILLD@ run"
    assert SERVICE.read_text(encoding="utf-8").count("@") == 2  # the only place that is filled in
    assert (service["Type"], service["NotifyAccess"], service["WatchdogSec"]) == ("notify", "main", "60")
    assert (service["Restart"], service["RestartPreventExitStatus"]) == ("on-failure", "2 4")
    assert unit["Install"]["WantedBy"] == "default.target"


def test_stopping_leaves_the_daemon_time_to_end_its_worker(unit: configparser.RawConfigParser) -> None:
    assert int(unit["Service"]["TimeoutStopSec"]) > 10  # what the daemon gives a worker
    assert unit["Service"]["KillMode"] == "mixed"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_itself_has_nothing_to_say(tmp_path: Path, home: Path) -> None:
    rendered = tmp_path / "skilld.service"
    rendered.write_text(SERVICE.read_text(encoding="utf-8").replace("@SKILLD@", sys.executable), encoding="utf-8")
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(home / ".runtime")}
    command = ["systemd-analyze", "verify", "--user", "--man=no", str(rendered)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    # It exits with 0 for unknown keys and bad values too: only its words count.
    assert (done.returncode, done.stderr) == (0, "")


def test_the_agent_has_only_known_keys_of_the_right_type(agent: dict[str, Any]) -> None:
    assert set(agent) <= PLIST_KEYS.keys()
    assert {key: type(value) for key, value in agent.items()} == {key: PLIST_KEYS[key] for key in agent}


def test_the_agent_starts_the_daemon_and_restarts_it_after_failures(agent: dict[str, Any]) -> None:
    assert agent["Label"] == AGENT.stem
    assert AGENT.read_text(encoding="utf-8").count("@") == 2  # the only place that is filled in
    assert agent["ProgramArguments"] == ["@SKILLD@", "run"]
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
    assert agent["Umask"] == 0o077
    assert "/usr/bin" in agent["EnvironmentVariables"]["PATH"].split(":")
