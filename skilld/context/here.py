"""What this machine's agents load in one folder, and which files none of them loads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from skilld.agents import ADAPTERS
from skilld.agents.base import agent_homes
from skilld.agents.programs import names_of
from skilld.context import Context, context_of
from skilld.context.installed import installed_version
from skilld.files import on_path

# What people write for one agent or another.
_WRITTEN = (
    *("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.local.md", "AGENTS.md", ".claude/AGENTS.md"),
    *("AGENTS.override.md", "AGENTS.local.md", "AGENT.md", "GEMINI.md", "QWEN.md", ".github/copilot-instructions.md"),
    *(".cursorrules", ".windsurfrules", "claude.md", "agents.md", ".codex/AGENTS.md", ".opencode/AGENTS.md"),
)


def contexts(
    project: Path,
    home: Path,
    environment: Mapping[str, str],
    chosen: Sequence[str] = (),
    *,
    seen: Callable[[str], str] = lambda _: "",
) -> list[Context]:
    """Return what each chosen agent loads; with none chosen, each that is installed or has a folder in the home.

    `seen` gives the version of an agent whose program is not on PATH, empty if that is not known either.
    """
    infos = {name: adapter.INFO for name, adapter in ADAPTERS.items()}
    wanted = chosen or [
        name
        for name, info in infos.items()
        if on_path(names_of(info.title), environment)
        or any(folder.is_dir() for folder in agent_homes(info, home, environment))
    ]
    versions = {name: installed_version(infos[name], environment) or seen(name) for name in wanted}
    return [context_of(name, version, project, home, environment=environment) for name, version in versions.items()]


def unread(found: Sequence[Context], project: Path) -> list[str]:
    """Return the instruction files of a folder that none of these agents loads, and that none tells of by itself."""
    known = {path for one in found for file in one.files for path in (file.path, file.real)}
    known |= {surprise.path for one in found for surprise in one.surprises}
    if not found or any(one.source == "not known" for one in found):
        return []
    there = {path.name for path in project.iterdir()}
    paths = (project / name for name in _WRITTEN if name.partition("/")[0] in there)
    return [str(path) for path in paths if path.is_file() and known.isdisjoint({str(path), str(path.resolve())})]
