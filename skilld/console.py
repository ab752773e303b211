"""Plain text for people: coloured and wrapped on a terminal, plain where it is piped."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from skilld.text import safe_text

_ESCAPE = re.compile(r"\x1b\[[\d;]*m|\x1b\]8;[^\x1b]*\x1b\\")
_NAMED = re.compile(r" *(?:[\w-]+(?: [\w-]+)? {2,})?")
_WORD = re.compile(r" *[^ ]+")
_COMMAND = re.compile(r"(?<=[:>]) skilld [^:]*$")  # what is to be copied, at the end of a line
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def line(text: str = "", *, style: str = "") -> None:
    """Print one line. Text from outside goes through `plain` first. What the terminal's encoding lacks is escaped."""
    sys.stdout.write(fitting(paint(text, style)) + "\n")


def fitting(text: str) -> str:
    """Return a text in what the terminal's encoding has; the rest is escaped."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def say(text: str, hang: int | None = None, *, style: str = "") -> None:
    """Print one line, on a terminal wrapped between words to its width; what is piped stays one line.

    Further lines are indented by `hang` columns: by default as far as the text, behind a name in a column of its own.
    A command at the end stays in one piece where it fits on a line.
    """
    if hang is None:
        named = _NAMED.match(_ESCAPE.sub("", text))
        hang = named.end() if named else 0
    for one in wrapped(paint(text, style), _columns(), hang):
        line(one)


def warn(text: str, hang: int = 2) -> None:
    """Print one line on standard error, wrapped as `say` does it. Text from outside goes through `plain` first."""
    for one in wrapped(text, _columns(sys.stderr), hang):
        sys.stderr.write(f"{one}\n")


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


def _columns(stream: TextIO | None = None) -> int:
    """Return how wide the terminal is (COLUMNS is honoured); 0 where output is none, or nobody knows."""
    from shutil import get_terminal_size  # 4 ms

    return get_terminal_size((0, 0)).columns if (stream or sys.stdout).isatty() else 0


def piece(text: str) -> None:
    """Print a part of a text from outside, its newlines kept, at once."""
    sys.stdout.write(fitting(safe_text(text, newlines=True)))
    sys.stdout.flush()


def plain(text: str) -> str:
    """Make text from outside harmless for this terminal, on one line."""
    return safe_text(text)


def paint(text: str, style: str) -> str:
    """Return `text` in a colour where standard output is a terminal that wants it (NO_COLOR is honoured)."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if style and coloured() else text


def coloured() -> bool:
    """Whether to paint."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("CLICOLOR_FORCE")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def link(text: str, path: str, line: int = 0) -> str:
    """Return `text`, which opens a file at a line where the terminal shows links (FORCE_HYPERLINK is honoured)."""
    target = link_to(path, line, os.environ) if coloured() else ""
    return f"\x1b]8;;{target}\x1b\\{text}\x1b]8;;\x1b\\" if target else text


# What these variables hold in a terminal that shows links; VTE did so from 0.50 on, tmux from 3.4 on. Others print
# the address, or nothing at all, in place of the text.
_SHOWS_LINKS = (
    ("TERM_PROGRAM", re.compile(r"vscode|iTerm\.app|WezTerm|ghostty|Hyper|rio|Tabby|WarpTerminal")),
    ("TERM", re.compile(r"xterm-kitty|xterm-ghostty|alacritty.*|foot.*|contour.*|wezterm")),
    ("VTE_VERSION", re.compile(r"[5-9]\d{3,}|\d{5,}")),
    ("KONSOLE_VERSION", re.compile(r"2[1-9]\d{4}|[3-9]\d{5}")),
    ("WT_SESSION", re.compile(r".+")),
    ("TERMINAL_EMULATOR", re.compile(r"JetBrains-JediTerm")),
)
_TMUX = re.compile(r"3\.[4-9].*|3\.\d\d.*|[4-9].*")
# Its forks take no vscode://.
_VS_CODE = re.compile(r"Visual Studio Code|/(?:vs)?code(?:-oss|-insiders)?/|\.vscode-server")


def link_to(path: str, line: int, environment: Mapping[str, str]) -> str:
    """Return the address of a file's line for the terminal that these variables tell of; empty if it shows none. Pure.

    `vscode://` in the terminal of VS Code, which goes to the line; else `file://` with the name of this machine, by
    which a terminal knows that a file over SSH is not its own.
    """
    from urllib.parse import quote

    forced = environment.get("FORCE_HYPERLINK")
    if forced == "0" or not ((forced or _shows_links(environment)) and path.startswith("/")):
        return ""
    place = quote(path, safe="/", errors="surrogateescape")
    if environment.get("TERM_PROGRAM") != "vscode":
        from socket import gethostname

        return f"file://{quote(gethostname(), safe='')}{place}{f'#{line}' if line else ''}"
    if _VS_CODE.search(environment.get("VSCODE_GIT_ASKPASS_NODE", "")):
        return f"vscode://file{place}{f':{line}' if line else ''}"
    return f"file://{place}{f'#{line}' if line else ''}"


def _shows_links(environment: Mapping[str, str]) -> bool:
    if "TMUX" in environment or environment.get("TERM_PROGRAM") == "tmux":
        return bool(_TMUX.fullmatch(environment.get("TERM_PROGRAM_VERSION", "")))
    return any(known.fullmatch(environment.get(name, "")) for name, known in _SHOWS_LINKS)


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
