"""The tab of open proposals: the list on top, the chosen proposal's change and quotes below."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from skilld.edit.move import move_to_section, section_titles
from skilld.errors import SkilldError
from skilld.proposals.decide import DecisionReport
from skilld.review import draw
from skilld.review.controller import ProposalView, ReviewSession, borrowed_lines_note, has_words
from skilld.review.dialogs import (
    Field,
    Pane,
    PartsDialog,
    Rows,
    SearchField,
    SectionDialog,
    TextDialog,
    YesNoDialog,
    on_yes,
)
from skilld.review.edit_dialog import EditDialog
from skilld.review.failures import error_text, on_thread, shows_errors
from skilld.text import safe_text
from skilld.types import Proposal, State

if TYPE_CHECKING:
    from skilld.review.app import ReviewApp


T = TypeVar("T")

_LOADING = "Nothing was done: the whole proposal was not yet on screen. Press the key again."
_NONE_SELECTED = "No proposal is selected."
_MIN_LIST_LINES = 3  # including the header
_REFRESH_SECONDS = 1.0  # between checks for changes
_AGE_SECONDS = 30.0  # between updates of the ages in the list
_SETTLE_SECONDS = 0.1  # without a move before a row is read with git: rows that are passed over are not


class ProposalsPane(Pane):
    """The open proposals; with `ids`, only those and their successors."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "accept", "Accept", tooltip="Accept: commit it to your branch"),
        Binding("A", "accept_file", "All in file", show=False, tooltip="Accept all proposals for this file"),
        Binding("r", "reject", "Reject", tooltip="Reject, with a reason if you like"),
        Binding("e", "edit", "Edit", tooltip="Edit the text here, then accept it"),
        Binding("p", "parts", "Parts", tooltip="Accept parts; the rest stays open"),
        Binding("t", "elsewhere", "To file", show=False, tooltip="Accept it into another file"),
        Binding("m", "move", "Section", show=False, tooltip="Put it into another section, then accept it"),
        Binding("s,n", "skip", "Skip", tooltip="Skip: leave it open"),
        Binding("u", "undo", "Undo", tooltip="Undo your last decision"),
        Binding("o", "outside", "$EDITOR", show=False, tooltip="Edit it in $EDITOR, then accept it"),
        Binding("slash", "search", "Search", tooltip="Search, including decided ones"),
    ]
    app: ReviewApp

    def __init__(self, session: ReviewSession, ids: Collection[str]) -> None:
        super().__init__()
        self._session = session
        self._ids = ids
        self._items: dict[str, Proposal] = {}
        self._views: dict[str, ProposalView] = {}
        self._timer: Timer | None = None
        self._being_read: Proposal | None = None
        self._known: list[Proposal] = []
        self._decided: list[Proposal] | None = None  # None: read when first searched
        self._on_screen = ""  # the ID of the proposal shown below the list
        self._version: tuple[object, ...] = ()
        self._drafts: dict[str, tuple[str, str]] = {}  # by ID: the original text, and the edited one, not accepted yet

    def compose(self) -> ComposeResult:
        hint = "search, including decided ones (Enter: go to list, Esc: show all open)"
        yield SearchField(placeholder=hint, id="find", classes="search")
        yield Rows("list")
        with VerticalScroll(id="detail", can_focus=False):
            yield Static(id="change")

    def on_mount(self) -> None:
        """Show what the store has, then update it from git."""
        self.query_one("#find").display = False
        self.rows.set_columns(draw.PROPOSAL_COLUMNS)
        self.fill()
        self.enter()
        self._update_from_git()
        self.set_interval(_REFRESH_SECONDS, self._check_database)
        self.set_interval(_AGE_SECONDS, self._update_ages)

    def on_resize(self) -> None:
        """Make the list as high as its rows, up to two fifths of the tab."""
        self.rows.styles.height = min(len(self._items) + 1, max(_MIN_LIST_LINES, self.size.height * 2 // 5))

    @property
    def chosen(self) -> Proposal | None:
        """The proposal that the cursor is on."""
        keys = list(self._items)
        row = self.rows.cursor_row
        return self._items[keys[row]] if 0 <= row < len(keys) else None

    def _update_ages(self) -> None:
        now = time.time()
        for item in self._items.values():
            self.rows.set_cell(item.id, draw.AGE, Content(draw.age(self._session.made_at(item), now)))

    @on_thread("again", exclusive=True)
    def _check_database(self) -> None:
        if not self._session.deciding and (version := self._session.version()) != self._version:
            self._version = version
            self.app.call_from_thread(self.fill, self._session.proposals(self._ids))

    def fill(self, known: list[Proposal] | None = None) -> None:
        """Update the list from the store, or from `known` if that has been read already."""
        if self.is_closed:
            return
        self._known = self._session.proposals(self._ids) if known is None else known
        self._decided = None
        self._apply_search()

    @on(Input.Changed, "#find")
    @shows_errors
    def _apply_search(self) -> None:
        """Show the proposals with the searched words; the cursor stays on its proposal, or moves to the next.

        It moves to one that was just reopened by an undo.
        """
        words = self.query_one("#find", Input).value
        if words.strip() and self._decided is None:
            self._decided = self._session.decided()
        proposals = [*self._known, *((self._decided or ()) if words.strip() else ())]
        found = {item.id: item for item in proposals if has_words(item, words)}
        table, before = self.rows, [*self._items]
        gone = [name for name in before if name not in found]
        row = table.cursor_row
        if gone and [*found] == [name for name in before if name not in gone]:
            for name in gone:
                table.remove_row(name)
        elif [*found] != before:
            now = time.time()
            table.clear()
            for item in found.values():
                table.add(draw.proposal_cells(item, self._session.made_at(item), now), key=item.id)
        place = {name: number for number, name in enumerate(found)}
        # If parts of a proposal were decided on, the rest is a proposal of its own.
        here = before[row : row + 1]
        split = {(one.batch_id, one.path) for name, one in self._items.items() if name in gone and name in here}
        rest = [name for name, item in found.items() if name not in before and (item.batch_id, item.path) in split]
        if (back := self._session.reopened) in found:
            self._session.reopened = ""
        near = (place[name] for name in (back, *rest, *before[row:], *before[:row][::-1]) if name in place)
        moved = {name for name, item in found.items() if item != self._items.get(name)}
        self._views = {name: view for name, view in self._views.items() if name in found and name not in moved}
        self._items = found
        self.on_resize()
        table.move_cursor(row=next(near, 0))
        self._show()

    @on(Rows.RowHighlighted, "#list")
    def _show(self) -> None:
        """Show the proposal under the cursor: what is known at once, the rest when it has been read."""
        proposal = self.chosen
        change = self.query_one("#change", Static)
        before, self._on_screen = self._on_screen, proposal.id if proposal else ""
        if proposal is None:
            found = self.query_one("#find", Input).value
            change.update("No proposal contains these words." if found else self._session.none_open)
            return
        view = self._views.get(proposal.id)
        if view is not None or proposal.id != before:  # keep the old view while it is read again
            change.update(draw.proposal_detail(proposal, view, self._session.home))
        if proposal.id != before:
            self.query_one("#detail").scroll_home(animate=False)
        if self._timer is not None:
            self._timer.stop()
        if view is None and proposal != self._being_read:
            self._timer = self.set_timer(_SETTLE_SECONDS, partial(self._start_reading, proposal))

    def _start_reading(self, proposal: Proposal) -> None:
        self._being_read = proposal
        self._read(proposal)

    @on_thread("view", exclusive=True)
    def _read(self, proposal: Proposal) -> None:
        try:
            view = self._session.view(proposal)
        except SkilldError as error:
            view = ProposalView((), (), (), (error_text(error),), (), "")
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(self._set_view, proposal, view)

    def _set_view(self, proposal: Proposal, view: ProposalView) -> None:
        self._being_read = None
        if self._items.get(proposal.id) == proposal:
            self._views[proposal.id] = view
            if proposal == self.chosen:
                self.query_one("#change", Static).update(draw.proposal_detail(proposal, view, self._session.home))

    @on_thread("git")
    def _update_from_git(self) -> None:
        try:
            self._session.update_from_git()
        except SkilldError as error:
            self.app.call_from_thread(self.app.show_error, error)
        self.app.call_from_thread(self.fill)
        for doubt in self._session.doubts():
            self.app.call_from_thread(self.app.show_message, doubt, "warning")

    def action_accept(self) -> None:
        if self._loaded_view() and (proposal := self.chosen):
            self._decide(partial(self._session.accept, proposal.id, proposal))

    @shows_errors
    def action_accept_file(self) -> None:
        """Ask, then accept every open proposal for the chosen one's file, oldest first."""
        if (proposal := self.chosen) is None:
            return
        path = proposal.path
        those = [one for one in self._items.values() if one.path == path and one.state is State.OPEN][::-1]
        accept = partial(self._session.accept_all, those)
        question = self._session.accept_all_question(those, self._session.short_path(path))
        if question:
            self.app.push_screen(YesNoDialog(question), on_yes(lambda: self._decide(accept)))
        else:
            self._decide(accept)

    def action_search(self) -> None:
        field = self.query_one("#find", Input)
        field.display = True
        field.focus()

    @on(Input.Submitted, "#find")
    def _focus_rows(self) -> None:
        self.rows.focus()

    def action_leave(self) -> None:
        super().action_leave()
        self.query_one("#find").display = False

    def action_reject(self) -> None:
        if self._loaded_view() and (proposal := self.chosen):
            decided = partial(self._decide_with, lambda why: self._session.reject(proposal.id, why, proposal))
            field = Field(does="Reject", placeholder="reason (optional; Esc cancels)")
            self.app.push_screen(TextDialog(f"Reject: {safe_text(proposal.summary)}", field), decided)

    def action_edit(self) -> None:
        self._edit()

    @shows_errors
    def action_outside(self) -> None:
        if proposal := self.chosen:
            self._edit(partial(self.app.edit_outside, name=Path(proposal.path).name))

    def action_parts(self) -> None:
        view = self._loaded_view()
        if view is None or (proposal := self._undecided_choice()) is None:
            return
        if len(view.parts) < 2:  # noqa: PLR2004 - one part is the whole
            self.app.show_message("This proposal has only one part.")
            return
        decided = partial(self._decide_with, lambda chosen: self._session.accept_parts(proposal.id, chosen, proposal))
        self.app.push_screen(PartsDialog(view.parts), decided)

    @shows_errors
    def action_elsewhere(self) -> None:
        if proposal := self._undecided_choice():
            accept = partial(self._session.accept_elsewhere, proposal.id, seen=proposal)
            decided = partial(self._decide_with, accept)
            field = Field(self._session.own_file(proposal), "Accept", placeholder="path to a file")
            question = f"Accept into which file? {safe_text(proposal.summary)}"
            self.app.push_screen(TextDialog(question, field), lambda path: decided(path or None))

    @shows_errors
    def action_move(self) -> None:
        view = self._loaded_view()
        if view is None or (proposal := self._undecided_choice()) is None:
            return
        if titles := section_titles(view.before):
            self.app.push_screen(SectionDialog(titles), partial(self._move, proposal, view))
        else:
            self.app.show_message("The file has no sections to choose from.")

    @shows_errors
    def _move(self, proposal: Proposal, view: ProposalView, title: str | None) -> None:
        if title is not None:
            self._drafts[proposal.id] = view.text, move_to_section(view.before, view.text, title)
            self._edit()

    def action_skip(self) -> None:
        self.rows.action_cursor_down()

    def action_undo(self) -> None:
        self._decide(partial(self._session.undo, self.app.ask_yes_no))

    def _loaded_view(self) -> ProposalView | None:
        """Return the view of the chosen proposal; None, and a message, if it has not been shown yet."""
        proposal = self.chosen
        view = self._views.get(proposal.id) if proposal else None
        self.app.hide_message(_LOADING)
        if view is None:
            self.app.show_message(_LOADING if proposal else _NONE_SELECTED)
        return view

    def _undecided_choice(self) -> Proposal | None:
        proposal = self.chosen
        if proposal is None or proposal.state not in {State.OPEN, State.DROPPED}:
            self.app.show_message(f"{proposal.id} is {proposal.state.value}, not open." if proposal else _NONE_SELECTED)
            return None
        return proposal

    def _edit(self, editor: Callable[[str], str] | None = None) -> None:
        view = self._loaded_view()
        if view is None or (proposal := self._undecided_choice()) is None:
            return
        if not view.text:
            self.app.show_message("There is no text to edit.", "warning")
            return
        base, text = self._drafts.get(proposal.id, (view.text, view.text))
        notes = [borrowed_lines_note(view.lenders)] if view.lenders and base == view.text else []
        if editor is not None:
            before, text = text, editor(text)
            if text == before:
                self.app.show_message("You made no changes.")
                return
            self._drafts[proposal.id] = base, text
            notes.insert(0, "This is the text you wrote.")
        if not draw.can_show(text):
            told = "The text contains characters that cannot be shown here."
            kept = f"{told} It is kept; press o to open it again." if editor else f"{told} Edit the file by hand."
            self.app.show_message(kept, "warning")
            return
        accept = partial(self._accept_text, proposal.id, base)
        dialog = EditDialog(text, view.rows, " ".join(notes), accept, base)

        def closed(accepted: str | None) -> None:
            self._drafts.pop(proposal.id, None)
            if accepted is None and (left := dialog.left) != view.text:
                self._drafts[proposal.id] = base, left
                self.app.show_message("Your text is kept. Press e to open it again.")

        self.app.push_screen(dialog, closed)

    def _accept_text(self, proposal_id: str, opened: str, text: str) -> str:
        """Accept the edited text, on a thread; return why that is refused, or an empty text."""
        try:
            self._show_report(self._session.accept_edited(proposal_id, text, opened))
        except SkilldError as error:
            return error_text(error)
        finally:
            self.app.call_from_thread(self.fill)
        return ""

    def _decide_with(self, decide: Callable[[T], DecisionReport], answer: T | None) -> None:
        """Decide with the answer of a dialog; None means that it was cancelled."""
        if answer is not None:
            self._decide(partial(decide, answer))

    @on_thread("decide")
    def _decide(self, decide: Callable[[], DecisionReport]) -> None:
        try:
            self._show_report(decide())
        finally:
            self.app.call_from_thread(self.fill)

    def _show_report(self, report: DecisionReport) -> None:
        for lines, severity in ((report.lines, "information"), (report.warnings, "warning")):
            if lines:
                self.app.call_from_thread(self.app.show_message, "\n".join(lines), severity)
