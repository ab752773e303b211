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

from support.growth import RUNS, TooSlowError, TouchedError, grows_too_fast, harmless, text_of
from support.text_functions import NotMadeError, TextFunction, text_functions

SHORTEST, LONGEST = 1000, int(os.environ.get("SKILLD_TEST_LONGEST", "64000"))  # characters
SECONDS = 0.01 if LONGEST <= 64000 else 1.0  # for one call of a linear function
PACKAGES = sorted({one.name.split(".")[1] for one in text_functions()})
# What a text alone does not make: it stands for something of the world, and what it does with it is at the edge.
HANDLES = frozenset(
    {
        "<class 'sqlite3.Connection'>",
        "<class 'contextlib.AbstractContextManager'>",
    }
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
        return grows_too_fast(prepare, SHORTEST, LONGEST, seconds=SECONDS)
    except TouchedError:  # with a longer text it comes as far as the world
        return ""


@pytest.mark.parametrize("package", PACKAGES)
def test_s2_no_function_grows_faster_than_its_text(package: str) -> None:
    functions = [one for one in text_functions() if one.name.split(".")[1] == package]
    how = {one.name: reached(one) for one in functions}
    print(package, Counter(told.partition(":")[0] for told in how.values()))
    slow = [name for name, told in how.items() if told == "too slow"]
    for function in functions:
        if how[function.name] in {"done", "raised"}:
            found = ((run, growth(function, run)) for run in RUNS)
            slow += [f"{function.name} with {run}: {told}" for run, told in found if told][:1]
    assert not slow, "\n".join(slow)
