"""List marks that Markdown does not know, such as "a.", "**1.**" or "(2)", where consecutive lines have them.

Takes lines and returns lines, as `renumber` does for numbered lists.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from skilld.markdown.skill_file import Line
from skilld.markdown.structure import list_item
from skilld.values import value_class

_MARK = re.compile(r"(?P<bold>\*\*|__)?\(?(?P<value>\d{1,3}|[A-Za-z])[.)](?(bold)(?P=bold))(?=[ \t]+\S)", re.ASCII)


@value_class
class _Mark:
    """A mark: what is before and behind its number or letter in a line, and which one it is."""

    before: str
    value: str
    behind: str

    @property
    def number(self) -> int:
        return int(self.value) if self.value.isdigit() else ord(self.value)

    def is_like(self, other: _Mark) -> bool:
        """Whether both may be marks of one list."""
        case = [(one.value.isdigit(), one.value.isupper(), one.before, one.behind) for one in (self, other)]
        return case[0] == case[1]

    def moved(self, by: int) -> str | None:
        """Return the mark so many places further on, with what is around it; None if there is none."""
        number = self.number + by
        value = str(number) if self.value.isdigit() else chr(number)
        is_one = number >= 0 if self.value.isdigit() else value.isascii() and value.isalpha()
        return f"{self.before}{value}{self.behind}" if is_one and value.isupper() == self.value.isupper() else None


def _mark_of(line: str) -> _Mark | None:
    item = list_item(line)
    start = len(item.indent + item.marker + item.gap + item.box) if item else len(line) - len(line.lstrip())
    found = None if item and item.marker[0].isdigit() else _MARK.match(line, start)
    return (
        _Mark(line[: found.start("value")], found["value"], line[found.end("value") : found.end()]) if found else None
    )


def next_mark(lines: Sequence[str]) -> str:
    """Return the mark, with a blank after it, that follows those of the last two lines; empty if they have none.

    A list marker before it is left out.
    """
    marks = [_mark_of(line) for line in lines[-2:]]
    if len(marks) < 2 or marks[0] is None or marks[1] is None or not follows(*lines[-2:]):  # noqa: PLR2004 - of a list
        return ""
    item = list_item(lines[-1])
    start = len(item.indent + item.marker + item.gap + item.box) if item else 0
    found = marks[1].moved(1)
    return f"{found[start:]} " if found else ""


def follows(above: str, line: str) -> bool:
    """Whether the mark of a line follows that of the line above it."""
    one, other = _mark_of(above), _mark_of(line)
    return one is not None and other is not None and one.is_like(other) and other.number == one.number + 1


def remark(
    new: Sequence[Line], at: int, added: Sequence[str], now: Sequence[Line], place: int
) -> tuple[int, list[str]]:
    """Return the place of a block in `now`, after the marks that are there now, and its lines with the next ones.

    The arguments are those of `renumber`. A block that does not continue marks is returned unchanged.
    """
    texts = [text for text in added if text.strip()]
    above = next((line.text for line in reversed(new[:at]) if line.key), "")
    if not texts or not all(follows(*pair) for pair in pairwise([above, *texts])):
        return place, [*added]
    last = next((line.text for line in reversed(now[:place]) if line.key), "")
    for number in range(place, len(now)):
        if now[number].key:
            if not follows(last, now[number].text):
                break
            last, place = now[number].text, number + 1
    first, over = _mark_of(texts[0]), _mark_of(last)
    if first is None or over is None or not over.is_like(first):
        return place, [*added]
    return place, [_moved(text, over.number + 1 - first.number) for text in added]


def _moved(line: str, by: int) -> str:
    mark = _mark_of(line)
    found = mark.moved(by) if mark else None
    return f"{found}{line[len(mark.before + mark.value + mark.behind) :]}" if mark and found else line
