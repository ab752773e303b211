"""T-33, S2: no function and no pattern takes time that grows faster than its text.

The functions and the patterns are found by walking the program (support/text_functions.py, support/patterns.py), so a
new one is covered as it stands. What each is given: runs of one thing, to 64 kB, where a linear call of that length is
cheap; `make soak` takes them to 1 MB. Cost is processor time, n beside 2n.
"""

from __future__ import annotations

from collections import Counter

import pytest

from support.growth import RUNS
from support.pumping import growth, reached
from support.text_functions import text_functions

LONGEST = 64_000  # characters
SECONDS = 0.002  # for one call of a linear function
# Programs that put the stages together and hold handles on the world: what they do with text, they call the others for.
PROGRAMS = {"cli", "daemon", "demo", "doctor", "evaluate", "mcp", "notify", "review", "service", "store"}
PACKAGES = sorted({one.name.split(".")[1] for one in text_functions()} - PROGRAMS)
REACHED = {"done", "raised", "touched"}
# Why a function cannot be called with a text alone: it takes a database, a terminal, a model or a repository.
WORLD = (
    "not made: <class 'sqlite3.Connection'>",
    "AttributeError: 'types.SimpleNamespace' object",  # a protocol with methods: a model, a repository
    "AttributeError: 'str' object has no attribute",  # a module that is given as a value
    "refused: scrub_environment() was not called",  # git
)


@pytest.mark.parametrize("package", PACKAGES)
def test_s2_no_function_grows_faster_than_its_text(package: str) -> None:
    functions = [one for one in text_functions() if one.name.split(".")[1] == package]
    how = {one.name: reached(one) for one in functions}
    print(package, Counter(told.partition(":")[0] for told in how.values()))
    unmade = {name: told for name, told in how.items() if told.partition(":")[0] not in REACHED}
    assert not {name: told for name, told in unmade.items() if not told.startswith(WORLD)}, unmade
    slow = [name for name, told in how.items() if told == "too slow"]
    for function in functions:
        if how[function.name] in {"done", "raised"}:
            found = ((run, growth(function, run, LONGEST, SECONDS)) for run in RUNS)
            slow += [f"{function.name} with {run}: {told}" for run, told in found if told][:1]
    assert not slow, "\n".join(slow)
