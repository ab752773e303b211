"""The door to YAML: one plain document within limits in, values out, and values to text.

Anchors, tags and keys given twice are refused, so that no text grows when it is read, builds an object or says two
things; what JSON has no word for stays a text. Knows nothing of skills.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

import yaml

from skilld.errors import SkilldError

MAX_BYTES = 256 * 1024
_MAX_EVENTS = 20_000
_MAX_DEPTH = 24
_TITLE = "The YAML file was not read"
_BREAK = re.compile("[\r\x85\u2028\u2029]")


class _Loader(yaml.SafeLoader):  # type: ignore[misc] # the library has no types
    """The safe loader, to which only what JSON calls so is no text; a key twice or of no text is an error."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - the library's signature
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for number, key in enumerate(keys):
            if not isinstance(key, str) or key in keys[:number]:
                why = "stands there twice" if isinstance(key, str) else "is no text"
                raise SkilldError(_TITLE, f"line {node.value[number][0].start_mark.line + 1}: its key {why}")
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

    Raises SkilldError where it is no YAML, over 256 KiB, nested or split into more than any skill is, or uses what a
    skill needs none of: anchors, tags, keys that are no texts or given twice.
    """
    if len(data) > MAX_BYTES:
        raise SkilldError(_TITLE, f"it has {len(data)} bytes, and no more than {MAX_BYTES} are read")
    try:
        text = data.decode("utf-8-sig")
        _check(text)
        return yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        where = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise SkilldError(_TITLE, f"{where}{error.problem or 'it is no YAML'}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: no UTF-8, or a number past all bounds
        raise SkilldError(_TITLE, f"it is no YAML ({type(error).__name__})") from None


def dump(value: Any) -> str:  # noqa: ANN401 - maps, lists and scalars
    """Return a value as YAML, its keys in their order."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


def _check(text: str) -> None:
    """Raise SkilldError where the document holds what is refused, before a value is made of anything."""
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=yaml.SafeLoader)):
        line = f"line {event.start_mark.line + 1}" if event.start_mark else "it"
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise SkilldError(_TITLE, f"{line}: it names a part of itself (& or *), which no skill needs")
        if getattr(event, "tag", None) is not None:
            raise SkilldError(_TITLE, f"{line}: it has a tag (!), which no skill needs")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH or count > _MAX_EVENTS:
            raise SkilldError(_TITLE, f"{line}: it is nested or split into more than any skill is")
