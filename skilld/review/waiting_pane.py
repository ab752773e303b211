"""The tab of learnings without a file: each listed once; propose it for the best file, or forget it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from skilld.errors import SkilldError
from skilld.review import draw
from skilld.review.controller import ReviewSession
from skilld.review.dialogs import Pane, Rows
from skilld.review.proposals_pane import ProposalsPane
from skilld.store.learnings import Learning

if TYPE_CHECKING:
    from skilld.review.app import ReviewApp


class WaitingPane(Pane):
    """What was said and waits for a place."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "propose", "Propose", tooltip="Propose it for the most suitable file"),
        Binding("d", "forget", "Forget", tooltip="Delete it"),
    ]
    app: ReviewApp

    def __init__(self, sitting: ReviewSession) -> None:
        super().__init__()
        self._sitting = sitting
        self._asks: list[list[Learning]] = []

    def compose(self) -> ComposeResult:
        """Put the list and what was said on the screen."""
        yield Rows("waiting-list")
        with VerticalScroll(can_focus=False):
            yield Static(id="waiting-said")

    def on_mount(self) -> None:
        """Read what waits."""
        self.rows.take_columns(draw.WAITING_COLUMNS)
        self._read()

    def enter(self) -> None:
        """Take the keys, and look again."""
        super().enter()
        self._read()

    @property
    def chosen(self) -> list[Learning] | None:
        """The ask that the cursor is on."""
        row = self.rows.cursor_row
        return self._asks[row] if 0 <= row < len(self._asks) else None

    @work(thread=True, exclusive=True, group="waiting")
    def _read(self) -> None:
        found = self._sitting.waiting()
        self.app.call_from_thread(self._fill, found)

    def _fill(self, found: list[list[Learning]]) -> None:
        row, self._asks = self.rows.cursor_row, found
        self.rows.clear()
        for ask in found:
            self.rows.add_row(*draw.waiting_cells(ask))
        self.rows.move_cursor(row=max(0, min(row, len(found) - 1)))
        self._show()

    @on(Rows.RowHighlighted, "#waiting-list")
    def _show(self) -> None:
        ask = self.chosen
        self.query_one("#waiting-said", Static).update(
            draw.waiting_detail(ask) if ask else "No learnings are waiting for a file."
        )

    def action_propose(self) -> None:
        """Propose the chosen one for the best file there is."""
        if ask := self.chosen:
            self._do(partial(self._propose, ask))

    def _propose(self, ask: list[Learning]) -> str:
        made = self._sitting.propose(ask)
        return f"Proposed {made.id} for {made.skill}"

    def action_forget(self) -> None:
        """Delete the chosen one."""
        if ask := self.chosen:
            self._do(partial(self._forget, ask))

    def _forget(self, ask: list[Learning]) -> str:
        self._sitting.forget(ask)
        return "Forgotten"

    @work(thread=True, group="decide")
    def _do(self, act: Callable[[], str]) -> None:
        try:
            said, severity = act(), "information"
        except SkilldError as error:
            said, severity = "\n".join(part for part in (error.cause, error.remedy) if part), "warning"
        self.app.call_from_thread(self.notify, draw.safe(said), severity=severity, markup=False)
        self._read()
        self.app.call_from_thread(self.app.query_one(ProposalsPane).fill)
