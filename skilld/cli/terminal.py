"""The person's terminal: asks questions, opens their editor or their pager."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from io import StringIO
from pathlib import Path
from typing import TextIO

from skilld import console
from skilld.cli.common import as_text
from skilld.errors import RefusedError


def confirm(question: str, title: str, stream: TextIO | None = None) -> bool:
    """Ask the person to confirm, on standard output by default. Raises RefusedError if there is no terminal."""
    if not sys.stdin.isatty():
        raise RefusedError(title, "confirmation needs a terminal", "To skip the confirmation: --yes")
    return ask_yes_no(question, stream or sys.stdout)


def ask_yes_no(question: str, stream: TextIO) -> bool:
    """Print a question, which ends in `[y/N] `; return whether the answer is yes."""
    forget_typed_ahead()
    stream.write(question)
    stream.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def forget_typed_ahead() -> None:
    """Drop the keys that were typed before a question is shown: they cannot be its answer.

    Called before it is written: whoever answers as soon as it can be read, as a script does, must be heard.
    """
    if sys.stdin.isatty():
        import termios

        with suppress(OSError, termios.error):  # the terminal has gone, or it is a stand-in
            termios.tcflush(sys.stdin, termios.TCIFLUSH)


def has_screen() -> bool:
    """Whether there is a terminal that can show a full-screen program."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def ask(question: str) -> str | None:
    """Ask a question and return the answer's line, or None at the end of the input."""
    forget_typed_ahead()
    sys.stdout.write(question)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not sys.stdin.isatty():
        console.line()
    return as_text(line.rstrip("\n")) if line else None


def edit(text: str, around: Callable[[], AbstractContextManager[object]] = nullcontext, name: str = "SKILL.md") -> str:
    """Return `text` as edited in `$VISUAL`, `$EDITOR` or vi, in a file called `name`; unchanged if the editor fails."""
    import shlex  # imported late: half of the verbs that ask never edit
    import subprocess
    import tempfile

    editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="skilld-") as folder:
        file = Path(folder) / name
        file.write_bytes(text.encode("utf-8", "replace"))
        with around():
            try:
                code = subprocess.run([*editor, str(file)], check=False).returncode
            except OSError:
                return text
        return file.read_bytes().decode("utf-8", "replace") if code == 0 else text


@contextmanager
def paged() -> Iterator[None]:
    """Show what is printed inside the block in `$PAGER` (`less`) if it is longer than the terminal."""
    screen = sys.stdout
    if not screen.isatty():
        yield
        return
    sys.stdout = buffer = _TerminalBuffer()
    try:
        yield
    finally:
        sys.stdout = screen
        if not _show_in_pager(buffer.getvalue()):
            screen.write(console.encodable(buffer.getvalue()))


class _TerminalBuffer(StringIO):
    def isatty(self) -> bool:
        return True


def _show_in_pager(text: str) -> bool:
    """Show a text in the person's pager if it is longer than the terminal; return whether it was shown."""
    from shlex import split
    from shutil import get_terminal_size, which
    from subprocess import run

    pager = split(os.environ.get("PAGER") or "less")
    if text.count("\n") < get_terminal_size().lines or not pager or which(pager[0]) is None:
        return False
    run(pager, input=text, encoding="utf-8", errors="replace", env={"LESS": "FRX", **os.environ}, check=False)
    return True
