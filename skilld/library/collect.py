"""The shelf as it is now: skills from the disk, what became of them from the store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from skilld.daemon.roots import skill_places
from skilld.library.marks import marks
from skilld.library.shelf import Shelved, corrects, shelf
from skilld.library.uses import judged, sessions_by_path
from skilld.skills import Skill, find
from skilld.store import Store
from skilld.store.overview import Used
from skilld.types import Proposal, SkillRef, State


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
    folders = [*around, *map(Path, store.overview.projects())]
    projects = dict.fromkeys(project for folder in folders if folder.is_absolute() for project in _up_to_root(folder))
    skills = find_skills([project for project in projects if project != home])
    proposals = store.proposals.in_states([*State])
    sessions = sessions_by_path(skills, store.overview.used(), _finder(home, environment))
    tasks = store.records.tasks()
    uses = {
        skill.path: judged(
            skill.name,
            sessions.get(skill.path, {}),
            _corrected(store, [one for one in proposals if one.path == str(skill.path)]),
            store.records.feedback_by_session(skill.name, str(skill.path)),
            tasks,
        )
        for skill in skills
    }
    return shelf(skills, uses, proposals, now, marks(store, skills, uses, now))


def _up_to_root(folder: Path) -> Iterator[Path]:
    """Yield a folder and those around it, up to the root of its repository; without one, the folder alone."""
    above = [folder, *folder.parents]
    # os.path: Path.exists raises for a folder that is closed to us, or whose name no disk takes. It is a log's claim.
    root = next((number for number, one in enumerate(above) if os.path.exists(one / ".git")), 0)  # noqa: PTH110
    yield from above[: root + 1]


def _corrected(store: Store, proposals: Iterable[Proposal]) -> set[str]:
    """Return the sessions in which these corrections were said, once or again."""
    corrections = [one for one in proposals if corrects(one)]
    said = store.overview.sessions_of(piece.turn for one in corrections for piece in one.evidence)
    return said | {one.session_id for one in corrections}


def _finder(home: Path, environment: Mapping[str, str]) -> Callable[[Used], str]:
    places = cache(lambda agent: skill_places(agent, home, environment))

    def path_of(use: Used) -> str:
        claimed = find(use.name, use.path or None, use.cwd, places(use.agent))
        return claimed.path if isinstance(claimed, SkillRef) else ""

    return path_of
