"""Where a new skill goes: into the project its evidence comes from, or to the person's own where that is not here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skilld.daemon.roots import Surroundings, skill_places
from skilld.errors import SkilldError
from skilld.git.private import look
from skilld.intake.agents import ADAPTERS
from skilld.mine.confirm import Transcripts
from skilld.mine.values import Candidate
from skilld.skills.landing import landing
from skilld.worker.staging import private_repositories


@dataclass(frozen=True, slots=True)
class Place:
    """The path of the SKILL.md to be, and whether others get to see what stands in it."""

    path: Path
    shared: bool


def place(candidate: Candidate, name: str, transcripts: Transcripts, around: Surroundings) -> Place:
    """Return where a new skill called `name` goes. Raises SkilldError where there is no place for it."""
    heard = [transcripts.find(proof) for proof in candidate.evidence]
    sessions = [one.session for one in heard if one is not None]
    projects = {top for session in sessions if (top := project_of(session.main_dir or session.cwd))}
    places = {agent: skill_places(agent, around.home, around.environment, around.roots) for agent in ADAPTERS}
    path = landing(name, projects, [session.agent for session in sessions], places, around.home)
    return Place(path, _is_shared(path))


def project_of(folder: str) -> Path | None:
    """Return the top of the repository a folder lies in, or the folder; None where it is not on this machine."""
    here = Path(folder)
    if not folder or not here.is_absolute() or not here.is_dir():
        return None
    return next((top for top in (here, *here.parents) if os.path.lexists(top / ".git")), here)


def _is_shared(path: Path) -> bool:
    standing: Sequence[Path] = [folder for folder in path.parents if folder.is_dir()]
    try:
        return look(standing[0] / path.name, private_repositories()).repo.remote
    except SkilldError:
        return any((folder / ".git").exists() for folder in standing)  # it cannot be told: say less
