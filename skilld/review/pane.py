"""What the tabs of the review share."""

from __future__ import annotations

from textual.containers import Vertical
from textual.widgets import DataTable


class Pane(Vertical):
    """One tab: what takes the keys when it is shown is its list."""

    def enter(self) -> None:
        """Take the keys."""
        self.query_one(DataTable).focus()
