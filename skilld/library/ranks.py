"""By what skills are put in order where skilld offers them: how lately they were in use, or how near to the work."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path

from skilld.memory.recommend import likeness
from skilld.skills import Skill
from skilld.store import Store
from skilld.words import content_stems

_MOST = 200  # of the newest things said that tell what the work is


def by_recency(store: Store) -> Callable[[Skill], float]:
    """Return the Unix time of a skill's last use or change as its rank."""
    last: dict[str, float] = {}
    for use in store.overview.used():
        name = use.name.rsplit(":", 1)[-1]
        last[name] = max([last.get(name, 0.0), *use.sessions.values()])
    return lambda skill: max(last.get(skill.name, 0.0), changed_at(skill.path))


def by_relevance(store: Store, project: Path) -> Callable[[Skill], float]:
    """Return how much a skill has to do with what was said and done in a project lately as its rank, 0 to 1."""
    said = [one.change for one in store.learnings.all() if one.project and Path(one.project) == project]
    done = [task.prompt for task in store.records.tasks(str(project))]
    wanted = content_stems("\n".join(islice([*said, *done], _MOST)))
    return lambda skill: likeness(wanted, content_stems(f"{skill.name.replace('-', ' ')} {skill.front.description}"))


def changed_at(path: Path) -> float:
    """Return when a file last changed, 0 where it is gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
