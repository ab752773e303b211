"""The skills on this machine as verbs need them: of a project, all, those that skilld offers, the text of one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from skilld.cli import common
from skilld.errors import SkilldError

if TYPE_CHECKING:
    from skilld.skills import Places as SkillPlaces
    from skilld.skills import Skill


def project_skills(project: Path) -> list[Skill]:
    """Return the skills that lie in a project, whichever agent they are for."""
    from skilld.agents import ADAPTERS
    from skilld.skills import Places, inventory

    places = {name: Places(adapter.INFO.project_skills, ()) for name, adapter in ADAPTERS.items()}
    return [skill for skill in inventory(places, [project]) if skill.path.is_relative_to(project)]


def all_skills(projects: Sequence[Path]) -> list[Skill]:
    """Return the skills of the person, of these projects and of plugins."""
    from skilld.agents import ADAPTERS
    from skilld.agents.base import agent_homes
    from skilld.skills import inventory

    plugins = {
        name: [folder / "plugins" for folder in agent_homes(adapter.INFO, common.home(), os.environ)]
        for name, adapter in ADAPTERS.items()
    }
    return inventory(skill_places(), projects, plugins)


def skill_places() -> dict[str, SkillPlaces]:
    """Return by agent where it keeps skills."""
    from skilld.agents import ADAPTERS
    from skilld.ingest import discover

    configured = common.settings().roots
    return {name: discover.skill_places(name, common.home(), os.environ, configured) for name in ADAPTERS}


def served(skills: Sequence[Skill]) -> list[Skill]:
    """Return those skills that the person left enabled: what skilld offers to agents."""
    from skilld.library.rows import served

    with closing(common.store()) as opened:
        return served(opened, skills)


def offered(skills: Sequence[Skill], project: Path) -> list[Skill]:
    """Return the served ones, but of those that skilld wrote itself only as many as the settings say."""
    from skilld.library.rows import by_recency, by_relevance, offered

    rules = common.settings().lifecycle
    with closing(common.store()) as opened:
        rank = by_recency(opened) if rules.order == "recency" else by_relevance(opened, project)
        return offered(served(skills), rules.max_evolving, rank)


def skill_text(skill: Skill) -> str:
    """Return the text of a skill's SKILL.md. Raises SkilldError where it cannot be read."""
    from skilld.skills import text

    try:
        return text(skill.path)
    except OSError as error:
        raise SkilldError("The skill cannot be read", f"{skill.path}: {error.strerror}") from error
