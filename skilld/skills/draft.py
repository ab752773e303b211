"""A skill as a value, independent of any file. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from typing import Any

from skilld.markdown.skill_file import join_lines, parse
from skilld.skills.spec import MAX_DESCRIPTION, entries, front_lines, metadata_lines, read_front
from skilld.skills.write import compose, holes
from skilld.text import fold, one_line, read_json, truncate
from skilld.values import value_class

FIRST_VERSION = "1.0.0"


class SkillKind(StrEnum):
    """The kind of a skill; a skill without one is plain instructions."""

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
"""The short names that people type for a kind."""


@value_class
class Variable:
    """A variable of a prompt template."""

    name: str
    type: str = "string"
    description: str = ""


@value_class
class Draft:
    """A skill. `body` is the text below the front matter, with bare newlines and none at its ends.

    `variables` belong to a prompt template, `project` (a name, not a path) to domain knowledge, `schema` (JSON Schema)
    to an MCP tool. `sessions` and `date` (YYYY-MM-DD) tell what it was learned from, `origin` how it was created.
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


def trim_body(body: str) -> str:
    """Return a body with bare newlines and none at its ends."""
    return re.sub(r"\r\n?", "\n", body).strip("\n").rstrip()


def as_kind(draft: Draft, kind: SkillKind) -> Draft:
    """Return a draft as one of another kind; its variables become its input, unless it declares that."""
    names = holes(draft.body)
    schema = draft.schema or {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    return replace(
        draft,
        kind=kind,
        variables=draft.variables or tuple(map(Variable, names)) if kind is SkillKind.PROMPT else (),
        schema=schema if kind is SkillKind.TOOL else {},
    )


# Conversion of a draft to a SKILL.md and back. Its fields are under `metadata.skilld-*`: lists separated by commas,
# variables and schemas as JSON, because all metadata is text (https://agentskills.io/specification).

KIND, SCHEMA, VARIABLES = "skilld-kind", "skilld-input-schema", "skilld-variables"
EXAMPLE_PREFIX = "as in "
"""The start of a variable's description that is only an example from a session."""
_TEXT_FIELDS = {
    "origin": "skilld-origin",
    "version": "skilld-version",
    "author": "skilld-author",
    "team": "skilld-team",
}
_TEXT_FIELDS |= {"project": "skilld-project", "date": "skilld-date"}
_LIST_FIELDS = {"tags": "skilld-tags", "sessions": "skilld-sessions"}


def read_draft(text: str, name: str = "") -> Draft:
    """Return the draft in a SKILL.md's text; a `name` (its folder's) overrides that in the text.

    Invalid fields count as absent. Raises SkilldError if the text cannot be parsed.
    """
    file = parse(text.encode("utf-8", "replace"))
    front = read_front(text)
    kind = front.metadata.get(KIND, "")
    facts: dict[str, Any] = {field: front.metadata.get(key, "") for field, key in _TEXT_FIELDS.items()}
    facts |= {field: _split_list(front.metadata.get(key, "")) for field, key in _LIST_FIELDS.items()}
    facts["version"] = facts["version"] or FIRST_VERSION
    return Draft(
        name=name or front.name,
        description=front.description,
        body=trim_body(join_lines(file.body)),
        kind=SkillKind(kind) if kind in set(SkillKind) else None,
        variables=parse_variables(read_json(front.metadata.get(VARIABLES, ""))),
        schema=input_schema(front.metadata),
        **facts,
    )


def left_out_keys(text: str) -> tuple[str, ...]:
    """Return the front matter that a draft of this SKILL.md leaves out, such as license or metadata.owner."""
    top = entries(front_lines(text) or ())
    inner = (key for key, _, _ in entries(metadata_lines(top)))
    return (
        *(key for key, _, _ in top if key not in {"name", "description", "metadata"}),
        *(f"metadata.{key}" for key in inner if not key.startswith("skilld-")),
    )


def cut_description(description: str) -> tuple[str, ...]:
    """Return that the middle of a description is left out, if it is too long for a SKILL.md."""
    length = len(one_line(description))
    return (f"the middle of its description ({length} characters)",) if length > MAX_DESCRIPTION else ()


def write_draft(draft: Draft) -> str:
    """Return the SKILL.md of a draft; raises SkilldError if its name or body does not meet the specification."""
    return compose(draft.name, draft.description, draft.body, dict(_draft_metadata(clean_draft(draft))))


def input_schema(metadata: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the input schema of an MCP tool; empty for another skill, or if it is not for an object."""
    found = read_json(metadata.get(SCHEMA, "")) if metadata.get(KIND) == SkillKind.TOOL else None
    return found if isinstance(found, dict) and found.get("type") == "object" else {}


def parse_variables(value: object) -> tuple[Variable, ...]:
    """Return the variables in a list of maps from JSON or YAML, leaving out those without a name."""
    rows = value if isinstance(value, list) else []
    maps = [{key: str(item) for key, item in row.items()} for row in rows if isinstance(row, dict)]
    return tuple(
        Variable(row["name"], row.get("type", "string"), row.get("description", "")) for row in maps if row.get("name")
    )


def clean_draft(draft: Draft) -> Draft:
    """Return a draft whose texts do not change when it is written and read again."""
    facts: dict[str, Any] = {field: one_line(getattr(draft, field)) for field in _TEXT_FIELDS}
    facts |= {field: _split_list(",".join(one_line(one) for one in getattr(draft, field))) for field in _LIST_FIELDS}
    variables = tuple(Variable(*map(one_line, (one.name, one.type, one.description))) for one in draft.variables)
    facts["version"] = facts["version"] or FIRST_VERSION
    description = fold(truncate(one_line(draft.description), MAX_DESCRIPTION))
    return replace(draft, description=description, body=trim_body(draft.body), variables=variables, **facts)


def _draft_metadata(draft: Draft) -> Iterator[tuple[str, str]]:
    if draft.kind is not None:
        yield KIND, draft.kind.value
    unsaid = {"", FIRST_VERSION}
    yield from ((key, getattr(draft, name)) for name, key in _TEXT_FIELDS.items() if getattr(draft, name) not in unsaid)
    yield from ((key, ", ".join(getattr(draft, name))) for name, key in _LIST_FIELDS.items() if getattr(draft, name))
    if draft.variables:
        rows = [{"name": one.name, "type": one.type, "description": one.description} for one in draft.variables]
        yield VARIABLES, _as_json(rows)
    if draft.schema:
        yield SCHEMA, _as_json(draft.schema)


def _as_json(value: object) -> str:
    return json.dumps(value)  # ASCII, so that no character needs an escape in YAML


def _split_list(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.replace(",", " ").split()))


# Steps, tools and examples as sections at the end of a skill's body: a heading and numbered items,
# `1. **name** (`code`, `code`)`, each item's text indented below. Sections are only parsed if writing them gives the
# same text again; otherwise they stay in the prompt, so nothing is lost.

_INDENT = "   "
_ITEM_PATTERN = re.compile(r"\d+\. \*\*(?P<name>[^*`\n]+)\*\*(?: \((?P<codes>`[^`\n]+`(?:, `[^`\n]+`)*)\))?")
_STEPS, _WORKFLOW, _EXAMPLES = "## Steps", "## Workflow", "## Examples"


@value_class
class Item:
    """A numbered item: a name on one line, followed by words in code, and a text of any length."""

    name: str
    codes: tuple[str, ...] = ()
    text: str = ""


@value_class
class Body:
    """A parsed body. A step has a name, and its tools as codes; an item of `workflow` is named by its tool.

    `examples` are pairs of items, Input and Output; the code of the latter is the session, if known.
    """

    prompt: str
    steps: tuple[Item, ...] = ()
    workflow: tuple[Item, ...] = ()
    examples: tuple[Item, ...] = ()


def make_item(name: str, codes: Sequence[str] = (), text: str = "") -> Item:
    """Return an item with its texts cleaned, so that it can be parsed again."""
    plain = (fold(re.sub(r"[*`]", "", one)) for one in (name, *codes))
    title, *words = plain
    lines = [line.rstrip() for line in re.split(r"\r\n|\r|\n", text)]
    return Item(title or "Untitled", tuple(word for word in words if word), "\n".join(lines).strip("\n"))


def join_body(parts: Body) -> str:
    """Return the body of these parts."""
    sections = ((_STEPS, parts.steps), (_WORKFLOW, parts.workflow), (_EXAMPLES, parts.examples))
    return "\n\n".join(
        [
            *([parts.prompt] if parts.prompt else []),
            *(_section_text(title, items) for title, items in sections if items),
        ]
    )


def split_body(body: str) -> Body:
    """Return the parts of a body, from which `join_body` gives the same body again."""
    rest, found = body, {}
    for title in (_EXAMPLES, _WORKFLOW, _STEPS):
        rest, found[title] = _split_last_section(rest, title)
    parts = Body(rest, found[_STEPS], found[_WORKFLOW], found[_EXAMPLES])
    return parts if _is_regular(parts) and trim_body(rest) == rest and join_body(parts) == body else Body(body)


def _is_regular(parts: Body) -> bool:
    """Whether codes occur only where they have a meaning, and inputs and outputs alternate."""
    given, made = parts.examples[::2], parts.examples[1::2]
    named = [one.name for one in parts.examples] == ["Input", "Output"] * len(made)
    return named and not any(one.codes for one in (*parts.workflow, *given)) and all(len(one.codes) < 2 for one in made)  # noqa: PLR2004 - a session, or none


def _section_text(title: str, items: Sequence[Item]) -> str:
    return "\n\n".join([title, *(_item_text(number, one) for number, one in enumerate(items, 1))])


def _item_text(number: int, one: Item) -> str:
    codes = f" ({', '.join(f'`{code}`' for code in one.codes)})" if one.codes else ""
    head = f"{number}. **{one.name}**{codes}"
    lines = (_INDENT + line if line else "" for line in one.text.split("\n"))
    return "\n".join([head, "", *lines]) if one.text else head


def _split_last_section(body: str, title: str) -> tuple[str, tuple[Item, ...]]:
    """Return the body without its last section, and that section's items; the whole body and none if not found."""
    lines = body.split("\n")
    at = max((number for number, line in enumerate(lines) if line == title), default=None)
    if at is None:
        return body, ()
    items = _parse_items(lines[at + 1 :])
    if not items or _section_text(title, items) != "\n".join(lines[at:]):
        return body, ()
    return "\n".join(lines[: max(at - 1, 0)]), items


def _parse_items(lines: Sequence[str]) -> tuple[Item, ...]:
    found: list[tuple[re.Match[str], list[str]]] = []
    for line in lines:
        if head := _ITEM_PATTERN.fullmatch(line):
            found.append((head, []))
        elif found:
            found[-1][1].append(line.removeprefix(_INDENT))
    return tuple(
        make_item(head["name"], re.findall("`([^`]+)`", head["codes"] or ""), "\n".join(text)) for head, text in found
    )


# Checking that a draft is valid for its kind.

_VARIABLE_PATTERN = re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII)
_NUMBERED_PATTERN = re.compile(r"^[ ]{0,3}\d+[.)][ \t]+\S", re.MULTILINE)


def draft_faults(draft: Draft) -> tuple[str, ...]:
    """Return what is wrong with a draft for its kind, as clauses for the person; a plain skill has no faults."""
    checks = {
        SkillKind.PROMPT: _template_faults,
        SkillKind.WORKFLOW: _workflow_faults,
        SkillKind.KNOWLEDGE: _domain_faults,
        SkillKind.TOOL: _tool_faults,
    }
    return tuple(checks[draft.kind](draft)) if draft.kind is not None else ()


def _template_faults(draft: Draft) -> Iterator[str]:
    declared = [one.name for one in draft.variables]
    used = holes(draft.body)
    if not used:
        yield "prompt templates need {{variables}}, but this one has none"
    yield from (f"{name} is not a valid variable name" for name in declared if not _VARIABLE_PATTERN.fullmatch(name))
    if len(set(declared)) < len(declared):
        yield "it declares a variable twice"
    yield from (f"it uses {{{{{name}}}}} without declaring it" for name in used if declared and name not in declared)
    yield from (f"it never uses its variable {name}" for name in declared if name not in used)


def _workflow_faults(draft: Draft) -> Iterator[str]:
    parts = split_body(draft.body)
    if not (parts.steps or parts.workflow or _NUMBERED_PATTERN.search(draft.body)):
        yield "workflows need numbered steps, but this one has none"


def _domain_faults(draft: Draft) -> Iterator[str]:
    if "/" in draft.project or "\\" in draft.project:
        yield "its project is a path, not a name"


def _tool_faults(draft: Draft) -> Iterator[str]:
    properties = draft.schema.get("properties", {})
    required = draft.schema.get("required", [])
    if draft.schema.get("type") != "object" or not isinstance(properties, dict) or not isinstance(required, list):
        yield "MCP tools need an input schema of type object, but this one has none"
        return
    yield from (
        f"{{{{{name}}}}} is not a property of its input schema" for name in holes(draft.body) if name not in properties
    )
    yield from (f"it requires {name}, which is not in its input schema" for name in required if name not in properties)
