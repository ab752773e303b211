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
    CommandResult,
    ManagerError,
    ServiceFile,
    ServiceState,
    StartCommand,
    check_plain,
    run_command,
    service_path,
    shipped_file,
)

# The launchd agent: the template in launchd/ filled in, and read back. Source: launchd.plist(5).

_UNREADABLE = (plistlib.InvalidFileException, ExpatError, ValueError, LookupError, TypeError, AttributeError)
LABEL = "dev.skilld.daemon"


def render(template: bytes, start: StartCommand) -> bytes:
    """Return the agent's property list. Raises RefusedError for text that no property list can hold.

    launchd cannot read variables from a file, so they are in the list itself.
    """
    agent = plistlib.loads(template)
    _, *arguments = agent["ProgramArguments"]
    agent["ProgramArguments"] = [*(check_plain(part, "the program's path") for part in start.program), *arguments]
    usual = agent["EnvironmentVariables"]["PATH"].split(":")
    agent["EnvironmentVariables"] = {
        **{name: check_plain(value, name) for name, value in start.variables.items()},
        "PATH": check_plain(service_path(start.path, usual), "PATH"),
    }
    return plistlib.dumps(agent, sort_keys=False)


def program_of(data: bytes) -> str:
    """Return the program that an agent's property list starts; empty if skilld did not write it."""
    try:
        return str(plistlib.loads(data)["ProgramArguments"][0])
    except _UNREADABLE:
        return ""


def variables_of(data: bytes) -> dict[str, str]:
    """Return the variables that an agent's property list sets; none if skilld did not write it."""
    try:
        return {str(name): str(value) for name, value in plistlib.loads(data)["EnvironmentVariables"].items()}
    except _UNREADABLE:
        return {}


# launchd kills it after the ExitTimeOut of its list, 20 seconds.
_STOP_SECONDS = 30.0
_POLL_SECONDS = 0.1
_IN_PROGRESS = 36  # EINPROGRESS: it is still stopping
_FACT_PATTERN = re.compile(r"^\t(state|pid|runs) = (.+)$", re.MULTILINE)


class Launchd:
    """The domain of the login session. `environment` is the caller's."""

    name = "launchd"

    def __init__(self, environment: Mapping[str, str], home: Path) -> None:
        self._environment = environment
        self._home = home
        self._file = home / "Library/LaunchAgents" / f"{LABEL}.plist"
        self._domain = f"gui/{os.geteuid()}"
        self._target = f"{self._domain}/{LABEL}"

    def files(self, start: StartCommand) -> Mapping[Path, ServiceFile]:
        """Return the agent's property list; only the person can read it if it has variables."""
        data = render(shipped_file(f"launchd/{LABEL}.plist"), start)
        return {self._file: ServiceFile(data, 0o600 if start.variables else 0o644)}

    def own_files(self) -> list[Path]:
        """Return the property list."""
        return [self._file]

    def variables(self, names: Collection[str]) -> Mapping[str, str]:
        """Return the variables that launchd sets for every agent; HOME is always the person's own."""
        given = {name: self._run("getenv", name).out for name in names if name != "HOME"}
        return {"HOME": str(self._home), **{name: value for name, value in given.items() if value}}

    def own_variables(self) -> Mapping[str, str]:
        """Return the variables in the property list."""
        return variables_of(self._file.read_bytes()) if self._file.is_file() else {}

    def enable(self, *, changed: bool) -> None:
        """Load the agent, which starts it; unload it before if its file has changed."""
        if changed and self._loaded():
            self.stop()
        self.start()

    def disable(self) -> None:
        """Unload the agent."""
        self.stop()

    def clean_up(self) -> None:
        """Do nothing: launchd reads the folder at the next login."""

    def start(self) -> None:
        """Load the agent, or start it if it is loaded."""
        self._run_checked("enable", self._target)  # it may have been disabled by hand
        if not self._loaded():
            self._run_checked("bootstrap", self._domain, str(self._file))
        elif not self.state().running:
            self._run_checked("kickstart", self._target)

    def stop(self) -> None:
        """Unload the agent: if it were only killed, launchd would restart it.

        launchctl may return before it has stopped, but cannot load it again until then.
        """
        if not self._loaded():
            return
        self._run_checked("bootout", self._target, accepted=_IN_PROGRESS)
        deadline = time.monotonic() + _STOP_SECONDS
        while self._loaded():
            if time.monotonic() > deadline:
                raise ManagerError("launchd failed", f"{LABEL} has not stopped", "Try again in a minute.")
            time.sleep(_POLL_SECONDS)

    def state(self) -> ServiceState:
        """Return the state, from `launchctl print` and the property list."""
        installed = self._file.is_file()
        program = program_of(self._file.read_bytes()) if installed else ""
        try:
            result = self._run("print", self._target)
        except ManagerError as error:
            return ServiceState(self.name, self._file, installed, state="unknown", says=str(error), program=program)
        facts = {} if result.status else dict(_FACT_PATTERN.findall(result.out))
        return ServiceState(
            self.name,
            self._file,
            installed,
            enabled=not result.status,
            running=facts.get("state") == "running",
            state="not loaded" if result.status else facts.get("state", ""),
            pid=int(facts["pid"]) if facts.get("pid", "").isdecimal() else None,
            restarts=max(0, int(facts["runs"]) - 1) if facts.get("runs", "").isdecimal() else 0,
            program=program,
        )

    def _loaded(self) -> bool:
        return self._run("print", self._target).status == 0

    def _run_checked(self, *arguments: str, accepted: int = 0) -> None:
        result = self._run(*arguments)
        if result.status not in {0, accepted}:
            cause = result.err or f"launchctl {arguments[0]} failed"
            remedy = "The service works only in a graphical login session. Otherwise, run skilld in a terminal"
            raise ManagerError("launchd failed", cause, f"{remedy}: skilld run")

    def _run(self, *arguments: str) -> CommandResult:
        return run_command(self._environment, "launchctl", *arguments)
