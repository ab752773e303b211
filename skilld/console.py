"""Plain text for people: colours where a terminal shows them, nothing where it does not."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

from skilld.text import safe_text

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def line(text: str = "") -> None:
    """Print one line. Text from outside goes through `plain` first. What the terminal's encoding lacks is escaped."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def piece(text: str) -> None:
    """Print a part of a text from outside, its newlines kept, at once."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(safe_text(text, newlines=True).encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()


def plain(text: str) -> str:
    """Make text from outside harmless for this terminal, on one line."""
    return safe_text(text)


def paint(text: str, *styles: str) -> str:
    """Return `text` in colours where standard output is a terminal that wants them (NO_COLOR is honoured)."""
    if not styles or not coloured():
        return text
    return f"\x1b[{';'.join(_CODES[style] for style in styles)}m{text}\x1b[0m"


def coloured() -> bool:
    """Whether to paint."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("CLICOLOR_FORCE")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def table(rows: Sequence[Sequence[str]], *, indent: str = "") -> None:
    """Print rows in columns as wide as their widest cell; the last column is not padded."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        line((indent + "  ".join([*cells, row[-1]])).rstrip())


def diff(lines: Iterable[str]) -> None:
    """Print a unified diff in its colours."""
    for text in lines:
        shown = plain(text)
        if text.startswith(("+++", "---")):
            line(paint(shown, "bold"))
        elif text.startswith("+"):
            line(paint(shown, "green"))
        elif text.startswith("-"):
            line(paint(shown, "red"))
        elif text.startswith("@@"):
            line(paint(shown, "cyan"))
        else:
            line(shown)
