"""Skills to create, held against those that are there: what one of them is for already is no new skill. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skilld.consolidate.match import best, described
from skilld.mine.new_skill import new_skill
from skilld.mine.values import Candidate, Rejected
from skilld.skills import Skill, Source

_ANY_DAY = "2000-01-01"  # what is compared are words


def settled(
    made: Sequence[Candidate], skills: Sequence[Skill], texts: Mapping[Path, str]
) -> tuple[list[Candidate], list[Rejected]]:
    """Return the candidates as they are to be: new where no skill is like them, else an extension of that one.

    Requests and steps extend nothing: where a skill is for them already they are left out, and so is what a plugin's
    skill is for, which is replaced on update.
    """
    wanted: list[Candidate] = []
    left_out: list[Rejected] = []
    for one in made:
        skill = _like(one, skills, texts)
        if skill is None:
            wanted.append(one)
        elif skill.source is Source.PLUGIN or any(part.kind is None for part in one.parts):
            left_out.append(Rejected("; ".join(one.changes), f"{skill.name} is a skill for it already"))
        else:
            wanted.append(replace(one, name=skill.name, action="extend", target=str(skill.path), kind=None))
    return wanted, left_out


def _like(one: Candidate, skills: Sequence[Skill], texts: Mapping[Path, str]) -> Skill | None:
    """Return the skill in reach of a candidate's project that is for the same task, if there is one."""
    here = Path(one.target)
    near = {str(skill.path): skill for skill in skills if skill.project is None or here.is_relative_to(skill.project)}
    new = described("", one.name, new_skill(one, day=_ANY_DAY, with_sessions=False).text)
    match = best(new, [described(key, skill.name, texts.get(skill.path, "")) for key, skill in near.items()])
    return near[match.other.key] if match else None
