"""Where a new skill goes: into the project its evidence comes from, or to the person's own where that is not here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skilld.agents import ADAPTERS
from skilld.errors import SkilldError
from skilld.git.errors import NotTrackedError
from skilld.git.repo import open_repo
from skilld.ingest.discover import Host, skill_places
from skilld.mining.evidence import Transcripts
from skilld.mining.sessions import project_of
from skilld.mining.values import Candidate
from skilld.skills import Places, Unusable, find
from skilld.skills.write import landing
from skilld.types import SkillRef

# Which project a folder of a log belongs to, as far as this machine tells.


@dataclass(frozen=True, slots=True)
class Place:
    """The path of the SKILL.md to be, and whether others get to see what stands in it."""

    path: Path
    shared: bool


def place(candidate: Candidate, name: str, transcripts: Transcripts, around: Host) -> Place:
    """Return where a new skill called `name` goes. Raises SkilldError where there is no place for it."""
    heard = [transcripts.find(proof) for proof in candidate.evidence]
    sessions = [one.session for one in heard if one is not None]
    projects = {top for session in sessions if (top := project_of(session.main_dir))}
    path = landing(name, projects, [session.agent for session in sessions], _places(around), around.home)
    return Place(path, _is_shared(path))


def why_not_editable(name: str, path: str, around: Host) -> str:
    """Return why the skill at `path` is not to be edited, for whichever agent it is; nothing where it may be."""
    found = [find(name, path, None, places) for places in _places(around).values()]
    if any(isinstance(one, SkillRef) for one in found):
        return ""
    return next(one.why for one in found if isinstance(one, Unusable))


def _places(around: Host) -> dict[str, Places]:
    return {agent: skill_places(agent, around.home, around.environment, around.roots) for agent in ADAPTERS}


def _is_shared(path: Path) -> bool:
    standing = next(folder for folder in path.parents if folder.is_dir())
    try:
        return open_repo(standing).remote
    except NotTrackedError:
        return False
    except SkilldError:
        return True  # it cannot be told: say less
