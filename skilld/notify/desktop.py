"""Desktop notices through desktop-notifier, on a thread of their own, so that a failing or hanging one delays nothing.

Measured: without a session bus it raises at once; a hanging notification server answers after 30 s, so every call has
a time limit, which does not include loading the library (seconds on a busy machine). On macOS osascript is used
instead: according to its source, the library reports success there without showing anything if Python is not signed
(Homebrew's), and its buttons need a CFRunLoop in the main thread, which the daemon does not have. If nothing can be
shown, the terminal's bell rings, if there is one.
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


# For `osascript`. The scripts are constants; the texts to show are passed as arguments, never as part of a script.
_NOTICE_SCRIPT = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)
_WINDOW_SCRIPT = (
    "on run argv",
    'tell application "Terminal" to do script (item 1 of argv)',
    'tell application "Terminal" to activate',
    "end run",
)


async def show_with_osascript(title: str, message: str) -> str | None:
    """Show a notice; return why it was not shown, None if it was. If cancelled, it leaves no process behind."""
    try:
        process = await asyncio.create_subprocess_exec(
            *_osascript(_NOTICE_SCRIPT, title, message),
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
    return f"osascript exited with {code}" if code else None


def _osascript(lines: Sequence[str], *arguments: str) -> list[str]:
    return ["osascript", *(part for line in lines for part in ("-e", line)), "--", *arguments]


log = get_logger()

TITLE = "skilld"
_SHOW_SECONDS = 10.0

OnPressed = Callable[[str], None]


class Desktop:
    """The person's notification centre. `bell` is rung if it cannot be reached."""

    def __init__(self, bell: Callable[[], None] | None = None) -> None:
        self._bell = bell
        self._loop: asyncio.AbstractEventLoop | None = None
        self._notifier: DesktopNotifier | None = None
        self._last = ""  # the notice on the screen, which a newer one replaces

    def show(self, notice: Notice, on_press: OnPressed = lambda _: None) -> Future[str | None]:
        """Show a notice and return at once; the future's result is why it was not shown, None if it was.

        `on_press` is called on this object's own thread with the action of the button, `review` for a click.
        """
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name="notices", daemon=True).start()
        return asyncio.run_coroutine_threadsafe(self._deliver(notice, on_press), self._loop)

    async def _deliver(self, notice: Notice, on_press: OnPressed) -> str | None:
        try:
            if sys.platform == "darwin":
                sending = show_with_osascript(TITLE, unescape(notice.message))
            else:
                notifier = self._notifier = self._notifier or _load_notifier()
                sending = self._send(notifier, notice, on_press)
            why = await asyncio.wait_for(sending, _SHOW_SECONDS)
        except TimeoutError:
            why = "the notification service is not responding"
        except Exception as error:  # noqa: BLE001 - a notice must never do harm; back-ends raise whatever a bus raises
            reason = getattr(error, "strerror", "")  # the class names of other errors would not help
            why = f"no notification service ({reason})" if reason else "no notification service"
        if why:
            self._disconnect()
            if self._bell is not None:
                self._bell()
        log.info("notice", outcome=why or "shown")
        return why

    async def _send(self, notifier: DesktopNotifier, notice: Notice, on_press: OnPressed) -> str | None:
        from desktop_notifier import Button, Urgency

        await notifier.get_capabilities()  # raises if there is no bus; sending only logs that
        dispatched = asyncio.Event()
        if self._last in await notifier.get_current_notifications():
            await notifier.clear(self._last)
        made = [Button(title, partial(on_press, action), action) for action, title in notice.buttons]
        self._last = await notifier.send(
            title=TITLE,
            message=notice.message,
            urgency=Urgency.Low,
            buttons=made,
            on_clicked=partial(on_press, REVIEW) if notice.buttons else None,
            on_dispatched=dispatched.set,
        )
        # If the bus refuses it, the library only logs that and returns as if it had been shown.
        return None if dispatched.is_set() else "the notification service did not accept the notification"

    def _disconnect(self) -> None:
        """Close a connection that does not work; the next notice opens another."""
        bus = getattr(getattr(self._notifier, "_backend", None), "bus", None)
        if bus is not None:
            bus.disconnect()
        self._notifier = None


def _load_notifier() -> DesktopNotifier:
    from desktop_notifier import DesktopNotifier, Icon

    icon = Path(str(resources.files("skilld.notify").joinpath("icon.svg")))
    return DesktopNotifier(app_name=TITLE, app_icon=Icon(path=icon))


# What a notice's buttons do: run a verb of skilld as the person would, or open the review in a terminal.
# These functions block: call them on a thread of their own.

_BUTTON_SECONDS = 120.0  # a commit may run hooks, or ask for a key's passphrase
_START_SECONDS = 3.0  # a terminal that cannot start has exited by then
# The options before the command to run, for terminals that do not take -e.
_COMMAND_OPTIONS = {"gnome-terminal": ["--"], "ptyxis": ["--"], "wezterm": ["start", "--"]}


def run_decision(verb: str, proposal: str, environment: Mapping[str, str]) -> str | None:
    """Run `skilld accept` or `skilld reject`; return its error message, None if it worked."""
    try:
        done = subprocess.run(
            [*_skilld_command(), verb, proposal],
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
        return None
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return " ".join(line.strip().removeprefix("skilld: ") for line in lines) or f"exit code {done.returncode}"


def open_review(proposals: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """Open the review in a terminal; if there is none, return what to type instead."""
    by_hand = "no terminal was found. Run: skilld review"
    command = terminal_command([*_skilld_command(), "review", *proposals], environment, sys.platform)
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
        return by_hand if window.wait(_START_SECONDS) else None
    except subprocess.TimeoutExpired:
        window.wait()  # reaps the process when the person closes it
        return None


def terminal_command(command: Sequence[str], environment: Mapping[str, str], platform: str) -> list[str] | None:
    """Return the command that runs `command` in a new terminal, or None if none can be opened."""
    if platform == "darwin":
        return _osascript(_WINDOW_SCRIPT, shlex.join(command))
    if not (environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")):
        return None
    for wanted in (shlex.split(environment.get("TERMINAL", "")), ["x-terminal-emulator"]):
        if wanted and (found := shutil.which(wanted[0], path=environment.get("PATH"))):
            return [found, *wanted[1:], *_COMMAND_OPTIONS.get(Path(found).resolve().name, ["-e"]), *command]
    return None


def _skilld_command() -> list[str]:
    return [sys.executable, "-P", "-m", "skilld"]
