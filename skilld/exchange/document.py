"""A draft as the document that `skills export` writes. A draft enters, a map leaves; the YAML is `yaml_text`'s.

The keys are those of the Tapes RFC: of every skill, and `type` with what belongs to it where the skill is of a kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skilld.draft.sections import Item, lift
from skilld.draft.values import Draft, SkillKind


@dataclass(frozen=True, slots=True)
class Stats:
    """How often a skill was used, and in which share of those (0 to 1) nothing was corrected; None: not known."""

    times_used: int = 0
    success_rate: float | None = None


def to_document(draft: Draft, stats: Stats, quotes: Sequence[str] = ()) -> dict[str, Any]:
    """Return the document of a draft.

    `quotes` are the words that it was learned from. Of a draft that must tell nothing of sessions and people, the text
    was cleared before it was read.
    """
    parts = lift(draft.body)
    prompt, own = _of_kind(draft, parts.prompt)
    if parts.steps or draft.kind is SkillKind.WORKFLOW:
        own["steps"] = [{"name": one.name, "prompt": one.text, "tools": list(one.codes)} for one in parts.steps]
    learned: dict[str, Any] = {"sessions": list(draft.sessions), "extracted_at": draft.date}
    if quotes:
        learned["quotes"] = list(quotes)
    return {
        "name": draft.name,
        "version": draft.version,
        "description": draft.description,
        **({"type": draft.kind.value} if draft.kind else {}),
        "generated_from": learned,
        "prompt": prompt,
        **own,
        "examples": _examples(parts.examples),
        "workflow": [{"tool": one.name, "description": one.text} for one in parts.workflow],
        "tags": list(draft.tags),
        "author": draft.author,
        "team": draft.team,
        "stats": {"times_used": stats.times_used, "success_rate": stats.success_rate},
    }


def _of_kind(draft: Draft, prompt: str) -> tuple[str, dict[str, Any]]:
    """Return what stands under `prompt`, and the keys of the draft's kind."""
    match draft.kind:
        case SkillKind.PROMPT:
            rows = [{"name": one.name, "type": one.type, "description": one.description} for one in draft.variables]
            return prompt, {"variables": rows}
        case SkillKind.KNOWLEDGE:
            return "", {"project": draft.project, "context": prompt}
        case SkillKind.TOOL:
            return "", {"input_schema": dict(draft.schema), "implementation": {"prompt": prompt}}
    return prompt, {}


def _examples(items: Sequence[Item]) -> list[dict[str, str]]:
    return [
        {"input": given.text, "output": made.text, "source_session": "".join(made.codes[:1])}
        for given, made in zip(items[::2], items[1::2], strict=True)
    ]
