"""Where an agent's own folders lie on a machine with this home and these variables. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skilld.agents.base import AgentInfo, Folder


def agent_homes(info: AgentInfo, home: Path, environment: Mapping[str, str]) -> list[Path]:
    """Return the agent's own folders: the usual one, or where its variable moved it (several with commas)."""
    for variable, below in (*((name, "") for name in info.home_variables), *info.home_parents):
        if value := environment.get(variable):
            moved = [_below_home(part.strip(), home) / below for part in value.split(",") if part.strip()]
            return [path for path in dict.fromkeys(moved) if path.is_absolute()] or [home / info.home]
    return [home / info.home]


def skill_folder(folder: Folder, home: Path, environment: Mapping[str, str]) -> Path | None:
    """Return where a folder of skills is; None where it is nowhere."""
    for variable, below in folder.variables:
        if (value := environment.get(variable)) and (top := _below_home(value, home)).is_absolute():
            return top / below
    return home / folder.usual if folder.usual else None


def _below_home(folder: str, home: Path) -> Path:
    return home / folder[2:] if folder.startswith("~/") else Path(folder)
