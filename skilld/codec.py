"""Converts frozen dataclasses to JSON and back with checks, for messages between processes and for the database.

Fields may be str, int, float, bool, None, enumerations, tuples of one type, mappings from str, dataclasses and unions.
Alternative classes must be subclasses of `TaggedUnion`, and their JSON names the class. Only what skilld needs is
supported; docs/decisions/0040-typed-messages.md compares it with libraries.
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
_Reader = Callable[[Any, str], Any]  # a JSON value and its place, for errors
_TYPE_KEY = "type"


class TaggedUnion:
    """A class that may be one of several alternatives."""

    __slots__ = ()


class DecodeError(ValueError):
    """A value is invalid; the message names the field and contains no value."""


def encode(value: object) -> str:
    """Return a dataclass as JSON, on one line."""
    return json.dumps(value, default=_to_object)


@overload
def decode(kind: type[T], text: str | bytes, *, strict: bool = True) -> T: ...
@overload
def decode(kind: UnionType, text: str | bytes, *, strict: bool = True) -> Any: ...  # noqa: ANN401 - one of them
def decode(kind: Any, text: str | bytes, *, strict: bool = True) -> Any:
    """Return the value of type `kind` in a JSON text. Raises DecodeError if it is invalid.

    With `strict` an unknown field is an error; otherwise, as for a row from another version, it is ignored.
    """
    try:
        data = json.loads(text)
    except ValueError as error:
        raise DecodeError("it is not JSON") from error
    return _reader(kind, strict)(data, getattr(kind, "__name__", "it"))


def read(kind: type[T], data: object) -> T:
    """Return the value of type `kind` in parsed JSON. Raises DecodeError if it is invalid."""
    return cast("T", _reader(cast("Any", kind), True)(data, kind.__name__))  # noqa: FBT003 - strict


def _to_object(value: Any) -> dict[str, Any]:  # noqa: ANN401 - json's word for it
    tag = {_TYPE_KEY: type(value).__name__} if isinstance(value, TaggedUnion) else {}
    return tag | {field.name: getattr(value, field.name) for field in fields(value)}


@cache
def _reader(kind: Any, strict: bool) -> _Reader:  # noqa: ANN401, FBT001 - a type, or a form of one
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple:
        return _tuple_reader(_reader(arguments[0], strict))
    if origin is not None and issubclass(Mapping, origin):
        return _mapping_reader(_reader(arguments[1], strict))
    if origin in {Union, UnionType}:
        return _union_reader(arguments, strict)
    if is_dataclass(kind):
        return _dataclass_reader(cast("type", kind), strict)
    if issubclass(kind, Enum):
        return _enum_reader(kind)
    if kind in {str, int, float, bool, NoneType}:
        return _plain_reader(kind)
    raise TypeError(f"the codec does not support {kind}")


def _plain_reader(kind: type) -> _Reader:
    allowed: Any = (int, float) if kind is float else kind

    def read(value: Any, place: str) -> Any:  # noqa: ANN401
        if not isinstance(value, allowed) or (isinstance(value, bool) and kind is not bool):
            raise DecodeError(f"{place} is not a valid {kind.__name__}")
        return kind(value)

    return read


def _enum_reader(kind: type[Enum]) -> _Reader:
    def read(value: Any, place: str) -> Any:  # noqa: ANN401
        try:
            return kind(value)
        except ValueError:
            raise DecodeError(f"{place} is not a valid {kind.__name__}") from None

    return read


def _tuple_reader(item: _Reader) -> _Reader:
    def read(value: Any, place: str) -> Any:  # noqa: ANN401
        if not isinstance(value, list):
            raise DecodeError(f"{place} is not a list")
        return tuple(item(one, f"{place}[{number}]") for number, one in enumerate(value))

    return read


def _mapping_reader(item: _Reader) -> _Reader:
    def read(value: Any, place: str) -> Any:  # noqa: ANN401
        if not isinstance(value, dict):
            raise DecodeError(f"{place} is not an object")
        return {key: item(one, f"{place}[{key!r}]") for key, one in value.items()}

    return read


def _union_reader(kinds: tuple[Any, ...], strict: bool) -> _Reader:  # noqa: FBT001
    tagged = {kind.__name__: _reader(kind, strict) for kind in kinds if isinstance(kind, type) and is_dataclass(kind)}
    others = [_reader(kind, strict) for kind in kinds if kind is not NoneType and kind.__name__ not in tagged]
    (only,) = others or [*tagged.values()][:1]

    def read(value: Any, place: str) -> Any:  # noqa: ANN401
        if value is None and NoneType in kinds:
            return None
        if len(tagged) < 2:  # noqa: PLR2004 - nothing to choose from
            return only(value, place)
        named = value.get(_TYPE_KEY) if isinstance(value, dict) else None
        if named not in tagged:
            raise DecodeError(f"{place}.{_TYPE_KEY} is not one of {', '.join(tagged)}")
        return tagged[named](value, place)

    return read


def _dataclass_reader(kind: type, strict: bool) -> _Reader:  # noqa: FBT001
    hints = get_type_hints(kind)
    needed = {field.name for field in fields(kind) if field.default is field.default_factory is MISSING}
    readers: dict[str, _Reader] | None = None  # created on demand, because types may be recursive

    def read(value: Any, place: str) -> Any:  # noqa: ANN401
        nonlocal readers
        if readers is None:
            readers = {field.name: _reader(hints[field.name], strict) for field in fields(kind)}
        if not isinstance(value, dict):
            raise DecodeError(f"{place} is not an object")
        given = {name: one for name, one in value.items() if name in readers}
        surplus = value.keys() - given.keys() - ({_TYPE_KEY} if issubclass(kind, TaggedUnion) else set())
        if surplus and strict:
            raise DecodeError(f"{place} has an unknown field, {min(surplus)}")
        if missing := needed - given.keys():
            raise DecodeError(f"{place}.{min(missing)} is missing")
        return kind(**{name: readers[name](one, f"{place}.{name}") for name, one in given.items()})

    return read
