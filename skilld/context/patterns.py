"""Path patterns of rules, like those of .gitignore but with braces. Pure; no pattern takes long."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

_MAX_EXPANSIONS = 64  # of the braces in one pattern
_MAX_PATTERNS = 10_000  # of one file; the rest is ignored
_BRACES = re.compile(r"\{([^{}]*)\}")


def matches(patterns: Sequence[str], path: str) -> bool:
    """Whether patterns match a path or a folder above it, relative to where they apply.

    The last match decides, and `!` negates; but nothing in a matched folder can be excluded again.
    """
    parts = path.split("/")
    taken: set[int] = set()  # numbers of parts of the matched folders
    for pattern in patterns[:_MAX_PATTERNS]:
        ends = set[int]().union(*(_matched_lengths(one, parts) for one in expand_braces(pattern.removeprefix("!"))))
        taken = taken - ends if pattern.startswith("!") else taken | ends
    return bool(taken - {0})


def matches_path(pattern: str, path: str) -> bool:
    """Whether a pattern matches this whole path."""
    return any(len(path.split("/")) in _match_ends(one.split("/"), path.split("/")) for one in expand_braces(pattern))


def expand_braces(pattern: str) -> list[str]:
    """Return the patterns that the braces of a pattern stand for."""
    done: list[str] = []
    left = [pattern]
    while left and len(done) + len(left) <= _MAX_EXPANSIONS:
        one = left.pop(0)
        inside = _BRACES.search(one)
        if inside is None:
            done.append(one)
        else:
            left += [one[: inside.start()] + part + one[inside.end() :] for part in inside[1].split(",")]
    return [*done, *left]


def _matched_lengths(pattern: str, path: Sequence[str]) -> set[int]:
    bare = pattern.removesuffix("/**").removesuffix("/")
    parts = bare.removeprefix("/").split("/")
    return _match_ends(parts if "/" in pattern.removesuffix("/") else ["**", *parts], path)


def _match_ends(parts: Sequence[str], path: Sequence[str]) -> set[int]:
    """Return the numbers of leading parts of a path that all parts of a pattern can match."""
    ends = {0}
    for number, part in enumerate(parts):
        if part == "**":
            least = min(ends, default=len(path) + 1) + (number == len(parts) - 1)
            ends = set(range(least, len(path) + 1))
        else:
            ends = {at + 1 for at in ends if at < len(path) and fnmatchcase(path[at], part)}
    return ends
