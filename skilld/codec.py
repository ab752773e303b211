"""Frozen dataclasses to JSON and back, checked: for messages between processes, and for the database.

Fields may be str, int, float, bool, None, enumerations, tuples of one type, mappings from str, dataclasses and unions.
Where several classes may stand in one place they are `TaggedUnion`, and their JSON names them. Only what is used here
is done; docs/decisions/0040-typed-messages.md compares it with libraries.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints, overload

T = TypeVar("T")
_Read = Callable[[Any, str], Any]  # a JSON value and its place, for errors
_TAG = "type"


class TaggedUnion:
    """One of several classes that may stand in one place."""

    __slots__ = ()


class DecodeError(ValueError):
    """A value is not what is in its place; the text names the field and holds no value."""


def encode(value: object) -> str:
    """Return a dataclass as JSON, on one line."""
    return json.dumps(value, default=_as_object)


@overload
def decode(kind: type[T], text: str | bytes, *, strict: bool = True) -> T: ...
@overload
def decode(kind: UnionType, text: str | bytes, *, strict: bool = True) -> Any: ...  # noqa: ANN401 - one of them
def decode(kind: Any, text: str | bytes, *, strict: bool = True) -> Any:
    """Return the value of type `kind` that JSON says. Raises DecodeError if it says none.

    With `strict` a field that `kind` does not have is an error; without, as of a row that another version wrote, it is
    left out.
    """
    try:
        data = json.loads(text)
    except ValueError as error:
        raise DecodeError("it is not JSON") from error
    return _reader(kind, strict)(data, getattr(kind, "__name__", "it"))


def _as_object(value: Any) -> dict[str, Any]:  # noqa: ANN401 - json's word for it
    tag = {_TAG: type(value).__name__} if isinstance(value, TaggedUnion) else {}
    return tag | {field.name: getattr(value, field.name) for field in fields(value)}


@cache
def _reader(kind: Any, strict: bool) -> _Read:  # noqa: ANN401, FBT001 - a type, or a form of one
    """Return what reads one type; made once for each."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple:
        return _many(_reader(arguments[0], strict))
    if origin is not None and issubclass(Mapping, origin):
        return _mapping(_reader(arguments[1], strict))
    if origin in {Union, UnionType}:
        return _one_of(arguments, strict)
    if is_dataclass(kind):
        return _record(cast("type", kind), strict)
    if issubclass(kind, Enum):
        return _member(kind)
    if kind in {str, int, float, bool, NoneType}:
        return _plain(kind)
    raise TypeError(f"the codec does not support {kind}")


def _plain(kind: type) -> _Read:
    allowed: Any = (int, float) if kind is float else kind

    def read(value: Any, place: str) -> Any:  # noqa: ANN401
        if not isinstance(value, allowed) or (isinstance(value, bool) and kind is not bool):
            raise DecodeError(f"{place} is not a valid {kind.__name__}")
        return kind(value)

    return read


def _member(kind: type[Enum]) -> _Read:
    def read(value: Any, place: str) -> Any:  # noqa: ANN401
        try:
            return kind(value)
        except ValueError:
            raise DecodeError(f"{place} is not a valid {kind.__name__}") from None

    return read


def _many(item: _Read) -> _Read:
    def read(value: Any, place: str) -> Any:  # noqa: ANN401
        if not isinstance(value, list):
            raise DecodeError(f"{place} is not a list")
        return tuple(item(one, f"{place}[{number}]") for number, one in enumerate(value))

    return read


def _mapping(item: _Read) -> _Read:
    def read(value: Any, place: str) -> Any:  # noqa: ANN401
        if not isinstance(value, dict):
            raise DecodeError(f"{place} is not an object")
        return {key: item(one, f"{place}[{key!r}]") for key, one in value.items()}

    return read


def _one_of(kinds: tuple[Any, ...], strict: bool) -> _Read:  # noqa: FBT001
    tagged = {kind.__name__: _reader(kind, strict) for kind in kinds if isinstance(kind, type) and is_dataclass(kind)}
    others = [_reader(kind, strict) for kind in kinds if kind is not NoneType and kind.__name__ not in tagged]
    (only,) = others or [*tagged.values()][:1]

    def read(value: Any, place: str) -> Any:  # noqa: ANN401
        if value is None and NoneType in kinds:
            return None
        if len(tagged) < 2:  # noqa: PLR2004 - nothing to choose from
            return only(value, place)
        named = value.get(_TAG) if isinstance(value, dict) else None
        if named not in tagged:
            raise DecodeError(f"{place}.{_TAG} is not one of {', '.join(tagged)}")
        return tagged[named](value, place)

    return read


def _record(kind: type, strict: bool) -> _Read:  # noqa: FBT001
    hints = get_type_hints(kind)
    needed = {field.name for field in fields(kind) if field.default is field.default_factory is MISSING}
    readers: dict[str, _Read] | None = None  # made when they are needed: a type may hold itself

    def read(value: Any, place: str) -> Any:  # noqa: ANN401
        nonlocal readers
        if readers is None:
            readers = {field.name: _reader(hints[field.name], strict) for field in fields(kind)}
        if not isinstance(value, dict):
            raise DecodeError(f"{place} is not an object")
        given = {name: one for name, one in value.items() if name in readers}
        surplus = value.keys() - given.keys() - ({_TAG} if issubclass(kind, TaggedUnion) else set())
        if surplus and strict:
            raise DecodeError(f"{place} has an unknown field, {min(surplus)}")
        if missing := needed - given.keys():
            raise DecodeError(f"{place}.{min(missing)} is missing")
        return kind(**{name: readers[name](one, f"{place}.{name}") for name, one in given.items()})

    return read
