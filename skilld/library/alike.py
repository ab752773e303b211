"""The person's skills as matching and merging see them: their texts, and the facts that say which of two stays."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from skilld.clock import seconds
from skilld.consolidate.match import Described, described
from skilld.consolidate.merge import MERGED_FROM, Left, beside
from skilld.consolidate.plan import Facts
from skilld.errors import SkilldError
from skilld.library.rows import Shelved, changed_at
from skilld.skills import Skill, Source, text, why_left_alone

_FILES = 50  # of a skill's folder that are named


@dataclass(frozen=True, slots=True)
class Compared:
    """One skill: its row, its text, and the facts of it."""

    row: Shelved
    described: Described
    facts: Facts


def compared(rows: Sequence[Shelved], pinned: Collection[Path]) -> list[Compared]:
    """Return the skills that can be compared: all but those of plugins and those that cannot be read."""
    found = []
    for row in rows:
        if row.skill.source is Source.PLUGIN:
            continue
        try:
            said = text(row.path)
        except OSError:
            continue
        found.append(Compared(row, described(str(row.path), row.name, said), _facts(row, row.path in pinned)))
    return found


def lost_with(away: Skill, keep: Skill) -> list[Left]:
    """Return what a merge of `away` into `keep` would lose with its folder."""
    folder = away.path.parent
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())
    return beside([name for name in files if name != away.path.name][:_FILES], away.agents, keep.agents)


def _facts(row: Shelved, pinned: bool) -> Facts:  # noqa: FBT001 - a fact like the others
    metadata = row.skill.front.metadata
    took = (name.strip() for name in metadata.get(MERGED_FROM, "").split(","))
    return Facts(
        key=str(row.path),
        name=row.name,
        place=str(row.skill.project or ""),
        pinned=pinned,
        uses=row.uses.number,
        since=seconds(metadata.get("skilld-date")) or changed_at(row.path),
        took=frozenset(filter(None, took)),
        fixed=_fixed(row),
    )


def _fixed(row: Shelved) -> str:
    try:
        left_alone = why_left_alone(row.path, row.name)
    except SkilldError as error:
        return str(error)
    return left_alone or ("" if os.access(row.path, os.W_OK) else f"{row.path} is read-only")
