"""The tab of live sessions: how many turns were said, and how many more make a batch."""

from __future__ import annotations

import time

from textual import work
from textual.app import ComposeResult

from skilld.review import draw
from skilld.review.pane import Pane, Rows
from skilld.review.sitting import Sitting
from skilld.store.overview import LiveSession

_AGAIN = 5.0  # seconds


class SessionsPane(Pane):
    """The sessions of the last day; `turns` make a batch."""

    def __init__(self, sitting: Sitting, turns: int) -> None:
        super().__init__()
        self._sitting = sitting
        self._turns = turns

    def compose(self) -> ComposeResult:
        """Put the list on the screen."""
        yield Rows("sessions-list")

    def on_mount(self) -> None:
        """Read the sessions, and again every few seconds."""
        self.rows.take_columns(draw.SESSION_COLUMNS)
        self._read()
        self.set_interval(_AGAIN, self._read)

    @work(thread=True, exclusive=True, group="sessions")
    def _read(self) -> None:
        found = self._sitting.sessions()
        self.app.call_from_thread(self._fill, found)

    def _fill(self, found: list[LiveSession]) -> None:
        row, now = self.rows.cursor_row, time.time()
        self.rows.clear()
        for session in found:
            self.rows.add_row(*draw.session_cells(session, self._turns, now))
        self.rows.move_cursor(row=max(0, min(row, len(found) - 1)))
