"""A terminal for one interactive program: tmux on a socket of its own, keys in, screen out.

The program runs under `env -i` with exactly the variables given, so nothing of the developer's session leaks in.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

from skilld.caller.clients import is_alive
from support.waiting import LIMIT, pause, wait_for

COLUMNS, ROWS = 150, 50
KEY_PAUSE = 0.3  # text and Enter in one burst are taken for a paste by several clients
STILL = 0.5  # seconds without any change after which a screen counts as drawn
_TARGET = "=pane:"


class Terminal:
    """Runs `command` in `cwd` while the context lasts. Waits fail with the last screen in the message."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        size: tuple[int, int] = (COLUMNS, ROWS),
    ) -> None:
        self._size = size
        self._home = environment["HOME"]
        self._environment = dict(environment)
        self._command = [str(part) for part in command]
        self._cwd = cwd
        # Short on purpose: a socket's path has at most 107 bytes, and pytest's folders are deep.
        self._folder = Path(tempfile.mkdtemp(prefix="live-"))

    def __enter__(self) -> Self:
        variables = [f"{name}={value}" for name, value in self._environment.items()]
        command = shlex.join(["env", "-i", *variables, *self._command])
        configuration = self._folder / "tmux.conf"
        configuration.write_text("set -g remain-on-exit on\nset -g status off\nset -sg escape-time 10\n")
        size = ["-x", str(self._size[0]), "-y", str(self._size[1])]
        place = ["-s", "pane", "-c", str(self._cwd)]
        self._tmux("-f", str(configuration), "new-session", "-d", *size, *place, f"exec {command}")
        return self

    def __exit__(self, *_: object) -> None:
        self._tmux("kill-server", check=False)
        shutil.rmtree(self._folder, ignore_errors=True)

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        self._tmux("resize-window", "-t", _TARGET, "-x", str(columns), "-y", str(rows))

    def screen(self) -> str:
        """Return what is on the screen, without the blanks at the ends of lines."""
        return self._tmux("capture-pane", "-p", "-t", _TARGET)

    def ended(self) -> bool:
        """Whether the program has exited (its last screen stays readable). tmux (3.3a) may notice it late."""
        return self._tmux("list-panes", "-t", _TARGET, "-F", "#{pane_dead}").strip() == "1" or not is_alive(self.pid)

    @property
    def pid(self) -> int:
        """The process of the program."""
        return int(self._tmux("list-panes", "-t", _TARGET, "-F", "#{pane_pid}"))

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names (`Enter`, `Escape`, `C-u`)."""
        self._tmux("send-keys", "-t", _TARGET, *keys)

    def type(self, text: str) -> None:
        """Type one line and wait until its end is on the screen; Enter is not pressed."""
        self._tmux("send-keys", "-t", _TARGET, "-l", text)
        tail = text.rsplit(maxsplit=1)[-1]
        self.wait(f"{text!r} to be echoed", lambda screen: tail in screen)
        pause(KEY_PAUSE)

    def enter(self, text: str) -> None:
        """Type one line and press Enter."""
        self.type(text)
        self.press("Enter")

    def wait(self, what: str, holds: Callable[[str], bool], limit: float = LIMIT) -> str:
        """Wait until `holds(screen)`, and return that screen."""
        screen = ""

        def probe() -> bool:
            nonlocal screen
            screen = self.screen()
            return holds(screen)

        wait_for(what, probe, limit, every=0.1, context=lambda: f"--- last screen ---\n{screen.rstrip()}\n---")
        return screen

    def wait_until_still(self, what: str, holds: Callable[[str], bool], limit: float = LIMIT) -> str:
        """Wait until `holds(screen)` and nothing on the screen has changed for a moment."""
        last, unchanged = "", 0.0
        step = 0.1

        def still(screen: str) -> bool:
            nonlocal last, unchanged
            unchanged = unchanged + step if screen == last and holds(screen) else 0.0
            last = screen
            return unchanged >= STILL

        return self.wait(what, still, limit)

    def _tmux(self, *arguments: str, check: bool = True) -> str:
        command = ["tmux", "-S", str(self._folder / "socket"), *arguments]
        environment = {"PATH": os.environ["PATH"], "HOME": self._home, "LANG": "C.UTF-8", "SHELL": "/bin/bash"}
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=LIMIT)
        if check and result.returncode:
            raise AssertionError(f"tmux {arguments[0]} failed: {result.stderr.strip()}")
        return result.stdout
