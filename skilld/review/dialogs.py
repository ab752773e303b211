"""The review's dialogs: a reason, other text, which parts, are you sure. Escape cancels each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.notifications import SeverityLevel
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import DataTable, Footer, Input, Label, OptionList, Static, TextArea
from textual.widgets._footer import FooterKey

from skilld.proposals.explain import Part
from skilld.review.controller import Row
from skilld.text import safe_text

_CANCEL = Binding("escape", "cancel", "Cancel", priority=True)
T = TypeVar("T")
R = TypeVar("R")
_EVERYWHERE = ("ctrl+", "super+", "tab", "shift+tab")  # keys of every screen of Textual's

CSS = """
Dialog { align: center middle; }
Dialog > Vertical { width: 90%; max-width: 100; height: auto; max-height: 90%; }
Dialog > Vertical { border: round ansi_cyan; padding: 0 1; }
Dialog Label { width: 1fr; }
Dialog Input, Dialog Input:focus { border: none; padding: 0; height: 1; background: ansi_default; }
Dialog VerticalScroll { height: auto; max-height: 100%; }
Dialog OptionList, Dialog OptionList:focus { border: none; padding: 0; height: auto; max-height: 14; }
Dialog.-large > Vertical { width: 100%; max-width: 100%; height: 1fr; max-height: 100%; border: none; padding: 0; }
Dialog TextArea, Dialog TextArea:focus { height: 1fr; border: none; padding: 0; }
"""


class KeyLine(Footer):
    """The line of keys. What a narrow screen has no room for is left out, and `?` shows it."""

    def __init__(self) -> None:
        super().__init__(compact=True)

    def compose(self) -> ComposeResult:
        left = self.app.size.width
        for key in super().compose():
            if isinstance(key, FooterKey):
                left -= len(f"{key.key_display} {key.description} ")
            if left >= -1:  # nothing has to follow the last one
                yield key

    def on_resize(self) -> None:
        self.call_after_refresh(self.recompose)


class Field(Input):
    """A line to type in. Its key line says how to be done with it: other letters are typed."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "submit", "Done")]


class Dialog(ModalScreen[T | None]):
    """A question that may be left unanswered."""

    BINDINGS: ClassVar[list[BindingType]] = [_CANCEL]

    def action_cancel(self) -> None:
        self.dismiss(None)


class Question(Dialog[T]):
    """A question, and a line to type the answer in where there is a `field`."""

    def __init__(self, question: str, field: Field | None = None) -> None:
        super().__init__()
        self._question = question
        self._field = field

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Label(safe_text(self._question, newlines=True), markup=False)
            if self._field is not None:
                yield self._field
        yield KeyLine()


class ReasonDialog(Question[str]):
    """Asks why a proposal is rejected; an empty answer is one."""

    def __init__(self, summary: str) -> None:
        super().__init__(f"Reject: {safe_text(summary)}", Field(placeholder="reason (optional; Esc cancels)"))

    @on(Input.Submitted)
    def _answer(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class FileDialog(Question[str]):
    """Asks for the file in which a proposal is accepted, in place of the one that it is for."""

    def __init__(self, summary: str, file: str) -> None:
        super().__init__(f"Accept into which file? {safe_text(summary)}", Field(file, placeholder="path of a file"))

    @on(Input.Submitted)
    def _answer(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip() or None)


class EditDialog(Dialog[str]):
    """Shows the whole skill as proposed, to be changed and accepted; the cursor is on the first changed line."""

    BINDINGS: ClassVar[list[BindingType]] = [_CANCEL, Binding("ctrl+s", "accept", "Accept this text", priority=True)]

    def __init__(self, text: str, rows: Sequence[Row]) -> None:
        super().__init__(classes="-large")
        self._text = text
        self._first = next((row.text for row in rows if row.kind == "+"), "")

    def compose(self) -> ComposeResult:
        with Vertical():
            yield TextArea(self._text, id="text", soft_wrap=True, show_line_numbers=False, theme="css")
        yield KeyLine()

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        lines = area.document.lines
        at = next((number for number, line in enumerate(lines) if safe_text(line) == self._first), 0)
        area.move_cursor((at, len(lines[at])), center=True)

    def action_accept(self) -> None:
        self.dismiss(self.query_one(TextArea).text)


class PartsDialog(Dialog[tuple[int, ...]]):
    """Asks which parts of a proposal to accept; the others stay open."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _CANCEL,
        Binding("enter", "accept", "Accept selected", priority=True),
        Binding("space", "choose", "Select"),
    ]

    def __init__(self, parts: Sequence[Part]) -> None:
        super().__init__()
        self._parts = parts
        self._chosen: set[int] = set()

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Label("Accept which parts? Space selects, Enter accepts; the others stay open.")
            yield OptionList(*(self._prompt(number) for number in range(len(self._parts))), id="parts")
        yield KeyLine()

    def action_choose(self) -> None:
        options = self.query_one(OptionList)
        if (number := options.highlighted) is not None:
            self._chosen ^= {number}
            options.replace_option_prompt_at_index(number, self._prompt(number))

    def action_accept(self) -> None:
        if self._chosen:
            self.dismiss(tuple(sorted(self._chosen)))

    @on(OptionList.OptionSelected)
    def _clicked(self) -> None:
        self.action_choose()

    def _prompt(self, number: int) -> Content:
        return Content(f"[{'x' if number in self._chosen else ' '}] {safe_text(self._parts[number].told)}")


class AgreeDialog(Question[bool]):
    """Asks for a yes or a no before something costs money."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _CANCEL,
        Binding("y", "answer(True)", "Yes"),
        Binding("n", "answer(False)", "No"),
    ]

    def action_answer(self, yes: bool) -> None:  # noqa: FBT001 - a key's argument
        self.dismiss(yes)


class NameDialog(Question[str]):
    """Asks for another name; `problem` says what is wrong with one."""

    def __init__(self, name: str, problem: Callable[[str], str | None]) -> None:
        super().__init__("The name of the new skill:", Field(name))
        self._problem = problem

    @on(Input.Submitted)
    def _answer(self, event: Input.Submitted) -> None:
        name = event.value.strip()
        if why := self._problem(name):
            self.query_one(Label).update(Content(f"Enter another name: {why}"))
        else:
            self.dismiss(name)


class ConfirmDialog(Question[bool]):
    """Asks for a word to be typed before something is done that cannot be undone here."""

    def __init__(self, question: str, word: str) -> None:
        super().__init__(question, Field(placeholder=f"type {safe_text(word)} to confirm"))
        self._word = word

    @on(Input.Submitted)
    def _answer(self, event: Input.Submitted) -> None:
        self.dismiss(True if event.value.strip() == self._word else None)


class KeysDialog(Dialog[None]):
    """Shows what each key does where it was asked for."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q", "cancel", "Close", priority=True, key_display="esc"),
        Binding("down,j", "down", "Scroll", show=False),
        Binding("up,k", "up", show=False),
    ]

    def __init__(self, keys: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._keys = keys

    def compose(self) -> ComposeResult:
        width = max(len(key) for key, _ in self._keys)
        with Vertical(), VerticalScroll():
            yield Static(Content("\n".join(f"{key:>{width}}  {what}" for key, what in self._keys)))
        yield KeyLine()

    def action_down(self) -> None:
        self.query_one(VerticalScroll).scroll_down(animate=False)

    def action_up(self) -> None:
        self.query_one(VerticalScroll).scroll_up(animate=False)


class Rows(DataTable[Content]):
    """A list whose cursor is a row. It moves up and down only; what is wider than the screen is cut."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("home,g", "scroll_top", show=False),
        Binding("end,G", "scroll_bottom", show=False),
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
    ]

    def __init__(self, name: str | None = None) -> None:
        super().__init__(id=name, cursor_type="row", cell_padding=0)

    @property
    def max_scroll_x(self) -> int:
        """How far it moves sideways: not at all."""
        return 0

    def take_columns(self, wanted: Sequence[tuple[str, int]]) -> None:
        """Take columns of fixed widths: nothing is measured, so that thousands of rows are quick."""
        for label, width in wanted:
            self.add_column(label, width=width, key=label)


def turn_page(around: Widget, direction: int) -> None:
    """Turn a page of what scrolls below a list."""
    shown = around.query(VerticalScroll).first(VerticalScroll)
    if direction > 0:
        shown.scroll_page_down(animate=False)
    else:
        shown.scroll_page_up(animate=False)


class Pane(Vertical):
    """One tab: what takes the keys when it is shown is its list."""

    # First in the key line: a narrow screen has room for the first ones alone.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "app.keys", "Keys", key_display="?", tooltip="Show what each key does"),
        Binding("space", "page(1)", "Scroll", show=False, tooltip="Scroll the part below the list"),
        Binding("b", "page(-1)", "Scroll", show=False, tooltip="Scroll the part below the list"),
        Binding("escape", "leave", "Exit the search", show=False),
    ]

    @property
    def rows(self) -> Rows:
        """Its list."""
        return self.query_one(Rows)

    def enter(self) -> None:
        self.rows.focus()

    def action_page(self, direction: int) -> None:
        turn_page(self, direction)

    def action_leave(self) -> None:
        for field in self.query(Field):
            field.value = ""
        self.enter()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """Say which keys there are: a search can be begun where none is typed, and left where one is."""
        del parameters
        fields = self.query(Field)
        match action:
            case "search":
                return not any(field.has_focus for field in fields)
            case "leave":
                return any(field.has_focus or field.value for field in fields)
        return True


class SearchField(Field):
    """What a list is searched by."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Show all")]

    def action_leave(self) -> None:
        next(one for one in self.ancestors if isinstance(one, Pane)).action_leave()


class KeysApp(App[R]):
    """An app that shows what each key does: a narrow screen has no room for all of them in its key line."""

    def tell(self, text: str, severity: SeverityLevel = "information") -> None:
        """Show a text from outside, made harmless; what only confirms is soon out of the way of what it covers."""
        seconds = 3 if severity == "information" else None
        self.notify(safe_text(text), severity=severity, timeout=seconds, markup=False)

    def action_keys(self) -> None:
        named: dict[str, list[str]] = {"Move in the list": ["\u2191", "\u2193", "j", "k", "g", "G"]}
        for one in self.screen.active_bindings.values():
            binding = one.binding
            here = isinstance(one.node, Pane | Screen | App) and one.enabled
            if here and binding.description and not binding.key.startswith(_EVERYWHERE):
                named.setdefault(binding.tooltip or binding.description, []).append(self.get_key_display(binding))
        self.push_screen(KeysDialog([(" ".join(keys), what) for what, keys in named.items()]))
