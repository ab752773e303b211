"""Public functions that take text, and patterns, each with runs of one thing up to 1 MB: a part of the soak."""

from __future__ import annotations

from pathlib import Path

from security import test_linear_patterns as linear
from support.function_growth import find_growth, reach
from support.growth import RUNS
from support.pattern_strings import slow_strings
from support.patterns import patterns
from support.text_functions import text_functions
from tools.soak_report import Part, dice_for, must

_LONGEST = 1_024_000  # characters
_SECONDS = 1.0  # of processor time for one call


def run(seconds: float, seed: int, folder: Path) -> Part:
    """Give functions and patterns their runs, in an order that the seed shuffles, for so long."""
    del folder
    part = Part("growth", seconds)
    names = [one.name for one in text_functions()]
    names += [f"pattern {number} of {where}" for number, where in enumerate(patterns().values())]
    dice_for(seed).shuffle(names)
    for name in names:
        if not part.goes_on:
            break
        _one(part, name)
    return part


def again(case: str, folder: Path) -> Part:
    """Give one function, or one pattern, by its name, all runs again."""
    del folder
    part = Part("growth")
    _one(part, case)
    return part


def _one(part: Part, name: str) -> None:
    if name.startswith("pattern "):
        pattern, where = list(patterns().items())[int(name.split()[1])]
        part.count("patterns")
        part.count("pumps of patterns", len(slow_strings(pattern)))
        with part.finding(name):
            told = linear.growth(pattern, where, linear.limit_of(where), longest=_LONGEST)
            must(not told, told)
        return
    function = next(one for one in text_functions() if one.name == name)
    how = reach(function).partition(":")[0]
    part.count(f"functions {how}")
    if how not in {"done", "raised"}:
        return
    part.count("runs", len(RUNS))
    with part.finding(name):
        for told in find_growth(function, RUNS, _LONGEST, _SECONDS):
            must(not told, told)
