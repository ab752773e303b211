"""What the three steps of generating share on a screen: look, keys, and that the end of one ends those before it."""

from __future__ import annotations

from textual.binding import Binding
from textual.screen import Screen

from skilld.mining.proposing import Became
from skilld.review.generate import draw

KEYS = [Binding("escape", "leave", "Leave"), Binding("q", "leave", show=False)]
BACK = Binding("b", "back", "Back")


class Step(Screen[list[Became]]):
    """One step. Dismissed with None it was left backwards, with a list everything is over."""

    CSS = draw.CSS

    def over(self, became: list[Became] | None) -> None:
        """End with the step behind this one, unless that was left backwards."""
        if became is not None:
            self.dismiss(became)
