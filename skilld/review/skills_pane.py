"""The skills tab: search, copy how to use one, edit it in your editor, move it to the trash."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Input, Static

from skilld.errors import SkilldError
from skilld.library.rows import LibraryRow, matches
from skilld.mining.proposing import CandidateResult
from skilld.review import draw
from skilld.review.controller import ReviewSession, no_skill
from skilld.review.dialogs import ConfirmDialog, Pane, Rows, SearchField
from skilld.review.generate_screen import SessionsStep
from skilld.review.proposals_pane import ProposalsPane

if TYPE_CHECKING:
    from skilld.review.app import ReviewApp


class SkillsPane(Pane):
    """The person's skills."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", tooltip="Search your skills"),
        Binding("c", "use", "Copy", tooltip="Copy what you type to use it"),
        Binding("y", "path", "Path", tooltip="Copy its path"),
        Binding("o", "edit", "$EDITOR", tooltip="Edit it in $EDITOR"),
        Binding("x", "switch", "On/off", tooltip="Turn it on or off for agents"),
        Binding("d", "delete", "Delete", tooltip="Move it to the trash"),
        Binding("n", "generate", "New", tooltip="Create skills from past sessions"),
    ]
    app: ReviewApp

    def __init__(self, sitting: ReviewSession) -> None:
        super().__init__()
        self._sitting = sitting
        self._all: list[LibraryRow] = []
        self._shown: list[LibraryRow] = []

    def compose(self) -> ComposeResult:
        """Put the search and the list on the screen."""
        yield SearchField(placeholder="/ to search", id="search", classes="search")
        yield Rows("skills-list")
        with VerticalScroll(classes="detail", can_focus=False):
            yield Static(id="skill-detail")

    def on_mount(self) -> None:
        """Read the skills."""
        self.rows.take_columns(draw.SKILL_COLUMNS)
        self._read()

    def enter(self) -> None:
        """Take the keys, and look again."""
        super().enter()
        self._read()

    @property
    def chosen(self) -> LibraryRow | None:
        """The skill that the cursor is on."""
        row = self.rows.cursor_row
        return self._shown[row] if 0 <= row < len(self._shown) else None

    @work(thread=True, exclusive=True, group="skills")
    def _read(self) -> None:
        found = self._sitting.skills()
        self.app.call_from_thread(self._take, found)

    def _take(self, found: list[LibraryRow]) -> None:
        self._all = found
        self._fill()

    @on(Input.Changed, "#search")
    def _fill(self) -> None:
        words = self.query_one("#search", Input).value
        row, now = self.rows.cursor_row, time.time()
        self._shown = [skill for skill in self._all if matches(skill, words)]
        self.rows.clear()
        for skill in self._shown:
            self.rows.add_row(*draw.skill_cells(skill, self._sitting.home, now))
        self.rows.move_cursor(row=max(0, min(row, len(self._shown) - 1)))
        self._show()

    @on(Rows.RowHighlighted, "#skills-list")
    def _show(self) -> None:
        skill = self.chosen
        self.query_one("#skill-detail", Static).update(
            draw.skill_detail(skill, self._sitting.home) if skill else no_skill(has_any=bool(self._all))
        )

    @on(Input.Submitted, "#search")
    def _found(self) -> None:
        self.rows.focus()

    def action_search(self) -> None:
        """Take the keys to the search."""
        self.query_one("#search", Input).focus()

    def action_use(self) -> None:
        """Copy what a person types to use it."""
        if skill := self.chosen:
            self._copy(skill.invocation)

    def action_path(self) -> None:
        """Copy where it lies."""
        if skill := self.chosen:
            self._copy(str(skill.path))

    def _copy(self, text: str) -> None:
        self.app.copy_to_clipboard(text)
        self.notify(f"Copied {draw.safe(text)}", markup=False)

    def action_edit(self) -> None:
        """Open it in the person's editor."""
        if (skill := self.chosen) is None:
            return
        try:
            if self._sitting.edit_skill(skill, self.app.edit_outside):
                self.notify(f"Changed {draw.safe(skill.name)}", markup=False)
        except SkilldError as error:
            self.notify(draw.safe(str(error)), severity="error", markup=False)

    def action_switch(self) -> None:
        """Have skilld offer it to agents no more, or again; what they load by themselves is theirs."""
        if skill := self.chosen:
            offered = self._sitting.switch_skill(skill)
            said = "is offered to agents again" if offered else "is no longer offered to agents"
            self.notify(f"{draw.safe(skill.name)} {said}", markup=False)
            self._read()

    def action_generate(self) -> None:
        """Begin the three steps from past sessions to new skills."""
        try:
            steps = self.app.generating() if self.app.generating else None
        except SkilldError as error:
            self.notify(draw.safe(str(error)), severity="error", markup=False)
            return
        if steps is not None:
            self.app.push_screen(SessionsStep(steps), self._generated)

    def _generated(self, became: list[CandidateResult] | None) -> None:
        for one in became or ():
            said = f"{one.candidate.name}: {one.why_not or 'proposed'}"
            self.notify(draw.safe(said), severity="warning" if one.why_not else "information", markup=False)
        if became:
            self.app.query_one(ProposalsPane).fill()

    def action_delete(self) -> None:
        """Ask, and move it to the trash."""
        skill = self.chosen
        if skill is None:
            return
        question = f"Move {skill.path.parent} to the trash? Nothing will be committed."

        def answered(sure: bool | None) -> None:  # noqa: FBT001 - Textual's signature
            if sure:
                self._delete(skill)

        self.app.push_screen(ConfirmDialog(question, skill.name), answered)

    def _delete(self, skill: LibraryRow) -> None:
        try:
            place = self._sitting.delete_skill(skill)
        except SkilldError as error:
            self.notify(draw.safe(str(error)), severity="error", markup=False)
            return
        self.notify(f"Moved to {draw.safe(str(place))}.", markup=False)
        self._read()
