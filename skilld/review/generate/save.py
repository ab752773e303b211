"""Step 3 on a screen: the names of what was kept, and proposing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Footer, Static

from skilld.classify.backends import OFFLINE
from skilld.mining.proposing import Became
from skilld.review.dialogs import NameDialog
from skilld.review.draw import safe
from skilld.review.generate import draw
from skilld.review.generate.generating import Found, Generating, Keep, why_no_name
from skilld.review.generate.step import BACK, KEYS, Step
from skilld.review.pane import Rows


class SaveStep(Step):
    """Step 3: names, and proposing. What could not be proposed stays, to be named otherwise and tried again."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "name", "Name"),
        Binding("enter", "save", "Propose them", priority=True),
        BACK,
        *KEYS,
    ]

    def __init__(self, generating: Generating, result: Found, kept: Sequence[Keep]) -> None:
        super().__init__()
        self._generating = generating
        self._result = result
        self._left = list(kept)
        self._became: list[Became] = []
        self._missed: list[Became] = []
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
        became: list[Became] = []
        for one in self._generating.save(self._left, self._result, self._progress):
            became.append(one)
            self.app.call_from_thread(self._became.append, one)
        self.app.call_from_thread(self._saved, became)

    def _progress(self, what: str, done: int, total: int) -> None:
        self.app.call_from_thread(self._say, f"{what}: {done} of {total}")

    def _saved(self, became: Sequence[Became]) -> None:
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
