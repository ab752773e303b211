"""The review on a screen: five tabs over one session, in the terminal's own colours.

Whatever reads git, transcripts or the disk runs on threads; the screen only shows what comes back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static, TabbedContent, TabPane

from skilld.review import draw
from skilld.review.controller import ReviewSession
from skilld.review.dialogs import CSS as DIALOGS
from skilld.review.dialogs import KeyLine, KeysApp, Pane, Rows
from skilld.review.generating import Generation
from skilld.review.proposals_pane import ProposalsPane
from skilld.review.report_pane import ReportPane
from skilld.review.skills_pane import SkillsPane
from skilld.review.waiting_pane import WaitingPane
from skilld.store.overview import LiveSession

# The tab of live sessions: how many turns were said, and how many more make a batch.

_AGAIN = 5.0  # seconds


class SessionsPane(Pane):
    """The sessions of the last day; `turns` make a batch."""

    def __init__(self, sitting: ReviewSession, turns: int) -> None:
        super().__init__()
        self._sitting = sitting
        self._turns = turns
        self._found: list[LiveSession] = []

    def compose(self) -> ComposeResult:
        """Put the list on the screen."""
        yield Rows("sessions-list")
        with VerticalScroll(classes="detail", can_focus=False):
            yield Static(id="session-detail")

    def on_mount(self) -> None:
        """Read the sessions, and again every few seconds."""
        self.rows.take_columns(draw.SESSION_COLUMNS)
        self._read()
        self.set_interval(_AGAIN, self._read)

    @work(thread=True, exclusive=True, group="sessions")
    def _read(self) -> None:
        found = self._sitting.sessions()
        self.app.call_from_thread(self._fill, found)

    def _fill(self, found: list[LiveSession]) -> None:
        row, now = self.rows.cursor_row, time.time()
        self._found = found
        self.rows.clear()
        for session in found:
            self.rows.add_row(*draw.session_cells(session, self._turns, now))
        self.rows.move_cursor(row=max(0, min(row, len(found) - 1)))
        self._show()

    @on(Rows.RowHighlighted, "#sessions-list")
    def _show(self) -> None:
        row, detail = self.rows.cursor_row, self.query_one("#session-detail", Static)
        known = 0 <= row < len(self._found)
        detail.update(
            draw.session_detail(self._found[row], self._sitting.home) if known else "No sessions in the last day."
        )


Editor = Callable[[str, Callable[[], AbstractContextManager[object]], str], str]


class ReviewApp(KeysApp[None]):
    """The whole review.

    `turns` is the size of a batch; `editor` opens a text in the person's editor; `generating` begins the three steps.
    """

    TITLE = "skilld review"
    ENABLE_COMMAND_PALETTE = False
    CSS = f"""
    TabbedContent {{ height: 1fr; }}
    TabPane {{ padding: 0; }}
    Rows {{ overflow-x: hidden; height: 1fr; }}
    #detail {{ height: 1fr; border-top: solid ansi_bright_black; }}
    .detail {{ height: auto; max-height: 6; border-top: solid ansi_bright_black; }}
    .search, .search:focus {{ border: none; padding: 0; height: 1; background: ansi_default; }}
    {DIALOGS}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "tab('proposals')", "Tab", show=False, tooltip="Go to that tab"),
        Binding("2", "tab('skills')", "Tab", show=False, tooltip="Go to that tab"),
        Binding("3", "tab('sessions')", "Tab", show=False, tooltip="Go to that tab"),
        Binding("4", "tab('waiting')", "Tab", show=False, tooltip="Go to that tab"),
        Binding("5", "tab('report')", "Tab", show=False, tooltip="Go to that tab"),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(
        self,
        sitting: ReviewSession,
        ids: Collection[str],
        turns: int,
        editor: Editor,
        generating: Callable[[], Generation] | None = None,
    ) -> None:
        super().__init__()
        self.generating = generating
        self.sitting = sitting
        self._ids = ids
        self._turns = turns
        self._editor = editor
        self.theme = "ansi-dark"

    def compose(self) -> ComposeResult:
        """Put the tabs on the screen."""
        with TabbedContent(id="tabs"):
            with TabPane("1 Proposals", id="proposals"):
                yield ProposalsPane(self.sitting, self._ids)
            with TabPane("2 Skills", id="skills"):
                yield SkillsPane(self.sitting)
            with TabPane("3 Sessions", id="sessions"):
                yield SessionsPane(self.sitting, self._turns)
            with TabPane("4 Waiting", id="waiting"):
                yield WaitingPane(self.sitting)
            with TabPane("5 Report", id="report"):
                yield ReportPane(self.sitting)
        yield KeyLine()

    def action_tab(self, name: str) -> None:
        """Show a tab, the keys going to it."""
        self.query_one("#tabs", TabbedContent).active = name
        self.query_one(f"#{name}").query(Pane).first(Pane).enter()

    @on(TabbedContent.TabActivated)
    def _clicked(self, event: TabbedContent.TabActivated) -> None:
        """Give the keys to a tab that was chosen with the mouse, too."""
        pane = event.pane.query(Pane).first(Pane)
        if not pane.has_focus_within:
            pane.enter()

    def edit_outside(self, text: str, name: str = "SKILL.md") -> str:
        """Return a text, called `name`, as the person's own editor leaves it; the screen is theirs meanwhile."""
        return self._editor(text, self.suspend, name)
