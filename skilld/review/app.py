"""The review on a full screen: five tabs, in the terminal's own colours.

Whatever reads git, transcripts or the disk runs on threads; the screen only shows the results.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.notifications import SeverityLevel
from textual.widgets import TabbedContent, TabPane

from skilld.console import message
from skilld.errors import SkilldError
from skilld.review.controller import ReviewSession
from skilld.review.dialogs import CSS as DIALOGS
from skilld.review.dialogs import KeyBar, KeysApp, Messages, Pane
from skilld.review.failures import error_text
from skilld.review.generation import Generation
from skilld.review.panes import ReportPane, SessionsPane, SkillsPane, WaitingPane
from skilld.review.proposals_pane import ProposalsPane

_MESSAGE_SECONDS = 20  # long, as a message covers nothing
_STYLES: Mapping[SeverityLevel, str] = {"information": "green", "warning": "yellow", "error": "red"}

Editor = Callable[[str, Callable[[], AbstractContextManager[object]], str], str]


class ReviewApp(KeysApp[None]):
    """The whole review. `turns` make a batch, `editor` is the person's own, `generating` starts the three steps."""

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
        *(
            Binding(str(number), f"tab('{name}')", "Tab", show=False, tooltip="Go to the tab with this number")
            for number, name in enumerate(("proposals", "skills", "sessions", "waiting", "report"), 1)
        ),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(
        self,
        session: ReviewSession,
        ids: Collection[str],
        turns: int,
        editor: Editor,
        generating: Callable[[], Generation] | None = None,
    ) -> None:
        super().__init__()
        self.generating = generating
        self.session = session
        self._ids = ids
        self._turns = turns
        self._editor = editor

    def compose(self) -> ComposeResult:
        with TabbedContent(id="tabs"):
            yield TabPane("1 Proposals", ProposalsPane(self.session, self._ids), id="proposals")
            yield TabPane("2 Skills", SkillsPane(self.session), id="skills")
            yield TabPane("3 Sessions", SessionsPane(self.session, self._turns), id="sessions")
            yield TabPane("4 Learnings", WaitingPane(self.session), id="waiting")
            yield TabPane("5 Report", ReportPane(self.session), id="report")
        yield Messages()
        yield KeyBar()

    def action_tab(self, name: str) -> None:
        self.query_one("#tabs", TabbedContent).active = name
        self.query_one(f"#{name}").query(Pane).first(Pane).enter()

    @on(TabbedContent.TabActivated)
    def _focus_pane(self, event: TabbedContent.TabActivated) -> None:
        """Focus a tab that was chosen with the mouse."""
        pane = event.pane.query(Pane).first(Pane)
        if not pane.has_focus_within:
            pane.enter()

    def show_message(self, text: str, severity: SeverityLevel = "information") -> None:
        """Show a text above the key bar, after making it safe for the terminal."""
        content = Content.styled(_safe_lines(text), _STYLES[severity])
        self.screen_stack[0].query_one(Messages).add(content, _MESSAGE_SECONDS)

    def show_error(self, error: SkilldError) -> None:
        self.show_message(error_text(error), "error")

    def hide_message(self, text: str) -> None:
        """Remove a message that is no longer true."""
        self.screen_stack[0].query_one(Messages).hide(_safe_lines(text))

    def edit_outside(self, text: str, name: str = "SKILL.md") -> str:
        """Return a text as edited in the person's own editor, in a file called `name`; the screen is suspended."""
        return self._editor(text, self.suspend, name)


def _safe_lines(text: str) -> str:
    """Return the lines of a text as a terminal may show them, with `~` for the home folder."""
    return "\n".join(map(message, text.split("\n")))
