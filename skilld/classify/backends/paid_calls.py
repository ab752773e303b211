"""Asks before each call of a model whether it may be made, and reports afterwards what it used.

Whoever runs a job decides and books: a call is booked with its expected size before it is made, so that no limit is
passed by retries, second questions or jobs that run at the same time, and a process killed in a call has paid for it.
Without a `Charge`, as in `skilld eval`, every call may be made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from skilld.codec import TaggedUnion
from skilld.errors import RetryError
from skilld.types import Usage
from skilld.values import value_class


class BudgetSpentError(RetryError):
    """A limit of the day is reached: the call was not made."""

    def __init__(self, why: str) -> None:
        super().__init__("Did not ask the model", why, "To see what was spent: skilld cost")


@value_class
class ModelCall(TaggedUnion):
    """A call of a model: about to be made, or made if `used` says what it used."""

    model: str
    expected: Usage
    used: Usage | None = None


Charge = Callable[[ModelCall], str]  # books a call; returns why it may not be made, empty if it may


@dataclass(slots=True)
class PaidCall:
    """A call in progress: whoever makes it sets `used`."""

    used: Usage


_charges: list[Charge] = []


@contextmanager
def charged_to(charge: Charge) -> Iterator[None]:
    """Have the calls made in the body, in any thread of this process, booked by `charge`."""
    _charges.append(charge)
    try:
        yield
    finally:
        _charges.pop()


@contextmanager
def paid_call(model: str, expected: Usage) -> Iterator[PaidCall]:
    """Book the call that the body makes. Raises BudgetSpentError, before the body, if it may not be made."""
    charge = _charges[-1] if _charges else None
    if charge and (why := charge(ModelCall(model, expected))):
        raise BudgetSpentError(why)
    call = PaidCall(Usage(calls=1))
    try:
        yield call
    finally:
        if charge:
            charge(ModelCall(model, expected, call.used))
