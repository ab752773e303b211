"""What a model's tokens cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars for each token: read, written, read from and put into the provider's cache."""

    read: float
    written: float
    cached: float
    kept: float

    def of(self, read: int, written: int, cached: int = 0, kept: int = 0) -> float:
        """Return the price of so many tokens."""
        return read * self.read + written * self.written + cached * self.cached + kept * self.kept
