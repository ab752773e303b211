"""T-33, S2: no function and no pattern takes time that grows faster than its text. Part of `make check`.

The functions and the patterns are found by walking the program (support/text_functions.py, support/patterns.py), so a
new one is covered as it stands. Runs that take a function round the same loops, by the lines that it reaches, count as
one (support/function_growth.py); each kind is given to it at 16 kB and 64 kB, or at less if that would take too
long.
`make soak` takes all of them to 1 MB. Cost is processor time.
"""

from __future__ import annotations

import gc
import inspect
import pkgutil
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import islice

import pytest

import skilld
from skilld.classify.clauses import foreign_parts
from skilld.edit.insertion_point import insert_bullet
from skilld.edit.move import section_titles
from support.function_growth import busiest_runs, choose_runs, codes_of, find_growth, reach
from support.growth import RUNS, cost
from support.text_functions import TextFunction, text_functions

LONGEST = 64_000  # characters; `make soak` goes on from there
SECONDS = 0.01  # for one call of a linear function; a dearer one is given shorter texts
# What is left out, and why. A package that is not named here is tried.
LEFT_OUT = {
    "entry": "the command line: argparse ends the process for a text that is no verb",
    "mcp": "a server: an event loop with threads, which hands out skills that the person keeps",
    "notify": "coroutines of a desktop bus, and words that were cut to a length before",
}
PACKAGES = sorted({module.name for module in pkgutil.iter_modules(skilld.__path__)} - LEFT_OUT.keys() - {"__main__"})
TRIED = {"done", "raised"}
REACHED = {*TRIED, "touched"}
# Why a function cannot be called with a text alone: it takes a database, a terminal, a model or a repository.
WORLD = (
    "not made: <class 'sqlite3.Connection'>",
    "not made: <class 'os.stat_result'>",
    "refused: Connection() missing required argument 'database'",  # a store
    "AttributeError: 'types.SimpleNamespace' object",  # a protocol with methods: a model, a repository
    "AttributeError: 'str' object has no attribute",  # a module that is given as a value
    "not made: <class 'skilld.scoring.models.Scripted'>",  # a model that answers by script
)
# Functions that cannot be called with a text, each with the reason.
NOT_CALLED = {
    "skilld.cli.over_option.add_options": "adds flags to a parser, with a help of our own",
    "skilld.cli.arguments.Verb.add_to": "adds a verb to a parser, from a table of our own",
    "skilld.ingest.source.LineSource.cursor": "takes back a cursor that the store keeps: numbers",
    "skilld.ingest.rows.RowSource.cursor": "takes back a cursor that the store keeps: numbers",
    "skilld.ingest.session_records.GatheredSource.cursor": "takes back a cursor that the store keeps: numbers",
    "skilld.jobs.backend_questions.choose": "takes one of the numbered questions: their base, made here, is none",
    "skilld.review.plain.PlainReview.run": "asks at a terminal, with an editor of its own kind",
    "skilld.review.plain_tabs.PlainTabs.show": "as PlainReview.run",
    "skilld.review.plain_tabs.Conversation.ask_yes_no": "as PlainReview.run",
    "skilld.review.plain_tabs.Conversation.ask_line": "as PlainReview.run",
    "skilld.review.plain_tabs.Conversation.ask_letter": "as PlainReview.run",
    "skilld.review.dialogs.Rows.add": "adds a row to a table that is on a screen",
    "skilld.review.dialogs.Rows.set_cell": "as Rows.add: it changes one of its cells",
    "skilld.review.dialogs.Rows.refill": "as Rows.add",
    "skilld.review.dialogs.Pane.check_action": "takes the name of an action: one of its own bindings",
}


@cache
def _how_far() -> dict[str, str]:
    return {function.name: reach(function) for function in text_functions() if function.name.split(".")[1] in PACKAGES}


@pytest.mark.parametrize("package", PACKAGES)
def test_s2_no_function_takes_more_than_linear_time(package: str) -> None:
    begun = time.process_time()
    functions = {function.name: function for function in text_functions() if function.name.split(".")[1] == package}
    how = {name: outcome for name, outcome in _how_far().items() if name in functions}
    print(package, Counter(outcome.partition(":")[0] for outcome in how.values()))
    unmade = {name: outcome for name, outcome in how.items() if outcome.partition(":")[0] not in REACHED}
    unexplained = {name for name, outcome in unmade.items() if not outcome.startswith(WORLD) and name not in NOT_CALLED}
    assert not unexplained, {name: unmade[name] for name in unexplained}
    slow = [name for name, outcome in how.items() if outcome == "too slow"]
    gc.freeze()  # what the walk has loaded stays
    alone = [function for function in text_functions() if _how_far().get(function.name) in TRIED]
    codes = codes_of(alone)
    runs = choose_runs({one.name: busiest_runs(one, [*RUNS], codes) for one in alone if one.name in functions})
    for name, some in runs.items():
        slow += islice(find_growth(functions[name], some, LONGEST, SECONDS), 1)
    tried = sum(map(len, runs.values()))
    print(f"{package}: {tried} ways to {LONGEST:,} characters, {time.process_time() - begun:.1f} s")
    assert not slow, "\n".join(slow)


def _takes_out_brackets(text: str) -> str:
    while "()" in text:
        text = text.replace("()", "")
    return text


def _looks_ahead_each_time(text: str) -> int:
    return sum(1 for at in range(0, len(text), 8) if text[at] == "(" and any(later == "]" for later in text[at:]))


def _replaces_one_at_a_time(text: str) -> str:
    while "  " in text:
        text = text.replace("  ", " ", 1)
    return text


def _compares_each_line_with_each(text: str) -> int:
    lines = text.splitlines()[::4]
    return sum(line == other for line in lines for other in lines)


def _cuts_from_the_front(text: str) -> None:
    while text:
        text = text[1:]


def _looks_in_a_list(text: str) -> list[str]:
    seen: list[str] = []
    for word in text.split():
        if word not in seen:
            seen.append(word)
    return seen


def _joins_each_time(text: str) -> int:
    parts: list[str] = []
    for letter in text:
        parts.append(letter)
        if len("".join(parts)) > len(text):
            break
    return len(parts)


def _looks_through_what_grows(text: str) -> str:
    read_so_far = ""
    for letter in text:
        read_so_far += letter
        if "<end>" in read_so_far:
            break
    return read_so_far


def _takes_lines_apart_for_each(text: str) -> int:
    return sum(len(text.splitlines()[at]) for at in range(0, text.count("\n"), 4))


def _counts_from_the_start(text: str) -> list[int]:
    return [text.count("\n", 0, at) for at, letter in enumerate(text) if letter == "-"]


def _drops_the_first_line(text: str) -> int:
    lines, dropped = text.split("\n"), 0
    while lines:
        lines, dropped = lines[1:], dropped + 1
    return dropped


PLANTED = [value for name, value in globals().copy().items() if name.startswith("_") and inspect.isfunction(value)]


@pytest.mark.parametrize("call", PLANTED)
def test_s2_a_superlinear_function_is_found(call: Callable[[str], object]) -> None:
    function = TextFunction(call.__name__, call, {"text": str})
    runs = choose_runs({call.__name__: busiest_runs(function, [*RUNS])})[call.__name__]
    # Most are dear enough to be found with the shorter texts; what copies in bulk, with long ones, all the more so on a
    # busy machine.
    given = (LONGEST // 4, SECONDS / 5), (LONGEST, 4 * SECONDS), (4 * LONGEST, 16 * SECONDS)
    assert any(next(find_growth(function, runs, longest, seconds), "") for longest, seconds in given)


def test_s2_a_linear_function_passes() -> None:
    def once(text: str) -> list[str]:
        seen = set()
        for line in text.splitlines():
            seen.update(line.replace("()", "").split())
        return sorted(seen)

    function = TextFunction("once", once, {"text": str})
    assert not list(find_growth(function, busiest_runs(function, [*RUNS]), LONGEST, SECONDS))


@pytest.mark.parametrize(
    "call",
    [
        lambda: insert_bullet(b"# sort\n" * 2000, "sort", "sort the entries by date"),
        lambda: foreign_parts("entry. " * 9000, "put each entry first"),
        lambda: section_titles("# sort\n" * 9000),
    ],
    ids=["headings", "short sentences", "titles"],
)
def test_s2_many_short_parts_are_read_quickly(call: Callable[[], object]) -> None:
    """None of these runs is among those that every function is given; each took more than two seconds."""
    assert cost(call) < 1
