"""Which variables of a shell the daemon would miss when a service manager starts it. Pure.

A person who exported a key, a proxy or a folder in a terminal has it there and nowhere else: a service gets the
manager's environment. So these are found and named before anything is installed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from skilld.classify.backends.agent_cli.clients import PREFIX, chosen
from skilld.classify.backends.choose import PROVIDERS
from skilld.errors import RefusedError, UsageError
from skilld.intake.agents import ADAPTERS

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
    patterns = [*_PLACES, *_NETWORK, *_TRUST, _OURS, *_agents(), *_of_model(model, has_key=has_key)]
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
    """Return `text`, or raise RefusedError where it holds a control character: no service file can hold that."""
    if any(ord(char) < ord(" ") or char == "\x7f" for char in text):
        raise RefusedError("The service is not installed", f"{what} holds a control character")
    return text


def _agents() -> list[str]:
    return [name for adapter in ADAPTERS.values() for name in adapter.INFO.variables]


def _of_model(model: str, *, has_key: bool) -> tuple[str, ...]:
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
