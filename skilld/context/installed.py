"""Which version of an agent's client is installed, from the files next to its program; nothing is run."""

from __future__ import annotations

import re
from collections.abc import Mapping

from skilld.agents.base import AgentInfo, read_object, string
from skilld.agents.programs import names_of
from skilld.files import on_path, read_plain

_VERSION = re.compile(r"\d+(?:\.\d+)+")
_MAX_BYTES = 1 << 20
_MAX_FOLDERS = 8  # folders from a program up to its package


def installed_version(info: AgentInfo, environment: Mapping[str, str]) -> str:
    """Return the version of an agent's program on PATH; empty if it cannot be told."""
    path = on_path(names_of(info.title), environment)
    for folder in [path, *path.parents[:_MAX_FOLDERS]] if path else ():
        if _VERSION.fullmatch(folder.name):  # as in ~/.local/share/claude/versions/2.1.330
            return folder.name
        try:
            package = read_object(read_plain(folder / "package.json", _MAX_BYTES)[0]) or {}
        except (OSError, ValueError):
            continue
        if package.get("name") and _VERSION.match(version := string(package.get("version"))):
            return version
    return ""
