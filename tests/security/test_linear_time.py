"""T-33, S2: no function and no pattern takes time that grows faster than its text.

The functions and the patterns are found by walking the program (support/text_functions.py, support/patterns.py), so a
new one is covered as it stands. What each is given: runs of one thing, to 64 kB, where a linear call of that length is
cheap; `make soak` takes them to 1 MB. Cost is processor time, n beside 2n.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable

import pytest

from support.growth import RUNS, TooSlowError, TouchedError, cost, grows_too_fast, harmless, text_of
from support.text_functions import NotMadeError, TextFunction, text_functions

SHORTEST, LONGEST = 1000, int(os.environ.get("SKILLD_TEST_LONGEST", "64000"))  # characters
SECONDS = 0.002 if LONGEST <= 64000 else 1.0  # for one call of a linear function
# Programs that put the stages together and hold handles on the world: what they do with text, they call the others for.
PROGRAMS = {"cli", "daemon", "demo", "doctor", "evaluate", "mcp", "notify", "review", "service", "store"}
PACKAGES = sorted({one.name.split(".")[1] for one in text_functions()} - PROGRAMS)
# What compares many with many, and never gets more than this: an edit's added lines (skilld/edit/lint.py refuses longer
# ones), the items of two skills, the names of files that one question is about. What it costs there is all that counts.
BOUNDED = {
    "skilld.edit.rules": 4000,
    "skilld.edit.lint": 4000,
    "skilld.edit.lists": 4000,
    "skilld.consolidate": 4000,
    "skilld.propose.base": 4000,
}
DEAREST = 0.5  # seconds
REACHED = {"done", "raised", "touched"}
# Why a function cannot be called with a text alone: it takes a database, a terminal, a model or a repository.
WORLD = (
    "not made: <class 'sqlite3.Connection'>",
    "AttributeError: 'types.SimpleNamespace' object",  # a protocol with methods: a model, a repository
    "AttributeError: 'str' object has no attribute",  # a module that is given as a value
    "refused: scrub_environment() was not called",  # git
)


def reached(function: TextFunction) -> str:
    """Return how far a function comes with a text of one letter: done, touched, raised, or why it cannot be called."""
    try:
        with harmless(20):
            arguments = function.arguments("a")
            try:
                function.run(arguments)
            except (AttributeError, TypeError) as error:
                return f"{type(error).__name__}: {error}"
            except Exception:  # noqa: BLE001 - it refuses such a text, as it may
                return "raised"
    except TouchedError:
        return "touched"
    except TooSlowError:
        return "too slow"
    except NotMadeError as error:
        return f"not made: {error}"
    except Exception as error:  # noqa: BLE001 - a value refuses to be made of it
        return f"refused: {error}"
    return "done"


def growth(function: TextFunction, run: str) -> str:
    """Return how a function grows too fast with a run; nothing where it does not."""

    def prepare(length: int) -> Callable[[], object]:
        with harmless(20):
            arguments = function.arguments(text_of(run, length))
        return lambda: function.run(arguments)

    try:
        for name, most in BOUNDED.items():
            if function.name.startswith(name):
                spent = cost(prepare(most))
                return f"{most} characters take {spent:.4f} s" if spent > DEAREST else ""
        return grows_too_fast(prepare, SHORTEST, LONGEST, seconds=SECONDS)
    except TouchedError:  # with a longer text it comes as far as the world
        return ""


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
            found = ((run, growth(function, run)) for run in RUNS)
            slow += [f"{function.name} with {run}: {told}" for run, told in found if told][:1]
    assert not slow, "\n".join(slow)
