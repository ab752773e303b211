"""Path patterns of rules, like .gitignore's but with braces. Pure; no pattern takes long."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

_MAX_SPREAD = 64  # patterns that braces make of one
_MAX_PATTERNS = 10_000  # of one file; the rest is ignored
_BRACES = re.compile(r"\{([^{}]*)\}")


def matches(patterns: Sequence[str], path: str) -> bool:
    """Whether patterns take a path, or a folder above it, relative to where they apply.

    The last one that matches decides, `!` says no; but nothing brings back what is in a folder that is taken.
    """
    parts = path.split("/")
    taken: set[int] = set()  # how many parts the folders that are taken have
    for pattern in patterns[:_MAX_PATTERNS]:
        ends = set[int]().union(*(_taken(one, parts) for one in spread(pattern.removeprefix("!"))))
        taken = taken - ends if pattern.startswith("!") else taken | ends
    return bool(taken - {0})


def is_whole(pattern: str, path: str) -> bool:
    """Whether a pattern is for just this path."""
    return any(len(path.split("/")) in _ends(one.split("/"), path.split("/")) for one in spread(pattern))


def spread(pattern: str) -> list[str]:
    """Return what the braces of a pattern stand for."""
    done: list[str] = []
    left = [pattern]
    while left and len(done) + len(left) <= _MAX_SPREAD:
        one = left.pop(0)
        inside = _BRACES.search(one)
        if inside is None:
            done.append(one)
        else:
            left += [one[: inside.start()] + part + one[inside.end() :] for part in inside[1].split(",")]
    return [*done, *left]


def _taken(pattern: str, path: Sequence[str]) -> set[int]:
    bare = pattern.removesuffix("/**").removesuffix("/")
    parts = bare.removeprefix("/").split("/")
    return _ends(parts if "/" in pattern.removesuffix("/") else ["**", *parts], path)


def _ends(parts: Sequence[str], path: Sequence[str]) -> set[int]:
    """Return how many parts of the path may be taken by all parts of a pattern."""
    ends = {0}
    for number, part in enumerate(parts):
        if part == "**":
            least = min(ends, default=len(path) + 1) + (number == len(parts) - 1)
            ends = set(range(least, len(path) + 1))
        else:
            ends = {at + 1 for at in ends if at < len(path) and fnmatchcase(path[at], part)}
    return ends
