"""The report tab: the same as `skilld report`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from skilld.report.lines import lines
from skilld.report.values import Report
from skilld.review import draw
from skilld.review.controller import ReviewSession
from skilld.review.dialogs import Pane

if TYPE_CHECKING:
    from skilld.review.app import ReviewApp

_NARROWEST = 30  # columns
_MARGIN = 3  # columns: the bar beside what is longer than the screen, and a blank


class ReportPane(Pane):
    """The report. Read when it is looked at: it asks git."""

    app: ReviewApp

    def __init__(self, sitting: ReviewSession) -> None:
        super().__init__()
        self._sitting = sitting
        self._report: Report | None = None

    def compose(self) -> ComposeResult:
        """Put the lines on the screen."""
        with VerticalScroll(id="report-scroll"):
            yield Static("loading ...", id="report-lines")

    def enter(self) -> None:
        """Take the keys, and look again."""
        self.query_one(VerticalScroll).focus()
        self._read()

    @work(thread=True, exclusive=True, group="report")
    def _read(self) -> None:
        found = self._sitting.report()
        self.app.call_from_thread(self._take, found)

    def _take(self, found: Report) -> None:
        self._report = found
        self._show()

    def on_resize(self) -> None:
        """Fit the lines to the screen."""
        self._show()

    def _show(self) -> None:
        if self._report is not None:
            width = max(self.size.width - _MARGIN, _NARROWEST)
            told = lines(self._report, str(self._sitting.home), width)
            self.query_one("#report-lines", Static).update(draw.report(told))
