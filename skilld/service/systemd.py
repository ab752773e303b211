"""systemd's manager of one person's services, asked through systemctl."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path

from skilld.errors import SkilldError
from skilld.service import unit
from skilld.service.ask import Answer, ask
from skilld.service.templates import template
from skilld.service.values import ManagerError, ServiceFile, ServiceState, Start

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
        return (Path(given) if given.startswith("/") else self._home / ".config") / "systemd/user" / unit.NAME

    def files(self, start: Start) -> Mapping[Path, ServiceFile]:
        """Return the unit, and the file of variables where there are some."""
        text = unit.render(template(f"systemd/{unit.NAME}").decode(), start, self._variables_file)
        made = {self._file: ServiceFile(text.encode(), 0o644)}
        if start.variables:
            made[self._variables_file] = ServiceFile(unit.variables_text(start.variables).encode(), 0o600)
        return made

    def own_files(self) -> list[Path]:
        """Return the unit and the file of variables."""
        return [self._file, self._variables_file]

    def variables(self, names: Collection[str]) -> Mapping[str, str]:
        """Return what the manager gives to its services."""
        return {name: self._given[name] for name in names if name in self._given}

    def own_variables(self) -> Mapping[str, str]:
        """Return what stands in the file of variables."""
        try:
            return unit.variables_of(self._variables_file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            return {}

    def take_up(self, *, changed: bool) -> None:
        """Enable and start it; restart it where its file changed."""
        self._call("daemon-reload")
        self._call("enable", "--quiet", unit.NAME)
        self._start("restart" if changed else "start")

    def let_go(self) -> None:
        """Stop and disable it."""
        if self._file.exists():
            self._call("disable", "--quiet", "--now", unit.NAME)

    def forget(self) -> None:
        """Have the manager see that the files are gone; where there is none, take away the link that enabled it."""
        (self._file.parent / "default.target.wants" / unit.NAME).unlink(missing_ok=True)
        self._call("daemon-reload")
        self._ask("reset-failed", unit.NAME)

    def start(self) -> None:
        """Start the unit. Raises ManagerError where it does not come up."""
        self._start("start")

    def stop(self) -> None:
        """Stop the unit, which may be waiting for its next start."""
        self._call("stop", unit.NAME)

    def state(self) -> ServiceState:
        """Return how it is, by systemctl show and the unit's own text."""
        file = self._file
        text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
        installed, program = file.is_file(), unit.program_of(text)
        try:
            shown = self._listed(self._call("show", "--property", ",".join(_SHOWN), unit.NAME).out)
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
        self._ask("reset-failed", unit.NAME)  # else too many failures before keep it from starting now
        answer = self._ask(how, unit.NAME)
        if answer.status:
            state = self.state()
            raise ManagerError(
                "The service did not start", f"it is {state.state}; {answer.err}", "See why: skilld logs"
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
            remedy = "Run it in a terminal instead: skilld run" if "bus" in answer.err else ""
            raise ManagerError("systemd did not do it", answer.err or f"systemctl {arguments[0]} failed", remedy)
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
