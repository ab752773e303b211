"""Talks to the person at the terminal: asks a line, opens their editor, their pager or a full screen."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from io import StringIO
from pathlib import Path
from typing import TextIO

from skilld import console
from skilld.cli.common import as_text
from skilld.errors import RefusedError


def confirmed(question: str, title: str) -> bool:
    """Ask the person; without a terminal to ask on, raise RefusedError with `title`."""
    if not sys.stdin.isatty():
        raise RefusedError(title, "confirmation needs a terminal", "To skip the confirmation: --yes")
    return says_yes(question, sys.stdout)


def says_yes(question: str, where: TextIO) -> bool:
    """Put a question, its `[y/N] ` included, on a terminal's line; whether the answer is a yes."""
    where.write(question)
    where.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def has_screen() -> bool:
    """Whether there is a terminal that a screen can be drawn on."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def ask(question: str) -> str | None:
    """Ask in a line and return the answer, None at the end of the input."""
    sys.stdout.write(question)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not sys.stdin.isatty():
        console.line()
    return as_text(line.rstrip("\n")) if line else None


def edit(text: str, around: Callable[[], AbstractContextManager[object]] = nullcontext, name: str = "SKILL.md") -> str:
    """Return `text`, a file called `name`, as `$VISUAL`, `$EDITOR` or vi leaves it; unchanged where that fails."""
    import shlex  # half of the verbs that ask never edit: they need not wait for these
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
    """Show what is printed meanwhile in `$PAGER` (`less`) where it is longer than the terminal."""
    screen = sys.stdout
    if not screen.isatty():
        yield
        return
    sys.stdout = kept = _Kept()
    try:
        yield
    finally:
        sys.stdout = screen
        if not _in_pager(kept.getvalue()):
            screen.write(console.fitting(kept.getvalue()))


class _Kept(StringIO):
    def isatty(self) -> bool:
        return True


def _in_pager(text: str) -> bool:
    """Show a text in the person's pager, if it is longer than the terminal and there is one; whether it was shown."""
    from shlex import split
    from shutil import get_terminal_size, which
    from subprocess import run

    pager = split(os.environ.get("PAGER") or "less")
    if text.count("\n") < get_terminal_size().lines or not pager or which(pager[0]) is None:
        return False
    run(pager, input=text, encoding="utf-8", errors="replace", env={"LESS": "FRX", **os.environ}, check=False)
    return True
