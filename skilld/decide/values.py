"""What deciding gives back, and the one thing it is given besides proposals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

Apply = Callable[[bytes], bytes]
"""Bytes of a SKILL.md (b"": there is none) to its edited bytes; raises SkilldError when an anchor is gone."""


Refit = Callable[[bytes, bytes, bytes], bytes]
"""A SKILL.md before and after an edit, and another version, to that version edited; else raises SkilldError."""


class Way(StrEnum):
    """How a decision was carried out."""

    GIT = "git"  # the plain git command did it
    ANCHORS = "anchors"  # git's merge conflicted; the change was made again by its lines
    NOTHING = "nothing"  # it was so already; no commit was made


@dataclass(frozen=True, slots=True)
class Landed:
    """The commit that carries the decision out; HEAD where none was needed."""

    commit: str
    way: Way


class Seen(StrEnum):
    """What git shows of a proposal."""

    NOTHING = "nothing"
    LANDED = "landed"
    REVERTED = "reverted"
    DROPPED = "dropped"  # off the staging branch, and on no remote-tracking one
    BUSY = "busy"  # the person is at work on the staging branch: not judged
    GONE = "gone"  # the repository, or the proposal's commit in it


@dataclass(frozen=True, slots=True)
class Observation:
    """What was seen of one proposal: the commit that shows it, how it was told, and a remark for the person.

    `branch` is the short name of the branch that an undecided proposal stands on; empty where that is not known.
    `at` is when it was decided, as a Unix time, 0 where that is not known: a commit may have any date.
    """

    id: str
    seen: Seen
    commit: str = ""
    how: str = ""
    note: str = ""
    branch: str = field(default="", compare=False)
    at: float = field(default=0.0, compare=False)
