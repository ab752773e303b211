"""How the service is started, what its manager reports, and what a manager can do. No I/O."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol

from skilld.agents import ADAPTERS
from skilld.classify.backends.agent_cli.clients import CLIENTS, PREFIX, chosen
from skilld.classify.backends.choose import AGENT, PROVIDERS
from skilld.errors import RefusedError, SkilldError, UsageError


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
    empty if there is none. `restarts` counts those since the last start by hand. `linger` says whether it also
    runs while the person is logged out; None if that cannot be told.
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

    def enable(self, *, changed: bool) -> None:
        """Have the installed file start now, and whenever the person's session does. Raises ManagerError."""

    def disable(self) -> None:
        """Stop the service and have it not start again; called before its files are removed. Raises ManagerError."""

    def forget(self) -> None:
        """Take note that the files are gone, and leave nothing that led to them. Raises ManagerError."""

    def start(self) -> None:
        """Start it, and return when it runs. Raises ManagerError."""

    def stop(self) -> None:
        """Stop it, and return when it ended. Raises ManagerError."""

    def state(self) -> ServiceState:
        """Return how the service is. Never raises: a manager that does not answer is a state too."""


_PACKAGE = Path(__file__).resolve().parents[1]


def template(name: str) -> bytes:
    """Return a shipped file by its place, such as `systemd/skilld.service`."""
    for folder in (_PACKAGE / "_units", _PACKAGE.parent):
        try:
            return (folder / name).read_bytes()
        except FileNotFoundError:
            continue
    raise SkilldError("Cannot install the service", f"{name} is missing from this installation", "Reinstall skilld.")


# A person who exported a key, a proxy or a folder in a terminal has it there and nowhere else: a service gets the
# manager's environment. So what it would miss is found and named before anything is installed.

_PLACES = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
_NETWORK = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy")
_TRUST = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
_OURS = "SKILLD_*"
_NEVER = frozenset({"SKILLD_CHILD"})
# Providers whose variables do not begin with their name. Source: docs.litellm.ai, providers.
_OTHERWISE = {
    "bedrock": ("AWS_*",),
    "sagemaker": ("AWS_*",),
    "vertex_ai": ("VERTEX*", "GOOGLE_*"),
    "gemini": ("GEMINI_*", "GOOGLE_API_KEY"),
    "ollama_chat": ("OLLAMA_*",),
}
_FOLDERS = ("/usr/local/bin", "/usr/bin", "/bin")


def needed(environment: Mapping[str, str], model: str, *, has_key: bool) -> dict[str, str]:
    """Return the variables of a shell that change what the daemon does with this `model`.

    `has_key` says that the settings hold the model's key. Empty ones count as unset.
    """
    of_agents = [name for adapter in ADAPTERS.values() for name in adapter.INFO.variables]
    patterns = [*_PLACES, *_NETWORK, *_TRUST, _OURS, *of_agents, *_of_model(model, has_key=has_key)]
    return {
        name: value
        for name, value in sorted(environment.items())
        if value and name not in _NEVER and any(fnmatchcase(name, pattern) for pattern in patterns)
    }


def only_here(wanted: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Return what the shell has and the manager does not give, or gives otherwise."""
    return {name: value for name, value in wanted.items() if given.get(name) != value}


def service_path(path: str, more: Iterable[str] = _FOLDERS) -> str:
    """Return the PATH for the service: the absolute folders of the shell's, each once, then `more`."""
    folders = [folder for folder in path.split(":") if folder.startswith("/")]
    return ":".join(dict.fromkeys([*folders, *more]))


def plain(text: str, what: str) -> str:
    """Return `text`, or raise RefusedError if it holds a control character: no service file can hold that."""
    if any(ord(char) < ord(" ") or char == "\x7f" for char in text):
        raise RefusedError("The service was not installed", f"{what} contains a control character")
    return text


def _of_model(model: str, *, has_key: bool) -> tuple[str, ...]:
    if model == AGENT:
        return tuple(dict.fromkeys(name for client in CLIENTS.values() for name in client.variables))
    if model in {"auto", "offline"}:
        return ("OLLAMA_HOST",) if model == "auto" else ()
    if model.startswith(PREFIX):
        try:
            return chosen(model)[0].variables
        except UsageError:  # told where the model is used
            return ()
    if has_key:
        return ()
    provider, slash, _ = model.partition("/")
    if not slash:
        return tuple(PROVIDERS)
    return _OTHERWISE.get(provider, (f"{provider.upper().replace('-', '_')}_*",))


# Runs a service manager's program and waits for its answer. The only place here that starts programs.

# systemctl start waits until the daemon says that it is ready, which it puts off while it reads what was written.
_SECONDS = 600.0
WITHOUT = "Run skilld in a terminal instead: skilld run"


@dataclass(frozen=True, slots=True)
class Answer:
    """Exit status, and what was printed."""

    status: int
    out: str
    err: str


def ask(environment: Mapping[str, str], program: str, *arguments: str) -> Answer:
    """Run `program` of PATH with a time limit. Raises ManagerError if it is missing or does not end."""
    found = shutil.which(program, path=environment.get("PATH"))
    if found is None:
        raise ManagerError("No service manager found", f"{program} is not on PATH", WITHOUT)
    try:
        done = subprocess.run(
            [found, *arguments],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise ManagerError(
            "The service manager is not responding", f"{program} took longer than {_SECONDS:.0f} seconds", WITHOUT
        ) from None
    except OSError as error:
        raise ManagerError("Cannot reach the service manager", f"{found}: {error.strerror}", WITHOUT) from error
    return Answer(done.returncode, _text(done.stdout), _text(done.stderr))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").strip()
