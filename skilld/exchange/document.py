"""A draft as a YAML document and back: one plain document within limits, every value checked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import yaml

from skilld.errors import SkilldError
from skilld.skills.draft import (
    SHORT_NAMES,
    Body,
    Draft,
    Item,
    SkillKind,
    clean_draft,
    cut_description,
    join_body,
    make_item,
    parse_variables,
    split_body,
    trim_body,
)
from skilld.text import fold
from skilld.values import value_class

# Anchors, tags and duplicate keys are refused, so that no document expands, builds objects or is ambiguous; scalars of
# types that JSON does not have stay text.

MAX_BYTES = 256 * 1024
_MAX_EVENTS = 20_000
_MAX_DEPTH = 24
_READ_TITLE = "Could not read the YAML file"
_BREAK_PATTERN = re.compile("[\r\x85\u2028\u2029]")


class _Loader(yaml.SafeLoader):  # type: ignore[misc] # the library has no types
    """The safe loader with JSON's scalar types only; duplicate keys and keys that are not text are errors."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - the library's signature
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for number, key in enumerate(keys):
            if not isinstance(key, str) or key in keys[:number]:
                why = "appears twice" if isinstance(key, str) else "is not text"
                raise SkilldError(_READ_TITLE, f"line {node.value[number][0].start_mark.line + 1}: a key {why}")
        made: dict[Any, Any] = super().construct_mapping(node, deep)
        return made


def _construct_number(loader: _Loader, node: yaml.ScalarNode) -> float | str:
    """Return a number if it would be written the same way again, or the text: 1.10 is a version."""
    text = str(loader.construct_scalar(node))
    return float(text) if repr(float(text)) == text else text


_TAG = "tag:yaml.org,2002:"
_Loader.add_implicit_resolver(f"{_TAG}null", re.compile(r"(?:~|null|)$"), ["~", "n", ""])
_Loader.add_implicit_resolver(f"{_TAG}bool", re.compile(r"(?:true|false)$"), list("tf"))
_Loader.add_implicit_resolver(f"{_TAG}int", re.compile(r"-?(?:0|[1-9][0-9]{0,17})$"), list("-0123456789"))
_Loader.add_implicit_resolver(f"{_TAG}float", re.compile(r"-?[0-9]{1,17}\.[0-9]{1,17}$"), list("-0123456789"))
_Loader.add_constructor(f"{_TAG}float", _construct_number)


class _Dumper(yaml.SafeDumper):  # type: ignore[misc] # as above
    """The safe dumper with multi-line texts as blocks, and without aliases."""

    def ignore_aliases(self, data: object) -> bool:
        del data
        return True


def _represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    # In any other style YAML 1.1 reads its additional line breaks as blanks.
    style = '"' if _BREAK_PATTERN.search(value) else "|" if "\n" in value else None
    return dumper.represent_scalar(f"{_TAG}str", value, style=style)


_Dumper.add_representer(str, _represent_text)


def load_yaml(data: bytes) -> Any:  # noqa: ANN401 - whatever the file holds
    """Return the value of the one document in `data`.

    Raises SkilldError if it is not YAML, over 256 KiB, nested too deeply or too large, or has anchors, tags, duplicate
    keys or keys that are not text.
    """
    if len(data) > MAX_BYTES:
        raise SkilldError(_READ_TITLE, f"it is {len(data)} bytes; the limit is {MAX_BYTES}")
    try:
        text = data.decode("utf-8-sig")
        _check_events(text)
        return yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        where = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise SkilldError(_READ_TITLE, f"{where}{error.problem or 'it is not valid YAML'}") from None
    except UnicodeDecodeError:
        raise SkilldError(_READ_TITLE, "it is not UTF-8 text") from None
    except RecursionError:
        raise SkilldError(_READ_TITLE, "it is nested too deeply") from None
    except (yaml.YAMLError, ValueError):  # ValueError: a number that is too large
        raise SkilldError(_READ_TITLE, "it is not valid YAML") from None


def dump_yaml(value: Any) -> str:  # noqa: ANN401 - maps, lists and scalars
    """Return a value as YAML, its keys in their order."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


def _check_events(text: str) -> None:
    """Raise SkilldError if the document has refused elements, before any value is built."""
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=yaml.SafeLoader)):
        line = f"line {event.start_mark.line + 1}" if event.start_mark else "the file"
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise SkilldError(_READ_TITLE, f"{line}: anchors and aliases (& and *) are not allowed in a skill")
        if getattr(event, "tag", None) is not None:
            raise SkilldError(_READ_TITLE, f"{line}: tags (!) are not allowed in a skill")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH or count > _MAX_EVENTS:
            raise SkilldError(_READ_TITLE, f"{line}: the file is nested too deeply, or has too many elements")


@value_class
class UsageStats:
    """How often a skill was used, and the share (0 to 1) of uses without a correction; None: unknown."""

    times_used: int = 0
    success_rate: float | None = None


def to_document(draft: Draft, stats: UsageStats, quotes: Sequence[str] = ()) -> dict[str, Any]:
    """Return the document of a draft without personal data; `quotes` are the words it was learned from."""
    parts = split_body(draft.body)
    prompt, own = _kind_fields(draft, parts.prompt)
    if parts.steps or draft.kind is SkillKind.WORKFLOW:
        steps = parts.steps or _plain_steps(parts.prompt)
        own["steps"] = [{"name": one.name, "prompt": one.text, "tools": list(one.codes)} for one in steps]
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
        "examples": [
            {"input": given.text, "output": made.text, "source_session": "".join(made.codes[:1])}
            for given, made in zip(parts.examples[::2], parts.examples[1::2], strict=True)
        ],
        "workflow": [{"tool": one.name, "description": one.text} for one in parts.workflow],
        "tags": list(draft.tags),
        "author": draft.author,
        "team": draft.team,
        "stats": {"times_used": stats.times_used, "success_rate": stats.success_rate},
    }


# As in a mined skill: an introduction, then steps of one line.
_PLAIN_STEPS = re.compile(r"^## Steps\n\n(?:[^\n#]+:\n\n)?(?P<steps>(?:\d+\. [^\n]+(?:\n|\Z))+)", re.MULTILINE)


def _plain_steps(prompt: str) -> tuple[Item, ...]:
    """Return the numbered steps that are part of a prompt."""
    found = _PLAIN_STEPS.search(prompt)
    texts = [line.partition(" ")[2] for line in found["steps"].splitlines()] if found else []
    return tuple(make_item(text.rstrip("."), text=text) for text in texts)


def _kind_fields(draft: Draft, prompt: str) -> tuple[str, dict[str, Any]]:
    """Return the value of `prompt`, and the keys of the draft's kind."""
    match draft.kind:
        case SkillKind.PROMPT:
            rows = [{"name": one.name, "type": one.type, "description": one.description} for one in draft.variables]
            return prompt, {"variables": rows}
        case SkillKind.KNOWLEDGE:
            return "", {"project": draft.project, "context": prompt}
        case SkillKind.TOOL:
            return "", {"input_schema": dict(draft.schema), "implementation": {"prompt": prompt}}
    return prompt, {}


# Parsing a document as a draft; every value is checked.

_PARSED_TITLE = "Not a skill"
_KINDS = {**SHORT_NAMES, **{kind.value: kind for kind in SkillKind}}
_TEXT_KEYS = frozenset({"name", "version", "description", "prompt", "author", "team", "type", "project", "context"})
_OTHER_KEYS = frozenset({"generated_from", "examples", "workflow", "tags", "stats"})
_KIND_KEYS = frozenset({"variables", "steps", "input_schema", "implementation"})


def from_document(value: object) -> tuple[Draft, tuple[str, ...]]:
    """Return a document's draft, and what that leaves out. Raises SkilldError for a value of the wrong type."""
    if not isinstance(value, dict):
        raise SkilldError(_PARSED_TITLE, "the file is not a mapping of keys to values")
    value = {**value, "context": _context_text(value.get("context"))}
    if listed := _listed_steps(value.get("steps")):
        value |= {"steps": [], "prompt": f"{_as_text(value.get('prompt'), 'prompt')}\n\n{listed}".strip()}
    texts = {key: _as_text(value.get(key), key) for key in _TEXT_KEYS}
    learned = _get_map(value, "generated_from")
    kind = texts["type"].lower()
    if kind and kind not in _KINDS:
        raise SkilldError(_PARSED_TITLE, f"type is not one of {', '.join(SkillKind)}")
    prompts = (texts["prompt"], texts["context"], _as_text(_get_map(value, "implementation").get("prompt"), "prompt"))
    draft = Draft(
        name=texts["name"],
        description=texts["description"],
        body=join_body(_document_body(value, "\n\n".join(trim_body(text) for text in prompts if text.strip()))),
        kind=_KINDS[kind] if kind else None,
        version=texts["version"],
        author=texts["author"],
        team=texts["team"],
        tags=tuple(_as_text(one, "tags") for one in _get_list(value, "tags")),
        variables=parse_variables(_get_maps(value, "variables")),
        project=texts["project"],
        schema=_get_map(value, "input_schema"),
        sessions=tuple(_as_text(one, "sessions") for one in _get_list(learned, "sessions")),
        date=_as_text(learned.get("extracted_at"), "extracted_at"),
    )
    unknown = (str(key) for key in value if key not in {*_TEXT_KEYS, *_OTHER_KEYS, *_KIND_KEYS})
    return clean_draft(draft), (*unknown, *cut_description(texts["description"]))


def _listed_steps(value: object) -> str:
    """Return steps that are plain texts as the section of a prompt; "" for others."""
    if not value or not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        return ""
    return "\n".join(["## Steps", "", *(f"{number}. {fold(one)}" for number, one in enumerate(value, 1))])


def _context_text(value: object) -> object:
    """Return the context of domain knowledge as text; each part of a mapping becomes a section."""
    if not isinstance(value, dict):
        return value
    parts = []
    for name, said in value.items():
        lines = [f"- {_as_text(one, name)}" for one in said] if isinstance(said, list) else [_as_text(said, name)]
        parts.append("\n".join([f"## {str(name).replace('_', ' ').capitalize()}", "", *lines]))
    return "\n\n".join(parts)


def _document_body(value: Mapping[str, Any], prompt: str) -> Body:
    pairs = [
        (
            make_item("Input", (), _get_text(one, "input")),
            make_item("Output", [_get_text(one, "source_session")], _get_text(one, "output")),
        )
        for one in _get_maps(value, "examples")
    ]
    steps = tuple(
        make_item(
            _get_text(one, "name"),
            [_as_text(tool, "tools") for tool in _get_list(one, "tools")],
            _get_text(one, "prompt"),
        )
        for one in _get_maps(value, "steps")
    )
    return Body(
        prompt=prompt,
        steps=steps if steps != _plain_steps(prompt) else (),
        workflow=tuple(
            make_item(_get_text(one, "tool"), (), _get_text(one, "description")) for one in _get_maps(value, "workflow")
        ),
        examples=tuple(one for pair in pairs for one in pair),
    )


def _get_text(value: Mapping[str, Any], key: str) -> str:
    return _as_text(value.get(key), key)


def _as_text(value: object, key: str) -> str:
    if isinstance(value, dict | list):
        raise SkilldError(_PARSED_TITLE, f"{key} is not text")
    return "" if value is None else str(value)


def _get_map(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = value.get(key)
    if not isinstance(found, dict | None):
        raise SkilldError(_PARSED_TITLE, f"{key} is not a map")
    return found or {}


def _get_list(value: Mapping[str, Any], key: str) -> list[Any]:
    found = value.get(key)
    if not isinstance(found, list | None):
        raise SkilldError(_PARSED_TITLE, f"{key} is not a list")
    return found or []


def _get_maps(value: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = _get_list(value, key)
    if not all(isinstance(one, dict) for one in found):
        raise SkilldError(_PARSED_TITLE, f"{key} is not a list of maps")
    return found
