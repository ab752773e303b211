"""The review's other tabs: lists of skills, of live sessions and of what waits for a file; the report."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from skilld.errors import SkilldError
from skilld.library.rows import LibraryRow, matches_search
from skilld.mining.proposing import CandidateResult
from skilld.report.lines import lines
from skilld.report.values import Report
from skilld.review import draw
from skilld.review.controller import ReviewSession, forgetting, no_skill
from skilld.review.dialogs import AgreeDialog, ConfirmDialog, Pane, Rows, SearchField, on_yes
from skilld.review.generate_screen import SessionsStep
from skilld.review.proposals_pane import ProposalsPane
from skilld.store.learnings import Learning
from skilld.store.overview import LiveSession

if TYPE_CHECKING:
    from skilld.review.app import ReviewApp

T = TypeVar("T")

_REFRESH_SECONDS = 5.0  # seconds after which the live sessions are read again
_NARROWEST = 30  # columns of the report
_MARGIN = 3  # columns: the bar beside what is longer than the screen, and a blank


class ListPane(Pane, Generic[T]):
    """A list that is read on a thread whenever the tab is shown, and below it more of the row under the cursor."""

    COLUMNS: ClassVar[Sequence[tuple[str, int]]]
    DETAIL = "detail"  # its class: a few lines
    app: ReviewApp

    def __init__(self, sitting: ReviewSession) -> None:
        super().__init__()
        self._sitting = sitting
        self._all: Sequence[T] = ()
        self._shown: Sequence[T] = ()

    def found(self) -> Sequence[T]:
        """Read what there is, on a thread."""
        raise NotImplementedError

    def cells(self, one: T, now: float) -> list[Content]:
        """Return the row of one."""
        raise NotImplementedError

    def detail(self, one: T | None) -> Content | str:
        """Return what is shown below the list; of None, that there is nothing in it."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        yield Rows()
        with VerticalScroll(classes=self.DETAIL, can_focus=False):
            yield Static()

    def on_mount(self) -> None:
        self.rows.take_columns(self.COLUMNS)
        self.read()

    def enter(self) -> None:
        super().enter()
        self.read()

    @property
    def chosen(self) -> T | None:
        """What the cursor is on."""
        row = self.rows.cursor_row
        return self._shown[row] if 0 <= row < len(self._shown) else None

    @work(thread=True, exclusive=True, group="read")
    def read(self) -> None:
        """Read the list again."""
        self.app.call_from_thread(self._take, self.found())

    def _take(self, found: Sequence[T]) -> None:
        if not self.is_closed:
            self._all = found
            self.fill()

    def fill(self) -> None:
        """Show the rows; the cursor stays where it is."""
        now = time.time()
        self._shown = self.wanted()
        self.rows.refill((self.cells(one, now), None) for one in self._shown)
        self._show()

    def wanted(self) -> Sequence[T]:
        """Return which of all are shown."""
        return self._all

    @on(Rows.RowHighlighted)
    def _show(self) -> None:
        self.query_one(Static).update(self.detail(self.chosen))


class SkillsPane(ListPane[LibraryRow]):
    """The person's skills: search, copy how to use one, edit it in your editor, move it to the trash."""

    COLUMNS = draw.SKILL_COLUMNS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", tooltip="Search your skills"),
        Binding("c", "use", "Copy", tooltip="Copy the command that invokes the skill"),
        Binding("y", "path", "Path", tooltip="Copy the skill's path"),
        Binding("o", "edit", "$EDITOR", tooltip="Edit the skill in $EDITOR"),
        Binding("x", "switch", "On/off", tooltip="Turn the skill on or off for agents"),
        Binding("d", "delete", "Delete", tooltip="Move the skill to the trash"),
        Binding("n", "generate", "New", tooltip="Create skills from past sessions"),
    ]

    def compose(self) -> ComposeResult:
        yield SearchField(placeholder="/ to search", classes="search")
        yield from super().compose()

    def found(self) -> list[LibraryRow]:
        return self._sitting.skills()

    def cells(self, one: LibraryRow, now: float) -> list[Content]:
        return draw.skill_cells(one, self._sitting.home, now)

    def detail(self, one: LibraryRow | None) -> Content | str:
        return draw.skill_detail(one, self._sitting.home) if one else no_skill(has_any=bool(self._all))

    def wanted(self) -> list[LibraryRow]:
        words = self.query_one(Input).value
        return [skill for skill in self._all if matches_search(skill, words)]

    @on(Input.Changed)
    def _searched(self) -> None:
        self.fill()

    @on(Input.Submitted)
    def _found(self) -> None:
        self.rows.focus()

    def action_search(self) -> None:
        self.query_one(Input).focus()

    def action_use(self) -> None:
        if skill := self.chosen:
            self._copy(skill.invocation)

    def action_path(self) -> None:
        if skill := self.chosen:
            self._copy(str(skill.path))

    def _copy(self, text: str) -> None:
        self.app.copy_to_clipboard(text)
        self.app.tell(f"Copied {text}")

    def action_edit(self) -> None:
        if skill := self.chosen:
            try:
                if self._sitting.edit_skill(skill, self.app.edit_outside):
                    self.app.tell(f"Changed {skill.name}")
            except SkilldError as error:
                self.app.tell(str(error), "error")

    def action_switch(self) -> None:
        """Have skilld offer it to agents no more, or again; what they load by themselves is theirs."""
        if skill := self.chosen:
            offered = self._sitting.switch_skill(skill)
            self.app.tell(f"{skill.name} is {'offered to agents again' if offered else 'no longer offered to agents'}")
            self.read()

    def action_generate(self) -> None:
        try:
            steps = self.app.generating() if self.app.generating else None
        except SkilldError as error:
            self.app.tell(str(error), "error")
            return
        if steps is not None:
            self.app.push_screen(SessionsStep(steps), self._generated)

    def _generated(self, became: list[CandidateResult] | None) -> None:
        for one in became or ():
            self.app.tell(
                f"{one.candidate.name}: {one.why_not or 'proposed'}", "warning" if one.why_not else "information"
            )
        if became:
            self.app.query_one(ProposalsPane).fill()

    def action_delete(self) -> None:
        if skill := self.chosen:
            question = f"Move {skill.path.parent} to the trash? Nothing will be committed."
            self.app.push_screen(
                ConfirmDialog(question, skill.name), lambda sure: self._delete(skill) if sure else None
            )

    def _delete(self, skill: LibraryRow) -> None:
        try:
            self.app.tell(f"Moved to {self._sitting.delete_skill(skill)}.")
        except SkilldError as error:
            self.app.tell(str(error), "error")
        else:
            self.read()


class SessionsPane(ListPane[LiveSession]):
    """The sessions of the last day: how many turns were said, and how many more of `turns` make a batch."""

    COLUMNS = draw.SESSION_COLUMNS

    def __init__(self, sitting: ReviewSession, turns: int) -> None:
        super().__init__(sitting)
        self._turns = turns

    def on_mount(self) -> None:  # Textual calls that of the class above as well
        self.set_interval(_REFRESH_SECONDS, self.read)

    def found(self) -> list[LiveSession]:
        return self._sitting.sessions()

    def cells(self, one: LiveSession, now: float) -> list[Content]:
        return draw.session_cells(one, self._turns, now)

    def detail(self, one: LiveSession | None) -> Content | str:
        return draw.session_detail(one, self._turns, self._sitting.home) if one else "No sessions in the last day."


class WaitingPane(ListPane[list[Learning]]):
    """Learnings without a file, each listed once: propose it for the best file, or forget it."""

    COLUMNS = draw.WAITING_COLUMNS
    DETAIL = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "propose", "Propose", tooltip="Propose the learning for the most suitable file"),
        Binding("f", "forget", "Forget", tooltip="Forget the learning (asks first)"),
    ]

    def found(self) -> list[list[Learning]]:
        return self._sitting.waiting()

    def cells(self, one: list[Learning], now: float) -> list[Content]:
        del now
        return draw.waiting_cells(one)

    def detail(self, one: list[Learning] | None) -> Content | str:
        return draw.waiting_detail(one) if one else "There are no learnings."

    def action_propose(self) -> None:
        if ask := self.chosen:
            self._do(partial(self._propose, ask))

    def _propose(self, ask: list[Learning]) -> str:
        made = self._sitting.propose(ask)
        return f"Proposed {made.id} for {made.skill}"

    def action_forget(self) -> None:
        if ask := self.chosen:
            self.app.push_screen(AgreeDialog(forgetting(ask)), on_yes(lambda: self._do(partial(self._forget, ask))))

    def _forget(self, ask: list[Learning]) -> str:
        self._sitting.forget(ask)
        return "Forgotten"

    @work(thread=True, group="decide")
    def _do(self, act: Callable[[], str]) -> None:
        try:
            self.app.call_from_thread(self.app.tell, act())
        except SkilldError as error:
            self.app.call_from_thread(self.app.tell, "\n".join(filter(None, (error.cause, error.remedy))), "warning")
        self.read()
        self.app.call_from_thread(self.app.query_one(ProposalsPane).fill)


class ReportPane(Pane):
    """The report, as `skilld report` prints it. Read when it is looked at: it asks git."""

    app: ReviewApp

    def __init__(self, sitting: ReviewSession) -> None:
        super().__init__()
        self._sitting = sitting
        self._report: Report | None = None

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static("loading ...")

    def enter(self) -> None:
        self.query_one(VerticalScroll).focus()
        self._read()

    @work(thread=True, exclusive=True, group="report")
    def _read(self) -> None:
        self.app.call_from_thread(self._take, self._sitting.report())

    def _take(self, found: Report) -> None:
        self._report = found
        self.on_resize()

    def on_resize(self) -> None:
        if self._report is not None:
            width = max(self.size.width - _MARGIN, _NARROWEST)
            self.query_one(Static).update(draw.report(lines(self._report, str(self._sitting.home), width)))
