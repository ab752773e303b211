"""A skill as a value, whichever file it came from. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from skilld.skills.write import holes

FIRST_VERSION = "1.0.0"


class SkillKind(StrEnum):
    """What sort of knowledge a skill holds; a skill without one is plain instructions."""

    PROMPT = "prompt-template"
    WORKFLOW = "workflow"
    KNOWLEDGE = "domain-knowledge"
    TOOL = "mcp-tool"


SHORT_NAMES: Mapping[str, SkillKind] = {
    "prompt": SkillKind.PROMPT,
    "workflow": SkillKind.WORKFLOW,
    "domain": SkillKind.KNOWLEDGE,
    "mcp": SkillKind.TOOL,
}
"""What people type for a kind."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A hole of a prompt template."""

    name: str
    type: str = "string"
    description: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A skill. `body` is the text below the front matter, with bare newlines and none at its ends.

    `variables` belong to a prompt template, `project` (a name, no path) to domain knowledge, `schema` (a JSON Schema)
    to an MCP tool. `sessions` and `date` (YYYY-MM-DD) say what it was learned from, `origin` how it came here.
    """

    name: str
    description: str
    body: str
    kind: SkillKind | None = None
    version: str = FIRST_VERSION
    author: str = ""
    team: str = ""
    tags: tuple[str, ...] = ()
    variables: tuple[Variable, ...] = ()
    project: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)
    sessions: tuple[str, ...] = ()
    date: str = ""
    origin: str = ""


def trimmed(body: str) -> str:
    """Return a body with bare newlines, without those at its ends."""
    return re.sub(r"\r\n?", "\n", body).strip("\n").rstrip()


def of_kind(draft: Draft, kind: SkillKind) -> Draft:
    """Return a draft as one of another kind; its holes are what it takes, unless it declares that already."""
    names = holes(draft.body)
    schema = draft.schema or {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    return replace(
        draft,
        kind=kind,
        variables=draft.variables or tuple(map(Variable, names)) if kind is SkillKind.PROMPT else (),
        schema=schema if kind is SkillKind.TOOL else {},
    )
