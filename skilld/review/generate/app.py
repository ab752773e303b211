"""The three steps on a screen: which sessions, what of it, under which names. Escape leaves with nothing proposed."""

from __future__ import annotations

from textual.app import App

from skilld.mining.proposing import Became
from skilld.review.dialogs import CSS as DIALOGS
from skilld.review.generate.generating import Generating
from skilld.review.generate.sessions import SessionsStep


class GenerateApp(App[list[Became]]):
    """The three steps alone."""

    TITLE = "skilld mine"
    ENABLE_COMMAND_PALETTE = False
    CSS = DIALOGS

    def __init__(self, generating: Generating) -> None:
        super().__init__()
        self._generating = generating
        self.theme = "ansi-dark"

    def on_mount(self) -> None:
        """Show the first step."""
        self.push_screen(SessionsStep(self._generating), self.exit)
