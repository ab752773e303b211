"""How the service is started and what its manager reports. Runs the manager's program."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from skilld.agents import ADAPTERS
from skilld.classify.backends import STARTED_WITHOUT
from skilld.classify.backends.agent_cli.clients import CLIENTS, PREFIX, parse_model
from skilld.classify.backends.choose import AGENT, PROVIDERS
from skilld.errors import RefusedError, SkilldError, UsageError
from skilld.files import find_program
from skilld.skills.project_config import SKIPPED
from skilld.values import value_class


class ManagerError(SkilldError):
    """The service manager is missing, does not respond, or failed."""


@value_class
class StartCommand:
    """How the daemon is started: program and first arguments, PATH, and the other variables that it needs."""

    program: tuple[str, ...]
    path: str
    variables: Mapping[str, str] = field(default_factory=dict)


@value_class
class ServiceFile:
    """One file of the service: its bytes and its mode."""

    data: bytes
    mode: int


@value_class
class ServiceState:
    """The state of the service, from the manager and the installed file.

    `state` is the manager's own word, `says` the daemon's status text. `program` is what the installed file starts,
    empty if there is none. `restarts` counts those since the last manual start. `linger` says whether the service also
    runs while the person is logged out; None if that is not known.
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


_PACKAGE = Path(__file__).resolve().parents[1]


def shipped_file(name: str) -> bytes:
    """Return a file shipped with skilld, such as `systemd/skilld.service`."""
    for folder in (_PACKAGE / "_units", _PACKAGE.parent):
        try:
            return (folder / name).read_bytes()
        except FileNotFoundError:
            continue
    raise SkilldError("Cannot install the service", f"{name} is missing from this installation", "Reinstall skilld.")


# A key, a proxy or a folder that a person exported in a terminal exists only there: a service gets the manager's
# environment. So the variables that it would lack are found and reported before anything is installed.

_COMMON_VARIABLES = (
    *("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "SKILLD_*"),
)
_IGNORED_VARIABLES = frozenset({"SKILLD_CHILD"})
# Providers whose variables do not start with their name. Source: docs.litellm.ai, providers.
_PROVIDER_VARIABLES = {
    "bedrock": ("AWS_*",),
    "sagemaker": ("AWS_*",),
    "vertex_ai": ("VERTEX*", "GOOGLE_*"),
    "gemini": ("GEMINI_*", "GOOGLE_API_KEY"),
    "ollama_chat": ("OLLAMA_*",),
}
_DEFAULT_PATH = ("/usr/local/bin", "/usr/bin", "/bin")


def needed_variables(environment: Mapping[str, str], model: str, *, has_key: bool) -> dict[str, str]:
    """Return the variables of a shell that affect what the daemon does with this `model`; empty ones count as unset.

    `has_key` says that the settings contain the model's key.
    """
    of_agents = [name for adapter in ADAPTERS.values() for name in adapter.INFO.variables]
    patterns = [*_COMMON_VARIABLES, *of_agents, *_model_variables(model, has_key=has_key)]
    return {
        name: value
        for name, value in sorted(environment.items())
        if value and name not in _IGNORED_VARIABLES and any(fnmatchcase(name, pattern) for pattern in patterns)
    }


def missing_variables(wanted: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Return the wanted variables that the manager does not set, or sets to another value."""
    return {name: value for name, value in wanted.items() if given.get(name) != value}


def lacking_keys(environment: Mapping[str, str], model: str, daemon: Mapping[str, Any] | None) -> list[str]:
    """Return the keys for `model` that a shell sets and the daemon was started without, by what it said of itself."""
    if daemon is None or "keys" not in daemon:
        return []
    wanted = needed_variables(environment, model, has_key=False)
    return [name for name in wanted if name.endswith("_API_KEY") and name not in daemon["keys"]]


def give_key_remedy(*, as_service: bool) -> str:
    """Return how a running daemon gets a key that it was started without."""
    if as_service:
        return "In a shell that has it: skilld service install --environment keep"
    return "Stop skilld (Ctrl-C), then in a shell that has it: skilld run"


def failure_remedy(detail: str, daemon: Mapping[str, Any] | None, *, as_service: bool) -> str:
    """Return what to do about a failed batch whose `detail` says that the daemon lacks a key; else `config_remedy`."""
    if remedy := config_remedy(detail):
        return remedy
    name = detail.partition(STARTED_WITHOUT)[2]
    known = daemon or {}
    if not name or known.get("has_key") or name in known.get("keys", ()):
        return ""
    return f"{give_key_remedy(as_service=as_service)}; after that: skilld retry"


def config_remedy(detail: str) -> str:
    """Return what to do about a failed batch whose `detail` says that a project's configuration is invalid, or ""."""
    return "Correct that file; skilld then tries again on its own" if detail.startswith(SKIPPED) else ""


def service_path(path: str, extra: Iterable[str] = _DEFAULT_PATH) -> str:
    """Return the PATH for the service: the absolute folders of the shell's PATH, each once, then `extra`."""
    folders = [folder for folder in path.split(":") if folder.startswith("/")]
    return ":".join(dict.fromkeys([*folders, *extra]))


def check_plain(text: str, name: str) -> str:
    """Return `text`. Raises RefusedError if it contains a control character, which no service file can hold."""
    if any(ord(char) < ord(" ") or char == "\x7f" for char in text):
        raise RefusedError("The service was not installed", f"{name} contains a control character")
    return text


def _model_variables(model: str, *, has_key: bool) -> tuple[str, ...]:
    if model == AGENT:
        return tuple(dict.fromkeys(name for client in CLIENTS.values() for name in client.variables))
    if model in {"auto", "offline"}:
        return ("OLLAMA_HOST",) if model == "auto" else ()
    if model.startswith(PREFIX):
        try:
            return parse_model(model)[0].variables
        except UsageError:  # reported where the model is used
            return ()
    if has_key:
        return ()
    provider, slash, _ = model.partition("/")
    if not slash:
        return tuple(PROVIDERS)
    return _PROVIDER_VARIABLES.get(provider, (f"{provider.upper().replace('-', '_')}_*",))


# Running a service manager's program. Nothing else here starts programs.

# systemctl start waits until the daemon is ready, which takes a while if there is much to read.
_MAX_SECONDS = 600.0
ANSWER_SECONDS = 20.0  # for what only asks the manager
TERMINAL_REMEDY = "Run skilld in a terminal instead: skilld run"


@value_class
class CommandResult:
    """A command's exit status and output."""

    status: int
    out: str
    err: str


def run_command(
    environment: Mapping[str, str], program: str, *arguments: str, seconds: float = _MAX_SECONDS
) -> CommandResult:
    """Run `program` from PATH with a time limit. Raises ManagerError if it is missing or does not finish."""
    found = find_program(program, environment)
    if found is None:
        raise ManagerError("No service manager found", f"{program} is not on PATH", TERMINAL_REMEDY)
    try:
        done = subprocess.run(
            [found, *arguments],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        slow = f"{program} took longer than {seconds:.0f} seconds"
        raise ManagerError("The service manager is not responding", slow, TERMINAL_REMEDY) from None
    except OSError as error:
        raise ManagerError("Cannot reach the service manager", f"{found}: {error.strerror}", TERMINAL_REMEDY) from error
    return CommandResult(done.returncode, _decode(done.stdout), _decode(done.stderr))


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace").strip()
