"""launchd's services of a login session, managed with launchctl. Source: launchctl(1)."""

from __future__ import annotations

import os
import plistlib
import re
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from xml.parsers.expat import ExpatError

from skilld.service.values import (
    Answer,
    ManagerError,
    ServiceFile,
    ServiceState,
    Start,
    ask,
    plain,
    service_path,
    template,
)

# The launchd agent: the file of launchd/ filled in, and read back. Source: launchd.plist(5).

_NONE = (plistlib.InvalidFileException, ExpatError, ValueError, LookupError, TypeError, AttributeError)
LABEL = "dev.skilld.daemon"


def render(template: bytes, start: Start) -> bytes:
    """Return the agent's property list. Raises RefusedError for text that none can hold.

    launchd hands out no variables from a file, so what the start has is in the list itself.
    """
    agent = plistlib.loads(template)
    _, *arguments = agent["ProgramArguments"]
    agent["ProgramArguments"] = [*(plain(part, "the program's path") for part in start.program), *arguments]
    usual = agent["EnvironmentVariables"]["PATH"].split(":")
    agent["EnvironmentVariables"] = {
        **{name: plain(value, name) for name, value in start.variables.items()},
        "PATH": plain(service_path(start.path, usual), "PATH"),
    }
    return plistlib.dumps(agent, sort_keys=False)


def program_of(data: bytes) -> str:
    """Return the program that an agent's property list starts, empty if it is none of ours."""
    try:
        return str(plistlib.loads(data)["ProgramArguments"][0])
    except _NONE:
        return ""


def variables_of(data: bytes) -> dict[str, str]:
    """Return the variables that an agent's property list gives, none if it is none of ours."""
    try:
        return {str(name): str(value) for name, value in plistlib.loads(data)["EnvironmentVariables"].items()}
    except _NONE:
        return {}


# It is killed after the ExitTimeOut of its list, 20 seconds.
_SECONDS_TO_END = 30.0
_STEP_SECONDS = 0.1
_UNDER_WAY = 36  # EINPROGRESS: it was asked to end, and takes its time
_FACT = re.compile(r"^\t(state|pid|runs) = (.+)$", re.MULTILINE)


class Launchd:
    """The domain of the login session. `environment` is the caller's."""

    name = "launchd"

    def __init__(self, environment: Mapping[str, str], home: Path) -> None:
        self._environment = environment
        self._home = home
        self._file = home / "Library/LaunchAgents" / f"{LABEL}.plist"
        self._domain = f"gui/{os.geteuid()}"
        self._target = f"{self._domain}/{LABEL}"

    def files(self, start: Start) -> Mapping[Path, ServiceFile]:
        """Return the agent's property list; private where it holds variables."""
        data = render(template(f"launchd/{LABEL}.plist"), start)
        return {self._file: ServiceFile(data, 0o600 if start.variables else 0o644)}

    def own_files(self) -> list[Path]:
        """Return the property list."""
        return [self._file]

    def variables(self, names: Collection[str]) -> Mapping[str, str]:
        """Return what launchd gives to every agent; HOME is always the person's own."""
        given = {name: self._ask("getenv", name).out for name in names if name != "HOME"}
        return {"HOME": str(self._home), **{name: value for name, value in given.items() if value}}

    def own_variables(self) -> Mapping[str, str]:
        """Return what is in the property list."""
        return variables_of(self._file.read_bytes()) if self._file.is_file() else {}

    def enable(self, *, changed: bool) -> None:
        """Load it, which starts it; one whose file changed is unloaded before."""
        if changed and self._loaded():
            self.stop()
        self.start()

    def disable(self) -> None:
        """Unload it."""
        self.stop()

    def forget(self) -> None:
        """Nothing is left to be told: launchd reads the folder at the next login."""

    def start(self) -> None:
        """Load it, or start it where it is loaded."""
        self._call("enable", self._target)  # it may have been disabled by hand
        if not self._loaded():
            self._call("bootstrap", self._domain, str(self._file))
        elif not self.state().running:
            self._call("kickstart", self._target)

    def stop(self) -> None:
        """Unload it: merely killed it would count as failed and be started again.

        launchctl need not wait for its end, and loads nothing while it lasts.
        """
        if not self._loaded():
            return
        self._call("bootout", self._target, also=_UNDER_WAY)
        deadline = time.monotonic() + _SECONDS_TO_END
        while self._loaded():
            if time.monotonic() > deadline:
                raise ManagerError("launchd failed", f"{LABEL} has not stopped", "Try again in a minute.")
            time.sleep(_STEP_SECONDS)

    def state(self) -> ServiceState:
        """Return how it is, by launchctl print and the list's own text."""
        installed = self._file.is_file()
        program = program_of(self._file.read_bytes()) if installed else ""
        try:
            answer = self._ask("print", self._target)
        except ManagerError as error:
            return ServiceState(self.name, self._file, installed, state="unknown", says=str(error), program=program)
        if answer.status:
            return ServiceState(self.name, self._file, installed, state="not loaded", program=program)
        facts = dict(_FACT.findall(answer.out))
        return ServiceState(
            self.name,
            self._file,
            installed,
            enabled=True,
            running=facts.get("state") == "running",
            state=facts.get("state", ""),
            pid=int(facts["pid"]) if facts.get("pid", "").isdecimal() else None,
            restarts=max(0, int(facts["runs"]) - 1) if facts.get("runs", "").isdecimal() else 0,
            program=program,
        )

    def _loaded(self) -> bool:
        return self._ask("print", self._target).status == 0

    def _call(self, *arguments: str, also: int = 0) -> None:
        answer = self._ask(*arguments)
        if answer.status not in {0, also}:
            raise ManagerError(
                "launchd failed",
                answer.err or f"launchctl {arguments[0]} failed",
                "The service works only in a graphical login session. Otherwise, run skilld in a terminal: skilld run",
            )

    def _ask(self, *arguments: str) -> Answer:
        return ask(self._environment, "launchctl", *arguments)
