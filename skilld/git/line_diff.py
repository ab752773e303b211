"""What one version of a text adds to another, line by line, and whether a third version contains it. Pure.

Lines are compared without their ending, so a change of line endings alone changes nothing. `merge` is a three-way
merge of whole lines; git's own is not used because merge drivers are programs of the repository's choice.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from skilld.errors import SkilldError

SIMILAR = 0.6  # two lines this alike are one line that was reworded
_LONG = 2000  # characters of two lines together from which only their letters are compared: ratio() takes the square
_PAIRS = 100_000  # pairs of equal lines: difflib looks at each of them, and 10,000 blank lines on each side have no end


Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines [start, start + len(removed)) of the old version gave way to `added`, which stand at `at` in the new."""

    start: int
    at: int
    removed: tuple[str, ...]
    added: tuple[str, ...]


class MergeConflictError(Exception):
    """Both sides changed the same or touching lines."""


def split(data: bytes) -> list[str]:
    r"""Return the lines of `data`, ends cut (`\n`, `\r\n`, `\r`); bytes that are no UTF-8 survive as surrogates."""
    return [line.decode("utf-8", "surrogateescape") for line in data.splitlines()]


def hunks(old: bytes, new: bytes) -> list[Hunk]:
    """Return the changes from `old` to `new` in order of the old version."""
    before, after = split(old), split(new)
    codes = opcodes(before, after)
    return [Hunk(i, k, tuple(before[i:j]), tuple(after[k:m])) for tag, i, j, k, m in codes if tag != "equal"]


def opcodes(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[Opcode]:
    """Return what makes `after` of `before`, as difflib's opcodes, in time that grows with the number of lines.

    Where lines repeat too often for difflib, lines that stand once on each side are matched first, and what lies
    between two of them is one change where it still repeats too often.
    """
    if _few(before, after):
        return list(SequenceMatcher(None, before, after, autojunk=False).get_opcodes())
    found: list[Opcode] = []
    i = k = 0
    for a, b, size in [*_blocks(before, after), (len(before), len(after), 0)]:
        if i < a or k < b:
            found.append(("replace" if i < a and k < b else "delete" if i < a else "insert", i, a, k, b))
        if size:
            found.append(("equal", a, a + size, b, b + size))
        i, k = a + size, b + size
    return found


def _few(before: Sequence[Hashable], after: Sequence[Hashable]) -> bool:
    there = Counter(after)
    return sum(there[line] for line in before) <= _PAIRS


def _blocks(before: Sequence[Hashable], after: Sequence[Hashable]) -> Iterator[tuple[int, int, int]]:
    """Yield (start in `before`, start in `after`, size) of what is equal, in order."""
    least = min(len(before), len(after))
    top = next((i for i in range(least) if before[i] != after[i]), least)
    below = next((i for i in range(least - top) if before[-1 - i] != after[-1 - i]), least - top)
    if top:
        yield 0, 0, top
    i = k = top
    end = (len(before) - below, len(after) - below)
    for a, b in [*_once(before, after, top, end), end]:
        old, new = before[i:a], after[k:b]
        if _few(old, new):
            for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()[:-1]:
                yield i + block.a, k + block.b, block.size
        if (a, b) != end:
            yield a, b, 1
        i, k = a + 1, b + 1
    if below:
        yield *end, below


def _once(
    before: Sequence[Hashable], after: Sequence[Hashable], start: int, end: tuple[int, int]
) -> list[tuple[int, int]]:
    """Return where lines stand that each side has once, the most of them that are in the same order (patience)."""
    old, new = Counter(before[start : end[0]]), Counter(after[start : end[1]])
    at = {after[k]: k for k in range(start, end[1]) if new[after[k]] == 1}
    ends: list[int] = []  # the least place in `after` at which a row of so many can end
    rows: list[tuple[int, int, int]] = []  # of each line: its two places, how long the longest row up to it is
    for i in range(start, end[0]):
        if old[before[i]] == 1 and (k := at.get(before[i])) is not None:
            length = bisect_left(ends, k)
            ends[length : length + 1] = [k]
            rows.append((i, k, length))
    found: list[tuple[int, int]] = []
    wanted, bound = len(ends) - 1, end[1]
    for i, k, length in reversed(rows):
        if length == wanted and k < bound:
            found.append((i, k))
            wanted, bound = wanted - 1, k
    return found[::-1]


def signature(old: bytes, new: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the lines taken away and the lines added, blank ones and outer white space dropped, in order.

    Two commits with the same signature make the same change wherever it stands (git's patch id, for one file).
    """
    found = hunks(old, new)
    removed = (line.strip() for hunk in found for line in hunk.removed)
    added = (line.strip() for hunk in found for line in hunk.added)
    return tuple(line for line in removed if line), tuple(line for line in added if line)


def holds(text: bytes, old: bytes, new: bytes) -> bool:
    """Whether `text` says what the change from `old` to `new` made a file say.

    True when every added line is in it, and every line that was only taken away does not. A change of blank lines
    alone is never found.
    """
    removed, added = signature(old, new)
    if not removed and not added:
        return False
    present, kept = _counted(text), _counted(new)
    if not added and all(line in kept for line in removed):  # lines that stood there twice
        return all(present[line] <= kept[line] for line in removed)
    return all(line in present for line in added) and not any(line in present for line in removed if line not in kept)


def gone(text: bytes, old: bytes, new: bytes) -> bool:
    """Whether nothing of the change from `old` to `new` is left in `text`, not even reworded.

    For a change that adds lines: none of those that were new is in the text, nor one at least SIMILAR to it. For
    one that only takes lines away: all of them are back.
    """
    removed, added = signature(old, new)
    before = {line.strip() for line in split(old)}
    fresh = [line for line in added if line not in before]
    present, kept = _counted(text), _counted(new)
    if fresh:
        strangers = [line for line in present if line not in before]
        reworded = (_likeness(line, other) >= SIMILAR for line in fresh for other in strangers)
        return not any(line in present for line in fresh) and not any(reworded)
    return bool(removed) and all(present[line] > kept[line] for line in removed)


def _counted(data: bytes) -> Counter[str]:
    """Return how often each line is in a text, in its order; blank ones and outer white space dropped."""
    return Counter(line.strip() for line in split(data) if line.strip())


def _likeness(one: str, other: str) -> float:
    """Return how alike two lines are; of long ones the most it can be, so that nothing is called gone too early."""
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    most = matcher.real_quick_ratio()
    if most < SIMILAR:
        return most
    return matcher.quick_ratio() if len(one) + len(other) > _LONG else matcher.ratio()


def merge(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Return `ours` with the changes from `base` to `theirs` made in it; a change both made counts once.

    Raises MergeConflictError if both changed the same or touching lines differently.
    """
    if base in (ours, theirs):
        return theirs if base == ours else ours
    if ours == theirs:
        return ours
    old = base.splitlines(keepends=True)
    left, right = ours.splitlines(keepends=True), theirs.splitlines(keepends=True)
    result: list[bytes] = []
    position = 0
    for (i, j), mine, other in _regions(old, left, right):
        result += old[position:i]
        if mine != other and old[i:j] not in (mine, other):
            raise MergeConflictError
        result += other if old[i:j] == mine else mine
        position = j
    return b"".join(result + old[position:])


_Edit = tuple[int, int, list[bytes]]


def _edits(old: list[bytes], new: list[bytes]) -> list[_Edit]:
    codes = opcodes(old, new)
    return [(i, j, new[k:m]) for tag, i, j, k, m in codes if tag != "equal"]


def _regions(
    old: list[bytes], left: list[bytes], right: list[bytes]
) -> Iterator[tuple[tuple[int, int], list[bytes], list[bytes]]]:
    """Yield ranges of `old` that at least one side changed, touching ones joined, with both sides' lines there."""
    mine, other = _edits(old, left), _edits(old, right)
    regions: list[list[tuple[_Edit, bool]]] = []
    end = -1
    both = [*((edit, True) for edit in mine), *((edit, False) for edit in other)]
    for edit, is_mine in sorted(both, key=lambda one: one[0][0]):
        if edit[0] > end:
            regions.append([])
        regions[-1].append((edit, is_mine))
        end = max(end, edit[1])
    for region in regions:
        start, end = region[0][0][0], max(edit[1] for edit, _ in region)
        ours, theirs = ([edit for edit, is_mine in region if is_mine is side] for side in (True, False))
        yield (start, end), _rewrite(old, start, end, ours), _rewrite(old, start, end, theirs)


def _rewrite(old: list[bytes], start: int, end: int, edits: list[_Edit]) -> list[bytes]:
    result: list[bytes] = []
    for i, j, new in edits:
        result += old[start:i] + new
        start = j
    return result + old[start:end]


# Taking a change back out of a text that has changed since: three versions in, one out. Works by the lines themselves,
# not by their position, so that neighbours which came or went do not matter: several learnings appended to one list can
# be taken back in any order, where git's merge conflicts.


class NotThereError(SkilldError):
    """What is to be taken back does not stand in the text exactly once."""


def undo(before: bytes, after: bytes, current: bytes) -> bytes:
    """Return `current` without what the change from `before` to `after` did.

    Line endings of `current` are kept. Raises NotThereError if the change cannot be found in it.
    """
    try:
        return merge(after, current, before)
    except MergeConflictError:
        pass
    text = current.splitlines(keepends=True)
    for hunk in reversed(hunks(before, after)):
        if hunk.added:
            _put_back(text, hunk)
        else:
            _insert(text, hunk, split(after))
    return b"".join(text)


def _put_back(text: list[bytes], hunk: Hunk) -> None:
    """Replace the added lines by the removed ones where they stand as a block, or singly if nothing was removed."""
    plain = _plain(text)
    count = len(hunk.added)
    starts = [i for i in range(len(plain) - count + 1) if tuple(plain[i : i + count]) == hunk.added]
    if len(starts) == 1:
        text[starts[0] : starts[0] + count] = _encoded(text, hunk.removed)
        return
    words = [line for line in hunk.added if line.strip()]
    if not words:
        return  # a blank line more or less is nobody's loss
    if hunk.removed or any(plain.count(line) != 1 for line in words):
        cause = f"expected exactly one line that reads: {words[0].strip()}"
        raise NotThereError("The change is no longer there", cause)
    for line in words:
        del text[_plain(text).index(line)]


def transplant(before: bytes, after: bytes, common: bytes, current: bytes) -> bytes:
    """Return `current` with the lines that `after` adds to `before`, where `common` is an earlier version of both.

    For an edit that is anchored on lines `current` never had: each block goes below the line of `common` that stands
    over its place, which must be in `current` exactly once. A place among lines that `common` does not have is where
    these would be in it. Raises NotThereError otherwise, and where the change takes lines away.
    """
    text = current.splitlines(keepends=True)
    plain = _plain(text)
    old, shared = split(before), split(common)
    codes = opcodes(old, shared)
    for hunk in reversed(hunks(before, after)):
        inside = (k for _, i, j, k, m in codes if i < hunk.start < j and k == m)
        at = next(inside, None)
        at = _across(hunk.start, codes) if at is None else at
        known = max((min(j, hunk.start) for tag, i, j, _, _ in codes if tag == "equal" and i < hunk.start), default=0)
        if any(line.startswith("#") for line in old[known : hunk.start]):
            raise NotThereError("Cannot find the lines to edit", "their section does not exist yet")
        over = shared[at - 1] if at else ""
        if hunk.removed or not over.strip() or plain.count(over) != 1:
            line = over.strip()
            cause = (
                f"expected exactly one line that reads: {line}"
                if line
                else "no line above the edit shows where it belongs"
            )
            raise NotThereError("Cannot find the lines to edit", cause)
        below = plain.index(over) + 1
        _place(text, below, hunk.added)
        plain[below:below] = hunk.added
    return b"".join(text)


def _insert(text: list[bytes], hunk: Hunk, after: list[str]) -> None:
    """Put removed lines back where the gap they left has gone to."""
    plain = _plain(text)
    if all(line in plain for line in hunk.removed if line.strip()):
        return
    _place(text, _across(hunk.at, opcodes(after, plain)), hunk.removed)


def _place(text: list[bytes], at: int, new: tuple[str, ...]) -> None:
    added = _encoded(text, new)
    if at == len(text) and text and not text[-1].endswith((b"\n", b"\r")):
        text[-1] += _ending(text)
        added[-1] = added[-1].rstrip(b"\r\n")  # a file without a final newline stays without
    text[at:at] = added


def _across(gap: int, codes: Sequence[Opcode]) -> int:
    """Return the index in the new lines of what was the gap before index `gap` in the old ones.

    Raises NotThereError if the lines around it were rewritten into a different number of lines.
    """
    for tag, i, j, k, m in codes:
        if i <= gap <= j and (tag == "equal" or gap in {i, j} or j - i == m - k):
            return m if gap == j else k + gap - i
    raise NotThereError("Cannot find the lines to edit", "the lines around them were rewritten")


def _plain(text: list[bytes]) -> list[str]:
    return [line.decode("utf-8", "surrogateescape").rstrip("\r\n") for line in text]


def _encoded(text: list[bytes], new: tuple[str, ...]) -> list[bytes]:
    return [line.encode("utf-8", "surrogateescape") + _ending(text) for line in new]


def _ending(text: list[bytes]) -> bytes:
    return next((end for line in text[:1] for end in (b"\r\n", b"\r") if line.endswith(end)), b"\n")
