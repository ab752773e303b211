"""The lists of a section, and a further item in the style of such a list.

Takes body lines and their roles, gives line numbers and lines of text. Only the outermost items count: an item's
sublists and further paragraphs belong to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skilld.markdown.skill_file import Line, is_blank
from skilld.markdown.structure import Item, Role, list_item

_INDENTED_CODE = 4


@dataclass(frozen=True, slots=True)
class BulletList:
    """One list: its items in order, the line of its first item, the line behind its last, blank lines between items."""

    items: tuple[Item, ...]
    start: int
    end: int
    loose: bool

    def next_item(self, text: Sequence[str]) -> list[str]:
        """Return the lines of a new last item that says `text`, with a blank line before it in a loose list."""
        last = self.items[-1]
        first = f"{last.indent}{self._marker()}{last.gap or ' '}{'[ ] ' if last.box else ''}"
        margin = " " * (len(last.indent.expandtabs(4)) + len(self._marker()) + max(1, len(last.gap.expandtabs(4))))
        further = [margin + line if line.strip() else "" for line in text[1:]]
        return [*([""] if self.loose else []), first + text[0], *further]

    def _marker(self) -> str:
        """Return the last item's marker; in a numbered list the next number, unless all items carry the same one."""
        marker = self.items[-1].marker
        if not marker[0].isdigit():
            return marker
        same = len(self.items) > 1 and all(item.marker == marker for item in self.items)
        return marker if same else f"{int(marker[:-1]) + 1}{marker[-1]}"


def lists(body: Sequence[Line], roles: Sequence[Role], start: int, end: int) -> list[BulletList]:
    """Return the outermost lists between lines `start` and `end`, in order."""
    out: list[BulletList] = []
    at = start
    while at < end:
        item = list_item(body[at].text) if roles[at] is Role.TEXT else None
        if item is None or len(item.indent.expandtabs(4)) >= _INDENTED_CODE:
            at += 1
        else:
            out.append(_list_from(body, roles, at, end))
            at = out[-1].end
    return out


def _list_from(body: Sequence[Line], roles: Sequence[Role], start: int, end: int) -> BulletList:
    items: list[Item] = []
    loose = gap = False
    behind = at = start
    while at < end:
        text = body[at].text
        item = list_item(text) if roles[at] is Role.TEXT else None
        if is_blank(text):
            gap = True
        elif item is not None and not (items and len(item.indent.expandtabs(4)) >= items[0].width):
            if items and item.marker[-1] != items[0].marker[-1]:
                break
            loose, gap, behind = gap and bool(items), False, at + 1
            items.append(item)
        elif text[:1].strip() and (gap or roles[at] is not Role.TEXT):
            break
        else:
            gap, behind = False, at + 1
        at += 1
    return BulletList(tuple(items), start, behind, loose)
