"""Splits a SKILL.md without losing a byte: byte order mark, front matter, body lines with their endings.

`SkillFile.data` returns the same bytes again. The front matter is one opaque string: nothing here reads YAML. Line
endings are those of CommonMark (LF, CR LF, CR); the separators U+2028, U+0085 and form feed are ordinary characters.
Knows nothing of operations or rules.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from skilld.errors import SkilldError
from skilld.values import value_class

MAX_BYTES = 1024 * 1024
MAX_FRONT_BYTES = 64 * 1024
MAX_LINES = 10_000  # looking for an anchor is quadratic at worst: 10 s for this many equal lines

_BOM = b"\xef\xbb\xbf"
_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_FENCE = re.compile(r"---[ \t]*")


@value_class
class Line:
    """One line: its text, and its own ending (empty only for a last line without a final newline)."""

    text: str
    ending: str

    @property
    def key(self) -> str:
        """The text by which lines are compared: without trailing blanks and tabs."""
        return self.text.rstrip(" \t")


@value_class
class SkillFile:
    """A parsed skill. `front` is the front matter with both its fences, or empty if the file has none."""

    bom: bool
    front: str
    body: tuple[Line, ...]

    @property
    def data(self) -> bytes:
        """The file's bytes. Raises UnicodeEncodeError only if someone put a lone surrogate into a line."""
        text = self.front + "".join(line.text + line.ending for line in self.body)
        return (_BOM if self.bom else b"") + text.encode("utf-8")

    @property
    def line_count(self) -> int:
        """Lines of the whole file, front matter included."""
        return len(split_lines(self.front)) + len(self.body)

    @property
    def ending(self) -> str:
        """The most frequent line ending; LF if there is none."""
        lines = [*split_lines(self.front), *self.body]
        counts = Counter(line.ending for line in lines if line.ending)
        return counts.most_common(1)[0][0] if counts else "\n"


def is_blank(text: str) -> bool:
    """Whether a line contains only blanks and tabs."""
    return not text.strip(" \t")


def split_lines(text: str) -> list[Line]:
    """Return the lines of `text` with their endings; no empty line after a final newline."""
    return [Line(match[1], match[2]) for match in _LINE.finditer(text) if match[0]]


def join_lines(lines: Iterable[Line]) -> str:
    """Join the lines with newlines, ignoring their own endings."""
    return "\n".join(line.text for line in lines)


def parse(data: bytes) -> SkillFile:
    """Parse a SKILL.md.

    Front matter runs from a first line `---` to the next line `---` (trailing blanks allowed), as in Agent Skills.
    Raises SkilldError if the bytes are not UTF-8, contain a NUL, or exceed 1 MiB or MAX_LINES lines, or if the front
    matter is not closed or exceeds 64 KiB.
    """
    if len(data) > MAX_BYTES:
        raise _unreadable(f"it is {len(data)} bytes; the limit is {MAX_BYTES}")
    if b"\0" in data:
        raise _unreadable("it contains a NUL byte, so it is not text")
    bom = data.startswith(_BOM)
    try:
        text = data[len(_BOM) if bom else 0 :].decode("utf-8")
    except UnicodeDecodeError as error:
        raise _unreadable(f"byte {error.start} is not UTF-8", "Save the file as UTF-8.") from None
    lines = split_lines(text)
    if len(lines) > MAX_LINES:
        raise _unreadable(f"it has {len(lines)} lines; the limit is {MAX_LINES}")
    start = _body_start(lines)
    front = "".join(line.text + line.ending for line in lines[:start])
    if len(front.encode("utf-8")) > MAX_FRONT_BYTES:
        raise _unreadable(f"its front matter is over {MAX_FRONT_BYTES} bytes")
    return SkillFile(bom, front, tuple(lines[start:]))


def _body_start(lines: list[Line]) -> int:
    if not lines or not _FENCE.fullmatch(lines[0].text):
        return 0
    for index, line in enumerate(lines[1:], start=1):
        if _FENCE.fullmatch(line.text):
            return index + 1
    raise _unreadable("its front matter is not closed", "End the front matter with a line of three hyphens.")


def _unreadable(cause: str, remedy: str = "") -> SkilldError:
    return SkilldError("The file cannot be edited", cause, remedy)
