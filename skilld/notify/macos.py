"""Notices and windows on macOS through `osascript`, for a Python that is no app bundle.

The scripts are constants; what is shown is an argument of theirs, never part of their text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

_NOTICE = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)
_WINDOW = (
    "on run argv",
    'tell application "Terminal" to do script (item 1 of argv)',
    'tell application "Terminal" to activate',
    "end run",
)


def window(command: str) -> list[str]:
    """Return the program that runs a shell command in a new window of Terminal."""
    return _script(_WINDOW, command)


async def show(title: str, message: str) -> str:
    """Show a notice; return why it was not shown, or nothing. Cancelled, it leaves no process behind."""
    try:
        process = await asyncio.create_subprocess_exec(
            *_script(_NOTICE, title, message),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return "this system shows no notices for programs without an app bundle"
    try:
        code = await process.wait()
    except asyncio.CancelledError:
        process.kill()
        raise
    return f"osascript ended with {code}" if code else ""


def _script(lines: Sequence[str], *arguments: str) -> list[str]:
    return ["osascript", *(part for line in lines for part in ("-e", line)), "--", *arguments]
