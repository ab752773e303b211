"""A candidate as a SKILL.md: its name, description and body, in words that were said or in fixed ones of ours. Pure.

Each line of the body is one part, and each part rests on a quote that was checked. Nothing is written that nobody said:
no advice of ours, no example that did not happen, no path of a machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from skilld.mine.content import relative
from skilld.mine.naming import project_name
from skilld.mine.template import Variable, template
from skilld.mine.values import Candidate, Part, SkillKind, Sort
from skilld.skills.compose import compose
from skilld.text import cut, fold, safe_text

_DESCRIPTION = 500  # characters; agents read it of every skill, in every session
_SAID = 120  # of one part in it
_PART = 600
# What a kind of work is, for the words "use when".
_WORK = {
    "debugging": "looking for a bug or fixing a failure",
    "testing": "writing, changing or running tests",
    "optimization": "making something faster or smaller",
    "refactoring": "restructuring code",
    "documentation": "writing documentation",
    "deployment": "releasing or deploying",
}
_SECTIONS = ((Sort.FACT, "Facts"), (Sort.RULE, "Rules"), (Sort.PITFALL, "Pitfalls"))


@dataclass(frozen=True, slots=True)
class Draft:
    """A new skill before anybody has agreed to it: `text` is the whole SKILL.md."""

    name: str
    description: str
    body: str
    metadata: Mapping[str, str]

    @property
    def text(self) -> str:
        """The SKILL.md. Raises SkilldError where the name or the body can be no skill's."""
        return compose(self.name, self.description, self.body, self.metadata)

    def renamed(self, name: str) -> Draft:
        """Return it under another name."""
        return replace(self, name=name)


def draft(candidate: Candidate, *, day: str, with_sessions: bool) -> Draft:
    """Return the skill that a candidate to create would be; `day` is YYYY-MM-DD.

    `with_sessions` has the ids of the sessions in it, which belong into no file that others get to see.
    """
    parts = [_clean(part, candidate.target) for part in candidate.parts]
    kind = candidate.kind or SkillKind.KNOWLEDGE
    variables: tuple[Variable, ...] = ()
    if kind is SkillKind.PROMPT:
        body, variables = _prompt(parts[0])
    elif any(part.sort is Sort.STEP for part in parts):
        body = _steps(parts)
    else:
        body = _rules(candidate, parts)
    metadata = {"skilld-origin": "mined", "skilld-evolving": "true", "skilld-kind": kind.value, "skilld-date": day}
    if with_sessions:
        metadata["skilld-sessions"] = ", ".join(sorted({proof.session for proof in candidate.evidence}))
    if variables:
        metadata["skilld-variables"] = json.dumps([{"name": one.name, "type": "string"} for one in variables])
    said = cut(fold(safe_text(_description(candidate, parts))), _DESCRIPTION)
    return Draft(candidate.name, said, body, metadata)


def _clean(part: Part, project: str) -> Part:
    return replace(part, text=cut(fold(safe_text(relative(part.text, project))), _PART))


def _description(candidate: Candidate, parts: list[Part]) -> str:
    said = "; ".join(_bare(cut(part.text, _SAID)) for part in parts[:3])
    if candidate.kind is SkillKind.PROMPT:
        return f"What is asked for again and again: {said}. Use when asked for this, also in other words."
    if any(part.sort is Sort.STEP for part in parts):
        steps = "; then ".join(_bare(cut(part.text, _SAID)) for part in parts)
        return f"Steps that follow each other: {steps}. Use when asked for them, or for the first of them."
    place = f" in {name}" if (name := project_name(candidate.target)) else ""
    work = _WORK.get(candidate.work)
    if work:
        return f"What holds for {work}{place}: {said}. Use when {work}{place}."
    return f"Facts and conventions{place or ' of the work'}: {said}. Use when working{place or ' there'}."


def _prompt(part: Part) -> tuple[str, tuple[Variable, ...]]:
    others = [fold(proof.quote) for proof in part.proofs if fold(proof.quote) != part.text]
    text, variables = template(part.text, others)
    lines = [_title(_bare(part.text)), "", "## Request", "", text]
    if variables:
        lines += ["", "## Variables", "", *(f"- `{{{{{one.name}}}}}`: as in {one.example}" for one in variables)]
    return "\n".join(lines), variables


def _steps(parts: Iterable[Part]) -> str:
    steps = [part.text for part in parts]
    numbered = [f"{number}. {text}" for number, text in enumerate(steps, 1)]
    return "\n".join([_title(_bare(steps[0])), "", "## Steps", "", *numbered])


def _rules(candidate: Candidate, parts: list[Part]) -> str:
    name = project_name(candidate.target) or candidate.name
    lines = [_title(f"{name}: {candidate.work}" if candidate.work in _WORK else name)]
    if candidate.work in _WORK:
        lines += ["", f"For {_WORK[candidate.work]}."]
    for sort, heading in _SECTIONS:
        said = [f"- {part.text}" for part in parts if part.sort is sort]
        lines += ["", f"## {heading}", "", *said] if said else []
    return "\n".join(lines)


def _title(text: str) -> str:
    return f"# {cut(fold(safe_text(text)), 80)}"


def _bare(text: str) -> str:
    return text.rstrip(" .!;:,")
