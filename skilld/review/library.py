"""The person's skills as a list: where each comes from, how often it is used and corrected, when it last changed.

Takes what the store counts and the folders in which agents keep skills; gives values. Deleting moves a folder aside.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from skilld.daemon.roots import skill_places
from skilld.errors import SkilldError
from skilld.intake.agents import ADAPTERS
from skilld.skills import Unusable, find
from skilld.store.overview import Used
from skilld.times import seconds
from skilld.types import Proposal, SkillRef, State

PROJECT, USER, PLUGIN, EVOLVING = "project", "user", "plugin", "evolving"
GROUPS = (EVOLVING, PROJECT, USER, PLUGIN)
_LATELY = 30 * 86400.0
_CORRECTIONS = frozenset({State.OPEN, State.ACCEPTED, State.REJECTED, State.REVERTED, State.STALE})
_PROJECTS = 200  # folders that are looked into


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill. `path` is that of its SKILL.md, empty where it cannot be edited; `edited_at` a Unix time or 0.

    `corrections` counts the proposals that its use has led to, whatever became of them.
    """

    name: str
    group: str
    path: str = ""
    uses: int = 0
    corrections: int = 0
    edited_at: float = 0.0
    invocation: str = field(default="", compare=False)

    @property
    def rate(self) -> float:
        """Corrections per use; 0 where it was never used."""
        return self.corrections / self.uses if self.uses else 0.0


def skills(
    used: Sequence[Used],
    projects: Iterable[str],
    proposals: Sequence[Proposal],
    *,
    home: Path,
    environment: Mapping[str, str],
    now: float,
) -> list[Skill]:
    """Return all skills: by group, and by name within it."""
    found = _installed(projects, home, environment)
    sessions: Counter[str] = Counter()
    for use in used:
        claimed = find(use.name, use.path or None, use.cwd, skill_places(use.agent, home, environment))
        if isinstance(claimed, SkillRef):
            found.setdefault(claimed.path, Skill(claimed.name, PROJECT, claimed.path))
            sessions[claimed.path] += use.sessions
        elif _is_plugins(use, claimed):
            found.setdefault(use.name, Skill(use.name, PLUGIN, invocation=f"/{use.name}"))
            sessions[use.name] += use.sessions
    corrections = Counter(proposal.path for proposal in proposals if proposal.state in _CORRECTIONS)
    edited = {
        proposal.path: seconds(proposal.decided_at) or 0.0
        for proposal in sorted(proposals, key=lambda item: item.decided_at)
        if proposal.state is State.ACCEPTED
    }
    waiting = {proposal.path for proposal in proposals if proposal.state is State.OPEN}
    counted = [
        replace(
            skill,
            group=EVOLVING if key in waiting or now - edited.get(key, 0.0) < _LATELY else skill.group,
            uses=sessions[key],
            corrections=corrections[key],
            edited_at=edited.get(key, 0.0),
            invocation=skill.invocation or _invocation(skill),
        )
        for key, skill in found.items()
    ]
    return sorted(counted, key=lambda skill: (GROUPS.index(skill.group), skill.name, skill.path))


def put_aside(skill: Skill, data: Path) -> Path:
    """Move a skill's folder into `data` and return where it is now. Raises SkilldError where it cannot be moved."""
    folder = Path(skill.path).parent
    place = data / "deleted" / f"{time.strftime('%Y%m%d-%H%M%S')}-{folder.name}"
    if not skill.path or folder.is_symlink() or not (folder / "SKILL.md").is_file():
        raise SkilldError("The skill was not deleted", "it is not a folder of your own")
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.rename(place)
    except OSError as error:
        raise SkilldError("The skill was not deleted", error.strerror or str(error)) from error
    return place


def matches(skill: Skill, words: str) -> bool:
    """Whether every word of a search stands in the skill's name, group or path."""
    text = f"{skill.name} {skill.group} {skill.path}".casefold()
    return all(word in text for word in words.casefold().split())


def _installed(projects: Iterable[str], home: Path, environment: Mapping[str, str]) -> dict[str, Skill]:
    """Return the skills that lie in the person's own folders and in those of projects, by their path."""
    found: dict[str, Skill] = {}
    places = {agent: skill_places(agent, home, environment) for agent in ADAPTERS}
    folders = [(folder, USER) for place in places.values() for folder in place.absolute]
    folders += [
        (Path(project) / relative, PROJECT)
        for project in list(projects)[:_PROJECTS]
        if Path(project).is_absolute()
        for relative in dict.fromkeys(name for place in places.values() for name in place.in_project)
    ]
    for folder, group in folders:
        try:
            files = sorted(folder.glob("*/SKILL.md"))
        except OSError:
            continue
        for file in files:
            for place in places.values():
                checked = find(file.parent.name, str(file), None, place)
                if isinstance(checked, SkillRef):
                    found.setdefault(checked.path, Skill(checked.name, group, checked.path))
                    break
    return found


def _is_plugins(use: Used, claimed: Unusable) -> bool:
    return ":" in use.name or "plugin" in claimed.why


def _invocation(skill: Skill) -> str:
    """Return what a person types to use it: Claude Code's way, or Codex's for what lies in its folders."""
    mark = "$" if {".codex", ".agents"} & set(Path(skill.path).parts) else "/"
    return f"{mark}{skill.name}"
