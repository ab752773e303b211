"""What the tabs of the review share: a list of rows, and the focus on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import DataTable


class Rows(DataTable[Content]):
    """A list whose cursor is a row. It moves up and down only; what is wider than the screen is cut."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("home,g", "scroll_top", show=False),
        Binding("end,G", "scroll_bottom", show=False),
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
    ]

    def __init__(self, name: str) -> None:
        super().__init__(id=name, cursor_type="row", cell_padding=0)

    @property
    def max_scroll_x(self) -> int:
        """How far it moves sideways: not at all."""
        return 0

    def take_columns(self, wanted: Sequence[tuple[str, int]]) -> None:
        """Take columns of fixed widths: nothing is measured, so that thousands of rows are quick."""
        for label, width in wanted:
            self.add_column(label, width=width, key=label)


class Pane(Vertical):
    """One tab: what takes the keys when it is shown is its list."""

    @property
    def rows(self) -> Rows:
        """Its list."""
        return self.query_one(Rows)

    def enter(self) -> None:
        """Take the keys."""
        self.rows.focus()
