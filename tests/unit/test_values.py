"""Values: equal and of the same hash if their fields are, with nothing compiled for a class but its `__init__`."""

from __future__ import annotations

import copy
from dataclasses import field, replace

import pytest

from skilld.values import value_class


@value_class
class _Pair:
    left: int
    right: str = ""
    note: str = field(default="", compare=False, repr=False)
    tags: tuple[str, ...] = field(default=(), hash=False)


@value_class
class _Other:
    left: int
    right: str = ""


@value_class(kw_only=True)
class _Named:
    left: int


@value_class
class _Empty:
    pass


@value_class
class _Own:
    left: int

    def __repr__(self) -> str:
        return "own"


def test_values_are_equal_if_what_is_compared_is() -> None:
    """Fields that are not compared do not count, nor does an object of another class with the same fields."""
    assert _Pair(1, "a") == _Pair(1, "a", note="x")
    assert _Pair(1, "a") != _Pair(1, "b")
    assert _Pair(1, "a", tags=("t",)) != _Pair(1, "a")
    other: object = _Other(1, "a")
    assert _Pair(1, "a") != other
    assert _Named(left=1) == _Named(left=1)
    assert _Named(left=1) != _Named(left=2)
    assert _Empty() == _Empty()


def test_equal_values_have_one_hash() -> None:
    """They can be members of a set; a field left out of the hash may be of any type."""
    assert len({_Pair(1, "a"), _Pair(1, "a", note="x"), _Pair(2, "a"), _Empty(), _Empty()}) == 3
    assert hash(_Pair(1, "a", tags=("t",))) == hash(_Pair(1, "a"))


def test_a_value_shows_its_fields_unless_its_class_says_how() -> None:
    """As a dataclass does."""
    assert repr(_Pair(1, "a", note="x")) == "_Pair(left=1, right='a', tags=())"
    assert repr(_Own(1)) == "own"


def test_a_value_is_a_dataclass_with_slots() -> None:
    """`replace`, and copies give equal values; no other attribute can be set, and `kw_only` holds."""
    assert replace(_Pair(1, "a"), left=2) == _Pair(2, "a")
    assert copy.copy(_Pair(1, "a")) == copy.deepcopy(_Pair(1, "a")) == _Pair(1, "a")
    with pytest.raises(AttributeError):
        _Pair(1).other = 2  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        _Named(1)  # type: ignore[call-arg]


def test_classes_share_their_functions() -> None:
    """Only `__init__` is a class's own: what each class compiles is memory in an idle daemon."""
    assert _Pair.__eq__ is _Other.__eq__
    assert _Pair.__hash__ is _Other.__hash__
    assert _Pair.__repr__ is _Other.__repr__
    assert "__setattr__" not in vars(_Pair)
