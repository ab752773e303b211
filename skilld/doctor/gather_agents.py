"""Facts about the agents: their folders on this machine, and what was read of their transcripts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from skilld.daemon.roots import Surroundings, roots, transcripts
from skilld.doctor.values import Agent
from skilld.intake.agents import ADAPTERS
from skilld.store import Store


def agents(around: Surroundings, configured: Mapping[str, Sequence[Path]], store: Store | None) -> list[Agent]:
    """Return one record for each agent that skilld knows."""
    read = store.transcripts.summary() if store else {}
    found = []
    for name, adapter in ADAPTERS.items():
        info = adapter.INFO
        stores = [root for root in roots(around.home, around.environment, configured) if root.agent == name]
        there = [root for root in stores if os.path.lexists(root.folder)]
        seen = [facts.st_mtime for root in there for _, facts in transcripts(root)]
        own = (variable for variable in info.variables if not variable.startswith("XDG_"))
        variable = next((variable for variable in own if around.environment.get(variable)), "")
        found.append(
            Agent(
                name=name,
                title=info.title,
                folders=tuple(root.folder for root in stores),
                chosen=f"the setting roots.{name}" if name in configured else variable,
                there=bool(there),
                unreadable=tuple(closed for root in stores if (closed := _closed(root.folder)) is not None),
                files=len(seen),
                newest=max(seen, default=None),
                turns=read.get(name, {}).get("turns") or 0,
                malformed=read.get(name, {}).get("malformed") or 0,
                verified=info.verified,
                watched=sum(1 if root.is_flat else sum(1 for _ in os.walk(root.folder)) for root in there),
            )
        )
    return found


def _closed(folder: Path) -> Path | None:
    """Return the folder that keeps us out: the one asked for, or one above it; None where none does."""
    for path in (*reversed(folder.parents), folder):
        try:
            if path.is_dir() and not os.access(path, os.X_OK if path != folder else os.R_OK | os.X_OK):
                return path
        except PermissionError:
            return path
    return None
