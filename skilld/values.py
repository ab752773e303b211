"""Classes whose objects are values: dataclasses with slots whose fields never change once they are set.

The standard library compiles six functions for every frozen dataclass, 15 KB and half a millisecond; an idle daemon has
two hundred such classes. Here all classes share these functions except `__init__`. That nobody sets a field is checked
by mypy alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, overload

_T = TypeVar("_T")


@overload
def value_class(cls: type[_T], /) -> type[_T]: ...
@overload
def value_class(*, kw_only: bool = False) -> Callable[[type[_T]], type[_T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value_class(cls: type[Any] | None = None, /, *, kw_only: bool = False) -> Any:
    """Make a class one of values, which are equal and have the same hash if their fields do. A class decorator."""

    def make(cls: type[Any]) -> Any:  # noqa: ANN401
        made: Any = dataclass(slots=True, eq=False, repr=False, kw_only=kw_only)(cls)
        compared = [one for one in fields(made) if one.compare]
        made._compared = _getter([one.name for one in compared])  # noqa: SLF001
        made._hashed = _getter([one.name for one in compared if one.hash is not False])  # noqa: SLF001
        for name, shared in _SHARED.items():
            if name not in vars(cls):
                setattr(made, name, shared)
        return made

    return make if cls is None else make(cls)


def _getter(names: list[str]) -> Callable[[Any], Any]:
    return attrgetter(*(names or ["__class__"]))


def _equals(self: Any, other: Any) -> Any:  # noqa: ANN401
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self._compared(self) == other._compared(other)  # noqa: SLF001


def _hash(self: Any) -> int:  # noqa: ANN401
    return hash(self._hashed(self))


def _show(self: Any) -> str:  # noqa: ANN401
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


_SHARED = {"__eq__": _equals, "__hash__": _hash, "__repr__": _show}
