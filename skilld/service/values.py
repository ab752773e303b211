"""What the service is started with, what its manager says of it, and what a manager can do. No I/O."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from skilld.errors import SkilldError


class ManagerError(SkilldError):
    """The service manager is not there, does not answer, or did not do what it was asked."""


@dataclass(frozen=True, slots=True)
class Start:
    """How the daemon is started: program and first arguments, PATH, and the variables that it needs besides."""

    program: tuple[str, ...]
    path: str
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ServiceFile:
    """One file of the service: its bytes and its mode."""

    data: bytes
    mode: int


@dataclass(frozen=True, slots=True)
class ServiceState:
    """What the manager and the installed file say.

    `state` is the manager's own word, `says` what the daemon told it. `program` is what the installed file starts,
    empty where there is none. `restarts` counts those since the last start by hand. `linger` says whether it also
    runs while the person is logged out; None where that cannot be told.
    """

    manager: str
    file: Path
    installed: bool
    enabled: bool = False
    running: bool = False
    state: str = ""
    says: str = ""
    pid: int | None = None
    restarts: int = 0
    program: str = ""
    linger: bool | None = None


class ServiceManager(Protocol):
    """The manager of the person's own services."""

    @property
    def name(self) -> str:
        """The manager's own name."""

    def files(self, start: Start) -> Mapping[Path, ServiceFile]:
        """Return the files that make the service. Raises RefusedError for text that none can hold."""

    def own_files(self) -> list[Path]:
        """Return every file that an installation may have written."""

    def variables(self, names: Collection[str]) -> Mapping[str, str]:
        """Return those of the named variables that the manager gives to every service. Raises ManagerError."""

    def own_variables(self) -> Mapping[str, str]:
        """Return the variables that the installed files give to the service besides."""

    def take_up(self, *, changed: bool) -> None:
        """Have the installed file start now, and whenever the person's session does. Raises ManagerError."""

    def let_go(self) -> None:
        """Stop the service and have it not start again; called before its files are removed. Raises ManagerError."""

    def forget(self) -> None:
        """Take note that the files are gone, and leave nothing that led to them. Raises ManagerError."""

    def start(self) -> None:
        """Start it, and return when it runs. Raises ManagerError."""

    def stop(self) -> None:
        """Stop it, and return when it ended. Raises ManagerError."""

    def state(self) -> ServiceState:
        """Return how the service is. Never raises: a manager that does not answer is a state too."""
