"""The screens of `skilld mine --interactive`: choose sessions, then what to keep, then names."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, ParamSpec

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.coordinate import Coordinate
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from skilld.classify.backends import OFFLINE
from skilld.errors import SkilldError
from skilld.mining.proposing import CandidateResult
from skilld.mining.questions import Estimate
from skilld.review import draw
from skilld.review.dialogs import CSS as DIALOGS
from skilld.review.dialogs import Field, KeyBar, KeysApp, Rows, TextDialog, scroll_page
from skilld.review.edit_dialog import EditDialog
from skilld.review.failures import on_thread
from skilld.review.generation import Generation, KeptCandidate, Preview, SessionChoice, name_problem
from skilld.text import pluralize, safe_text

_KEYS = [
    Binding("escape", "leave", "Leave"),
    Binding("q", "leave", show=False),
    Binding("question_mark", "app.keys", "Keys", key_display="?"),
]
_BACK_BINDING = Binding("b", "back", "Back")
_SETTLE_SECONDS = 0.3  # without a change before the built-in rules run
_PROGRESS_SECONDS = 0.1  # between updates of the progress

P = ParamSpec("P")


class Step(Screen[list[CandidateResult]]):
    """One step: a list and a status line. Dismissed with None, it goes back a step; with results, the app ends."""

    CSS = """
    Rows { overflow-x: hidden; height: 1fr; }
    #status { height: auto; border-top: solid ansi_bright_black; }
    #filter, #filter:focus { border: none; padding: 0; height: 1; background: ansi_default; }
    #evidence { height: 2fr; border-top: solid ansi_bright_black; }
    """
    HEAD = ""
    app: KeysApp[Any]

    def compose(self) -> ComposeResult:
        yield Static(Content.styled(self.HEAD, "bold"))
        yield Rows()
        yield Static(id="status")
        yield KeyBar()

    @property
    def rows(self) -> Rows:
        """The list."""
        return self.query_one(Rows)

    def show_status(self, text: str) -> None:
        """Show a line of text below the list; a thread may call this while the screen is closing."""
        for status in self.query("#status").results(Static):
            status.update(Content(safe_text(text)))

    def finish(self, became: list[CandidateResult] | None) -> None:
        """Close with the results of the next step, unless that was left with Back."""
        if became is not None:
            self.dismiss(became)


class SaveStep(Step):
    """Step 3: name and propose. What could not be proposed stays, to be renamed and tried again."""

    HEAD = "3 of 3: name and propose the skills"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "name", "Name"),
        Binding("enter", "save", "Propose", priority=True),
        _BACK_BINDING,
        *_KEYS,
    ]

    def __init__(self, generating: Generation, result: Preview, kept: Sequence[KeptCandidate]) -> None:
        super().__init__()
        self._generating = generating
        self._result = result
        self._pending = list(kept)
        self._results: list[CandidateResult] = []
        self._failed: list[CandidateResult] = []
        self._saving = False

    def on_mount(self) -> None:
        self.rows.set_columns(draw.NAME_COLUMNS)
        self.rows.focus()
        self._fill()

    def _fill(self) -> None:
        missed: Sequence[CandidateResult | None] = self._failed or [None] * len(self._pending)
        self.rows.refill((draw.name_cells(one, why), None) for one, why in zip(self._pending, missed, strict=True))
        edits = sum(not one.candidate.creates for one in self._pending)
        asked = f" skilld will ask {self._generating.model} for {pluralize(edits, 'edit')} to existing skills."
        asks = edits and self._generating.model != OFFLINE
        self.show_status(f"Nothing takes effect yet; you decide in skilld review.{asked if asks else ''}")

    def action_name(self) -> None:
        row = self.rows.cursor_row
        keep = self._pending[row]
        if self._saving or not keep.candidate.creates:
            return
        others = {one.name for one in self._pending if one is not keep}

        def on_name(name: str | None) -> None:
            if name is not None:
                self._pending[row] = replace(keep, name=name)
                self._fill()

        def problem(name: str) -> str | None:
            return f"Enter another name: {why}" if (why := name_problem(name, others)) else None

        self.app.push_screen(TextDialog("Name of the new skill:", Field(keep.name, "Rename"), problem), on_name)

    def action_save(self) -> None:
        if not self._saving:
            self._saving = True
            self._save()

    @on_thread("save")
    def _save(self) -> None:
        def progress(what: str, done: int, total: int) -> None:
            self.app.call_from_thread(self.show_status, f"{what}: {done} of {total}")

        became: list[CandidateResult] = []
        try:
            for one in self._generating.save(self._pending, self._result, progress):
                became.append(one)
                self.app.call_from_thread(self._results.append, one)
        except SkilldError as error:  # the others can be tried again
            left = self._pending[len(became) :]
            became += [CandidateResult(replace(one.candidate, name=one.name), why_not=str(error)) for one in left]
        self.app.call_from_thread(self._saved, became)

    def _saved(self, became: Sequence[CandidateResult]) -> None:
        self._saving = False
        self._failed = [one for one in became if one.why_not]
        self._pending = [keep for keep, one in zip(self._pending, became, strict=True) if one.why_not]
        if self._pending:
            self._results = [one for one in self._results if not one.why_not]
            self._fill()
        else:
            self.dismiss(self._results)

    def action_back(self) -> None:
        """Go back to the candidates, unless something has been proposed."""
        if not self._saving and not self._results:
            self.dismiss(None)

    def action_leave(self) -> None:
        """Leave; what has been proposed stays proposed."""
        if not self._saving:
            self.dismiss([*self._results, *self._failed])


_MAX_WAITING_LINES = 3  # about candidates that open proposals already contain


class ReviewStep(Step):
    """Step 2: the candidates with their evidence; each is kept until it is dropped."""

    HEAD = "2 of 3: choose what to keep"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "choose", "Keep or drop"),
        Binding("e", "edit", "Edit"),
        Binding("pagedown", "page(1)", "Scroll", priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
        Binding("enter", "go_on", "Continue", priority=True),
        _BACK_BINDING,
        *_KEYS,
    ]

    def __init__(self, generating: Generation, result: Preview) -> None:
        super().__init__()
        self._generating = generating
        self._result = result
        self._keeps = [KeptCandidate(one.candidate, one.candidate.name) for one in result.previews]
        self._kept = {number for number, one in enumerate(result.previews) if not one.why_not}

    def compose(self) -> ComposeResult:
        yield Static(Content.styled(self.HEAD, "bold"))
        for one in self._result.already_proposed[:_MAX_WAITING_LINES]:
            yield Static(Content(one))
        yield Rows()
        with VerticalScroll(id="evidence", can_focus=False):
            yield Static(id="said")
        yield KeyBar()

    def on_mount(self) -> None:
        self.rows.set_columns(draw.CANDIDATE_COLUMNS)
        for number, one in enumerate(self._result.previews):
            self.rows.add(draw.candidate_cells(one, self._keeps[number].name, kept=number in self._kept))
        self.rows.focus()

    @on(Rows.RowHighlighted)
    def _show(self) -> None:
        row = self.rows.cursor_row
        one = self._result.previews[row]
        self.query_one("#said", Static).update(draw.candidate_detail(one, self._keeps[row].text or one.text))
        self.query_one("#evidence").scroll_home(animate=False)

    def action_choose(self) -> None:
        """Keep or drop the candidate under the cursor; one that cannot be proposed is not kept."""
        row = self.rows.cursor_row
        if why := self._result.previews[row].why_not:
            self.notify(safe_text(why), severity="warning", markup=False)
            return
        self._kept ^= {row}
        self.rows.update_cell_at(Coordinate(row, 0), draw.checkbox(row in self._kept))

    def action_page(self, direction: int) -> None:
        scroll_page(self, direction)

    def action_edit(self) -> None:
        row = self.rows.cursor_row
        text = self._keeps[row].text or self._result.previews[row].text
        if not text or not draw.can_show(text):
            hidden = "The text contains characters that cannot be shown here."
            self.notify(
                hidden if text else "You can edit only new skills here; changes to existing ones become proposals."
            )
            return

        def on_edit(own: str | None) -> None:
            if own is not None:
                self._keeps[row] = replace(self._keeps[row], text=own)
                self._show()

        self.app.push_screen(EditDialog(text, ()), on_edit)

    def action_go_on(self) -> None:
        if kept := [keep for number, keep in enumerate(self._keeps) if number in self._kept]:
            self.app.push_screen(SaveStep(self._generating, self._result, kept), self.finish)
        else:
            self.notify("Select one with Space first.")

    def action_back(self) -> None:
        self.dismiss(None)

    def action_leave(self) -> None:
        self.dismiss([])


class SessionsStep(Step):
    """Step 1: which sessions to learn from, and how many patterns they may contain."""

    HEAD = "1 of 3: choose the sessions to learn from"
    AUTO_FOCUS = "Rows"  # the default is the filter, which would take the first keys
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "choose", "Select"),
        Binding("a", "all", "All or none"),
        Binding("slash", "filter", "Filter"),
        Binding("enter", "go_on", "Continue", priority=True),
        *_KEYS,
    ]

    def __init__(self, generating: Generation) -> None:
        super().__init__()
        self._generating = generating
        self._all: list[SessionChoice] = []
        self._shown: list[SessionChoice] = []
        self._costs: dict[str, float | None] = {}
        self._chosen: set[str] = set()
        self._timer: Timer | None = None
        self._last_progress = 0.0
        self._busy = True

    def compose(self) -> ComposeResult:
        head, *others = super().compose()
        yield from (head, Input(placeholder="/ to filter", id="filter"), *others)

    def on_mount(self) -> None:
        self.rows.set_columns(draw.PAST_SESSION_COLUMNS)
        self._read_sessions()

    @property
    def chosen(self) -> list[SessionChoice]:
        """The chosen sessions, newest first."""
        return [one for one in self._all if one.session.id in self._chosen]

    def progress(self, what: str, done: int, total: int) -> None:
        """Show progress; called on a thread, which ends here once the person has left."""
        if get_current_worker().is_cancelled:
            raise SkilldError("No more questions were asked", "you quit")
        if (now := time.monotonic()) - self._last_progress >= _PROGRESS_SECONDS or done == total:
            self._last_progress = now
            self.app.call_from_thread(self.show_status, f"{what}: {done} of {total}")

    @on_thread("read", exclusive=True)
    def _read_sessions(self) -> None:
        try:
            found = self._generating.choices(self.progress)
        except SkilldError as error:
            self._call_screen(self._show_problem, str(error))
            return
        self._call_screen(self._set_choices, found)
        for one in found:
            if get_current_worker().is_cancelled:
                return
            self._call_screen(self._set_cost, one, self._generating.cost(one))

    def _set_choices(self, found: list[SessionChoice]) -> None:
        self._busy = False
        self._all = found
        self._fill()
        self._show_selection()

    def _set_cost(self, choice: SessionChoice, cost: float | None) -> None:
        self._costs[choice.session.id] = cost
        if cost is not None and choice in self._shown:
            self.rows.update_cell(choice.session.id, "cost", draw.money(cost))

    @on(Input.Changed, "#filter")
    def _fill(self) -> None:
        words = self.query_one(Input).value
        self._shown = [one for one in self._all if one.has(words)]
        ids = [one.session.id for one in self._shown]
        self.rows.refill(
            (draw.choice_cells(one, self._costs.get(name), chosen=name in self._chosen), name)
            for one, name in zip(self._shown, ids, strict=True)
        )

    def action_filter(self) -> None:
        self.query_one(Input).focus()

    def action_choose(self) -> None:
        row = self.rows.cursor_row
        if 0 <= row < len(self._shown):
            self._toggle([self._shown[row]])

    def action_all(self) -> None:
        """Choose all sessions shown; if all are chosen, none."""
        left = [one for one in self._shown if one.session.id not in self._chosen]
        self._toggle(left or self._shown)

    def _toggle(self, choices: Sequence[SessionChoice]) -> None:
        for one in choices:
            self._chosen ^= {one.session.id}
            self.rows.update_cell(one.session.id, "", draw.checkbox(one.session.id in self._chosen))
        self._show_selection()

    def _show_selection(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        if self._chosen:
            self.show_status(f"{len(self._chosen)} selected; looking for patterns ...")
            self._timer = self.set_timer(_SETTLE_SECONDS, self._count_patterns)
        else:
            self.show_status(f"{pluralize(len(self._all), 'session')}, none selected")

    @on_thread("expect", exclusive=True)
    def _count_patterns(self) -> None:
        chosen = self.chosen
        number = len(self._generating.find_offline(chosen).candidates)
        if not self._busy:
            found = f"the built-in rules alone may find {pluralize(number, 'pattern')}"
            self._call_screen(self.show_status, f"{len(chosen)} selected; {found}")

    def action_go_on(self) -> None:
        """Leave the filter, or continue from the list with the chosen sessions."""
        if self.query_one(Input).has_focus:
            self.rows.focus()
        elif self._busy:
            return
        elif not self._chosen:
            self.show_status("Select sessions with Space first.")
        else:
            self._busy = True
            self._find(self.chosen)

    @on_thread("find", exclusive=True)
    def _find(self, chosen: Sequence[SessionChoice]) -> None:
        self.app.call_from_thread(self.show_status, "Looking ...")
        try:
            result = self._generating.find(chosen, self._ask_person, self.progress)
        except SkilldError as error:
            self._call_screen(self._show_problem, f"{error} {error.remedy}")
        else:
            self._call_screen(self._show, result)

    def _call_screen(self, show: Callable[P, object], *values: P.args, **on_name: P.kwargs) -> None:
        """Call a method of the screen from a thread, unless the person has left it."""
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(show, *values, **on_name)

    def _ask_person(self, expected: Estimate, dollars: Callable[[], float | None]) -> bool:
        """Ask whether to call the model, from a thread; closing the app means no."""
        takes = expected.told(dollars)
        question = f"Ask {self._generating.model}? This takes {takes}.\nAnswer no to use only the built-in rules."
        answer = self.app.ask_yes_no(question)
        if answer is None:
            raise SkilldError("No questions were asked", "")
        return answer

    def _show_problem(self, why: str) -> None:
        self._busy = False
        self.show_status(why)

    def _show(self, result: Preview) -> None:
        self._busy = False
        if result.previews:
            self._show_selection()
            self.app.push_screen(ReviewStep(self._generating, result), self.finish)
        elif result.already_proposed:
            self.show_status("Nothing new. " + "; ".join(result.already_proposed[:_MAX_WAITING_LINES]))
        else:
            missed = len(result.considered.report.judgement.rejected)
            more = f" Left out: {pluralize(missed, 'candidate')}. To see why: skilld mine --dry-run" if missed else ""
            self.show_status(result.nothing_found + more)

    def action_leave(self) -> None:
        if self.query_one(Input).has_focus:
            self.rows.focus()
        else:
            self.dismiss([])


class GenerateApp(KeysApp[list[CandidateResult]]):
    """The three steps as an app of their own."""

    TITLE = "skilld mine"
    ENABLE_COMMAND_PALETTE = False
    CSS = DIALOGS

    def __init__(self, generating: Generation) -> None:
        super().__init__()
        self._generating = generating

    def on_mount(self) -> None:
        self.push_screen(SessionsStep(self._generating), self.exit)
