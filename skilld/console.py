"""Plain text for people: coloured and wrapped on a terminal, plain where it is piped."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence

from skilld.text import safe_text

_ESCAPE = re.compile(r"\x1b\[[\d;]*m")
_NAMED = re.compile(r" *(?:[\w-]+(?: [\w-]+)? {2,})?")
_WORD = re.compile(r" *[^ ]+")
_COMMAND = re.compile(r"(?<=[:>]) skilld [^:]*$")  # what is to be copied, at the end of a line
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def line(text: str = "") -> None:
    """Print one line. Text from outside goes through `plain` first. What the terminal's encoding lacks is escaped."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def say(text: str, hang: int | None = None) -> None:
    """Print one line, on a terminal wrapped between words to its width; what is piped stays one line.

    Further lines are indented by `hang` columns: by default as far as the text, behind a name in a column of its own.
    A command at the end stays in one piece where it fits on a line.
    """
    if hang is None:
        named = _NAMED.match(_ESCAPE.sub("", text))
        hang = named.end() if named else 0
    for one in wrapped(text, _columns(), hang):
        line(one)


def wrapped(text: str, columns: int, hang: int) -> list[str]:
    """Return the lines of a text of so many columns, which may hold colours; 0 columns leave it as it is. Pure."""
    if not columns:
        return [text]
    start = _COMMAND.search(text)
    at = start.start() if start and len(_ESCAPE.sub("", text[start.start() :])) + hang <= columns else len(text)
    words = [*_WORD.findall(text[:at]), *([text[at:]] if text[at:] else [])]
    lines: list[list[str]] = [[]]
    taken, said = 0, False
    for word in words:
        size = len(_ESCAPE.sub("", word))
        if columns < taken + size and said:
            first = word.lstrip(" ")
            lines.append([" " * hang, first])
            taken, said = hang + size - (len(word) - len(first)), bool(first)
        else:
            lines[-1].append(word)
            taken, said = taken + size, said or not word.isspace()
    return ["".join(parts) for parts in lines]


def _columns() -> int:
    """Return how wide the terminal is (COLUMNS is honoured); 0 where output is none, or nobody knows."""
    from shutil import get_terminal_size  # 4 ms

    return get_terminal_size((0, 0)).columns if sys.stdout.isatty() else 0


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
