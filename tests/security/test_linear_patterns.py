"""S2: no regular expression of the program takes time that grows faster than its text. Part of `make check`.

What to feed a pattern is read from its own syntax tree (support/pumps.py): each thing that it repeats, over and over,
behind what it wants before, and then broken off. Measured as processor time, n beside 2n. Why no library judges the
patterns instead: docs/decisions/0001-dependencies.md.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from skilld.text import fold
from support.growth import TooSlowError, harmless
from support.patterns import COMPILED_ON_USE, HELD, LITERAL, AnyPattern, compiled_in_functions, patterns
from support.pumps import Pump, pumps

N = 2000  # characters
CHEAP = 0.003  # seconds that no search of so few characters takes unless it grows
# What sees only so many characters at a time: one clause, its white space folded (skilld/classify/offline/detector.py),
# what stands near a number, one added line (skilld/edit/lint.py).
BOUNDED = {
    "skilld.classify.offline.grammar": 500,
    "skilld.classify.offline.phrasing": 1000,
    "skilld.words._UNIT_BEFORE": 60,
    "skilld.edit.rules": 4000,
}
FOLDED = ("skilld.classify.offline",)
# Only ever matched at the beginning of a text, though they stand in a table.
AT_THE_START = ("skilld.agents.claude_code.wrappers._ALWAYS", "skilld.agents.claude_code.wrappers._UNSIGNED")
DEAREST = 0.25  # seconds for one of them on the worst there is
SHARDS = 4


def anchored(where: str) -> bool:
    """Whether a pattern is only ever matched at one place: a private name on which nothing but `match` is called."""
    module, _, name = where.rpartition(".")
    if name in {"match", "fullmatch"}:  # written out in the call
        return True
    return name in _only_matched(module)


@functools.cache
def _only_matched(module: str) -> frozenset[str]:
    source = getattr(sys.modules.get(module), "__file__", None)
    if source is None:
        return frozenset()
    with open(source, encoding="utf-8") as file:  # noqa: PTH123 - a module's own file
        tree = ast.parse(file.read())
    called: dict[str, set[str]] = {}
    loaded: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            called.setdefault(node.value.id, set()).add(node.attr)
            loaded[node.value.id] = loaded.get(node.value.id, 0) - 1
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            loaded[node.id] = loaded.get(node.id, 0) + 1
        if isinstance(node, ast.GeneratorExp):  # any(pattern.fullmatch(word) for pattern in (_MAIL, _FILE))
            for name, methods in _each(node):
                called.setdefault(name, set()).update(methods)
                loaded[name] = loaded.get(name, 0) - 1
    return frozenset(
        name
        for name, methods in called.items()
        if name.startswith("_") and methods <= {"match", "fullmatch"} and loaded.get(name) == 0
    )


def _each(node: ast.GeneratorExp) -> Iterator[tuple[str, set[str]]]:
    """Yield the names of a tuple that is written out in a loop, with the methods called on each."""
    loop = node.generators[0]
    if isinstance(loop.target, ast.Name) and isinstance(loop.iter, ast.Tuple):
        attributes = [part for part in ast.walk(node.elt) if isinstance(part, ast.Attribute)]
        methods = {part.attr for part in attributes if getattr(part.value, "id", "") == loop.target.id}
        yield from ((one.id, methods) for one in loop.iter.elts if isinstance(one, ast.Name))


def uses(pattern: AnyPattern, where: str) -> list[Callable[[Any], object]]:
    if anchored(where) or where.startswith(AT_THE_START):
        return [pattern.match, pattern.fullmatch]
    return [lambda text: sum(1 for _ in pattern.finditer(text))]


def pumped(pattern: AnyPattern, pump: Pump, length: int) -> str | bytes:
    before, unit, after = pump
    text = before + unit * (length // len(unit)) + after
    return text if isinstance(pattern.pattern, str) else text.encode()


def seconds(use: Callable[[Any], object], text: str | bytes, times: int = 1) -> float:
    """Return the least processor time of some uses; 1 where one takes that long."""
    best = 1.0
    for _ in range(times):
        try:
            with harmless(1.0):
                begun = time.thread_time()
                use(text)
                best = min(best, time.thread_time() - begun)
        except TooSlowError:
            return 1.0
    return best


def doubles_again(pattern: AnyPattern, use: Callable[[Any], object], pump: Pump) -> bool:
    """Whether twice and four times the length show it again, or take a second at least."""
    two, four = (seconds(use, pumped(pattern, pump, size), 3) for size in (2 * N, 4 * N))
    return four > 3 * two or four >= 1.0


def growth(pattern: AnyPattern, where: str, limit: int | None) -> str:
    """Return how a pattern grows too fast; nothing where it does not."""
    for pump in pumps(pattern):
        for use in uses(pattern, where):
            if limit:
                text = str(pumped(pattern, pump, limit))[:limit]
                text = fold(text) if where.startswith(FOLDED) else text
                if seconds(use, text) > DEAREST and (spent := seconds(use, text, 5)) > DEAREST:
                    return f"{spent:.4f} s for {limit} characters of {pump!r}"
            elif seconds(use, pumped(pattern, pump, N)) > CHEAP:
                one, two = (seconds(use, pumped(pattern, pump, size), 3) for size in (N, 2 * N))
                # A busy machine can triple a few milliseconds once; what is quadratic does it at every doubling.
                if one > CHEAP and (two > 3 * one or one >= 1.0) and doubles_again(pattern, use, pump):
                    return f"{one:.4f} s for {N} characters of {pump!r}, {two:.4f} s for {2 * N}"
    return ""


@pytest.mark.parametrize("shard", range(SHARDS))
def test_s2_no_pattern_grows_faster_than_its_text(shard: int) -> None:
    found = sorted(patterns().items(), key=lambda item: (item[1], item[0].flags, str(item[0].pattern)))
    assert len(found) > 500, "the patterns were not found"
    slow = []
    for pattern, where in found[shard::SHARDS]:
        limit = next((length for name, length in BOUNDED.items() if where.startswith(name)), None)
        if told := growth(pattern, where, limit):
            slow.append(f"{where}: {told}\n    {str(pattern.pattern)[:100]!r}")
    assert not slow, "\n".join(slow)


def test_s2_no_pattern_is_made_where_the_walk_does_not_come() -> None:
    assert compiled_in_functions() == {*COMPILED_ON_USE, *HELD, *LITERAL}


@pytest.mark.parametrize("source", [r"\s*(?:ever\s+)?x", r"(?:\s*,)?\s+and", r"(a+)+$", r"\W*(?:please\W+)*b"])
def test_s2_a_pattern_that_grows_is_found(source: str) -> None:
    assert growth(re.compile(source), "nowhere", None)


@pytest.mark.parametrize("source", [r"(?<!\s)\s++x", r"\bword\s+x", r"(?<![^\s@])[^\s@]++@", r"(?:a|b){0,20}c"])
def test_s2_a_pattern_that_does_not_is_not(source: str) -> None:
    assert not growth(re.compile(source), "nowhere", None)
