"""Step 2 on a screen: what the sessions came to, which of it to keep, and what new skills say."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.coordinate import Coordinate
from textual.widgets import Footer, Static

from skilld.review.dialogs import EditDialog
from skilld.review.draw import can_show, safe
from skilld.review.generate import draw
from skilld.review.generate.generating import Found, Generating, Keep
from skilld.review.generate.save import SaveStep
from skilld.review.generate.step import BACK, KEYS, Step
from skilld.review.pane import Rows


class ReviewStep(Step):
    """Step 2: what the sessions came to, with its evidence; all of it is kept until it is put aside."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "choose", "Keep or not"),
        Binding("e", "edit", "Edit"),
        Binding("pagedown", "page(1)", "Scroll", priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
        Binding("enter", "go_on", "Go on", priority=True),
        BACK,
        *KEYS,
    ]

    def __init__(self, generating: Generating, result: Found) -> None:
        super().__init__()
        self._generating = generating
        self._result = result
        self._keeps = [Keep(one.candidate, one.candidate.name) for one in result.previews]
        self._kept = {number for number, one in enumerate(result.previews) if not one.why_not}

    def compose(self) -> ComposeResult:
        """Put list and evidence on the screen."""
        yield Static(Content.styled("2 of 3: what they came to", "bold"))
        yield Rows("candidates")
        with VerticalScroll(id="evidence", can_focus=False):
            yield Static(id="said")
        yield Footer(compact=True)

    def on_mount(self) -> None:
        """Fill the list."""
        rows = self.query_one(Rows)
        rows.take_columns(draw.CANDIDATE_COLUMNS)
        for number, one in enumerate(self._result.previews):
            rows.add_row(*draw.candidate_cells(one, self._keeps[number].name, kept=number in self._kept))
        rows.focus()

    @on(Rows.RowHighlighted)
    def _show(self) -> None:
        row = self.query_one(Rows).cursor_row
        one = self._result.previews[row]
        self.query_one("#said", Static).update(draw.evidence(one, self._keeps[row].text or one.text))
        self.query_one("#evidence").scroll_home(animate=False)

    def action_choose(self) -> None:
        """Keep the candidate under the cursor, or no longer; what cannot be proposed is not kept."""
        row = self.query_one(Rows).cursor_row
        if why := self._result.previews[row].why_not:
            self.notify(safe(why), severity="warning", markup=False)
            return
        self._kept ^= {row}
        self.query_one(Rows).update_cell_at(Coordinate(row, 0), draw.box(row in self._kept))

    def action_page(self, direction: int) -> None:
        """Turn a page of the evidence."""
        shown = self.query_one("#evidence")
        if direction > 0:
            shown.scroll_page_down(animate=False)
        else:
            shown.scroll_page_up(animate=False)

    def action_edit(self) -> None:
        """Edit the text of a new skill; its name comes in the next step."""
        row = self.query_one(Rows).cursor_row
        text = self._keeps[row].text or self._result.previews[row].text
        if not text or not can_show(text):
            self.notify("Only a new skill is edited here; an edit of one that is there comes as a proposal.")
            return

        def edited(own: str | None) -> None:
            if own is not None:
                self._keeps[row] = replace(self._keeps[row], text=own)
                self._show()

        self.app.push_screen(EditDialog(text, ()), edited)

    def action_go_on(self) -> None:
        """Go on with what is kept."""
        kept = [keep for number, keep in enumerate(self._keeps) if number in self._kept]
        if kept:
            self.app.push_screen(SaveStep(self._generating, self._result, kept), self.over)
        else:
            self.notify("Keep one with Space first.")

    def action_back(self) -> None:
        """Go back to the sessions."""
        self.dismiss(None)

    def action_leave(self) -> None:
        """Leave with nothing proposed."""
        self.dismiss([])
