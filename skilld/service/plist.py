"""The launchd agent: the file of launchd/ filled in, and read back. Pure. Source: launchd.plist(5)."""

from __future__ import annotations

import plistlib
from xml.parsers.expat import ExpatError

from skilld.service.environment import plain, service_path
from skilld.service.values import Start

_NONE = (plistlib.InvalidFileException, ExpatError, ValueError, LookupError, TypeError, AttributeError)
LABEL = "dev.skilld.daemon"


def render(template: bytes, start: Start) -> bytes:
    """Return the agent's property list. Raises RefusedError for text that none can hold.

    launchd hands out no variables from a file, so what the start has stands in the list itself.
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
    """Return the program that an agent's property list starts, empty where it is none of ours."""
    try:
        return str(plistlib.loads(data)["ProgramArguments"][0])
    except _NONE:
        return ""


def variables_of(data: bytes) -> dict[str, str]:
    """Return the variables that an agent's property list gives, none where it is none of ours."""
    try:
        return {str(name): str(value) for name, value in plistlib.loads(data)["EnvironmentVariables"].items()}
    except _NONE:
        return {}
