"""Step 2 on a screen: what the sessions came to, which of it to keep, and what new skills say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.coordinate import Coordinate
from textual.widgets import Footer, Static

from skilld.classify.backends import OFFLINE
from skilld.mining.proposing import CandidateResult
from skilld.review.dialogs import EditDialog, NameDialog, Rows
from skilld.review.draw import can_show, safe
from skilld.review.generate import draw
from skilld.review.generate.draw import BACK, KEYS, Step
from skilld.review.generate.generating import Generation, Keep, Preview, why_no_name

# Step 3 on a screen: the names of what was kept, and proposing it.


class SaveStep(Step):
    """Step 3: names, and proposing. What could not be proposed stays, to be named otherwise and tried again."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "name", "Name"),
        Binding("enter", "save", "Propose them", priority=True),
        BACK,
        *KEYS,
    ]

    def __init__(self, generating: Generation, result: Preview, kept: Sequence[Keep]) -> None:
        super().__init__()
        self._generating = generating
        self._result = result
        self._left = list(kept)
        self._became: list[CandidateResult] = []
        self._missed: list[CandidateResult] = []
        self._saving = False

    def compose(self) -> ComposeResult:
        """Put the list on the screen."""
        yield Static(Content.styled("3 of 3: names, and propose them", "bold"))
        yield Rows("kept")
        yield Static(id="status")
        yield Footer(compact=True)

    def on_mount(self) -> None:
        """Fill the list."""
        self.query_one(Rows).take_columns(draw.NAME_COLUMNS)
        self.query_one(Rows).focus()
        self._fill()

    def _fill(self) -> None:
        rows = self.query_one(Rows)
        row = rows.cursor_row
        rows.clear()
        for number, one in enumerate(self._left):
            rows.add_row(*draw.name_cells(one, self._missed[number] if self._missed else None))
        rows.move_cursor(row=max(0, min(row, len(self._left) - 1)))
        edits = sum(not one.candidate.creates for one in self._left)
        asked = f" {safe(self._generating.model)} is asked for {edits} edits of skills that are there."
        self._say(("Nothing is live after this; you decide in skilld review.") + (asked if self._asks(edits) else ""))

    def _asks(self, edits: int) -> bool:
        return bool(edits) and self._generating.model != OFFLINE

    def _say(self, text: str) -> None:
        self.query_one("#status", Static).update(Content(text))

    def action_name(self) -> None:
        """Give the new skill under the cursor another name."""
        row = self.query_one(Rows).cursor_row
        keep = self._left[row]
        if self._saving or not keep.candidate.creates:
            return
        others = {one.name for one in self._left if one is not keep}

        def named(name: str | None) -> None:
            if name is not None:
                self._left[row] = replace(keep, name=name)
                self._fill()

        self.app.push_screen(NameDialog(keep.name, lambda name: why_no_name(name, others)), named)

    def action_save(self) -> None:
        """Propose what is in the list."""
        if not self._saving:
            self._saving = True
            self._save()

    @work(thread=True)
    def _save(self) -> None:
        became: list[CandidateResult] = []
        for one in self._generating.save(self._left, self._result, self._progress):
            became.append(one)
            self.app.call_from_thread(self._became.append, one)
        self.app.call_from_thread(self._saved, became)

    def _progress(self, what: str, done: int, total: int) -> None:
        self.app.call_from_thread(self._say, f"{what}: {done} of {total}")

    def _saved(self, became: Sequence[CandidateResult]) -> None:
        self._saving = False
        self._missed = [one for one in became if one.why_not]
        self._left = [keep for keep, one in zip(self._left, became, strict=True) if one.why_not]
        if self._left:
            self._became = [one for one in self._became if not one.why_not]
            self._fill()
        else:
            self.dismiss(self._became)

    def action_back(self) -> None:
        """Go back to what was found, unless something is proposed by now."""
        if not self._saving and not self._became:
            self.dismiss(None)

    def action_leave(self) -> None:
        """Leave; what is proposed by now stays so."""
        if not self._saving:
            self.dismiss([*self._became, *self._missed])


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

    def __init__(self, generating: Generation, result: Preview) -> None:
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
