"""systemd's user services, managed with systemctl."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from skilld.errors import RefusedError, SkilldError
from skilld.service.values import (
    ANSWER_SECONDS,
    TERMINAL_REMEDY,
    CommandResult,
    ManagerError,
    ServiceFile,
    ServiceState,
    StartCommand,
    check_plain,
    run_command,
    shipped_file,
)

# Quoting in the unit follows systemd.syntax(7) and systemd.service(5); tests/live/test_systemd.py checks each rule with
# a real systemd: `%` is doubled everywhere, words are in double quotes with backslash escapes, and the `:` before the
# program (in the template) disables the meaning of `$`. EnvironmentFile= takes the rest of its line.

NAME = "skilld.service"
_EXEC_PATTERN = re.compile(r'^ExecStart=:?"([^"]*)"', re.MULTILINE)

_ENVIRONMENT_LINE = "#EnvironmentFile=@VARIABLES@\n"
_VARIABLE_PATTERN = re.compile(r'^(\w+)="((?:[^"\\]|\\.)*)"$', re.MULTILINE)


def render(template: str, start: StartCommand, variables_file: Path) -> str:
    """Return the unit, which names `variables_file` if there are variables. Raises RefusedError for unusable text."""
    if set(start.program[0]) & set("\"'\\"):
        cause = f"systemd cannot start a program whose path contains a quote or a backslash: {start.program[0]}"
        raise RefusedError("The service was not installed", cause, "Install skilld in another folder.")
    escaped = [_escape_for_unit(part, "the program's path") for part in start.program]
    words = {
        "@SKILLD@": " ".join(f'"{one}"' for one in escaped),
        "@PATH@": _escape_for_unit(start.path, "PATH"),
        "@VARIABLES@": _escape_path(variables_file),
    }
    text = template.replace(_ENVIRONMENT_LINE, _ENVIRONMENT_LINE[1:] if start.variables else "")
    # In one pass: a value may itself contain such a placeholder.
    return re.sub("|".join(words), lambda match: words[match[0]], text)


def program_of(unit: str) -> str:
    """Return the program that a rendered unit starts; empty if skilld did not write it."""
    found = _EXEC_PATTERN.search(unit)
    return found[1].replace("%%", "%") if found else ""


def variables_text(variables: Mapping[str, str]) -> str:
    """Return the text of the file that EnvironmentFile= names. Raises RefusedError for a value that it cannot hold."""
    special = r'["\\`$]'
    return "".join(
        f'{name}="{_escape(check_plain(value, name), special)}"\n' for name, value in sorted(variables.items())
    )


def variables_of(text: str) -> dict[str, str]:
    """Return the variables in a file written with `variables_text`."""
    return {name: re.sub(r"\\(.)", r"\1", value) for name, value in _VARIABLE_PATTERN.findall(text)}


def _escape_for_unit(text: str, name: str) -> str:
    return _escape(check_plain(text, name), r'["\\]').replace("%", "%%")


def _escape(text: str, special: str) -> str:
    return re.sub(special, r"\\\g<0>", text)


def _escape_path(path: Path) -> str:
    text = check_plain(str(path), "the settings folder's path")
    if text != text.strip() or text.endswith("\\"):
        cause = f"systemd cannot read a path that ends with a space or a backslash: {text}"
        raise RefusedError("The service was not installed", cause)
    return text.replace("%", "%%")


_STATE_PROPERTIES = ("ActiveState", "SubState", "Result", "StatusText", "MainPID", "NRestarts", "UnitFileState")
_RUNTIME = Path("/run/user")


class Systemd:
    """systemd's user manager. `environment` is the caller's, `config` skilld's settings folder."""

    name = "systemd"

    def __init__(self, environment: Mapping[str, str], home: Path, config: Path) -> None:
        runtime = _RUNTIME / str(os.geteuid())
        there = {"XDG_RUNTIME_DIR": str(runtime)} if runtime.is_dir() else {}
        self._environment = {**there, **environment}
        self._home = home
        self._variables_file = config / "service.env"

    @property
    def _file(self) -> Path:
        """Where the manager looks for the unit, which this shell's XDG_CONFIG_HOME need not agree with."""
        given = ""
        with suppress(ManagerError):
            given = self._manager_environment.get("XDG_CONFIG_HOME", "")
        return (Path(given) if given.startswith("/") else self._home / ".config") / "systemd/user" / NAME

    def files(self, start: StartCommand) -> Mapping[Path, ServiceFile]:
        """Return the unit, and the file of variables if there are any."""
        text = render(shipped_file(f"systemd/{NAME}").decode(), start, self._variables_file)
        made = {self._file: ServiceFile(text.encode(), 0o644)}
        if start.variables:
            made[self._variables_file] = ServiceFile(variables_text(start.variables).encode(), 0o600)
        return made

    def own_files(self) -> list[Path]:
        """Return the unit and the file of variables."""
        return [self._file, self._variables_file]

    def variables(self, names: Collection[str]) -> Mapping[str, str]:
        """Return the variables that the manager sets for its services."""
        return {name: self._manager_environment[name] for name in names if name in self._manager_environment}

    def own_variables(self) -> Mapping[str, str]:
        """Return the variables in the file of variables."""
        with suppress(OSError, UnicodeDecodeError):
            return variables_of(self._variables_file.read_text(encoding="utf-8"))
        return {}

    def enable(self, *, changed: bool) -> None:
        """Enable and start the unit; restart it if its file has changed."""
        self._run_checked("daemon-reload")
        self._run_checked("enable", "--quiet", NAME)
        self._start("restart" if changed else "start")

    def disable(self) -> None:
        """Stop and disable the unit."""
        if self._file.exists():
            self._run_checked("disable", "--quiet", "--now", NAME)

    def clean_up(self) -> None:
        """Make the manager notice that the files are gone, and remove the link that enabled the unit."""
        (self._file.parent / "default.target.wants" / NAME).unlink(missing_ok=True)
        self._run_checked("daemon-reload")
        self._run("reset-failed", NAME)

    def start(self) -> None:
        """Start the unit. Raises ManagerError if it does not come up."""
        self._start("start")

    def stop(self) -> None:
        """Stop the unit, even if it is waiting for a restart."""
        self._run_checked("stop", NAME)

    def state(self) -> ServiceState:
        """Return the state, from `systemctl show` and the unit."""
        file = self._file
        text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
        installed, program = file.is_file(), program_of(text)
        try:
            values = self._parse_pairs(self._run_checked("show", "--property", ",".join(_STATE_PROPERTIES), NAME).out)
        except SkilldError as error:
            return ServiceState(self.name, file, installed, state="unknown", says=str(error), program=program)
        active, result = values.get("ActiveState", ""), values.get("Result", "")
        return ServiceState(
            self.name,
            file,
            installed,
            enabled=values.get("UnitFileState") == "enabled",
            running=active in {"active", "reloading"},
            state=active if result in {"", "success"} else f"{active} ({result})",
            says=values.get("StatusText", ""),
            pid=int(values.get("MainPID") or 0) or None,
            restarts=int(values.get("NRestarts") or 0),
            program=program,
            linger=self._linger(),
        )

    def _start(self, verb: str) -> None:
        self._run("reset-failed", NAME)  # otherwise too many earlier failures prevent a start
        result = self._run(verb, NAME)
        if result.status:
            cause = f"its state is {self.state().state}; {result.err}"
            raise ManagerError("The service did not start", cause, "Find out why: skilld logs")

    def _linger(self) -> bool | None:
        with suppress(ManagerError):
            command = "loginctl", "show-user", "--property=Linger", "--value", str(os.geteuid())
            result = run_command(self._environment, *command, seconds=ANSWER_SECONDS)
            return {"yes": True, "no": False}.get(result.out) if result.status == 0 else None
        return None

    @cached_property
    def _manager_environment(self) -> Mapping[str, str]:
        """The variables that the manager sets for its services."""
        return self._parse_pairs(self._run_checked("show-environment").out)

    def _run_checked(self, *arguments: str) -> CommandResult:
        result = self._run(*arguments)
        if result.status:
            raise ManagerError("systemd failed", result.err or f"systemctl {arguments[0]} failed", TERMINAL_REMEDY)
        return result

    def _run(self, *arguments: str) -> CommandResult:
        seconds = {"seconds": ANSWER_SECONDS} if arguments[0] in {"show", "show-environment"} else {}
        options = "--user", "--no-pager", "--no-ask-password"
        return run_command(self._environment, "systemctl", *options, *arguments, **seconds)

    @staticmethod
    def _parse_pairs(text: str) -> dict[str, str]:
        pairs = (line.partition("=") for line in text.splitlines())
        return {name: _unquote(value) for name, _, value in pairs}


def _unquote(value: str) -> str:
    """Decode a value of show-environment: one with special characters is printed as $'...' with escapes."""
    return re.sub(r"\\(.)", r"\1", value[2:-1]) if value.startswith("$'") and value.endswith("'") else value
