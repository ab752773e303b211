"""Types of JSON documents as a person reads them, and as JSON Schema. Pure: text or dataclasses in, text or values out.

The notation is a small part of TypeScript's: `{id: string, at?: string | null}`, `string[]`, `{[name]: number}`,
`"open" | "stale"`, names of other types, and `any`.
"""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

_TOKEN = re.compile(r'\s*([{}\[\]:?|,()]|"[^"]*"|[A-Za-z_][\w]*)')
_PLAIN = {"string": "string", "number": "number", "integer": "integer", "boolean": "boolean", "null": "null"}
_PYTHON = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null", Path: "string"}


def schema(text: str) -> dict[str, Any]:
    """Return the JSON Schema of a type; names of other types become references. Raises ValueError for no type."""
    parser = _Parser(_TOKEN.findall(text))
    found = parser.union()
    if parser.rest or "".join(_TOKEN.findall(text)) != re.sub(r"\s", "", text):
        raise ValueError(f"no type: {text}")
    return found


class _Parser:
    def __init__(self, words: Sequence[str]) -> None:
        self.rest = list(words)

    def take(self, wanted: str = "") -> str:
        if not self.rest or (wanted and self.rest[0] != wanted):
            raise ValueError(f"{wanted or 'more'} expected before {' '.join(self.rest[:5])}")
        return self.rest.pop(0)

    def union(self) -> dict[str, Any]:
        ways = [self.array()]
        while self.rest[:1] == ["|"]:
            self.take()
            ways.append(self.array())
        if all("const" in way for way in ways):
            return {"enum": [way["const"] for way in ways]}
        return ways[0] if len(ways) == 1 else {"anyOf": ways}

    def array(self) -> dict[str, Any]:
        one = self.one()
        while self.rest[:2] == ["[", "]"]:
            del self.rest[:2]
            one = {"type": "array", "items": one}
        return one

    def one(self) -> dict[str, Any]:
        word = self.take()
        if word == "{":
            return self.members()
        if word == "(":
            inner = self.union()
            self.take(")")
            return inner
        if word.startswith('"'):
            return {"const": word[1:-1]}
        if word == "any":
            return {}
        return {"type": _PLAIN[word]} if word in _PLAIN else {"$ref": f"#/$defs/{word}"}

    def members(self) -> dict[str, Any]:
        if self.rest[:1] == ["["]:
            del self.rest[:3]  # [name]
            self.take(":")
            values = self.union()
            self.take("}")
            return {"type": "object", "additionalProperties": values}
        properties: dict[str, Any] = {}
        required = []
        while self.rest[:1] != ["}"]:
            name = self.take().strip('"')
            if self.rest[:1] == ["?"]:
                self.take()
            else:
                required.append(name)
            self.take(":")
            properties[name] = self.union()
            if self.rest[:1] == [","]:
                self.take()
        self.take("}")
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def of_fields(kind: type, *, without: Sequence[str] = (), **more: str) -> str:
    """Return the type of a dataclass as `asdict` makes it, with fields of another type or further ones in `more`."""
    hints = typing.get_type_hints(kind)
    told = {one.name: of(hints[one.name]) for one in dataclasses.fields(kind) if one.name not in without}
    return f"{{{', '.join(f'{name}: {text}' for name, text in (told | more).items())}}}"


def of(hint: Any) -> str:  # noqa: ANN401 - a type as it was written
    """Return the type of what a type hint allows."""
    if hint in _PYTHON:
        return _PYTHON[hint]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return " | ".join(f'"{one.value}"' for one in hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return of_fields(hint)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in {typing.Union, types.UnionType}:
        return " | ".join(map(of, arguments))
    if origin is typing.Annotated or origin is typing.ClassVar:
        return of(arguments[0])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"{{[name]: {of(arguments[1])}}}"
    if isinstance(origin, type) and issubclass(origin, Sequence):
        inner = dict.fromkeys(of(one) for one in arguments if one is not Ellipsis)
        one = " | ".join(inner)
        return f"({one})[]" if " | " in one and not one.startswith("{") else f"{one}[]"
    raise TypeError(f"no JSON type for {hint}")


def wrapped(text: str, width: int = 150) -> str:
    """Return a type over as many lines as it needs, members that are too long below each other."""
    text = " ".join(text.split())
    head, joined, rest = text.partition(" & ")
    if joined and len(text) > width:
        return f"{head} & {wrapped(rest, width)}"
    if len(text) <= width or not text.startswith("{") or text.startswith("{["):
        return text
    inner, tail = text[1 : _closing(text)], text[_closing(text) + 1 :]
    lines, line = [], ""
    for member in _split(inner):
        name, _, kind = member.partition(": ")
        shown = member if len(member) < width else f"{name}: {_indented(wrapped(kind, width - 2))}"
        if line and (len(line) + len(shown) + 2 > width or "\n" in shown):
            lines.append(line + ",")
            line = ""
        line = f"{line}, {shown}" if line else shown
    return "\n".join(["{", *(f"  {one}" for one in [*lines, line]), f"}}{tail}"])


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _closing(text: str) -> int:
    depth = 0
    for place, char in enumerate(text):
        depth += (char in "{[(") - (char in "}])")
        if not depth:
            return place
    raise ValueError(text)


def _split(inner: str) -> list[str]:
    members, depth, start = [], 0, 0
    for place, char in enumerate(inner):
        depth += (char in "{[(") - (char in "}])")
        if char == "," and not depth:
            members.append(inner[start:place].strip())
            start = place + 1
    return [*members, inner[start:].strip()]
