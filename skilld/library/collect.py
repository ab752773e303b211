"""The shelf as it is now: skills from the disk, what became of them from the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from skilld.daemon.roots import skill_places
from skilld.library.serving import disabled
from skilld.library.shelf import CORRECTIONS, Shelved, shelf
from skilld.library.uses import judged, sessions_by_path
from skilld.skills import Skill, find
from skilld.store import Store
from skilld.store.overview import Used
from skilld.types import SkillRef, State


def collect(
    store: Store,
    find_skills: Callable[[Sequence[Path]], list[Skill]],
    home: Path,
    environment: Mapping[str, str],
    *,
    now: float,
    around: Iterable[Path] = (),
) -> list[Shelved]:
    """Return every skill of the person, of plugins, and of the projects that sessions worked in or `around` names."""
    projects = [Path(project) for project in store.overview.projects()]
    skills = find_skills([path for path in dict.fromkeys([*around, *projects]) if path.is_absolute() and path != home])
    proposals = store.proposals.in_states([*State])
    sessions = sessions_by_path(skills, store.overview.used(), _finder(home, environment))
    told, tasks = store.records.feedback_by_session(), store.records.tasks()
    uses = {
        skill.path: judged(
            skill.name,
            sessions.get(skill.path, {}),
            [one.session_id for one in proposals if one.path == str(skill.path) and one.state in CORRECTIONS],
            told.get(skill.name, {}),
            tasks,
        )
        for skill in skills
    }
    off = disabled(store)
    return shelf(skills, uses, proposals, now, dict.fromkeys(off, ("disabled",)))


def _finder(home: Path, environment: Mapping[str, str]) -> Callable[[Used], str]:
    places = cache(lambda agent: skill_places(agent, home, environment))

    def path_of(use: Used) -> str:
        claimed = find(use.name, use.path or None, use.cwd, places(use.agent))
        return claimed.path if isinstance(claimed, SkillRef) else ""

    return path_of
