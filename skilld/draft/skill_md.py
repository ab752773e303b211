"""A draft as a SKILL.md, and back: its facts under `metadata.skilld-*`, its text as the body. Pure.

Lists of words stand as texts with commas between, variables and schemas as JSON, since all metadata are texts
(https://agentskills.io/specification). What was written is read again as the same draft.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from skilld.draft.values import FIRST_VERSION, Draft, SkillKind, Variable, trimmed
from skilld.markdown.skill_file import join_lines, parse
from skilld.skills.compose import compose
from skilld.skills.front import front
from skilld.skills.spec import MAX_DESCRIPTION
from skilld.text import cut, fold, one_line

KIND, SCHEMA, VARIABLES = "skilld-kind", "skilld-input-schema", "skilld-variables"
EXAMPLE = "as in "
"""How the description of a variable begins that is only what stood there in a session."""
_TEXTS = {"origin": "skilld-origin", "version": "skilld-version", "author": "skilld-author", "team": "skilld-team"}
_TEXTS |= {"project": "skilld-project", "date": "skilld-date"}
_LISTS = {"tags": "skilld-tags", "sessions": "skilld-sessions"}


def read(text: str, name: str = "") -> Draft:
    """Return the draft in a SKILL.md's text; `name` is its folder's, where that is to count.

    What is not understood counts as absent. Raises SkilldError where the text cannot be read at all.
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
    """Return the SKILL.md of a draft; raises SkilldError where the specification accepts none of that name or body."""
    return compose(draft.name, draft.description, draft.body, dict(_metadata(clean(draft))))


def input_schema(metadata: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the input schema of a skill that is an MCP tool; empty where it is none, or says none for an object."""
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
