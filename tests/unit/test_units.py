"""The service files as installed: golden files, known keys, and text that would change their meaning.

systemd and launchd both accept nonsense in silence (a wrong key is at most a warning), so the keys are listed here. How
a real systemd reads them is tests/live/test_systemd.py.
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

from skilld.errors import RefusedError
from skilld.service import launchd, systemd
from skilld.service.values import StartCommand, shipped_file
from support.rows import for_each

GOLDEN = Path(__file__).parents[1] / "fixtures/service"
UNIT = shipped_file("systemd/skilld.service").decode()
AGENT = shipped_file("launchd/dev.skilld.daemon.plist")
VARIABLES = Path("/srv/ada's 100%/.config/skilld/service.env")
PLAIN = StartCommand(("/opt/skilld/bin/python", "-P", "-m", "skilld"), "/opt/agents/bin:/usr/bin")
# All of it means something to systemd or to XML, and @PATH@ to the template.
ODD = StartCommand(
    ("/opt/a b/100%h/$HOME/${x}/@PATH@/<é>&/python", "-m", 'it\'s "quoted" \\ here'),
    '/opt/a b/%h:/opt/"q" \\x:/usr/bin',
    {"HTTPS_PROXY": 'http://ada:p$a"s`s\\%h@proxy.example/ #<&', "SKILLD_MODEL": "offline"},
)

# From the manual pages systemd.unit, systemd.service, systemd.exec and systemd.resource-control.
KNOWN = {
    "Unit": {"Description", "Documentation", "StartLimitIntervalSec", "StartLimitBurst"},
    "Service": {
        *(
            "Type",
            "NotifyAccess",
            "ExecStart",
            "Environment",
            "EnvironmentFile",
            "Restart",
            "RestartSec",
            "RestartPreventExitStatus",
            "WatchdogSec",
        ),
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
    "EnvironmentVariables": dict,
}


def parse_unit(text: str) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=True, delimiters=("=",), comment_prefixes=("#", ";"))
    parser.optionxform = str  # type: ignore[assignment,method-assign] # systemd's keys are case-sensitive
    parser.read_string(text)
    return parser


@pytest.mark.parametrize(("start", "name"), [(PLAIN, "plain"), (ODD, "odd")])
def test_the_unit_and_the_agent_match_the_golden_files(start: StartCommand, name: str) -> None:
    made = systemd.render(UNIT, start, VARIABLES)
    assert "\n".join(line for line in made.splitlines() if not line.startswith("#")) + "\n" == _golden(
        f"{name}.service"
    )
    assert launchd.render(AGENT, start).decode() == _golden(f"{name}.plist")


def _golden(name: str) -> str:
    return (GOLDEN / name).read_text(encoding="utf-8")


def test_the_variables_file_matches_the_golden_file() -> None:
    assert systemd.variables_text(ODD.variables) == _golden("odd.env")


@pytest.mark.parametrize("start", [PLAIN, ODD])
def test_the_unit_has_only_known_keys(start: StartCommand) -> None:
    made = parse_unit(systemd.render(UNIT, start, VARIABLES))
    assert made.sections() == list(KNOWN)
    for section, known in KNOWN.items():
        assert set(made[section]) <= known
    assert ("EnvironmentFile" in made["Service"]) == bool(start.variables)


def test_the_unit_starts_the_daemon_and_waits_for_ready() -> None:
    service = parse_unit(systemd.render(UNIT, PLAIN, VARIABLES))["Service"]
    assert service["ExecStart"] == ':"/opt/skilld/bin/python" "-P" "-m" "skilld" run'
    assert (service["Type"], service["NotifyAccess"], service["WatchdogSec"]) == ("notify", "main", "60")
    assert (service["Restart"], service["RestartPreventExitStatus"]) == ("on-failure", "2 4")


def test_the_shipped_file_is_a_valid_unit_once_it_names_a_program(tmp_path: Path) -> None:
    assert _complaints(tmp_path, UNIT.replace("@SKILLD@", sys.executable)) == ""


def test_stopping_leaves_the_daemon_time_to_stop_its_worker() -> None:
    service = parse_unit(systemd.render(UNIT, PLAIN, VARIABLES))["Service"]
    assert int(service["TimeoutStopSec"]) > 10  # what the daemon gives a worker
    assert service["KillMode"] == "mixed"


@pytest.mark.parametrize("folder", ["plain", "o dd %h $HOME ${x} = <é>&"])
def test_systemd_itself_reports_no_problem(tmp_path: Path, folder: str) -> None:
    program = tmp_path / folder / "python"
    program.parent.mkdir()
    program.symlink_to(sys.executable)
    start = StartCommand((str(program), *ODD.program[1:]), ODD.path, ODD.variables)
    assert _complaints(tmp_path, systemd.render(UNIT, start, VARIABLES)) == ""


def _complaints(folder: Path, text: str) -> str:
    """Return what systemd says of a unit; it exits with 0 for unknown keys and bad values too, so only words count."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    (folder / "skilld.service").write_text(text, encoding="utf-8")
    command = ["systemd-analyze", "verify", "--user", "--man=no", str(folder / "skilld.service")]
    result = subprocess.run(command, check=False, capture_output=True, text=True, env=dict(os.environ))
    return result.stderr if result.returncode == 0 else f"exit {result.returncode}: {result.stderr}"


@pytest.mark.parametrize("start", [PLAIN, ODD])
def test_the_agent_has_only_known_keys_of_the_right_type(start: StartCommand) -> None:
    agent: dict[str, Any] = plistlib.loads(launchd.render(AGENT, start))
    assert set(agent) <= PLIST_KEYS.keys()
    assert {key: type(value) for key, value in agent.items()} == {key: PLIST_KEYS[key] for key in agent}


def test_the_agent_starts_the_daemon_and_restarts_it_after_failures() -> None:
    agent = plistlib.loads(launchd.render(AGENT, ODD))
    assert agent["Label"] == "dev.skilld.daemon"
    assert agent["ProgramArguments"] == [*ODD.program, "run"]
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
    assert "Umask" not in agent  # in a repository the worker writes with the person's own
    assert agent["EnvironmentVariables"]["HTTPS_PROXY"] == ODD.variables["HTTPS_PROXY"]
    path = agent["EnvironmentVariables"]["PATH"].split(":")
    assert path[:2] == ODD.path.split(":")[:2]
    assert "/opt/homebrew/bin" in path


@pytest.mark.parametrize("start", [PLAIN, ODD])
def test_the_program_path_is_read_back(start: StartCommand) -> None:
    assert systemd.program_of(systemd.render(UNIT, start, VARIABLES)) == start.program[0]
    assert launchd.program_of(launchd.render(AGENT, start)) == start.program[0]


def test_variables_are_read_back() -> None:
    assert systemd.variables_of(systemd.variables_text(ODD.variables)) == ODD.variables
    assert ODD.variables.items() <= launchd.variables_of(launchd.render(AGENT, ODD)).items()
    assert launchd.variables_of(b"nonsense") == {}


def test_no_program_is_read_from_a_foreign_file() -> None:
    assert systemd.program_of("[Service]\nExecStart=/bin/true\n") == ""
    for data in (b"", b"<plist>", b"bplist00", b"\0\1", plistlib.dumps([1]), plistlib.dumps({"ProgramArguments": 1})):
        assert launchd.program_of(data) == ""


@for_each(
    "start",
    [
        StartCommand(("/opt/a\nExecStartPre=rm/python",), "/usr/bin"),
        StartCommand(("/opt/python",), "/usr/bin:/a\nb"),
        StartCommand(("/opt/python",), "/usr/bin", {"SKILLD_MODEL": "a\x1b[31m"}),
    ],
)
def test_a_control_character_is_refused(start: StartCommand) -> None:
    with pytest.raises(RefusedError, match="control character"):
        launchd.render(AGENT, start)
    with pytest.raises(RefusedError, match="control character"):
        systemd.render(UNIT, start, VARIABLES) + systemd.variables_text(start.variables)


@for_each("program", ["/opt/o'brien/python", '/opt/"a"/python', "/opt/a\\b/python"])
def test_a_program_systemd_would_not_start_is_refused(program: str) -> None:
    with pytest.raises(RefusedError, match="quote or a backslash"):
        systemd.render(UNIT, StartCommand((program,), "/usr/bin"), VARIABLES)
