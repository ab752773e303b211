"""The facts that a person told of a project and that have no skill to go to, as one skill of domain knowledge. Pure.

Learnings enter, one draft leaves, with the learnings it says: their quotes are the evidence of its proposal. `domains`
asks for it, for the projects that the settings name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skilld.draft import Draft, SkillKind
from skilld.memory.clusters import Category, asks, category, of_learnings
from skilld.store.learnings import Learning
from skilld.text import cut, one_line
from skilld.types import Kind
from skilld.words import denies

LEAST = 2  # facts: one alone is a line of the project's documents
MOST = 60
_LONGEST = 600  # characters of one fact
_SAID = 120  # of one fact in the description
_SECTIONS = ("Layout", "Conventions", "Pitfalls")


@dataclass(frozen=True, slots=True)
class Gathered:
    """A skill of a project's facts, and the newest learning behind each of its lines, in their order."""

    draft: Draft
    learnings: tuple[Learning, ...]


def gathered(
    project: Path, learnings: Iterable[Learning], *, day: str, unfit: Callable[[Learning], bool] = lambda _: False
) -> Gathered | None:
    """Return the skill of what was told of `project` (a folder), or None where that is too little to make one of.

    What was said several times stands there once, in its newest words; `unfit` tells which of them no skill may say.
    `day` is YYYY-MM-DD.
    """
    facts = {one.id: one for one in told_of(project, learnings, unfit)}
    newest = [facts[ask.said[0].id] for ask in asks(of_learnings(facts.values()))][:MOST]
    if len(newest) < LEAST:
        return None
    sections = {title: [one for one in newest if section(one.change) == title] for title in _SECTIONS}
    name = project.name
    kept = [one for title in _SECTIONS for one in sections[title]]
    said = "; ".join(cut(one_line(one.change), _SAID).rstrip(" .!;:,") for one in kept[:3])
    draft = Draft(
        name=skill_name(project),
        description=f"What holds in {one_line(name)}: {said}. Use when working in {one_line(name)}.",
        body=_body(name, sections),
        kind=SkillKind.KNOWLEDGE,
        project=one_line(name),
        date=day,
        origin="mined",
    )
    return Gathered(draft, tuple(kept))


def skill_name(project: Path) -> str:
    """Return what the skill of a project's facts is called."""
    return f"{_slug(project.name)}-knowledge"


def told_of(project: Path, learnings: Iterable[Learning], unfit: Callable[[Learning], bool]) -> list[Learning]:
    """Return the facts among the learnings that were told of `project` and that a skill may say."""
    return [one for one in learnings if _is_told_of(one, project) and not unfit(one)]


def _is_told_of(learning: Learning, project: Path) -> bool:
    if learning.kind != Kind.FACT or learning.skill or not learning.project:
        return False
    return Path(learning.project).is_relative_to(project)


def section(fact: str) -> str:
    """Return the heading that a fact belongs under."""
    if denies(fact):
        return "Pitfalls"
    return "Layout" if category(fact) is Category.ARCHITECTURE else "Conventions"


def fact_line(fact: str) -> str:
    """Return a fact as the skill says it: one line, of bounded length."""
    return cut(one_line(fact), _LONGEST)


def _body(name: str, sections: Mapping[str, Sequence[Learning]]) -> str:
    lines = [f"# {one_line(name)}"]
    for title, found in sections.items():
        told = [f"- {fact_line(one.change)}" for one in found]
        lines += ["", f"## {title}", "", *told] if told else []
    return "\n".join(lines)


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.casefold())[:50].strip("-") or "project"
