"""Which folders hold transcripts on this machine, and which files in them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from skilld.intake.agents import ADAPTERS
from skilld.intake.agents.base import AgentInfo
from skilld.skills import Places


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Whose machine this is: the home folder, the environment and the person's umask, read once by the program."""

    home: Path
    environment: Mapping[str, str]
    umask: int = 0o022


@dataclass(frozen=True, slots=True)
class Root:
    """One folder of one agent's transcripts; it need not exist yet."""

    agent: str
    folder: Path


def agent_homes(info: AgentInfo, home: Path, environment: Mapping[str, str]) -> list[Path]:
    """Return the agent's own folders: the usual one, or where its variable moved it (several with commas)."""
    for variable in info.home_variables:
        if value := environment.get(variable):
            moved = [_below_home(part.strip(), home) for part in value.split(",") if part.strip()]
            return [path for path in dict.fromkeys(moved) if path.is_absolute()] or [home / info.home]
    return [home / info.home]


def _below_home(folder: str, home: Path) -> Path:
    return home / folder[2:] if folder.startswith("~/") else Path(folder)


def roots(
    home: Path, environment: Mapping[str, str], configured: Mapping[str, Sequence[Path]] | None = None
) -> list[Root]:
    """Return every transcript folder of every agent. A configured root may be the agent's folder or the store in it."""
    found = []
    for name, adapter in ADAPTERS.items():
        info = adapter.INFO
        for base in (configured or {}).get(name) or agent_homes(info, home, environment):
            own = base.name in info.stores
            found += [Root(name, base)] if own else [Root(name, base / store) for store in info.stores]
    return found


def skill_places(agent: str, home: Path, environment: Mapping[str, str]) -> Places:
    """Return where the skills of an agent live."""
    info = ADAPTERS[agent].INFO
    own = [base / sub for base in agent_homes(info, home, environment) for sub in info.skill_homes]
    linked = {sub for adapter in ADAPTERS.values() for sub in adapter.INFO.project_skills}
    return Places(info.project_skills, (*own, *(home / sub for sub in info.user_skills)), tuple(sorted(linked)))


def transcripts(root: Root) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the transcripts below a root with their stat. Folders that vanish or cannot be read are passed over."""
    adapter = ADAPTERS[root.agent]
    stack = [root.folder]
    while stack:
        try:
            with os.scandir(stack.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        stack.append(Path(entry.path))
                    elif entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                        path = Path(entry.path)
                        with suppress(FileNotFoundError):  # gone this moment; the others in the folder are not
                            if adapter.is_transcript(path):
                                yield path, entry.stat(follow_symlinks=False)
        except OSError:
            continue
