"""Answers of a model that are reported before its job ends: updates of a window. Values only."""

from __future__ import annotations

from skilld.codec import TaggedUnion
from skilld.types import Kind, Usage
from skilld.values import value_class


@value_class
class WindowUpdate:
    """One lasting thing that a model found in a window."""

    turn: str
    quote: str
    change: str
    kind: Kind
    confidence: float


@value_class(kw_only=True)
class WindowResult(TaggedUnion):
    """The result of one window; if `unusable` gives a reason, it is asked about again."""

    window: str
    model: str
    usage: Usage
    updates: tuple[WindowUpdate, ...] = ()
    left_out: int = 0
    unusable: str = ""
