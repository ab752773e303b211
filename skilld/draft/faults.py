"""What keeps a draft from being a skill of its kind. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.draft.skill_md import lift
from skilld.draft.values import Draft, SkillKind
from skilld.skills.write import holes

_NAME = re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII)
_NUMBERED = re.compile(r"^[ ]{0,3}\d+[.)][ \t]+\S", re.MULTILINE)


def faults(draft: Draft) -> tuple[str, ...]:
    """Return clauses for the person, none where the draft is what its kind says; a plain skill has none."""
    checks = {
        SkillKind.PROMPT: _template,
        SkillKind.WORKFLOW: _workflow,
        SkillKind.KNOWLEDGE: _domain,
        SkillKind.TOOL: _tool,
    }
    return tuple(checks[draft.kind](draft)) if draft.kind is not None else ()


def _template(draft: Draft) -> Iterator[str]:
    declared = [one.name for one in draft.variables]
    used = holes(draft.body)
    if not used:
        yield "a prompt template has {{variables}}, and it has none"
    yield from (f"{name} is no name of a variable" for name in declared if not _NAME.fullmatch(name))
    if len(set(declared)) < len(declared):
        yield "it declares a variable twice"
    yield from (f"{{{{{name}}}}} is no variable that it declares" for name in used if declared and name not in declared)
    yield from (f"its variable {name} stands nowhere in it" for name in declared if name not in used)


def _workflow(draft: Draft) -> Iterator[str]:
    parts = lift(draft.body)
    if not (parts.steps or parts.workflow or _NUMBERED.search(draft.body)):
        yield "a workflow has numbered steps, and it has none"


def _domain(draft: Draft) -> Iterator[str]:
    if "/" in draft.project or "\\" in draft.project:
        yield "its project is a path, not a name"


def _tool(draft: Draft) -> Iterator[str]:
    told = draft.schema.get("properties", {})
    required = draft.schema.get("required", [])
    if draft.schema.get("type") != "object" or not isinstance(told, dict) or not isinstance(required, list):
        yield "an MCP tool has an input schema of the type object, and it has none"
        return
    yield from (f"{{{{{name}}}}} is no property of its input schema" for name in holes(draft.body) if name not in told)
    yield from (f"it requires {name}, which its input schema lacks" for name in required if name not in told)
