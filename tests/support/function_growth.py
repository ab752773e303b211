"""Measures how the time of public text functions grows with repetitive input."""

from __future__ import annotations

import inspect
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from support.growth import (
    ForbiddenChangeError,
    Line,
    TooSlowError,
    cost,
    count_loops,
    grows_too_fast,
    make_text,
    side_effects_forbidden,
)
from support.text_functions import NotMadeError, TextFunction

_MIN_TRACED = 48  # characters
_MIN_EXPENSIVE = (
    0.03  # seconds without a text, spent on tables of its own: such a function is given the first and the last run
)
_FIRST_STEP = 4  # every fourth run; the others are given to what went round a loop with one of these
_MIN_LOOP_GROWTH = 1.5  # times that a loop must be gone round, of what was before, to be looked at again
# What compares many with many, and never gets more than this: an edit's added lines (skilld/edit/lint.py refuses longer
# ones), the lines of one edit that is taken back, the parts of one proposal, the items of two skills, the files of
# rules, the names of files that one question is about; the folders of one path (skilld/paths.py bounds it), our own
# tables of folders, the person's settings (tomlkit), what is typed into a search. Only what it costs there counts.
BOUNDED = {
    "skilld.cli.config": 1000,
    "skilld.context.context_of": 4000,
    "skilld.context.listing": 1000,
    "skilld.context.patterns": 4000,
    "skilld.review.generation": 1000,
    "skilld.edit.rules": 4000,
    "skilld.edit.lint": 4000,
    "skilld.edit.insertion_point": 4000,
    "skilld.effect.rules.rules": 4000,
    "skilld.library.merge.merge_skills": 1000,
    "skilld.library.merge_places": 4000,
    "skilld.library.passages.map_paths": 1000,
    "skilld.proposals.branch": 4000,
    "skilld.jobs.placing.is_personal_file": 4000,
    "skilld.git.same_project": 4000,
    "skilld.cli.common.is_of_project": 4000,
    "skilld.report.gather.project_of": 4000,
    "skilld.git.line_diff.undo": 4000,
    "skilld.exchange.skill_list.find_conflicts": 1000,
    "skilld.proposals.narrow": 1000,
    "skilld.git.line_diff.transplant": 4000,
}
MOST_EXPENSIVE = 0.5  # seconds


def reach(function: TextFunction) -> str:
    """Return how far a function gets with a text of one letter: done, touched, raised, or why it cannot be called."""
    try:
        with side_effects_forbidden(20):
            arguments = function.arguments("a")
            try:
                function.run(arguments)
            except (AttributeError, TypeError) as error:
                return f"{type(error).__name__}: {error}"
            except Exception:  # noqa: BLE001 - it refuses such a text, as it may
                return "raised"
    except ForbiddenChangeError:
        return "touched"
    except TooSlowError:
        return "too slow"
    except NotMadeError as error:
        return f"not made: {error}"
    except Exception as error:  # noqa: BLE001 - a value refuses to be made of it
        return f"refused: {error}"
    return "done"


def busiest_runs(
    function: TextFunction, runs: Sequence[str], alone: frozenset[int] = frozenset()
) -> dict[str, dict[Line, int]]:
    """Return how often each run takes a function round which loops, one run for each set of loops: the busiest.

    Inside of the code of others that are tried `alone` (`codes_of`) it is not looked.

    A line is in a loop where more of the run has it reached more often. What loops over nothing, one pass of a library
    or none, is given one run, and the words, no two of which are alike.
    """
    apart = alone - codes_of([function])
    with suppress(ForbiddenChangeError, TooSlowError, NotMadeError):
        cost(_calling(function, make_text(runs[0], 0)))  # what is kept for good from now on is no work of any text
    begun = time.process_time()
    once = _loops(function, make_text(runs[0], 0), apart)
    if time.process_time() - begun > _MIN_EXPENSIVE:
        runs = [runs[0], runs[-1]]
    found: dict[frozenset[Line], dict[str, dict[Line, int]]] = {frozenset(): {runs[0]: {}}}

    def look(run: str) -> dict[Line, int]:
        more = _loops(function, make_text(run, _MIN_TRACED), apart)
        grown = {line: times for line, times in more.items() if times - once[line] > _MIN_TRACED // 16}
        found.setdefault(frozenset(grown), {})[run] = grown
        return grown

    first = [*runs[::_FIRST_STEP]]
    if sum(bool(look(run)) for run in first):
        for run in runs:
            if run not in first:
                look(run)
    last = look(runs[-1])
    busiest = [max(alike.items(), key=lambda item: _turns(item[1])) for alike in found.values()]
    return {**dict(busiest), runs[-1]: last}


def codes_of(functions: Iterable[TextFunction]) -> frozenset[int]:
    """Return the ids of the functions' code, of those that have some of ours."""
    return frozenset(id(getattr(inspect.unwrap(function.call), "__code__", None)) for function in functions)


def _loops(function: TextFunction, text: str, apart: frozenset[int]) -> Counter[Line]:
    try:
        return count_loops(_calling(function, text), apart)
    except (ForbiddenChangeError, TooSlowError, NotMadeError):  # with more text it comes as far as the world
        return Counter()


def _turns(lines: Mapping[Line, int]) -> int:
    return sum(lines.values())


def choose_runs(all_ways: Mapping[str, dict[str, dict[Line, int]]]) -> dict[str, list[str]]:
    """Return the runs to give each function, by its name, those that do the least first.

    A way that goes round no loop more often than one before it has nothing new: the loops of what a function calls
    were looked at where that is called alone. Every function has its first way and its last, whatever they do.
    """
    known: Counter[Line] = Counter()
    found: dict[str, list[str]] = {}
    for name, own in sorted(all_ways.items(), key=lambda item: sum(map(_turns, item[1].values()))):
        plain = {next(iter(own)), list(own)[-1]}
        for run, lines in sorted(own.items(), key=lambda item: -_turns(item[1])):
            if run in plain or any(times > _MIN_LOOP_GROWTH * known[line] for line, times in lines.items()):
                found.setdefault(name, []).append(run)
                known |= Counter(lines)
    return found


def _calling(function: TextFunction, text: str) -> Callable[[], object]:
    try:
        with side_effects_forbidden(20):
            arguments = function.arguments(text)
    except Exception as error:
        raise NotMadeError(function.name) from error
    return lambda: function.run(arguments)


def find_growth(function: TextFunction, runs: Iterable[str], longest: int, seconds: float) -> Iterator[str]:
    """Yield each of the runs with which a function grows too fast, and how, up to `longest`.

    `seconds` is about what one call of a linear function may take; a dearer one is given shorter texts.
    """
    bound = next((most for name, most in BOUNDED.items() if function.name.startswith(name)), None)
    for run in runs:
        finding = ""
        with suppress(
            ForbiddenChangeError, NotMadeError
        ):  # with a longer text it comes as far as the world, or is refused
            if bound:
                spent = _bounded(function, run, bound)
                finding = f"{bound} characters take {spent:.4f} s" if spent > MOST_EXPENSIVE else ""
            else:
                prepare = partial(_pumped, function, run)
                finding = grows_too_fast(prepare, longest, seconds=seconds)
        if finding:
            yield f"{function.name} with {run}: {finding}"


def _pumped(function: TextFunction, run: str, length: int) -> Callable[[], object]:
    return _calling(function, make_text(run, length))


def _bounded(function: TextFunction, run: str, bound: int) -> float:
    try:
        return cost(_pumped(function, run, bound))
    except TooSlowError:
        return math.inf
