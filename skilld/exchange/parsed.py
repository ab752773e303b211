"""The document of a YAML file as a draft: every value checked to be what its key says. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilld.draft.sections import Body, item, lay
from skilld.draft.skill_md import clean, variables
from skilld.draft.values import SHORT_NAMES, Draft, SkillKind, trimmed
from skilld.errors import SkilldError

_TITLE = "That is no skill"
_KINDS = {**SHORT_NAMES, **{kind.value: kind for kind in SkillKind}}
_TEXTS = frozenset({"name", "version", "description", "prompt", "author", "team", "type", "project", "context"})
_OTHERS = frozenset({"generated_from", "examples", "workflow", "tags", "stats"})
_OF_KINDS = frozenset({"variables", "steps", "input_schema", "implementation"})


def from_document(value: object) -> tuple[Draft, tuple[str, ...]]:
    """Return the draft in a document, and the keys of it that mean nothing here and are left out.

    Raises SkilldError where a value is not what its key says.
    """
    if not isinstance(value, dict):
        raise SkilldError(_TITLE, "the file holds no map of keys and values")
    texts = {key: _as_text(value.get(key), key) for key in _TEXTS}
    learned = _map(value, "generated_from")
    kind = texts["type"].lower()
    if kind and kind not in _KINDS:
        raise SkilldError(_TITLE, f"its type is none of {', '.join(SkillKind)}")
    prompts = (texts["prompt"], texts["context"], _as_text(_map(value, "implementation").get("prompt"), "prompt"))
    draft = Draft(
        name=texts["name"],
        description=texts["description"],
        body=lay(_parts(value, "\n\n".join(trimmed(text) for text in prompts if text.strip()))),
        kind=_KINDS[kind] if kind else None,
        version=texts["version"],
        author=texts["author"],
        team=texts["team"],
        tags=tuple(_as_text(one, "tags") for one in _list(value, "tags")),
        variables=variables(_maps(value, "variables")),
        project=texts["project"],
        schema=_map(value, "input_schema"),
        sessions=tuple(_as_text(one, "sessions") for one in _list(learned, "sessions")),
        date=_as_text(learned.get("extracted_at"), "extracted_at"),
    )
    return clean(draft), tuple(str(key) for key in value if key not in {*_TEXTS, *_OTHERS, *_OF_KINDS})


def _parts(value: Mapping[str, Any], prompt: str) -> Body:
    pairs = [
        (item("Input", (), _text(one, "input")), item("Output", [_text(one, "source_session")], _text(one, "output")))
        for one in _maps(value, "examples")
    ]
    return Body(
        prompt=prompt,
        steps=tuple(
            item(_text(one, "name"), [_as_text(tool, "tools") for tool in _list(one, "tools")], _text(one, "prompt"))
            for one in _maps(value, "steps")
        ),
        workflow=tuple(item(_text(one, "tool"), (), _text(one, "description")) for one in _maps(value, "workflow")),
        examples=tuple(one for pair in pairs for one in pair),
    )


def _text(value: Mapping[str, Any], key: str) -> str:
    return _as_text(value.get(key), key)


def _as_text(value: object, key: str) -> str:
    if isinstance(value, dict | list):
        raise SkilldError(_TITLE, f"its {key} is no text")
    return "" if value is None else str(value)


def _map(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = value.get(key)
    if not isinstance(found, dict | None):
        raise SkilldError(_TITLE, f"its {key} is no map")
    return found or {}


def _list(value: Mapping[str, Any], key: str) -> list[Any]:
    found = value.get(key)
    if not isinstance(found, list | None):
        raise SkilldError(_TITLE, f"its {key} is no list")
    return found or []


def _maps(value: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = _list(value, key)
    if not all(isinstance(one, dict) for one in found):
        raise SkilldError(_TITLE, f"its {key} is no list of maps")
    return found
