"""A skill as a value, whichever file it came from. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from skilld.markdown.skill_file import join_lines, parse
from skilld.skills.spec import MAX_DESCRIPTION, front
from skilld.skills.write import compose, holes
from skilld.text import cut, fold, one_line

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


# A draft as a SKILL.md, and back to the same draft: its facts under `metadata.skilld-*`, lists of words with commas
# between, variables and schemas as JSON, since all metadata are texts (https://agentskills.io/specification).

KIND, SCHEMA, VARIABLES = "skilld-kind", "skilld-input-schema", "skilld-variables"
EXAMPLE = "as in "
"""How the description of a variable begins that is only what stood there in a session."""
_TEXTS = {"origin": "skilld-origin", "version": "skilld-version", "author": "skilld-author", "team": "skilld-team"}
_TEXTS |= {"project": "skilld-project", "date": "skilld-date"}
_LISTS = {"tags": "skilld-tags", "sessions": "skilld-sessions"}


def read(text: str, name: str = "") -> Draft:
    """Return the draft in a SKILL.md's text; `name` is its folder's, where that is to count.

    What is not understood counts as absent. Raises SkilldError if the text cannot be read at all.
    """
    file = parse(text.encode("utf-8", "replace"))
    said = front(text)
    kind = said.metadata.get(KIND, "")
    facts: dict[str, Any] = {field: said.metadata.get(key, "") for field, key in _TEXTS.items()}
    facts |= {field: _split(said.metadata.get(key, "")) for field, key in _LISTS.items()}
    facts["version"] = facts["version"] or FIRST_VERSION
    return Draft(
        name=name or said.name,
        description=said.description,
        body=trimmed(join_lines(file.body)),
        kind=SkillKind(kind) if kind in set(SkillKind) else None,
        variables=variables(_json(said.metadata.get(VARIABLES, ""))),
        schema=input_schema(said.metadata),
        **facts,
    )


def write(draft: Draft) -> str:
    """Return the SKILL.md of a draft; raises SkilldError if the specification accepts none of that name or body."""
    return compose(draft.name, draft.description, draft.body, dict(_metadata(clean(draft))))


def input_schema(metadata: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the input schema of a skill that is an MCP tool; empty if it is not one, or says none for an object."""
    found = _json(metadata.get(SCHEMA, "")) if metadata.get(KIND) == SkillKind.TOOL else None
    return found if isinstance(found, dict) and found.get("type") == "object" else {}


def variables(value: object) -> tuple[Variable, ...]:
    """Return the variables in a list of maps, as JSON or YAML has it; what has no name is left out."""
    rows = value if isinstance(value, list) else []
    maps = [{key: str(item) for key, item in row.items()} for row in rows if isinstance(row, dict)]
    return tuple(
        Variable(row["name"], row.get("type", "string"), row.get("description", "")) for row in maps if row.get("name")
    )


def clean(draft: Draft) -> Draft:
    """Return a draft of whose texts nothing changes when it is written and read again."""
    facts: dict[str, Any] = {field: one_line(getattr(draft, field)) for field in _TEXTS}
    facts |= {field: _split(",".join(one_line(one) for one in getattr(draft, field))) for field in _LISTS}
    told = tuple(Variable(one_line(one.name), one_line(one.type), one_line(one.description)) for one in draft.variables)
    facts["version"] = facts["version"] or FIRST_VERSION
    description = fold(cut(one_line(draft.description), MAX_DESCRIPTION))
    return replace(draft, description=description, body=trimmed(draft.body), variables=told, **facts)


def _metadata(draft: Draft) -> Iterator[tuple[str, str]]:
    if draft.kind is not None:
        yield KIND, draft.kind.value
    unsaid = {"", FIRST_VERSION}
    yield from ((key, getattr(draft, field)) for field, key in _TEXTS.items() if getattr(draft, field) not in unsaid)
    yield from ((key, ", ".join(getattr(draft, field))) for field, key in _LISTS.items() if getattr(draft, field))
    if draft.variables:
        rows = [{"name": one.name, "type": one.type, "description": one.description} for one in draft.variables]
        yield VARIABLES, _dumped(rows)
    if draft.schema:
        yield SCHEMA, _dumped(draft.schema)


def _dumped(value: object) -> str:
    return json.dumps(value)  # ASCII: nothing in it is turned into an escape on the way


def _split(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.replace(",", " ").split()))


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


# Steps, tools and examples as sections at the end of a skill's body: a heading and numbered items,
# `1. **name** (`code`, `code`)`, each item's text indented below. Only what is laid again to the very same text is read
# out; anything else stays in the prompt, so nothing is ever lost.

_INDENT = "   "
_HEAD = re.compile(r"\d+\. \*\*(?P<name>[^*`\n]+)\*\*(?: \((?P<codes>`[^`\n]+`(?:, `[^`\n]+`)*)\))?")
_STEPS, _WORKFLOW, _EXAMPLES = "## Steps", "## Workflow", "## Examples"


@dataclass(frozen=True, slots=True)
class Item:
    """A numbered item: a name on one line, words in code behind it, and a text of any length."""

    name: str
    codes: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Body:
    """A body taken apart. A step is named and has its tools as codes; an item of `workflow` is named by its tool.

    `examples` are pairs of an item Input and an item Output, with the session as the latter's code where it is known.
    """

    prompt: str
    steps: tuple[Item, ...] = ()
    workflow: tuple[Item, ...] = ()
    examples: tuple[Item, ...] = ()


def item(name: str, codes: Sequence[str] = (), text: str = "") -> Item:
    """Return an item of any texts, cleaned so that it is read again as it is."""
    plain = (fold(re.sub(r"[*`]", "", one)) for one in (name, *codes))
    title, *words = plain
    lines = [line.rstrip() for line in re.split(r"\r\n|\r|\n", text)]
    return Item(title or "Untitled", tuple(word for word in words if word), "\n".join(lines).strip("\n"))


def lay(parts: Body) -> str:
    """Return the body of these parts."""
    sections = ((_STEPS, parts.steps), (_WORKFLOW, parts.workflow), (_EXAMPLES, parts.examples))
    return "\n\n".join(
        [*([parts.prompt] if parts.prompt else []), *(_section(title, items) for title, items in sections if items)]
    )


def lift(body: str) -> Body:
    """Return the parts of a body, for which `lay` gives the same body again."""
    rest, found = body, {}
    for title in (_EXAMPLES, _WORKFLOW, _STEPS):
        rest, found[title] = _last(rest, title)
    parts = Body(rest, found[_STEPS], found[_WORKFLOW], found[_EXAMPLES])
    return parts if _regular(parts) and trimmed(rest) == rest and lay(parts) == body else Body(body)


def _regular(parts: Body) -> bool:
    """Whether codes stand only where they mean something, and inputs and outputs take turns."""
    given, made = parts.examples[::2], parts.examples[1::2]
    named = [one.name for one in parts.examples] == ["Input", "Output"] * len(made)
    return named and not any(one.codes for one in (*parts.workflow, *given)) and all(len(one.codes) < 2 for one in made)  # noqa: PLR2004 - a session, or none


def _section(title: str, items: Sequence[Item]) -> str:
    return "\n\n".join([title, *(_item(number, one) for number, one in enumerate(items, 1))])


def _item(number: int, one: Item) -> str:
    codes = f" ({', '.join(f'`{code}`' for code in one.codes)})" if one.codes else ""
    head = f"{number}. **{one.name}**{codes}"
    lines = (_INDENT + line if line else "" for line in one.text.split("\n"))
    return "\n".join([head, "", *lines]) if one.text else head


def _last(body: str, title: str) -> tuple[str, tuple[Item, ...]]:
    """Return the body without a section at its end, and the items of that; the whole body and none if it differs."""
    lines = body.split("\n")
    at = max((number for number, line in enumerate(lines) if line == title), default=None)
    if at is None:
        return body, ()
    items = _items(lines[at + 1 :])
    if not items or _section(title, items) != "\n".join(lines[at:]):
        return body, ()
    return "\n".join(lines[: max(at - 1, 0)]), items


def _items(lines: Sequence[str]) -> tuple[Item, ...]:
    found: list[tuple[re.Match[str], list[str]]] = []
    for line in lines:
        if head := _HEAD.fullmatch(line):
            found.append((head, []))
        elif found:
            found[-1][1].append(line.removeprefix(_INDENT))
    return tuple(
        item(head["name"], re.findall("`([^`]+)`", head["codes"] or ""), "\n".join(text)) for head, text in found
    )


# What keeps a draft from being a skill of its kind.

_NAME = re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII)
_NUMBERED = re.compile(r"^[ ]{0,3}\d+[.)][ \t]+\S", re.MULTILINE)


def faults(draft: Draft) -> tuple[str, ...]:
    """Return clauses for the person, none if the draft is what its kind says; a plain skill has none."""
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
        yield "prompt templates need {{variables}}, but this one has none"
    yield from (f"{name} is not a valid variable name" for name in declared if not _NAME.fullmatch(name))
    if len(set(declared)) < len(declared):
        yield "it declares a variable twice"
    yield from (f"it uses {{{{{name}}}}} without declaring it" for name in used if declared and name not in declared)
    yield from (f"it never uses its variable {name}" for name in declared if name not in used)


def _workflow(draft: Draft) -> Iterator[str]:
    parts = lift(draft.body)
    if not (parts.steps or parts.workflow or _NUMBERED.search(draft.body)):
        yield "workflows need numbered steps, but this one has none"


def _domain(draft: Draft) -> Iterator[str]:
    if "/" in draft.project or "\\" in draft.project:
        yield "its project is a path, not a name"


def _tool(draft: Draft) -> Iterator[str]:
    told = draft.schema.get("properties", {})
    required = draft.schema.get("required", [])
    if draft.schema.get("type") != "object" or not isinstance(told, dict) or not isinstance(required, list):
        yield "MCP tools need an input schema of type object, but this one has none"
        return
    yield from (
        f"{{{{{name}}}}} is not a property of its input schema" for name in holes(draft.body) if name not in told
    )
    yield from (f"it requires {name}, which is not in its input schema" for name in required if name not in told)
