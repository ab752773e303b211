"""Public functions that take text, given runs of one thing: how far each comes, and whether it grows too fast."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from support.growth import TooSlowError, TouchedError, cost, grows_too_fast, harmless, text_of
from support.text_functions import NotMadeError, TextFunction

SHORTEST = 1000  # characters
# What compares many with many, and never gets more than this: an edit's added lines (skilld/edit/lint.py refuses longer
# ones), the lines of one edit that is taken back, the items of two skills, the names of files that one question is
# about; the folders of one path, our own tables of folders, the person's settings (tomlkit), what is typed into a
# search. What it costs there is all that counts.
BOUNDED = {
    "skilld.cli.config": 1000,
    "skilld.context.context_of": 4000,
    "skilld.context.listing": 1000,
    "skilld.context.patterns": 4000,
    "skilld.review.generating": 1000,
    "skilld.edit.rules": 4000,
    "skilld.edit.lint": 4000,
    "skilld.edit.insertion_point": 4000,
    "skilld.proposals.branch": 4000,
    "skilld.git.line_diff.undo": 4000,
    "skilld.git.line_diff.transplant": 4000,
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


def growths(function: TextFunction, runs: Iterable[str], longest: int, seconds: float) -> Iterator[str]:
    """Yield how a function grows too fast with each of the runs with which it does, up to `longest`.

    `seconds` is about what one call of a linear function may take; a dearer one is given shorter texts, except with the
    run that costs it most.
    """

    def prepare(run: str, length: int) -> Callable[[], object]:
        try:
            with harmless(20):
                arguments = function.arguments(text_of(run, length))
        except Exception as error:
            raise NotMadeError(function.name) from error
        return lambda: function.run(arguments)

    bound = next((most for name, most in BOUNDED.items() if function.name.startswith(name)), None)
    firsts: dict[str, float] = {}
    for run in runs:
        try:
            firsts[run] = cost(prepare(run, bound or SHORTEST))
        except (TouchedError, NotMadeError):  # with a longer text it comes as far as the world, or is refused
            continue
        except TooSlowError:
            firsts[run] = math.inf
    dearest = max(firsts, key=lambda run: firsts[run], default=None)
    for run, first in firsts.items():
        if bound:
            told = f"{bound} characters take {first:.4f} s" if first > DEAREST else ""
        else:
            most = math.inf if run == dearest else seconds
            try:
                told = grows_too_fast(partial(prepare, run), SHORTEST, longest, first=first, seconds=most)
            except (TouchedError, NotMadeError):
                continue
        if told:
            yield f"{function.name} with {run}: {told}"
