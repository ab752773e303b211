"""The review's dialogs, each of which Escape cancels, its key line and what it tells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, ClassVar, TypeVar

from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import DataTable, Footer, Input, Label, OptionList, Static, TextArea
from textual.widgets._footer import FooterKey
from textual.worker import get_current_worker

from skilld.proposals.explain import Part
from skilld.review.controller import Row
from skilld.text import safe_text

_CANCEL = Binding("escape", "cancel", "Cancel", priority=True)
_MORE = "… "  # where keys are left out
T = TypeVar("T")
R = TypeVar("R")
_BAR, _NARROWEST = 2, 2  # columns: of a scroll bar, and of the last column of a list
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
Messages { height: auto; max-height: 40%; display: none; border-top: solid ansi_bright_black; }
"""
_PROGRESS_SECONDS = 0.1  # seconds between two looks whether the screen is still there


class KeyLine(Footer):
    """The line of keys. On a narrow screen those in the middle are left out, which it shows, and `?` tells them."""

    def __init__(self) -> None:
        super().__init__(compact=True)

    def compose(self) -> ComposeResult:
        keys = [key for key in super().compose() if isinstance(key, FooterKey)]
        widths = [len(f"{key.key_display} {key.description} ") for key in keys]
        if sum(widths) <= self.app.size.width + 1:  # nothing has to follow the last one
            yield from keys
            return
        left = self.app.size.width - widths[-1] - len(_MORE)
        for number, key in enumerate(keys[:-1]):
            left -= widths[number]
            if left < -1:
                break
            yield key
        yield Label(_MORE)
        yield keys[-1]

    def on_resize(self) -> None:
        self.call_after_refresh(self.recompose)


class Messages(Static):
    """What was told lately, above the key line, where it covers nothing. Each text goes when it has been there."""

    def __init__(self) -> None:
        super().__init__()
        self._told: list[Content] = []

    def add(self, text: Content, seconds: float) -> None:
        """Show a text for a time."""
        self._told = [*self._told, text]
        self._draw()
        self.set_timer(seconds, partial(self._remove, text))

    def _remove(self, text: Content) -> None:
        self._told = [one for one in self._told if one is not text]
        self._draw()

    def _draw(self) -> None:
        self.display = bool(self._told)
        self.update(Content("\n").join(self._told))


class Field(Input):
    """A line to type in. Its key line says what Enter `does`: other letters are typed."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "submit", "Done")]

    def __init__(self, value: str = "", does: str = "Done", **named: Any) -> None:  # noqa: ANN401 - an Input's
        super().__init__(value, **named)
        self._bindings.key_to_bindings["enter"] = [Binding("enter", "submit", does)]


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
        super().__init__(
            f"Reject: {safe_text(summary)}", Field(does="Reject", placeholder="reason (optional; Esc cancels)")
        )

    @on(Input.Submitted)
    def _answer(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class FileDialog(Question[str]):
    """Asks for the file in which a proposal is accepted, in place of the one that it is for."""

    def __init__(self, summary: str, file: str) -> None:
        super().__init__(
            f"Accept into which file? {safe_text(summary)}", Field(file, "Accept", placeholder="path to a file")
        )

    @on(Input.Submitted)
    def _answer(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip() or None)


class EditDialog(Dialog[str]):
    """Shows the whole skill as proposed, to be changed and accepted; the cursor is on the first changed line.

    `note` stands above it. `accept`, on a thread, returns why the text cannot be accepted: then it stays, with that.
    """

    BINDINGS: ClassVar[list[BindingType]] = [_CANCEL, Binding("ctrl+s", "accept", "Accept this text", priority=True)]

    def __init__(
        self, text: str, rows: Sequence[Row], note: str = "", accept: Callable[[str], str] = lambda _: ""
    ) -> None:
        super().__init__(classes="-large")
        self._text = text
        self._first = next((row.text for row in rows if row.kind == "+"), "")
        self._note = note
        self._accept = accept
        self.left = text  # what it was when it was left

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Label(Content.styled(safe_text(self._note), "dim"))
            yield TextArea(self._text, id="text", soft_wrap=True, show_line_numbers=False, theme="css")
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one(Label).display = bool(self._note)
        area = self.query_one(TextArea)
        lines = area.document.lines
        at = next((number for number, line in enumerate(lines) if safe_text(line) == self._first), 0)
        area.move_cursor((at, len(lines[at])), center=True)

    def action_cancel(self) -> None:
        self.left = self.query_one(TextArea).text
        super().action_cancel()

    def action_accept(self) -> None:
        if not self.query_one(TextArea).read_only:  # until it is known what became of it
            self.query_one(TextArea).read_only = True
            self._try(self.query_one(TextArea).text)

    @work(thread=True)
    def _try(self, text: str) -> None:
        self.app.call_from_thread(self._tried, text, self._accept(text))

    def _tried(self, text: str, why: str) -> None:
        if not why:
            self.dismiss(text)
            return
        self.query_one(TextArea).read_only = False
        self.query_one(Label).update(Content.styled(safe_text(why, newlines=True), "bold red"))
        self.query_one(Label).display = True


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
        else:
            self.query_one(Label).update("Nothing is selected yet. Press Space to select a part.")

    @on(OptionList.OptionSelected)
    def _clicked(self) -> None:
        self.action_choose()

    def _prompt(self, number: int) -> Content:
        return Content(f"[{'x' if number in self._chosen else ' '}] {safe_text(self._parts[number].told)}")


class AgreeDialog(Question[bool]):
    """Asks for a yes or a no."""

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
        super().__init__("Name of the new skill:", Field(name, "Rename"))
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
        super().__init__(question, Field(does="Confirm", placeholder=f"type {safe_text(word)} to confirm"))
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


class _Cell:
    """A text that is cut to its column, and the cut is marked."""

    def __init__(self, content: Content) -> None:
        self._content = content

    def __rich_console__(self, console: object, options: Any) -> Iterator[Content]:  # noqa: ANN401 - Rich's
        yield self._content.truncate(options.max_width, ellipsis=True)


class Rows(DataTable[Content | _Cell]):
    """A list whose cursor is a row. It moves up and down only; its last column takes what is left of the screen."""

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

    def add(self, cells: Sequence[Content], key: str | None = None) -> None:
        """Add a row; what a cell has no room for is cut, and the cut is marked."""
        self.add_row(*map(_Cell, cells), key=key)

    def refill(self, rows: Iterable[tuple[Sequence[Content], str | None]]) -> None:
        """Show these rows, given as cells and key, in place of those there were; the cursor stays where it is."""
        row = self.cursor_row
        self.clear()
        for cells, key in rows:
            self.add(cells, key)
        self.move_cursor(row=max(0, min(row, self.row_count - 1)))

    def on_resize(self) -> None:
        """Give the last column what the others leave of the width, beside the scroll bar."""
        *others, last = self.ordered_columns
        last.width = max(_NARROWEST, self.size.width - sum(one.width for one in others) - _BAR)
        self.notify_style_update()


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
        Binding("space", "page(1)", "Scroll", show=False, tooltip="Scroll the details below the list"),
        Binding("b", "page(-1)", "Scroll", show=False, tooltip="Scroll the details below the list"),
        Binding("escape", "leave", "Exit the search", show=False),
    ]

    @property
    def rows(self) -> Rows:
        """Its list."""
        return self.query_one(Rows)

    @property
    def is_closed(self) -> bool:
        """Whether the review is being left: what a thread has read comes too late."""
        return not self.query(Rows)

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


def on_yes(act: Callable[[], object]) -> Callable[[bool | None], None]:
    """Return what acts once a question is answered with a yes."""

    def answered(sure: bool | None) -> None:  # noqa: FBT001 - Textual's signature
        if sure:
            act()

    return answered


class KeysApp(App[R]):
    """An app that shows what each key does: a narrow screen has no room for all of them in its key line."""

    def agreed(self, question: str) -> bool | None:
        """Ask for a yes or a no, from a thread. None: it was left unanswered; a screen that is closed is a no."""
        answers: SimpleQueue[bool | None] = SimpleQueue()
        worker = get_current_worker()
        self.call_from_thread(self.push_screen, AgreeDialog(question), answers.put)
        while not worker.is_cancelled and self.is_running:
            with suppress(Empty):
                return answers.get(timeout=_PROGRESS_SECONDS)
        return False

    def action_keys(self) -> None:
        named: dict[str, list[str]] = {"Move in the list": ["\u2191", "\u2193", "j", "k", "g", "G"]}
        for one in self.screen.active_bindings.values():
            binding = one.binding
            here = isinstance(one.node, Pane | Screen | App) and one.enabled
            if here and binding.description and not binding.key.startswith(_EVERYWHERE):
                named.setdefault(binding.tooltip or binding.description, []).append(self.get_key_display(binding))
        self.push_screen(KeysDialog([(" ".join(keys), what) for what, keys in named.items()]))
