"""Drives the review in this process with Textual's pilot: keys in, the screen as text out."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from textual import _wait, screen
from textual._compositor import Compositor
from textual.app import App
from textual.pilot import Pilot

from skilld.cli import common
from skilld.cli.inventory import all_skills
from skilld.cli.review import _start_generation
from skilld.cli.terminal import edit
from skilld.paths import places
from skilld.review.app import ReviewApp
from skilld.review.controller import ReviewContext, ReviewSession
from skilld.review.proposals_pane import ProposalsPane
from skilld.skills.set_aside import trash_folder
from support.waiting import LIMIT

SIZE = (80, 24)
# Textual's pilot takes an app for idle that did nothing for 20 ms, and asks four times a key: 24 s of waiting for the
# table of keys. What is drawn on a timer has to come within that time too.
_wait.SLEEP_GRANULARITY = 0.01
_wait.SLEEP_IDLE = 0.0005
screen.UPDATE_PERIOD = 0.008  # type: ignore[misc]  # a constant of Textual's


def _draw_nothing(compositor: Compositor, **_: object) -> None:
    """Draw no updates: without a terminal nobody sees them, and they took a quarter of the time. `Screen.text` does."""
    compositor._dirty_regions.clear()


draw_update = Compositor.render_update  # for the tool that takes pictures
Compositor.render_update = _draw_nothing  # type: ignore[assignment]


class Screen:
    """What is on the screen, and the keys."""

    def __init__(self, app: App[Any], pilot: Pilot[Any]) -> None:
        self.app = app
        self._pilot = pilot

    @property
    def text(self) -> str:
        """The lines of the screen."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    @property
    def pane(self) -> ProposalsPane:
        return self.app.query_one(ProposalsPane)

    @property
    def open(self) -> list[str]:
        """The ids in the list."""
        return list(self.pane._items)

    async def press(self, *keys: str) -> None:
        """Press one key after the other, each when what the one before it did has reached every widget."""
        for key in keys:
            await self._pilot.press(key)
            await self._pilot.pause()

    async def click(self, selector: str, offset: tuple[int, int]) -> None:
        await self._pilot.click(selector, offset=offset)
        await self._pilot.pause()

    async def until(self, what: str, holds: Callable[[], object]) -> None:
        """Wait until `holds()`."""
        end = time.monotonic() + LIMIT
        while not holds():
            assert time.monotonic() < end, f"waited for {what}; the screen is\n{self.text}"
            await self._pilot.pause(0.03)

    async def shows(self, *texts: str) -> None:
        """Wait until all the texts are on the screen."""
        await self.until(" and ".join(map(repr, texts)), lambda: all(text in self.text for text in texts))

    async def settle(self) -> None:
        """Wait until nothing works in the background; what is no longer wanted may be cancelled meanwhile."""
        await self.until("the workers to end", lambda: all(worker.is_finished for worker in self.app.workers))

    async def read(self) -> None:
        """Wait until the chosen proposal is read."""
        await self.until("it to be read", lambda: (item := self.pane.chosen) and item.id in self.pane._views)


def review_session(home: Path) -> ReviewSession:
    """Return a review session on the store of the home in HOME, which is created as `review` creates it."""
    where = places()
    if not where.database.exists():
        common.store().close()
    return ReviewSession(
        ReviewContext(
            database=where.database,
            open_store=common.store,
            find_skills=all_skills,
            home=home,
            environment=dict(os.environ),
            trash=trash_folder(home, where.data.parent, sys.platform),
            redaction_key=where.redaction_key,
        )
    )


def review(
    review_session: ReviewSession, story: Callable[[Screen], Awaitable[None]], *ids: str, size: tuple[int, int] = SIZE
) -> None:
    """Run the review, at 80x24 unless told otherwise, and let `story` drive it."""

    async def run() -> None:
        app = ReviewApp(review_session, ids, 5, edit, _start_generation)
        async with app.run_test(size=size, notifications=True) as pilot:
            screen = Screen(app, pilot)
            await screen.settle()
            await story(screen)
            await screen.settle()

    asyncio.run(run())
