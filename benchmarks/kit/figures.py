"""What a benchmark gives: figures, each beside a yardstick measured in the same call. Pure.

Absolute figures drift with the machine and its load; the ratio to the yardstick is what may be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured: everything in less than 15 minutes, or, `quick`, in less than 2."""

    quick: bool

    def pick(self, full: T, quick: T) -> T:
        """Return the one of the two amounts that belongs to this scale."""
        return quick if self.quick else full


class Of(StrEnum):
    """Which number of a figure a target is about."""

    VALUE = "value"
    RATIO = "ratio"  # value over yardstick
    ABOVE = "above"  # value less yardstick


@dataclass(frozen=True, slots=True)
class Target:
    """A bound that a figure should keep."""

    of: Of
    most: float | None = None
    least: float | None = None

    def __str__(self) -> str:
        bounds = [f"at most {self.most:g}"] if self.most is not None else []
        bounds += [f"at least {self.least:g}"] if self.least is not None else []
        return f"{self.of} {' and '.join(bounds)}"

    def met_by(self, number: float) -> bool:
        """Whether `number` is within the bound."""
        return (self.most is None or number <= self.most) and (self.least is None or number >= self.least)


@dataclass(frozen=True, slots=True)
class Figure:
    """One number with its unit, its yardstick in the same unit, and on what it was measured (`basis`)."""

    value: float
    unit: str
    yardstick: str
    yardstick_value: float
    basis: str
    target: Target | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the figure as it stands in the document; `ratio` is None where the yardstick is nothing."""
        ratio = self.value / self.yardstick_value if self.yardstick_value else None
        numbers = {Of.VALUE: self.value, Of.RATIO: ratio, Of.ABOVE: self.value - self.yardstick_value}
        shown: dict[str, Any] = {
            "value": rounded(self.value),
            "unit": self.unit,
            "yardstick": self.yardstick,
            "yardstick_value": rounded(self.yardstick_value),
            "ratio": None if ratio is None else rounded(ratio),
            "basis": self.basis,
        }
        if self.target is not None:
            number = numbers[self.target.of]
            shown |= {"target": str(self.target), "met": number is not None and self.target.met_by(number)}
        return shown


def rounded(number: float) -> float:
    """Return `number` to four significant digits: the rest is noise."""
    return float(f"{number:.4g}")
