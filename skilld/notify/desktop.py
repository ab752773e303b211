"""Desktop notices through desktop-notifier, on their own thread: one that fails or hangs delays nothing.

Measured: without a session bus it raises at once; a notification server that hangs answers after 30 s, so every call
has its own limit; loading the library, which takes seconds on a busy machine, is no part of it. On macOS the system's
script runner is asked: by its source the library says there that it showed what it did not where Python is not signed
(Homebrew's), and its buttons need a CFRunLoop in the main thread, which the daemon has not. Where nothing can be shown
the terminal's bell rings, if there is one.
"""

from __future__ import annotations

import asyncio
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from html import unescape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from skilld.errors import cause_of
from skilld.logs import get_logger
from skilld.notify.notice import REVIEW, Notice

if TYPE_CHECKING:
    from desktop_notifier import DesktopNotifier


# For `osascript`. The scripts are constants; what is shown is an argument of theirs, never part of their text.
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
        return "this system does not show notifications from programs without an app bundle"
    try:
        code = await process.wait()
    except asyncio.CancelledError:
        process.kill()
        raise
    return f"osascript exited with {code}" if code else ""


def _script(lines: Sequence[str], *arguments: str) -> list[str]:
    return ["osascript", *(part for line in lines for part in ("-e", line)), "--", *arguments]


log = get_logger()

TITLE = "skilld"
_SECONDS = 10.0

Pressed = Callable[[str], None]


def ignored(action: str) -> None:
    """Do nothing when a notice without a meaning of its own is clicked."""
    del action


class Desktop:
    """The notification centre of the person's desktop. `bell` is rung where it cannot be reached."""

    def __init__(self, bell: Callable[[], None] | None = None) -> None:
        self._bell = bell
        self._loop: asyncio.AbstractEventLoop | None = None
        self._notifier: DesktopNotifier | None = None
        self._last = ""  # the notice on the screen: a newer one takes its place

    def show(self, notice: Notice, pressed: Pressed = ignored) -> Future[str]:
        """Show one notice and return at once; the future has why it was not shown, or nothing.

        `pressed` is called on this object's own thread with the action of the button, `review` for a click.
        """
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name="notices", daemon=True).start()
        return asyncio.run_coroutine_threadsafe(self._deliver(notice, pressed), self._loop)

    async def _deliver(self, notice: Notice, pressed: Pressed) -> str:
        try:
            if sys.platform == "darwin":
                sending = show(TITLE, unescape(notice.message))
            else:
                notifier = self._notifier = self._notifier or _library()
                sending = self._send(notifier, notice, pressed)
            why = await asyncio.wait_for(sending, _SECONDS)
        except TimeoutError:
            why = "the notification service is not responding"
        except Exception as error:  # noqa: BLE001 - a notice must never harm; back-ends raise what their buses raise
            reason = getattr(error, "strerror", "")  # of others the name of a class would be all there is to say
            why = f"no notification service ({reason})" if reason else "no notification service"
        if why:
            self._hang_up()
            if self._bell is not None:
                self._bell()
        log.info("notice", outcome=why or "shown")
        return why

    async def _send(self, notifier: DesktopNotifier, notice: Notice, pressed: Pressed) -> str:
        from desktop_notifier import Button, Urgency

        await notifier.get_capabilities()  # raises where there is no bus; sending only logs it
        dispatched = asyncio.Event()
        if self._last in await notifier.get_current_notifications():
            await notifier.clear(self._last)
        self._last = await notifier.send(
            title=TITLE,
            message=notice.message,
            urgency=Urgency.Low,
            buttons=[
                Button(title=title, identifier=action, on_pressed=partial(pressed, action))
                for action, title in notice.buttons
            ],
            on_clicked=partial(pressed, REVIEW) if notice.buttons else None,
            on_dispatched=dispatched.set,
        )
        # The library logs what the bus refuses, and returns as if it had been shown.
        return "" if dispatched.is_set() else "the notification service did not accept the notification"

    def _hang_up(self) -> None:
        """Let go of a connection that does not work; the next notice makes another."""
        bus = getattr(getattr(self._notifier, "_backend", None), "bus", None)
        if bus is not None:
            bus.disconnect()
        self._notifier = None


def _library() -> DesktopNotifier:
    """Load the library and its back-end."""
    from desktop_notifier import DesktopNotifier, Icon

    icon = Path(str(resources.files("skilld.notify").joinpath("icon.svg")))
    return DesktopNotifier(app_name=TITLE, app_icon=Icon(path=icon))


# What the buttons of a notice do: run skilld's own verb as the person would, or open the review in a terminal.
# They block: call them on a thread of their own.

_BUTTON_SECONDS = 120.0  # a commit may run hooks, and ask for the key's passphrase
_AT_ONCE_SECONDS = 3.0  # a terminal that cannot start has ended by then
# How a terminal is told what to run, where it is not by -e.
_BEFORE_COMMAND = {"gnome-terminal": ["--"], "ptyxis": ["--"], "wezterm": ["start", "--"]}


def decide(verb: str, proposal: str, environment: Mapping[str, str]) -> str:
    """Run `skilld accept` or `skilld reject`; return why it did not work, as it says itself, or nothing."""
    try:
        done = subprocess.run(
            [*_skilld(), verb, proposal],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_BUTTON_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {_BUTTON_SECONDS:.0f} seconds"
    except OSError as error:
        return cause_of(error)
    if done.returncode == 0:
        return ""
    said = [line for line in done.stderr.splitlines() if line.strip()]
    return " ".join(line.strip().removeprefix("skilld: ") for line in said) or f"exit code {done.returncode}"


def review(proposals: Sequence[str], environment: Mapping[str, str]) -> str:
    """Open the review in a terminal; return what to type instead where there is none, or nothing."""
    by_hand = "no terminal was found. Run: skilld review"
    command = terminal_command([*_skilld(), "review", *proposals], environment, sys.platform)
    if command is None:
        return by_hand
    try:
        window = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return by_hand
    try:
        return by_hand if window.wait(_AT_ONCE_SECONDS) else ""
    except subprocess.TimeoutExpired:
        window.wait()  # until the person closes it: nothing else reaps it
        return ""


def terminal_command(command: Sequence[str], environment: Mapping[str, str], platform: str) -> list[str] | None:
    """Return the program that opens a terminal in which `command` runs, or None if none can be opened."""
    if platform == "darwin":
        return window(shlex.join(command))
    if not (environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")):
        return None
    for wanted in (shlex.split(environment.get("TERMINAL", "")), ["x-terminal-emulator"]):
        if wanted and (found := shutil.which(wanted[0], path=environment.get("PATH"))):
            return [found, *wanted[1:], *_BEFORE_COMMAND.get(Path(found).resolve().name, ["-e"]), *command]
    return None


def _skilld() -> list[str]:
    return [sys.executable, "-P", "-m", "skilld"]
