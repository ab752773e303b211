"""A draft as a YAML document and back: one plain document within limits, every value checked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import yaml

from skilld.errors import SkilldError
from skilld.skills.draft import SHORT_NAMES, Body, Draft, Item, SkillKind, clean, item, lay, lift, trimmed, variables

# Anchors, tags and keys given twice are refused, so that no text grows when it is read, builds an object or says two
# things; what JSON has no word for stays a text.

MAX_BYTES = 256 * 1024
_MAX_EVENTS = 20_000
_MAX_DEPTH = 24
_TITLE = "Could not read the YAML file"
_BREAK = re.compile("[\r\x85\u2028\u2029]")


class _Loader(yaml.SafeLoader):  # type: ignore[misc] # the library has no types
    """The safe loader, to which only what JSON calls so is no text; a key twice or of no text is an error."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - the library's signature
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for number, key in enumerate(keys):
            if not isinstance(key, str) or key in keys[:number]:
                why = "appears twice" if isinstance(key, str) else "is not text"
                raise SkilldError(_TITLE, f"line {node.value[number][0].start_mark.line + 1}: a key {why}")
        made: dict[Any, Any] = super().construct_mapping(node, deep)
        return made


def _number(loader: _Loader, node: yaml.ScalarNode) -> float | str:
    """Return a number that is written as it would be again, else the text: 1.10 is a version."""
    text = str(loader.construct_scalar(node))
    return float(text) if repr(float(text)) == text else text


_TAG = "tag:yaml.org,2002:"
_Loader.add_implicit_resolver(f"{_TAG}null", re.compile(r"(?:~|null|)$"), ["~", "n", ""])
_Loader.add_implicit_resolver(f"{_TAG}bool", re.compile(r"(?:true|false)$"), list("tf"))
_Loader.add_implicit_resolver(f"{_TAG}int", re.compile(r"-?(?:0|[1-9][0-9]{0,17})$"), list("-0123456789"))
_Loader.add_implicit_resolver(f"{_TAG}float", re.compile(r"-?[0-9]{1,17}\.[0-9]{1,17}$"), list("-0123456789"))
_Loader.add_constructor(f"{_TAG}float", _number)


class _Dumper(yaml.SafeDumper):  # type: ignore[misc] # as above
    """The safe dumper, with texts of several lines as blocks and nothing named twice."""

    def ignore_aliases(self, data: object) -> bool:
        del data
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    # In every other style a line break of YAML 1.1 that is none of ours is read as a blank.
    style = '"' if _BREAK.search(value) else "|" if "\n" in value else None
    return dumper.represent_scalar(f"{_TAG}str", value, style=style)


_Dumper.add_representer(str, _text)


def load(data: bytes) -> Any:  # noqa: ANN401 - whatever the file holds
    """Return the value of the one document in `data`.

    Raises SkilldError if it is no YAML, over 256 KiB, nested or split into more than any skill is, or uses what a
    skill needs none of: anchors, tags, keys that are no texts or given twice.
    """
    if len(data) > MAX_BYTES:
        raise SkilldError(_TITLE, f"it is {len(data)} bytes; the limit is {MAX_BYTES}")
    try:
        text = data.decode("utf-8-sig")
        _check(text)
        return yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        where = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise SkilldError(_TITLE, f"{where}{error.problem or 'it is not valid YAML'}") from None
    except UnicodeDecodeError:
        raise SkilldError(_TITLE, "it is not UTF-8 text") from None
    except RecursionError:
        raise SkilldError(_TITLE, "it is nested too deeply") from None
    except (yaml.YAMLError, ValueError):  # ValueError: a number past all bounds
        raise SkilldError(_TITLE, "it is not valid YAML") from None


def dump(value: Any) -> str:  # noqa: ANN401 - maps, lists and scalars
    """Return a value as YAML, its keys in their order."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


def _check(text: str) -> None:
    """Raise SkilldError if the document holds what is refused, before a value is made of anything."""
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=yaml.SafeLoader)):
        line = f"line {event.start_mark.line + 1}" if event.start_mark else "the file"
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise SkilldError(_TITLE, f"{line}: anchors and aliases (& and *) are not allowed in a skill")
        if getattr(event, "tag", None) is not None:
            raise SkilldError(_TITLE, f"{line}: tags (!) are not allowed in a skill")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH or count > _MAX_EVENTS:
            raise SkilldError(_TITLE, f"{line}: the file is nested too deeply, or has too many elements")


@dataclass(frozen=True, slots=True)
class Stats:
    """How often a skill was used, and in which share of those (0 to 1) nothing was corrected; None: not known."""

    times_used: int = 0
    success_rate: float | None = None


def to_document(draft: Draft, stats: Stats, quotes: Sequence[str] = ()) -> dict[str, Any]:
    """Return the document of a draft that was cleared already; `quotes` are the words that it was learned from."""
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
    """Return what is under `prompt`, and the keys of the draft's kind."""
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


# The document of a YAML file as a draft: every value checked to be what its key says.

_PARSED_TITLE = "Not a skill"
_KINDS = {**SHORT_NAMES, **{kind.value: kind for kind in SkillKind}}
_TEXTS = frozenset({"name", "version", "description", "prompt", "author", "team", "type", "project", "context"})
_OTHERS = frozenset({"generated_from", "examples", "workflow", "tags", "stats"})
_OF_KINDS = frozenset({"variables", "steps", "input_schema", "implementation"})


def from_document(value: object) -> tuple[Draft, tuple[str, ...]]:
    """Return a document's draft, and the keys that mean nothing here. SkilldError for a value of another form."""
    if not isinstance(value, dict):
        raise SkilldError(_PARSED_TITLE, "the file is not a mapping of keys to values")
    value = {**value, "context": _context(value.get("context"))}
    texts = {key: _as_text(value.get(key), key) for key in _TEXTS}
    learned = _map(value, "generated_from")
    kind = texts["type"].lower()
    if kind and kind not in _KINDS:
        raise SkilldError(_PARSED_TITLE, f"type is not one of {', '.join(SkillKind)}")
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


def _context(value: object) -> object:
    """Return the context of domain knowledge as text: where it names its parts, each is a section with a list."""
    if not isinstance(value, dict):
        return value
    parts = []
    for name, said in value.items():
        lines = [f"- {_as_text(one, name)}" for one in said] if isinstance(said, list) else [_as_text(said, name)]
        parts.append("\n".join([f"## {str(name).replace('_', ' ').capitalize()}", "", *lines]))
    return "\n\n".join(parts)


def _parts(value: Mapping[str, Any], prompt: str) -> Body:
    pairs = [
        (
            item("Input", (), _parsed_text(one, "input")),
            item("Output", [_parsed_text(one, "source_session")], _parsed_text(one, "output")),
        )
        for one in _maps(value, "examples")
    ]
    return Body(
        prompt=prompt,
        steps=tuple(
            item(
                _parsed_text(one, "name"),
                [_as_text(tool, "tools") for tool in _list(one, "tools")],
                _parsed_text(one, "prompt"),
            )
            for one in _maps(value, "steps")
        ),
        workflow=tuple(
            item(_parsed_text(one, "tool"), (), _parsed_text(one, "description")) for one in _maps(value, "workflow")
        ),
        examples=tuple(one for pair in pairs for one in pair),
    )


def _parsed_text(value: Mapping[str, Any], key: str) -> str:
    return _as_text(value.get(key), key)


def _as_text(value: object, key: str) -> str:
    if isinstance(value, dict | list):
        raise SkilldError(_PARSED_TITLE, f"{key} is not text")
    return "" if value is None else str(value)


def _map(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = value.get(key)
    if not isinstance(found, dict | None):
        raise SkilldError(_PARSED_TITLE, f"{key} is not a map")
    return found or {}


def _list(value: Mapping[str, Any], key: str) -> list[Any]:
    found = value.get(key)
    if not isinstance(found, list | None):
        raise SkilldError(_PARSED_TITLE, f"{key} is not a list")
    return found or []


def _maps(value: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = _list(value, key)
    if not all(isinstance(one, dict) for one in found):
        raise SkilldError(_PARSED_TITLE, f"{key} is not a list of maps")
    return found
