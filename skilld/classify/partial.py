"""What a model has answered before its job ends: what it heard in a window, names for skills. Values only."""

from __future__ import annotations

from dataclasses import dataclass

from skilld.codec import TaggedUnion
from skilld.types import Kind, Usage


@dataclass(frozen=True, slots=True)
class WindowUpdate:
    """One lasting thing that a model heard in a window."""

    turn: str
    quote: str
    change: str
    kind: Kind
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowResult(TaggedUnion):
    """What one window came to; `unusable` says why nothing was learned of it, and it is asked about again."""

    window: str
    model: str
    usage: Usage
    updates: tuple[WindowUpdate, ...] = ()
    left_out: int = 0
    unusable: str = ""


@dataclass(frozen=True, slots=True)
class SkillTitle:
    """What the drafted skill of a number may be called; each may be empty."""

    skill: int
    name: str
    description: str
    title: str


@dataclass(frozen=True, slots=True)
class TitleResult(TaggedUnion):
    """Names for drafted skills."""

    titles: tuple[SkillTitle, ...]
    model: str
    usage: Usage
