"""Step 1 on a screen: which sessions to learn from, and what that would come to."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import ClassVar, ParamSpec

from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Footer, Input, Static
from textual.worker import get_current_worker

from skilld.errors import SkilldError
from skilld.mining.proposing import CandidateResult
from skilld.mining.questions import Estimate
from skilld.review.dialogs import CSS as DIALOGS
from skilld.review.dialogs import AgreeDialog, Rows
from skilld.review.draw import safe
from skilld.review.generate import draw
from skilld.review.generate.draw import KEYS, Step
from skilld.review.generate.generating import Choice, Generation, Preview, about
from skilld.review.generate.review import ReviewStep
from skilld.text import counted

P = ParamSpec("P")

_PAUSE = 0.3  # seconds that the choice rests before rules go over it
_PROGRESS_SECONDS = 0.1  # seconds between two words on how far it has come


class SessionsStep(Step):
    """Step 1: which sessions to learn from."""

    AUTO_FOCUS = "Rows"  # by itself it is the filter, which would take the first keys
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "choose", "Choose"),
        Binding("a", "all", "All or none"),
        Binding("slash", "filter", "Filter"),
        Binding("enter", "go_on", "Go on", priority=True),
        *KEYS,
    ]

    def __init__(self, generating: Generation) -> None:
        super().__init__()
        self._generating = generating
        self._all: list[Choice] = []
        self._shown: list[Choice] = []
        self._costs: dict[str, float | None] = {}
        self._chosen: set[str] = set()
        self._soon: Timer | None = None
        self._told = 0.0
        self._busy = True

    def compose(self) -> ComposeResult:
        """Put the filter, the list and what it would come to on the screen."""
        yield Static(Content.styled("1 of 3: which sessions to learn from", "bold"))
        yield Input(placeholder="/ to filter", id="filter")
        yield Rows("choices")
        yield Static(id="status")
        yield Footer(compact=True)

    def on_mount(self) -> None:
        """Read the sessions."""
        self.query_one(Rows).take_columns(draw.SESSION_COLUMNS)
        self._read()

    @property
    def chosen(self) -> list[Choice]:
        """The sessions that are chosen, newest first."""
        return [one for one in self._all if one.session.id in self._chosen]

    def say(self, text: str) -> None:
        """Show a line of text below the list."""
        self.query_one("#status", Static).update(Content(safe(text)))

    def progress(self, what: str, done: int, total: int) -> None:
        """Show how far it has come; to be called on a thread, which ends here once the person has left."""
        if get_current_worker().is_cancelled:
            raise SkilldError("Nothing more was asked", "you left")
        if (now := time.monotonic()) - self._told >= _PROGRESS_SECONDS or done == total:
            self._told = now
            self.app.call_from_thread(self.say, f"{what}: {done} of {total}")

    @work(thread=True, exclusive=True, group="read")
    def _read(self) -> None:
        try:
            found = self._generating.choices(self.progress)
        except SkilldError as error:
            self._back(self._stay, str(error))
            return
        self._back(self._take, found)
        for one in found:
            if get_current_worker().is_cancelled:
                return
            self._back(self._take_cost, one, self._generating.cost(one))

    def _take(self, found: list[Choice]) -> None:
        self._busy = False
        self._all = found
        self._fill()
        self._tell()

    def _take_cost(self, choice: Choice, cost: float | None) -> None:
        self._costs[choice.session.id] = cost
        if cost is not None and choice in self._shown:
            self.query_one(Rows).update_cell(choice.session.id, "cost", draw.money(cost))

    @on(Input.Changed, "#filter")
    def _fill(self) -> None:
        rows, words = self.query_one(Rows), self.query_one("#filter", Input).value
        self._shown = [one for one in self._all if one.has(words)]
        row = rows.cursor_row
        rows.clear()
        for one in self._shown:
            chosen, cost = one.session.id in self._chosen, self._costs.get(one.session.id)
            rows.add_row(*draw.choice_cells(one, cost, chosen=chosen), key=one.session.id)
        rows.move_cursor(row=max(0, min(row, len(self._shown) - 1)))

    def action_filter(self) -> None:
        """Take the keys to the filter."""
        self.query_one("#filter", Input).focus()

    def action_choose(self) -> None:
        """Choose the session under the cursor, or no longer."""
        row = self.query_one(Rows).cursor_row
        if 0 <= row < len(self._shown):
            self._turn([self._shown[row]])

    def action_all(self) -> None:
        """Choose all that are shown, or none of them where all are."""
        left = [one for one in self._shown if one.session.id not in self._chosen]
        self._turn(left or self._shown)

    def _turn(self, choices: Sequence[Choice]) -> None:
        for one in choices:
            self._chosen ^= {one.session.id}
            self.query_one(Rows).update_cell(one.session.id, "", draw.box(one.session.id in self._chosen))
        self._tell()

    def _tell(self) -> None:
        if self._soon is not None:
            self._soon.stop()
        if self._chosen:
            self.say(f"{len(self._chosen)} chosen; looking through them ...")
            self._soon = self.set_timer(_PAUSE, self._expect)
        else:
            self.say(f"{counted(len(self._all), 'session')}, none chosen")

    @work(thread=True, exclusive=True, group="expect")
    def _expect(self) -> None:
        chosen = self.chosen
        number = len(self._generating.expected(chosen).candidates)
        if not self._busy:
            self._back(self.say, f"{len(chosen)} chosen; estimated patterns, by rules alone: {number}")

    def action_go_on(self) -> None:
        """Leave the filter; from the list, go on with what is chosen."""
        if self.query_one("#filter", Input).has_focus:
            self.query_one(Rows).focus()
        elif self._busy:
            return
        elif not self._chosen:
            self.say("Choose with Space first.")
        else:
            self._busy = True
            self._find(self.chosen)

    @work(thread=True, exclusive=True, group="find")
    def _find(self, chosen: Sequence[Choice]) -> None:
        self.app.call_from_thread(self.say, "Looking ...")
        try:
            result = self._generating.find(chosen, self._agree, self.progress)
        except SkilldError as error:
            self._back(self._stay, f"{error} {error.remedy}")
        else:
            self._back(self._show, result)

    def _back(self, show: Callable[P, object], *values: P.args, **named: P.kwargs) -> None:
        """Have the screen show something, from a thread; not once the person has left it."""
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(show, *values, **named)

    def _agree(self, expected: Estimate, dollars: Callable[[], float | None]) -> bool:
        """Ask the person, from a thread; a screen that is closed meanwhile is a no."""
        answers: SimpleQueue[bool | None] = SimpleQueue()
        question = f"Ask {self._generating.model} {about(expected, dollars())}?\nNo: what rules find alone."
        worker = get_current_worker()
        self.app.call_from_thread(self.app.push_screen, AgreeDialog(question), answers.put)
        while not worker.is_cancelled and self.app.is_running:
            try:
                answer = answers.get(timeout=_PROGRESS_SECONDS)
            except Empty:
                continue
            if answer is None:
                raise SkilldError("Nothing was asked", "")
            return answer
        return False

    def _stay(self, why: str) -> None:
        self._busy = False
        self.say(why)

    def _show(self, result: Preview) -> None:
        self._busy = False
        missed = len(result.considered.report.judgement.rejected)
        if not result.previews:
            self.say(f"Nothing in them makes a skill ({missed} thoughts were not taken: skilld mine --dry-run).")
            return
        self._tell()
        self.app.push_screen(ReviewStep(self._generating, result), self.over)

    def action_leave(self) -> None:
        """Leave the filter; from the list, everything."""
        if self.query_one("#filter", Input).has_focus:
            self.query_one(Rows).focus()
        else:
            self.dismiss([])


# The three steps on a screen: which sessions, what of it, under which names. Escape leaves with nothing proposed.


class GenerateApp(App[list[CandidateResult]]):
    """The three steps alone."""

    TITLE = "skilld mine"
    ENABLE_COMMAND_PALETTE = False
    CSS = DIALOGS

    def __init__(self, generating: Generation) -> None:
        super().__init__()
        self._generating = generating
        self.theme = "ansi-dark"

    def on_mount(self) -> None:
        """Show the first step."""
        self.push_screen(SessionsStep(self._generating), self.exit)
