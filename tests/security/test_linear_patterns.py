"""S2: no regular expression of the program takes time that grows faster than its text. Part of `make check`.

What to feed a pattern is read from its own syntax tree (support/pumps.py): each thing that it repeats, over and over,
behind what it wants before, and then broken off. All of them at 1 kB and 4 kB, and those that tell most of a pattern at
8 kB and 32 kB. Cost is processor time. Why no library judges the patterns instead: docs/decisions/0030.
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
import sys
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any

import pytest

from skilld.redact.tokens import find_shapes
from skilld.text import fold
from support.growth import TooSlowError, cost
from support.pattern_strings import Pump, slow_strings
from support.patterns import COMPILED_ON_USE, HELD, LITERAL, AnyPattern, compiled_in_functions, patterns

SHORT, LONG = 1000, 4000  # characters: each pump has both
LONGEST = 32_000  # the dearest pump of a pattern has it, and a quarter of it, and so has each that looked steep
STEEP = 8  # times the cost for four times the text: four would be linear, sixteen quadratic
WORTH_A_LOOK, FLOOR = 0.0001, 0.01  # seconds below which nothing is said of short and of long texts
# What sees only so many characters at a time: one clause, its white space folded (skilld/classify/offline/detector.py),
# what stands near a number, one added line (skilld/edit/lint.py).
BOUNDED = {
    "skilld.classify.offline.grammar": 500,
    "skilld.classify.offline.detector.languages": 500,
    "skilld.classify.offline.phrasing": 1000,
    "skilld.classify.offline.reported": 500,
    "skilld.words._UNIT_BEFORE_PATTERN": 60,
    "skilld.edit.rules": 4000,
    "skilld.context.references": 1000,
}
FOLDED = ("skilld.classify.offline",)
# Only ever matched at the beginning of a text, though they stand in a table.
AT_THE_START = (
    "skilld.agents.claude_code.wrappers._CLIENT_OPENINGS",
    "skilld.agents.claude_code.wrappers._UNSIGNED_OPENINGS",
    "skilld.agents.codex.user_messages._CANNED",
)
DEAREST = 0.25  # seconds for one of them on the worst there is
DEAREST_OF_A_PATTERN = 3  # texts that are tried in full, those that promise to cost most


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


Use = Callable[[Any], object]


def uses(pattern: AnyPattern, where: str) -> list[Use]:
    if anchored(where) or where.startswith(AT_THE_START):
        return [pattern.match, pattern.fullmatch]
    if where == "skilld.redact.tokens.SHAPES":  # matched where one of its anchors stands, or searched for around it
        return [lambda text: sum(1 for _ in find_shapes(text, [(0, len(text))]))]
    return [lambda text: sum(1 for _ in pattern.finditer(text))]


def pumped_text(pattern: AnyPattern, pump: Pump, length: int) -> str | bytes:
    before, unit, after = pump
    text = before + unit * (length // len(unit)) + after
    return text if isinstance(pattern.pattern, str) else text.encode()


def longest_time(text: str | bytes) -> float:
    """Return the seconds after which a search of a text is ended: more than any linear one takes, or a dear one may."""
    return 0.3 + len(text) / 100_000


def seconds(use: Use, text: str | bytes, times: int = 1) -> float:
    """Return the least processor time of some uses; `longest_time` where one takes that long."""
    try:
        return min(cost(lambda: use(text), longest_time(text)) for _ in range(times))
    except TooSlowError:
        return longest_time(text)


def limit_of(where: str) -> int | None:
    """Return how many characters a pattern sees at most; None where that has no end."""
    return next((length for name, length in BOUNDED.items() if where.startswith(name)), None)


def growth(pattern: AnyPattern, where: str, limit: int | None, longest: int = LONGEST) -> str:
    """Return how a pattern grows too fast; nothing where it does not."""
    if limit:
        return growth_if_expensive(pattern, where, limit)
    steep: dict[tuple[Use, Pump], None] = {}
    highest, dearest = 0.0, None
    for use, pump in itertools.product(uses(pattern, where), slow_strings(pattern)):
        long = seconds(use, pumped_text(pattern, pump, LONG))
        if long > FLOOR and (finding := growth_between(pattern, use, pump, SHORT, LONG)):
            return finding
        if long > WORTH_A_LOOK and long > STEEP * seconds(use, pumped_text(pattern, pump, SHORT)):
            steep[use, pump] = None
        if long >= max(highest, WORTH_A_LOOK):  # below, its square is let be at the longest too
            highest, dearest = long, (use, pump)
    for use, pump in dict.fromkeys([dearest, *steep] if dearest else ()):
        if finding := growth_between(pattern, use, pump, longest // 4, longest):
            return finding
    return ""


def growth_between(pattern: AnyPattern, use: Use, pump: Pump, few: int, many: int) -> str:
    """Return how a pattern takes much more than in proportion for the longer of two texts, or nothing."""
    finding = ""
    shorter, longer = pumped_text(pattern, pump, few), pumped_text(pattern, pump, many)
    for times in (1, 2):  # a busy machine spoils one figure, not three
        more = seconds(use, longer, times)
        less = seconds(use, shorter, times) if more > FLOOR else 0.0
        if more < max(FLOOR, min(STEEP * less, longest_time(longer))):
            return ""
        finding = f"{less:.4f} s for {few} characters of {pump!r}, {more:.4f} s for {many}"
        if more >= longest_time(longer):  # it was ended: no busy machine does that
            break
    return finding


def growth_if_expensive(pattern: AnyPattern, where: str, limit: int) -> str:
    """Return how a pattern takes too long with the longest text that it is ever given.

    A quarter of that is tried first: what costs next to nothing there can grow with the fourth power and be let be. So
    can what, going on as from an eighth to the quarter, would cost less than half of what is dear. Of the others those
    that promise to cost most tell for all.
    """
    given: Callable[[Any], Any] = fold if where.startswith(FOLDED) else lambda text: text
    texts = {}
    for pump in slow_strings(pattern):
        first, short, long = (pumped_text(pattern, pump, length)[:length] for length in (limit // 8, limit // 4, limit))
        texts[given(long)] = given(first), given(short), pump
    promising: list[tuple[float, Use, str | bytes, Pump]] = []
    for use, (long, (first, short, pump)) in itertools.product(uses(pattern, where), texts.items()):
        spent = seconds(use, short)
        if spent >= DEAREST / 4**4 and (promise := spent**3 / seconds(use, first) ** 2) >= DEAREST / 2:
            promising.append((promise, use, long, pump))
    for _, use, long, pump in sorted(promising, key=itemgetter(0), reverse=True)[:DEAREST_OF_A_PATTERN]:
        if seconds(use, long) > DEAREST and (spent := seconds(use, long, 3)) > DEAREST:
            return f"{spent:.4f} s for {limit} characters of {pump!r}"
    return ""


def test_s2_no_pattern_takes_more_than_linear_time() -> None:  # in one piece: finding the patterns takes 4 s
    found = sorted(patterns().items(), key=lambda item: (item[1], item[0].flags, str(item[0].pattern)))
    assert len(found) > 500, "the patterns were not found"
    slow = []
    for pattern, where in found:
        if finding := growth(pattern, where, limit_of(where)):
            slow.append(f"{where}: {finding}\n    {str(pattern.pattern)[:100]!r}")
    assert not slow, "\n".join(slow)


def test_s2_every_pattern_is_found_by_the_search() -> None:
    assert compiled_in_functions() == {*COMPILED_ON_USE, *HELD, *LITERAL}


@pytest.mark.parametrize(
    ("source", "limit"),
    [
        (r"\s*(?:ever\s+)?x", None),
        (r"(?:\s*,)?\s+and", None),
        (r"(a+)+$", None),
        (r"\[Image\b[^\]]*\]", None),  # 0.8 ms for 4 kB: seen at 32 kB
        (r"^(?:\S+\s*){1,4}?x$", 250),  # four ends in a word without a blank
    ],
)
def test_s2_a_superlinear_pattern_is_found(source: str, limit: int | None) -> None:
    assert growth(re.compile(source), "nowhere", limit)


@pytest.mark.parametrize("source", [r"(?<!\s)\s++x", r"\bword\s+x", r"(?<![^\s@])[^\s@]++@", r"(?:a|b){0,20}c"])
def test_s2_a_linear_pattern_passes(source: str) -> None:
    assert not growth(re.compile(source), "nowhere", None)
