"""What a list says of a skill in a word: pinned, disabled, stale, or merged into another one and not needed now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from skilld.consolidate.merge import MERGED_FROM
from skilld.library.pins import pinned
from skilld.library.ranks import changed_at
from skilld.library.serving import disabled
from skilld.library.stale import is_stale
from skilld.library.uses import Uses
from skilld.skills import Skill, Source
from skilld.store import Store
from skilld.store.meta import INSTALLED_AT

DISABLED, PINNED, STALE, MERGED = "disabled", "pinned", "stale", "merged"


def marks(store: Store, skills: Iterable[Skill], uses: Mapping[Path, Uses], now: float) -> dict[Path, tuple[str, ...]]:
    """Return the marks of each skill by its path; `now` is a Unix time."""
    found = list(skills)
    off, kept = disabled(store), pinned(store)
    watched = min(store.meta.get(INSTALLED_AT, now), store.overview.first_activity() or now)
    merged = merged_away(found)

    def of(skill: Skill) -> tuple[str, ...]:
        aged = is_stale(used=uses[skill.path].last, changed=changed_at(skill.path), watched=watched, now=now)
        said = {
            PINNED: skill.path in kept,
            DISABLED: skill.path in off,
            MERGED: skill.path in merged,
            STALE: aged and skill.path not in kept and skill.source is not Source.PLUGIN,
        }
        return tuple(word for word, holds in said.items() if holds)

    return {skill.path: of(skill) for skill in found}


def merged_away(skills: Iterable[Skill]) -> dict[Path, Skill]:
    """Return the skills whose content another one says it took over, with that one: of one project, or the person's."""
    found = list(skills)
    takers = {
        (one.source, one.project, name.strip()): one
        for one in found
        for name in one.front.metadata.get(MERGED_FROM, "").split(",")
    }
    return {
        one.path: taker
        for one in found
        if (taker := takers.get((one.source, one.project, one.name))) is not None and taker.path != one.path
    }
