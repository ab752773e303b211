"""T-33, S2: no function and no pattern takes time that grows faster than its text.

The functions and the patterns are found by walking the program (support/text_functions.py, support/patterns.py), so a
new one is covered as it stands. Each is given runs of one thing: all of them to 64 kB where a call of that length is
cheap, elsewhere to 4 kB at least, and to 64 kB the one that costs most. `make soak` takes them to 1 MB. Cost is
processor time, n beside 2n.
"""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Callable
from itertools import chain, islice

import pytest

from support.growth import RUNS
from support.pumping import SHORTEST, growths, reached
from support.text_functions import TextFunction, text_functions

LONGEST = 64_000  # characters; `make soak` goes on from there
SECONDS = 0.001  # for one call of a linear function; a dearer one is given so much with the dearest run only
# What is left out, and why. A package that is not named here is tried.
LEFT_OUT = {
    "mcp": "a server: an event loop with threads, which hands out skills that the person keeps",
    "notify": "coroutines of a desktop bus, and words that were cut to a length before",
}
PACKAGES = sorted({one.name.split(".")[1] for one in text_functions()} - LEFT_OUT.keys())
REACHED = {"done", "raised", "touched"}
# Why a function cannot be called with a text alone: it takes a database, a terminal, a model or a repository.
WORLD = (
    "not made: <class 'sqlite3.Connection'>",
    "not made: <class 'os.stat_result'>",
    "refused: Connection() missing required argument 'database'",  # a store
    "AttributeError: 'types.SimpleNamespace' object",  # a protocol with methods: a model, a repository
    "AttributeError: 'str' object has no attribute",  # a module that is given as a value
    "refused: scrub_environment() was not called",  # git
    "not made: <class 'skilld.evaluate.models.Scripted'>",  # a model that answers by script
)
# Functions that cannot be called with a text, each with the reason.
NOT_CALLED = {
    "skilld.ingest.source.Lines.cursor": "takes back a cursor that the store keeps: numbers",
    "skilld.ingest.source.Rows.cursor": "takes back a cursor that the store keeps: numbers",
}


@pytest.mark.parametrize("package", PACKAGES)
def test_s2_no_function_grows_faster_than_its_text(package: str) -> None:
    begun = time.process_time()
    functions = [one for one in text_functions() if one.name.split(".")[1] == package]
    how = {one.name: reached(one) for one in functions}
    print(package, Counter(told.partition(":")[0] for told in how.values()))
    unmade = {name: told for name, told in how.items() if told.partition(":")[0] not in REACHED}
    unexplained = {name for name, told in unmade.items() if not told.startswith(WORLD) and name not in NOT_CALLED}
    assert not unexplained, {name: unmade[name] for name in unexplained}
    slow = [name for name, told in how.items() if told == "too slow"]
    tried = [function for function in functions if how[function.name] in {"done", "raised"}]
    gc.freeze()  # what the walk has loaded stays
    slow += chain.from_iterable(islice(growths(function, RUNS, LONGEST, SECONDS), 1) for function in tried)
    print(f"{package}: {len(tried) * len(RUNS)} runs to {LONGEST:,} characters, {time.process_time() - begun:.1f} s")
    assert not slow, "\n".join(slow)


def _takes_out_brackets(text: str) -> str:
    while "()" in text:
        text = text.replace("()", "")
    return text


def _looks_ahead_each_time(text: str) -> int:
    return sum(1 for at, letter in enumerate(text) if letter == "(" and any(later == "]" for later in text[at:]))


@pytest.mark.parametrize("call", [_takes_out_brackets, _looks_ahead_each_time])
def test_s2_a_function_that_grows_is_found(call: Callable[[str], object]) -> None:
    function = TextFunction(call.__name__, call, {"text": str})
    assert list(islice(growths(function, ["nested brackets", "words"], 16 * SHORTEST, SECONDS), 1))
