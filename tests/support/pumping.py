"""Public functions that take text, given runs of one thing: how far each comes, and whether it grows too fast."""

from __future__ import annotations

from collections.abc import Callable

from support.growth import TooSlowError, TouchedError, cost, grows_too_fast, harmless, text_of
from support.text_functions import NotMadeError, TextFunction

SHORTEST = 1000  # characters
# What compares many with many, and never gets more than this: an edit's added lines (skilld/edit/lint.py refuses longer
# ones), the items of two skills, the names of files that one question is about. What it costs there is all that counts.
BOUNDED = {
    "skilld.edit.rules": 4000,
    "skilld.edit.lint": 4000,
    "skilld.edit.insertion_point": 4000,
    "skilld.proposals.branch": 4000,
    "skilld.proposals.reverse_patch": 1000,  # grows with the square of a file's lines: not mended yet
}
DEAREST = 0.5  # seconds


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


def growth(function: TextFunction, run: str, longest: int, seconds: float) -> str:
    """Return how a function grows too fast with a run, up to `longest`; nothing where it does not.

    `seconds` is about what one call of a linear function may take; a dearer one is given shorter texts.
    """

    def prepare(length: int) -> Callable[[], object]:
        with harmless(20):
            arguments = function.arguments(text_of(run, length))
        return lambda: function.run(arguments)

    try:
        for name, most in BOUNDED.items():
            if function.name.startswith(name):
                spent = cost(prepare(most))
                return f"{most} characters take {spent:.4f} s" if spent > DEAREST else ""
        return grows_too_fast(prepare, SHORTEST, longest, seconds=seconds)
    except TouchedError:  # with a longer text it comes as far as the world
        return ""
