"""Which line of one version of a skill is which line of another: the same words, else what is clearly the same line.

Takes body lines, gives line numbers; judges lines alone, by the order they stand in and by their likeness.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from skilld.edit.differ import compare
from skilld.markdown.skill_file import Line
from skilld.markdown.structure import list_item, sections

LIKE = 0.6  # of 1: a line that was reworded, as in skilld.git.lines.SIMILAR
CLEAR = 0.15  # by so much the likest line is more alike than the next one
_MOST = 20  # lines on either side of a rewritten passage in which likeness is looked for
_LONG = 200  # characters of a line that are compared: difflib takes 8 ms for as many of one letter, and 400 pairs 3 s


@dataclass(frozen=True, slots=True)
class Alignment:
    """Old line -> line now, for lines that say something. `exact` are those that are certain and say the same.

    The ends of both versions are each other: the number behind the last line. `heads` are the headings of each.
    """

    found: Mapping[int, int]
    exact: frozenset[int]
    old_heads: tuple[int, ...]
    now_heads: tuple[int, ...]

    def get(self, line: int | None) -> int | None:
        """Return where an old line stands now, or None where that is not certain."""
        return None if line is None else self.found.get(line)

    def is_exact(self, line: int | None) -> bool:
        """Whether an old line stands in the other version as it was."""
        return line in self.exact

    def same_section(self, line: int | None, now: int) -> bool:
        """Whether a line stands below the heading that an old line stood below, or below that heading's new name.

        None is the beginning.
        """
        old_head, now_head = _head(self.old_heads, line), _head(self.now_heads, now)
        if old_head is None or now_head is None:
            return old_head is now_head
        return self.found.get(old_head) == now_head

    def crosses(self, gap: int, at: int) -> bool:
        """Whether a line of the section around `gap` stood on the other side of it than it stands of `at` now."""
        head = _head(self.old_heads, gap - 1)
        there = (
            (i, now)
            for i, now in self.found.items()
            if i not in self.old_heads and _head(self.old_heads, i) == head and self.same_section(i, now)
        )
        return any((i < gap) is not (now < at) for i, now in there)

    def keeps_section(self, line: int | None, now: int) -> bool:
        """Whether the heading over an old line is known to be the one over a line now."""
        old_head = _head(self.old_heads, line)
        return self.same_section(line, now) and (old_head is None or old_head in self.found)


def _head(heads: Sequence[int], line: int | None) -> int | None:
    at = bisect_right(heads, line) if line is not None else 0
    return heads[at - 1] if at else None


def align(old: Sequence[Line], now: Sequence[Line]) -> Alignment:
    """Return which line is which. A line that stands in either version more than once counts with its neighbours."""
    keys, found_keys = [line.key for line in old], [line.key for line in now]
    often, often_now = Counter(keys), Counter(found_keys)
    found = {len(old): len(now)}
    exact = {len(old)}
    rewritten = []
    for piece in compare(keys, found_keys):
        if not piece.equal:
            rewritten.append(piece)
            continue
        same = [i for i in range(piece.old_start, piece.old_end) if keys[i] and often[keys[i]] == often_now[keys[i]]]
        if any(often[keys[i]] == 1 for i in same):
            found |= {i: piece.new_start + i - piece.old_start for i in same}
            exact |= set(same)
    for i, key in enumerate(keys):  # a line that was moved
        if key and i not in found and often[key] == often_now[key] == 1:
            found[i] = found_keys.index(key)
            exact.add(i)
    spans = [(range(*piece[1:3]), range(*piece[3:5])) for piece in rewritten]
    for olds, news in (*spans, (range(len(old)), range(len(now)))):  # at last a line that was moved and reworded
        taken = set(found.values())
        left = [i for i in olds if keys[i] and i not in found]
        left_now = [j for j in news if found_keys[j] and j not in taken]
        if len(left) <= _MOST and len(left_now) <= _MOST:
            found |= _alike(old, now, left, left_now)
    old_heads, now_heads = list(titles(old)), list(titles(now))
    found |= _renamed(old_heads, now_heads, found)
    alignment = Alignment(found, frozenset(exact), tuple(old_heads), tuple(now_heads))
    only = _only_ones(alignment, keys, found_keys)
    return replace(alignment, found=found | only, exact=alignment.exact | only.keys())


def _only_ones(alignment: Alignment, keys: Sequence[str], found_keys: Sequence[str]) -> dict[int, int]:
    """Return the lines that are the only ones of their words in their section, whatever stands in other sections."""
    by_section: dict[tuple[int | None, str], list[int]] = {}
    for line, key in enumerate(found_keys):
        by_section.setdefault((_head(alignment.now_heads, line), key), []).append(line)
    taken = {*alignment.found.values()}
    only: dict[int, list[int]] = {}
    for line, key in enumerate(keys):
        head = _head(alignment.old_heads, line)
        now = by_section.get((alignment.get(head), key), []) if head is None or head in alignment.found else []
        if key and line not in alignment.found and len(now) == 1 and now[0] not in taken:
            only.setdefault(now[0], []).append(line)
    return {lines[0]: now for now, lines in only.items() if len(lines) == 1}


def titles(body: Sequence[Line]) -> dict[int, str]:
    """Return the line of each heading with its title; of one that is underlined the line above."""
    parts = [part for part in sections(body) if part.title]
    return {part.start - 1 - (not body[part.start - 1].text.lstrip().startswith("#")): part.title for part in parts}


def _renamed(old_heads: Sequence[int], now_heads: Sequence[int], found: Mapping[int, int]) -> dict[int, int]:
    """Return the headings that have another name now: all that is left of the one section is below the other."""
    below: dict[int, set[int | None]] = {}
    of: dict[int | None, set[int | None]] = {}
    for line, now in found.items():
        old_head, now_head = _head(old_heads, line), _head(now_heads, now)
        if line in old_heads or now in now_heads or old_head is None:
            continue
        below.setdefault(old_head, set()).add(now_head)
        of.setdefault(now_head, set()).add(old_head)
    names = {head: now for head, nows in below.items() for now in nows if len(nows) == len(of[now]) == 1}
    taken = {*found.values()}
    return {old: now for old, now in names.items() if now is not None and old not in found and now not in taken}


def _alike(old: Sequence[Line], now: Sequence[Line], olds: Sequence[int], news: Sequence[int]) -> dict[int, int]:
    """Return the pairs of lines each of which is clearly the likest of the other, in the order they stand in."""
    share = {(i, j): likeness(old[i].text, now[j].text) for i in olds for j in news}
    pairs: dict[int, int] = {}
    for (i, j), value in share.items():
        rivals = [other for (a, b), other in share.items() if (a == i) is not (b == j)]
        if value >= LIKE and all(value >= other + CLEAR for other in rivals):
            pairs[i] = j
    crossed = [i for i in pairs if any((i < a) is not (pairs[i] < pairs[a]) for a in pairs if a != i)]
    return {i: j for i, j in pairs.items() if i not in crossed}


def likeness(one: str, other: str) -> float:
    """Return how alike two lines are, from 0 to 1; 0 for lines of another kind: heading, item, text."""
    if _kind(one) != _kind(other):
        return 0.0
    first, second = _words(one), _words(other)
    if min(len(first), len(second)) < LIKE / 2 * max(len(first), len(second)):
        return 0.0
    matcher = SequenceMatcher(None, first[:_LONG], second[:_LONG], autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= LIKE else 0.0


def _kind(text: str) -> tuple[bool, bool]:
    return text.lstrip().startswith("#"), list_item(text) is not None


def _words(text: str) -> str:
    item = list_item(text)
    return (text[len(item.indent + item.marker + item.gap + item.box) :] if item else text).strip().casefold()
