"""systemd's user services, managed with systemctl."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path

from skilld.errors import RefusedError, SkilldError
from skilld.service.values import WITHOUT, Answer, ManagerError, ServiceFile, ServiceState, Start, ask, plain, template

# Quoting in the unit is that of systemd.syntax(7) and systemd.service(5), and each rule is held by a real systemd
# (tests/live/test_systemd.py): `%` is doubled everywhere, words stand in double quotes with backslash escapes, and the
# `:` before the program (in the file) keeps `$` from meaning anything. EnvironmentFile= takes the rest of its line.

NAME = "skilld.service"
_EXEC = re.compile(r'^ExecStart=:?"([^"]*)"', re.MULTILINE)

_OPTIONAL = "#EnvironmentFile=@VARIABLES@\n"
_VARIABLE = re.compile(r'^(\w+)="((?:[^"\\]|\\.)*)"$', re.MULTILINE)


def render(template: str, start: Start, variables_file: Path) -> str:
    """Return the unit, which names `variables_file` if the start has any. RefusedError for text that none can hold."""
    if set(start.program[0]) & set("\"'\\"):
        raise RefusedError(
            "The service was not installed",
            f"systemd cannot start a program whose path contains a quote or a backslash: {start.program[0]}",
            "Install skilld in another folder.",
        )
    words = {
        "@SKILLD@": " ".join(_quoted(part, "the program's path") for part in start.program),
        "@PATH@": _in_quotes(start.path, "PATH"),
        "@VARIABLES@": _rest_of_line(variables_file),
    }
    text = template.replace(_OPTIONAL, _OPTIONAL[1:] if start.variables else "")
    # In one go: what is put in may hold such a word itself.
    return re.sub("|".join(words), lambda match: words[match[0]], text)


def program_of(unit: str) -> str:
    """Return the program that a rendered unit starts, empty if it is not one of ours."""
    found = _EXEC.search(unit)
    return found[1].replace("%%", "%") if found else ""


def variables_text(variables: Mapping[str, str]) -> str:
    """Return the file that EnvironmentFile= names. Raises RefusedError for a value that it cannot hold."""
    return "".join(f'{name}="{_escaped(plain(value, name), _IN_FILE)}"\n' for name, value in sorted(variables.items()))


def variables_of(text: str) -> dict[str, str]:
    """Return the variables of a file that `variables_text` made."""
    return {name: re.sub(r"\\(.)", r"\1", value) for name, value in _VARIABLE.findall(text)}


_IN_FILE = r'["\\`$]'
_IN_UNIT = r'["\\]'


def _quoted(text: str, what: str) -> str:
    return f'"{_in_quotes(text, what)}"'


def _in_quotes(text: str, what: str) -> str:
    return _escaped(plain(text, what), _IN_UNIT).replace("%", "%%")


def _escaped(text: str, special: str) -> str:
    return re.sub(special, r"\\\g<0>", text)


def _rest_of_line(path: Path) -> str:
    text = plain(str(path), "the settings folder's path")
    if text != text.strip() or text.endswith("\\"):
        raise RefusedError(
            "The service was not installed", f"systemd cannot read a path that ends with a space or a backslash: {text}"
        )
    return text.replace("%", "%%")


_SHOWN = ("ActiveState", "SubState", "Result", "StatusText", "MainPID", "NRestarts", "UnitFileState")
_RUNTIME = Path("/run/user")


class Systemd:
    """The user manager. `environment` is the caller's, `config` skilld's settings folder."""

    name = "systemd"

    def __init__(self, environment: Mapping[str, str], home: Path, config: Path) -> None:
        runtime = _RUNTIME / str(os.geteuid())
        there = {"XDG_RUNTIME_DIR": str(runtime)} if runtime.is_dir() else {}
        self._environment = {**there, **environment}
        self._home = home
        self._variables_file = config / "service.env"

    @property
    def _file(self) -> Path:
        """Where the manager looks for it, which need not be where this shell's XDG_CONFIG_HOME points."""
        try:
            given = self._given.get("XDG_CONFIG_HOME", "")
        except ManagerError:
            given = ""
        return (Path(given) if given.startswith("/") else self._home / ".config") / "systemd/user" / NAME

    def files(self, start: Start) -> Mapping[Path, ServiceFile]:
        """Return the unit, and the file of variables where there are some."""
        text = render(template(f"systemd/{NAME}").decode(), start, self._variables_file)
        made = {self._file: ServiceFile(text.encode(), 0o644)}
        if start.variables:
            made[self._variables_file] = ServiceFile(variables_text(start.variables).encode(), 0o600)
        return made

    def own_files(self) -> list[Path]:
        """Return the unit and the file of variables."""
        return [self._file, self._variables_file]

    def variables(self, names: Collection[str]) -> Mapping[str, str]:
        """Return what the manager gives to its services."""
        return {name: self._given[name] for name in names if name in self._given}

    def own_variables(self) -> Mapping[str, str]:
        """Return what is in the file of variables."""
        try:
            return variables_of(self._variables_file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            return {}

    def enable(self, *, changed: bool) -> None:
        """Enable and start it; restart it where its file changed."""
        self._call("daemon-reload")
        self._call("enable", "--quiet", NAME)
        self._start("restart" if changed else "start")

    def disable(self) -> None:
        """Stop and disable it."""
        if self._file.exists():
            self._call("disable", "--quiet", "--now", NAME)

    def forget(self) -> None:
        """Have the manager see that the files are gone; where there is none, take away the link that enabled it."""
        (self._file.parent / "default.target.wants" / NAME).unlink(missing_ok=True)
        self._call("daemon-reload")
        self._ask("reset-failed", NAME)

    def start(self) -> None:
        """Start the unit. Raises ManagerError if it does not come up."""
        self._start("start")

    def stop(self) -> None:
        """Stop the unit, which may be waiting for its next start."""
        self._call("stop", NAME)

    def state(self) -> ServiceState:
        """Return how it is, by systemctl show and the unit's own text."""
        file = self._file
        text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
        installed, program = file.is_file(), program_of(text)
        try:
            shown = self._listed(self._call("show", "--property", ",".join(_SHOWN), NAME).out)
        except SkilldError as error:
            return ServiceState(self.name, file, installed, state="unknown", says=str(error), program=program)
        active, result = shown.get("ActiveState", ""), shown.get("Result", "")
        return ServiceState(
            self.name,
            file,
            installed,
            enabled=shown.get("UnitFileState") == "enabled",
            running=active in {"active", "reloading"},
            state=active if result in {"", "success"} else f"{active} ({result})",
            says=shown.get("StatusText", ""),
            pid=int(shown.get("MainPID") or 0) or None,
            restarts=int(shown.get("NRestarts") or 0),
            program=program,
            linger=self._linger(),
        )

    def _start(self, how: str) -> None:
        self._ask("reset-failed", NAME)  # else too many failures before keep it from starting now
        answer = self._ask(how, NAME)
        if answer.status:
            state = self.state()
            raise ManagerError(
                "The service did not start", f"its state is {state.state}; {answer.err}", "Find out why: skilld logs"
            )

    def _linger(self) -> bool | None:
        try:
            answer = ask(self._environment, "loginctl", "show-user", "--property=Linger", "--value", str(os.geteuid()))
        except ManagerError:
            return None
        return {"yes": True, "no": False}.get(answer.out) if answer.status == 0 else None

    @cached_property
    def _given(self) -> Mapping[str, str]:
        """What the manager gives to its services."""
        return self._listed(self._call("show-environment").out)

    def _call(self, *arguments: str) -> Answer:
        answer = self._ask(*arguments)
        if answer.status:
            raise ManagerError("systemd failed", answer.err or f"systemctl {arguments[0]} failed", WITHOUT)
        return answer

    def _ask(self, *arguments: str) -> Answer:
        return ask(self._environment, "systemctl", "--user", "--no-pager", "--no-ask-password", *arguments)

    @staticmethod
    def _listed(text: str) -> dict[str, str]:
        pairs = (line.partition("=") for line in text.splitlines())
        return {name: _unquoted(value) for name, _, value in pairs}


def _unquoted(value: str) -> str:
    """Return a value of show-environment as it is: one with special characters is printed as $'...' with escapes."""
    return re.sub(r"\\(.)", r"\1", value[2:-1]) if value.startswith("$'") and value.endswith("'") else value
