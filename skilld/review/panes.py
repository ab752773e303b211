"""The review's other tabs: lists of skills, live sessions and learnings; the report."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.notifications import SeverityLevel
from textual.widgets import Input, Static

from skilld.errors import SkilldError
from skilld.library.rows import LibraryRow, matches_search
from skilld.mining.proposing import CandidateResult
from skilld.report.lines import report_lines
from skilld.report.values import Report
from skilld.review import draw
from skilld.review.controller import ReviewSession, forget_question, no_skills_text, switched_text
from skilld.review.dialogs import Field, Pane, Rows, SearchField, TextDialog, YesNoDialog, on_yes
from skilld.review.failures import on_thread, shows_errors
from skilld.review.generate_screen import SessionsStep
from skilld.review.proposals_pane import ProposalsPane
from skilld.store.learnings import Learning
from skilld.store.overview import LiveSession
from skilld.text import safe_text

if TYPE_CHECKING:
    from skilld.review.app import ReviewApp

T = TypeVar("T")

_REFRESH_SECONDS = 5.0  # of the live sessions
_MIN_WIDTH = 30  # of the report, in columns
_MARGIN = 3  # columns, for the scroll bar and a blank


class ListPane(Pane, Generic[T]):
    """A list that is read on a thread whenever the tab is shown, with details of the row under the cursor."""

    COLUMNS: ClassVar[Sequence[tuple[str, int]]]
    DETAIL = "detail"  # its class: a few lines
    app: ReviewApp

    def __init__(self, session: ReviewSession) -> None:
        super().__init__()
        self._session = session
        self._all: Sequence[T] = ()
        self._shown: Sequence[T] = ()

    def load(self) -> Sequence[T]:
        """Read the items; called on a thread."""
        raise NotImplementedError

    def cells(self, one: T, now: float) -> list[Content]:
        """Return the row of one item."""
        raise NotImplementedError

    def detail(self, one: T | None) -> Content | str:
        """Return the details below the list; for None, the text for an empty list."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        yield Rows()
        with VerticalScroll(classes=self.DETAIL, can_focus=False):
            yield Static()

    def on_mount(self) -> None:
        self.rows.set_columns(self.COLUMNS)
        self.read()

    def enter(self) -> None:
        super().enter()
        self.read()

    @property
    def chosen(self) -> T | None:
        """The item under the cursor."""
        row = self.rows.cursor_row
        return self._shown[row] if 0 <= row < len(self._shown) else None

    @on_thread("read", exclusive=True)
    def read(self) -> None:
        """Read the list again."""
        self.app.call_from_thread(self._set_items, self.load())

    def _set_items(self, found: Sequence[T]) -> None:
        if not self.is_closed:
            self._all = found
            self.fill()

    def fill(self) -> None:
        """Show the rows; the cursor stays where it is."""
        now = time.time()
        self._shown = self.filtered()
        self.rows.refill((self.cells(one, now), None) for one in self._shown)
        self._show()

    def filtered(self) -> Sequence[T]:
        """Return the items to show."""
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

    def load(self) -> list[LibraryRow]:
        return self._session.skills()

    def cells(self, one: LibraryRow, now: float) -> list[Content]:
        return draw.skill_cells(one, self._session.home, now)

    def detail(self, one: LibraryRow | None) -> Content | str:
        return draw.skill_detail(one, self._session.home) if one else no_skills_text(has_any=bool(self._all))

    def filtered(self) -> list[LibraryRow]:
        words = self.query_one(Input).value
        return [skill for skill in self._all if matches_search(skill, words)]

    @on(Input.Changed)
    def _apply_search(self) -> None:
        self.fill()

    @on(Input.Submitted)
    def _focus_rows(self) -> None:
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
        self.app.show_message(f"Copied {text}")

    @shows_errors
    def action_edit(self) -> None:
        if (skill := self.chosen) and self._session.edit_skill(skill, self.app.edit_outside):
            self.app.show_message(f"Changed {skill.name}")

    @shows_errors
    def action_switch(self) -> None:
        """Turn the skill on or off for agents; they may still load it on their own."""
        if skill := self.chosen:
            offered = self._session.switch_skill(skill)
            self.app.show_message(switched_text(skill, offered=offered))
            self.read()

    @shows_errors
    def action_generate(self) -> None:
        if self.app.generating and (steps := self.app.generating()):
            self.app.push_screen(SessionsStep(steps), self._generated)

    def _generated(self, became: list[CandidateResult] | None) -> None:
        for one in became or ():
            severity: SeverityLevel = "warning" if one.why_not else "information"
            self.app.show_message(f"{one.candidate.name}: {one.why_not or 'proposed'}", severity)
        if became:
            self.app.query_one(ProposalsPane).fill()

    def action_delete(self) -> None:
        if skill := self.chosen:
            question = f"Move {skill.path.parent} to the trash? Nothing will be committed."
            field = Field(does="Confirm", placeholder=f"type {safe_text(skill.name)} to confirm")
            dialog = TextDialog(question, field)
            self.app.push_screen(dialog, lambda typed: self._delete(skill) if typed == skill.name else None)

    @shows_errors
    def _delete(self, skill: LibraryRow) -> None:
        self.app.show_message(f"Moved to {self._session.delete_skill(skill)}.")
        self.read()


class SessionsPane(ListPane[LiveSession]):
    """The sessions of the last day: how many turns were said, and how many more of `turns` make a batch."""

    COLUMNS = draw.SESSION_COLUMNS

    def __init__(self, session: ReviewSession, turns: int) -> None:
        super().__init__(session)
        self._turns = turns

    def on_mount(self) -> None:  # Textual also calls the base class's
        self.set_interval(_REFRESH_SECONDS, self.read)

    def load(self) -> list[LiveSession]:
        return self._session.sessions()

    def cells(self, one: LiveSession, now: float) -> list[Content]:
        return draw.session_cells(one, self._turns, now)

    def detail(self, one: LiveSession | None) -> Content | str:
        return draw.session_detail(one, self._turns, self._session.home) if one else "No sessions in the last day."


class WaitingPane(ListPane[list[Learning]]):
    """The learnings without a file: propose one for the best file, or forget it."""

    COLUMNS = draw.WAITING_COLUMNS
    DETAIL = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "propose", "Propose", tooltip="Propose the learning for the most suitable file"),
        Binding("f", "forget", "Forget", tooltip="Forget the learning (asks first)"),
    ]

    def load(self) -> list[list[Learning]]:
        return self._session.waiting_learnings()

    def cells(self, one: list[Learning], now: float) -> list[Content]:
        del now
        return draw.waiting_cells(one)

    def detail(self, one: list[Learning] | None) -> Content | str:
        return draw.waiting_detail(one, self._session.not_shown) if one else "There are no learnings."

    def action_propose(self) -> None:
        if ask := self.chosen:
            self._run_action(partial(self._propose, ask))

    def _propose(self, ask: list[Learning]) -> str:
        made = self._session.propose(ask)
        return f"Proposed {made.id} for {made.skill}"

    def action_forget(self) -> None:
        if ask := self.chosen:
            forget = partial(self._run_action, partial(self._forget, ask))
            self.app.push_screen(YesNoDialog(forget_question(ask)), on_yes(forget))

    def _forget(self, ask: list[Learning]) -> str:
        self._session.forget(ask)
        return "Forgotten"

    @on_thread("decide")
    def _run_action(self, act: Callable[[], str]) -> None:
        try:
            self.app.call_from_thread(self.app.show_message, act())
        except SkilldError as error:
            why = "\n".join(filter(None, (error.cause, error.remedy)))
            self.app.call_from_thread(self.app.show_message, why, "warning")
        self.read()
        self.app.call_from_thread(self.app.query_one(ProposalsPane).fill)


class ReportPane(Pane):
    """The report, as `skilld report` prints it. It is read when the tab is shown, as it runs git."""

    app: ReviewApp

    def __init__(self, session: ReviewSession) -> None:
        super().__init__()
        self._session = session
        self._report: Report | None = None

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static("loading ...")

    def enter(self) -> None:
        self.query_one(VerticalScroll).focus()
        self._read()

    @on_thread("report", exclusive=True)
    def _read(self) -> None:
        self.app.call_from_thread(self._set_items, self._session.report())

    def _set_items(self, found: Report) -> None:
        self._report = found
        self.on_resize()

    def on_resize(self) -> None:
        if self._report is not None:
            width = max(self.size.width - _MARGIN, _MIN_WIDTH)
            lines = report_lines(self._report, str(self._session.home), width)
            self.query_one(Static).update(draw.report_content(lines))
