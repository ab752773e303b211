"""Plain text for people: coloured and wrapped on a terminal, unchanged if it is piped."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

from skilld.text import safe_text

_ESCAPE_PATTERN = re.compile(r"\x1b\[[\d;]*m")
_LABEL_PATTERN = re.compile(r" *(?:[\w-]+(?: [\w-]+)? {2,})?")
_WORD_PATTERN = re.compile(r" *[^ ]+")
# A command to copy, at the end of a line or sentence.
_COMMAND_PATTERN = re.compile(
    r"(?<=[:>]) (?:skilld(?! (?:can(?:not)?|creates|does|has|keeps|proposes|waits|will)\b)"
    r"|git|mv|rm|mkdir|cp|export|ln|loginctl) (?:[^:. ]|[:.](?! )| )++\.?(?= |$)"
)
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def line(text: str = "", *, style: str = "") -> None:
    """Print one line. Untrusted text must go through `plain` first. Characters missing in the encoding are escaped."""
    sys.stdout.write(encodable(paint(text, style)) + "\n")


def encodable(text: str) -> str:
    """Return a text with the characters that the terminal's encoding lacks escaped."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def say(text: str, hang: int | None = None, *, style: str = "") -> None:
    """Print lines, wrapped between words to the width of a terminal; piped output is not wrapped.

    Further lines are indented by `hang` columns, by default to the start of the text after a label. A command at the
    end is never broken, so that it can be pasted.
    """
    if hang is None:
        named = _LABEL_PATTERN.match(_ESCAPE_PATTERN.sub("", text))
        hang = named.end() if named else 0
    for part in text.split("\n"):
        for one in wrapped(paint(part, style), _columns(), hang):
            line(one)


def warn(text: str, hang: int = 2) -> None:
    """Print one line on standard error, wrapped as by `say`. Untrusted text must go through `plain` first."""
    for one in wrapped(text, _columns(sys.stderr), hang):
        sys.stderr.write(f"{one}\n")


def wrapped(text: str, columns: int, hang: int) -> list[str]:
    """Wrap a text, which may contain colours, to so many columns; 0 columns leave it unchanged. Pure."""
    if not columns:
        return [text]
    words, done = list[str](), 0
    for found in _COMMAND_PATTERN.finditer(text):
        words += [*_WORD_PATTERN.findall(text[done : found.start()]), found[0]]
        done = found.end()
    words += _WORD_PATTERN.findall(text[done:])
    lines: list[list[str]] = [[]]
    taken, said = 0, False
    for word in words:
        size = len(_ESCAPE_PATTERN.sub("", word))
        if columns < taken + size and said:
            first = word.lstrip(" ")
            lines.append([" " * hang, first])
            taken, said = hang + size - (len(word) - len(first)), bool(first)
        else:
            lines[-1].append(word)
            taken, said = taken + size, said or not word.isspace()
    return ["".join(parts) for parts in lines]


def _columns(stream: TextIO | None = None) -> int:
    """Return the width of the terminal (or COLUMNS); 0 if the output is not a terminal or the width is unknown."""
    from shutil import get_terminal_size  # 4 ms

    return get_terminal_size((0, 0)).columns if (stream or sys.stdout).isatty() else 0


def write_part(text: str) -> None:
    """Print a part of an untrusted text at once, keeping its newlines."""
    sys.stdout.write(encodable(safe_text(text, newlines=True)))
    sys.stdout.flush()


def plain(text: str) -> str:
    """Make untrusted text safe for the terminal, on one line."""
    return safe_text(text)


def message(text: str) -> str:
    """Make a message safe for the terminal, on one line, with `~` for the home folder where a path begins."""
    home = os.environ.get("HOME", "").rstrip("/")
    whole = rf"(?<![^\s(]){re.escape(home)}(?![\w.-])"
    return plain(re.sub(whole, "~", text) if home else text)


def paint(text: str, style: str) -> str:
    """Return `text` in a colour if standard output is a terminal and NO_COLOR is not set."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if style and is_coloured() else text


def is_coloured() -> bool:
    """Whether to use colours."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("CLICOLOR_FORCE")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def table(rows: Sequence[Sequence[str]], *, indent: str = "") -> None:
    """Print rows as columns, wrapped between words to the width of a terminal; the last column is not padded.

    A column is as wide as its widest cell, but for those longer than `_MAX_CELL`, which only move their own row.
    """
    sizes = [[len(_ESCAPE_PATTERN.sub("", cell)) for cell in row] for row in rows]
    widths = [max(size if size <= _MAX_CELL else 0 for size in column) for column in zip(*sizes, strict=False)]
    for row, taken in zip(rows, sizes, strict=True):
        padded = zip(row[:-1], taken, widths, strict=False)
        cells = [cell + " " * max(0, width - size) for cell, size, width in padded]
        say((indent + "  ".join([*cells, row[-1]])).rstrip(), len(indent) + 4)


_MAX_CELL = 32  # characters


def diff(lines: Iterable[str]) -> None:
    """Print a unified diff in colours."""
    styles = {"+++": "bold", "---": "bold", "+": "green", "-": "red", "@@": "cyan"}
    for text in lines:
        line(plain(text), style=next((style for mark, style in styles.items() if text.startswith(mark)), ""))
