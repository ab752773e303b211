"""What the agents installed on this machine load in a folder, and which files none of them loads."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from skilld.agents import ADAPTERS
from skilld.agents.base import AgentInfo, agent_homes, read_object, string
from skilld.caller.programs import program_names
from skilld.context import Context, context_of
from skilld.files import first_program, read_regular

# The installed version of an agent's client is read from the files next to its program; nothing is run.

_VERSION = re.compile(r"\d+(?:\.\d+)+")
_MAX_BYTES = 1 << 20
_MAX_FOLDERS = 8  # from a program up to its package


def installed_version(info: AgentInfo, environment: Mapping[str, str]) -> str:
    """Return the version of an agent's program on PATH; "" if it is unknown."""
    path = first_program(program_names(info.title), environment)
    for folder in [path, *path.parents[:_MAX_FOLDERS]] if path else ():
        if _VERSION.fullmatch(folder.name):  # as in ~/.local/share/claude/versions/2.1.330
            return folder.name
        try:
            package = read_object(read_regular(folder / "package.json", _MAX_BYTES)[0]) or {}
        except (OSError, ValueError):
            continue
        if package.get("name") and _VERSION.match(version := string(package.get("version"))):
            return version
    return ""


# Files that people write for some agent.
_INSTRUCTION_FILES = (
    *("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.local.md", "AGENTS.md", ".claude/AGENTS.md"),
    *("AGENTS.override.md", "AGENTS.local.md", "AGENT.md", "GEMINI.md", "QWEN.md", ".github/copilot-instructions.md"),
    *(".cursorrules", ".windsurfrules", "claude.md", "agents.md", ".codex/AGENTS.md", ".opencode/AGENTS.md"),
)


def present_agents(home: Path, environment: Mapping[str, str]) -> list[str]:
    """Return the agents that are installed or have a folder in the home."""
    return [
        name
        for name, adapter in ADAPTERS.items()
        if first_program(program_names(adapter.INFO.title), environment)
        or any(folder.is_dir() for folder in agent_homes(adapter.INFO, home, environment))
    ]


def contexts(
    project: Path,
    home: Path,
    environment: Mapping[str, str],
    chosen: Sequence[str] = (),
    *,
    seen: Callable[[str], str] = lambda _: "",
) -> list[Context]:
    """Return what each chosen agent loads; by default those that are installed or have a folder in the home.

    `seen` returns the version of an agent whose program is not on PATH, "" if that is unknown too.
    """
    infos = {name: adapter.INFO for name, adapter in ADAPTERS.items()}
    wanted = chosen or present_agents(home, environment)
    versions = {name: installed_version(infos[name], environment) or seen(name) for name in wanted}
    return [context_of(name, version, project, home, environment=environment) for name, version in versions.items()]


def unread_files(found: Sequence[Context], project: Path) -> list[str]:
    """Return the instruction files in a folder that none of these agents loads or mentions as a surprise."""
    known = {path for one in found for file in one.files for path in (file.path, file.real)}
    known |= {surprise.path for one in found for surprise in one.surprises}
    if not found or any(one.source == "not known" for one in found):
        return []
    there = {path.name for path in project.iterdir()}
    paths = (project / name for name in _INSTRUCTION_FILES if name.partition("/")[0] in there)
    return [str(path) for path in paths if path.is_file() and known.isdisjoint({str(path), str(path.resolve())})]
