"""Talks to the person at the terminal: asks a line, opens their editor or a full screen."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TextIO

from skilld import console
from skilld.cli.common import as_text
from skilld.errors import RefusedError


def confirmed(question: str, title: str) -> bool:
    """Ask the person; without a terminal to ask on, raise RefusedError with `title`."""
    if not sys.stdin.isatty():
        raise RefusedError(title, "confirmation needs a terminal", "If you are sure: --yes")
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
    """Return `text`, in a file called `name`, as the person's editor leaves it; unchanged where that fails.

    The editor is `$VISUAL`, `$EDITOR`, or vi.
    """
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
