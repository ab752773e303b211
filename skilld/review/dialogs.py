"""The review's dialogs, all of which Escape cancels, and its lists, panes, key bar and messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, ClassVar, TypeVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import DataTable, Footer, Input, Label, OptionList, Static
from textual.widgets._footer import FooterKey
from textual.worker import get_current_worker

from skilld.errors import SkilldError
from skilld.proposals.explain import Part
from skilld.review.failures import error_text
from skilld.text import safe_text

CANCEL = Binding("escape", "cancel", "Cancel", priority=True)
_ELLIPSIS = "… "  # in place of keys for which there is no room
T = TypeVar("T")
R = TypeVar("R")
_SCROLLBAR_WIDTH, _MIN_COLUMN_WIDTH = 2, 2  # in columns
_LEAVING = frozenset({"leave", "cancel", "quit", "app.quit"})  # actions
_GLOBAL_KEYS = ("ctrl+", "super+", "tab", "shift+tab")  # on every Textual screen

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
Rows:nocolor > .datatable--cursor { text-style: reverse !important; }
OptionList:nocolor > .option-list--option-highlighted { text-style: bold underline !important; }
Input:nocolor > .input--cursor { text-style: reverse !important; }
"""
_PROGRESS_SECONDS = 0.1  # between checks that the app is still running


class KeyBar(Footer):
    """The line of keys. A narrow screen omits those in the middle, marked by an ellipsis; `?` shows all."""

    def __init__(self) -> None:
        super().__init__(compact=True)
        self._drawn: object = None

    async def recompose(self) -> None:
        """Redraw the keys only where they differ: Textual asks for it at every change of focus and of the screen."""
        if not self.is_attached:
            return
        shown = [one[1:] for one in self.screen.active_bindings.values() if one.binding.show]
        drawn = self._bindings_ready, self.app.size.width, shown
        if drawn != self._drawn:
            self._drawn = drawn
            await super().recompose()

    def compose(self) -> ComposeResult:
        keys = [key for key in super().compose() if isinstance(key, FooterKey)]
        widths = [len(f"{key.key_display} {key.description} ") for key in keys]
        if sum(widths) <= self.app.size.width + 1:  # the last one needs no trailing blank
            yield from keys
            return
        left = self.app.size.width - widths[-1] - len(_ELLIPSIS)
        for number, key in enumerate(keys[:-1]):
            left -= widths[number]
            if left < -1:
                break
            yield key
        yield Label(_ELLIPSIS)
        yield keys[-1]

    def on_resize(self) -> None:
        self.call_after_refresh(self.recompose)


class Messages(Static):
    """Recent messages, above the key bar, where they cover nothing. Each disappears after its time."""

    def __init__(self) -> None:
        super().__init__()
        self._texts: list[Content] = []

    def add(self, text: Content, seconds: float) -> None:
        """Show a text for this many seconds, once if it is shown already."""
        self.hide(text.plain)
        self._texts = [*self._texts, text]
        self._redraw()
        self.set_timer(seconds, partial(self._remove, text))

    def hide(self, text: str) -> None:
        """Remove a text that is no longer true."""
        for one in [one for one in self._texts if one.plain == text]:
            self._remove(one)

    def _remove(self, text: Content) -> None:
        self._texts = [one for one in self._texts if one is not text]
        self._redraw()

    def _redraw(self) -> None:
        self.display = bool(self._texts)
        self.update(Content("\n").join(self._texts))


class Field(Input):
    """A text field. The key bar says what Enter `does`; all other keys are typed."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "submit", "Done")]

    def __init__(self, value: str = "", does: str = "Done", **named: Any) -> None:  # noqa: ANN401 - an Input's
        super().__init__(value, **named)
        self._bindings.key_to_bindings["enter"] = [Binding("enter", "submit", does)]


class Dialog(ModalScreen[T | None]):
    """A dialog that may be cancelled: a question, if any, and widgets for the answer or to read."""

    BINDINGS: ClassVar[list[BindingType]] = [CANCEL]

    def __init__(self, question: str, *below: Widget, classes: str = "") -> None:
        super().__init__(classes=classes)
        self._question = question
        self._below = below

    def compose(self) -> ComposeResult:
        with Vertical():
            if self._question:
                yield Label(safe_text(self._question, newlines=True), markup=False)
            yield from self._below
        yield KeyBar()

    def action_cancel(self) -> None:
        self.dismiss(None)


class TextDialog(Dialog[str]):
    """Asks for a text, which may be empty; `problem` says why one is not taken."""

    def __init__(self, question: str, field: Field, problem: Callable[[str], str | None] = lambda _: None) -> None:
        super().__init__(question, field)
        self._problem = problem

    @on(Input.Submitted)
    def _answer(self, event: Input.Submitted) -> None:
        text = event.value.strip()
        if why := self._problem(text):
            self.query_one(Label).update(Content(why))
        else:
            self.dismiss(text)


class Choices(OptionList):
    """A list to choose from, with the keys of the other lists."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
    ]


class PartsDialog(Dialog[tuple[int, ...]]):
    """Asks which parts of a proposal to accept; the others stay open."""

    BINDINGS: ClassVar[list[BindingType]] = [
        CANCEL,
        Binding("enter", "accept", "Accept selected", priority=True),
        Binding("space", "choose", "Select"),
    ]

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts
        self._chosen: set[int] = set()
        prompts = map(self._prompt, range(len(parts)))
        super().__init__("Accept which parts? Space selects, Enter accepts; the others stay open.", Choices(*prompts))

    def action_choose(self) -> None:
        options = self.query_one(Choices)
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
        return Content(f"[{'x' if number in self._chosen else ' '}] {safe_text(self._parts[number].line)}")


class SectionDialog(Dialog[str]):
    """Asks for the section to put a proposal into."""

    BINDINGS: ClassVar[list[BindingType]] = [CANCEL, Binding("enter", "accept", "Put it there", priority=True)]

    def __init__(self, titles: Sequence[str]) -> None:
        choices = Choices(*(Content(safe_text(title)) for title in titles))
        super().__init__("Which section should it go in? Enter shows the result, for you to accept.", choices)
        self._titles = titles

    def action_accept(self) -> None:
        if (number := self.query_one(Choices).highlighted) is not None:
            self.dismiss(self._titles[number])

    @on(OptionList.OptionSelected)
    def _clicked(self) -> None:
        self.action_accept()


class YesNoDialog(Dialog[bool]):
    """Asks a yes-or-no question."""

    BINDINGS: ClassVar[list[BindingType]] = [
        CANCEL,
        Binding("y", "answer(True)", "Yes"),
        Binding("n", "answer(False)", "No"),
    ]

    def action_answer(self, yes: bool) -> None:  # noqa: FBT001 - a key's argument
        self.dismiss(yes)


class KeysDialog(Dialog[None]):
    """Shows what each key does on the current screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q", "cancel", "Close", priority=True, key_display="esc"),
        Binding("down,j", "down", "Scroll", show=False),
        Binding("up,k", "up", show=False),
    ]

    def __init__(self, keys: Sequence[tuple[str, str]]) -> None:
        width = max(len(key) for key, _ in keys)
        lines = (f"{key:>{width}}  {what}" for key, what in keys)
        super().__init__("", VerticalScroll(Static(Content("\n".join(lines)))))

    def action_down(self) -> None:
        self.query_one(VerticalScroll).scroll_down(animate=False)

    def action_up(self) -> None:
        self.query_one(VerticalScroll).scroll_up(animate=False)


class _TruncatedCell:
    """A text that is truncated to its column, with an ellipsis."""

    def __init__(self, content: Content) -> None:
        self._content = content

    def __rich_console__(self, console: object, options: Any) -> Iterator[Content]:  # noqa: ANN401 - Rich's
        yield self._content.truncate(options.max_width, ellipsis=True)


class Rows(DataTable[Content | _TruncatedCell]):
    """A list with a row cursor. It scrolls only vertically; its last column takes the remaining width."""

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
        """No horizontal scrolling."""
        return 0

    def set_columns(self, wanted: Sequence[tuple[str, int]]) -> None:
        """Set columns of fixed widths: measuring none keeps thousands of rows fast."""
        for label, width in wanted:
            self.add_column(label, width=width, key=label)

    def add(self, cells: Sequence[Content], key: str | None = None) -> None:
        """Add a row; cells are truncated to their columns."""
        self.add_row(*map(_TruncatedCell, cells), key=key)

    def set_cell(self, key: str, column: str, cell: Content) -> None:
        """Replace one cell of the row with this key."""
        self.update_cell(key, column, _TruncatedCell(cell))

    def refill(self, rows: Iterable[tuple[Sequence[Content], str | None]]) -> None:
        """Replace all rows by these, given as cells and key; the cursor stays where it is."""
        row = self.cursor_row
        self.clear()
        for cells, key in rows:
            self.add(cells, key)
        self.move_cursor(row=max(0, min(row, self.row_count - 1)))

    def on_resize(self) -> None:
        """Give the last column the width that the others and the scroll bar leave."""
        *others, last = self.ordered_columns
        last.width = max(_MIN_COLUMN_WIDTH, self.size.width - sum(one.width for one in others) - _SCROLLBAR_WIDTH)
        self.notify_style_update()
        self.call_after_refresh(self._scroll_cursor_into_view)


def scroll_page(around: Widget, direction: int) -> None:
    """Scroll the details below a list by a page."""
    pane = around.query(VerticalScroll).first(VerticalScroll)
    scroll = pane.scroll_page_down if direction > 0 else pane.scroll_page_up
    scroll(animate=False)


class Pane(Vertical):
    """One tab; when it is shown, its list has the focus."""

    # First in the key bar: a narrow screen has room only for the first ones.
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
        """Whether the review is closing, so that a thread's results come too late."""
        return not self.query(Rows)

    def enter(self) -> None:
        self.rows.focus()

    def action_page(self, direction: int) -> None:
        scroll_page(self, direction)

    def action_leave(self) -> None:
        for field in self.query(Field):
            field.value = ""
        self.enter()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """Enable the search unless one is being typed, and leaving it only if there is one."""
        del parameters
        fields = self.query(Field)
        match action:
            case "search":
                return not any(field.has_focus for field in fields)
            case "leave":
                return any(field.has_focus or field.value for field in fields)
        return True


class SearchField(Field):
    """The search field of a list."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Show all")]

    def action_leave(self) -> None:
        next(one for one in self.ancestors if isinstance(one, Pane)).action_leave()


def on_yes(act: Callable[[], object]) -> Callable[[bool | None], None]:
    """Return a callback that calls `act` if the answer is yes."""

    def on_answer(sure: bool | None) -> None:  # noqa: FBT001 - Textual's signature
        if sure:
            act()

    return on_answer


class KeysApp(App[R]):
    """An app in the terminal's own colours, or none with NO_COLOR.

    It can show what each key does, as a narrow key bar has no room for all.
    """

    def __init__(self) -> None:
        # Said before Textual chooses what NO_COLOR does: grey levels of its own palette are black on a black screen.
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"

    def ask_yes_no(self, question: str) -> bool | None:
        """Ask a yes-or-no question, from a thread. None means that it was cancelled; closing the app means no."""
        answers: SimpleQueue[bool | None] = SimpleQueue()
        worker = get_current_worker()
        self.call_from_thread(self.push_screen, YesNoDialog(question), answers.put)
        while not worker.is_cancelled and self.is_running:
            with suppress(Empty):
                return answers.get(timeout=_PROGRESS_SECONDS)
        return False

    def show_error(self, error: SkilldError) -> None:
        """Show an error that does not end the app."""
        self.notify(safe_text(error_text(error), newlines=True), severity="error", markup=False)

    def action_help_quit(self) -> None:
        """Say which key leaves the screen: Ctrl-C, which copies from a text field, must not throw away choices."""
        for one in self.screen.active_bindings.values():
            if one.binding.action in _LEAVING and not one.binding.key.startswith(_GLOBAL_KEYS):
                self.notify(f"To leave, press {self.get_key_display(one.binding)}", markup=False)
                return

    def action_keys(self) -> None:
        named: dict[str, list[str]] = {"Move in the list": ["\u2191", "\u2193", "j", "k", "g", "G"]}
        for one in self.screen.active_bindings.values():
            binding = one.binding
            here = isinstance(one.node, Pane | Screen | App) and one.enabled
            if here and binding.description and not binding.key.startswith(_GLOBAL_KEYS):
                named.setdefault(binding.tooltip or binding.description, []).append(self.get_key_display(binding))
        self.push_screen(KeysDialog([(" ".join(keys), what) for what, keys in named.items()]))
