"""Desktop notices through desktop-notifier, on a thread of their own: a notice that fails or hangs costs nothing.

Measured: without a session bus it raises at once; a notification server that hangs answers after 30 s, so every call
has its own limit. On macOS outside an app bundle it takes a dummy that shows nothing: an empty capability set tells.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from skilld.text import safe_text
from skilld.types import Proposal, State

if TYPE_CHECKING:
    from desktop_notifier import DesktopNotifier

log = structlog.get_logger()

_SECONDS = 5.0
_REPLACED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class Desktop:
    """The notification centre of the person's desktop."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._notifier: DesktopNotifier | None = None

    def show(self, message: str) -> Future[str]:
        """Show one notice and return at once; the future has why it was not shown, or nothing."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name="notices", daemon=True).start()
        return asyncio.run_coroutine_threadsafe(self._deliver(message), self._loop)

    async def _deliver(self, message: str) -> str:
        try:
            why = await asyncio.wait_for(self._send(message), _SECONDS)
        except TimeoutError:
            why = "the notification service does not answer"
        except Exception as error:  # noqa: BLE001 - a notice must never harm; back-ends raise what their buses raise
            why = f"no notification service ({type(error).__name__})"
        log.info("notice", outcome=why or "shown")
        return why

    async def _send(self, message: str) -> str:
        from desktop_notifier import DesktopNotifier, Icon, Urgency

        if self._notifier is None:
            icon = Path(str(resources.files("skilld.notify").joinpath("icon.svg")))
            self._notifier = DesktopNotifier(app_name="skilld", app_icon=Icon(path=icon))
        if not await self._notifier.get_capabilities():
            return "this system shows no notices for programs without an app bundle"
        await self._notifier.send(title="skilld", message=message, urgency=Urgency.Low)
        return ""


def about_new(proposals: Sequence[Proposal]) -> str:
    """Return what a notice says about proposals just made: which wait, which auto mode applied and how to undo it."""
    waiting = [proposal.skill for proposal in proposals if proposal.state is State.OPEN]
    applied = [(proposal.skill, proposal.id) for proposal in proposals if proposal.state is State.ACCEPTED]
    return " ".join([*([about_proposals(waiting)] if waiting else []), *([about_applied(applied)] if applied else [])])


def about_applied(applied: Sequence[tuple[str, str]]) -> str:
    """Return what a notice says about proposals that were applied unasked, given as (skill, id)."""
    names = ", ".join(dict.fromkeys(_name(skill) for skill, _ in applied))
    return f"Applied to {names}. Undo: skilld revert {' '.join(proposal for _, proposal in applied)}"


def about_proposals(skills: Sequence[str]) -> str:
    """Return what a notice says about proposals to these skills: counts and names, never a word of a transcript."""
    counts = Counter(_name(name) for name in skills)
    parts = [f"{name} ({count})" if count > 1 else name for name, count in counts.items()]
    number = sum(counts.values())
    return f"{number} skill update{'' if number == 1 else 's'} to look at: {', '.join(parts)}. Run: skilld proposals"


def _name(skill: str) -> str:
    return safe_text(skill)[:64].translate(_REPLACED)


def about_budget(why: str) -> str:
    """Return what a notice says when today's budget is spent."""
    return f"The budget is spent: {why}. What is due waits until tomorrow. Run: skilld cost"
