"""The dialog in which the person edits the whole text of a skill and accepts it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Label, TextArea

from skilld.review.dialogs import CANCEL, Dialog, KeyBar
from skilld.review.diff import DiffRow
from skilld.review.failures import on_thread
from skilld.text import safe_text


class EditDialog(Dialog[str]):
    """Shows the whole skill as proposed, to edit and accept; the cursor is on the first changed line.

    `note` is shown above it. `accept`, run on a thread, returns why the text cannot be accepted, which is shown.
    `restored` is the text to go back to, the one shown first if it is empty.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        CANCEL,
        Binding("ctrl+s", "accept", "Accept this text", priority=True),
        Binding("ctrl+r", "restore", "Restore", priority=True, tooltip="Go back to the text as proposed"),
    ]

    def __init__(
        self,
        text: str,
        rows: Sequence[DiffRow],
        note: str = "",
        accept: Callable[[str], str] = lambda _: "",
        restored: str = "",
    ) -> None:
        super().__init__("", classes="-large")
        self._restored = restored or text
        self._text = text
        self._first_added = next((row.text for row in rows if row.kind == "+"), "")
        self._note = note
        self._accept = accept
        self.left = text  # the text when the dialog was cancelled

    def compose(self) -> ComposeResult:
        """Lay out the remark, the text and the keys."""
        with Vertical():
            yield Label(Content.styled(safe_text(self._note), "dim"))
            yield TextArea(self._text, id="text", soft_wrap=True, show_line_numbers=False, theme="css")
        yield KeyBar()

    def on_mount(self) -> None:
        """Show the remark, if any, and go to the change."""
        self.query_one(Label).display = bool(self._note)
        self._go_to_change()

    def _go_to_change(self) -> None:
        area = self.query_one(TextArea)
        lines = area.document.lines
        at = next((number for number, line in enumerate(lines) if safe_text(line) == self._first_added), 0)
        area.move_cursor((at, len(lines[at])), center=True)

    def action_cancel(self) -> None:
        """Keep the text for the next time."""
        self.left = self.query_one(TextArea).text
        super().action_cancel()

    def action_restore(self) -> None:
        """Go back to the text as proposed."""
        area = self.query_one(TextArea)
        if not area.read_only:
            area.replace(self._restored, (0, 0), area.document.end)  # Ctrl-Z takes it back
            self._go_to_change()

    def action_accept(self) -> None:
        """Accept the text, unless one is being accepted."""
        if not self.query_one(TextArea).read_only:
            self.query_one(TextArea).read_only = True
            self._accept_text(self.query_one(TextArea).text)

    @on_thread("accept")
    def _accept_text(self, text: str) -> None:
        self.app.call_from_thread(self._show_result, text, self._accept(text))

    def _show_result(self, text: str, why: str) -> None:
        if not why:
            self.dismiss(text)
            return
        self.query_one(TextArea).read_only = False
        self.query_one(Label).update(Content.styled(safe_text(why, newlines=True), "bold red"))
        self.query_one(Label).display = True
