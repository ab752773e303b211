"""Compares versions of a text line by line: the changes, whether a third version contains them, undoing them. Pure.

Lines are compared without their ending, so a change of line endings alone changes nothing. `merge` is a three-way
merge of whole lines; git's own is not used because merge drivers are programs of the repository's choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from difflib import SequenceMatcher

from skilld.errors import SkilldError
from skilld.text import Piece, compare_lines
from skilld.values import value_class

MIN_SIMILARITY = 0.6  # two lines this similar are one line that was reworded
# Characters of two lines together: for more, only their letters are compared, since ratio() takes quadratic time.
_MAX_RATIO_LENGTH = 2000


@value_class
class Hunk:
    """Lines [start, start + len(removed)) of the old version were replaced by `added`, at index `at` of the new."""

    start: int
    at: int
    removed: tuple[str, ...]
    added: tuple[str, ...]


class MergeConflictError(Exception):
    """Both sides changed the same or touching lines."""


def split_lines(data: bytes) -> list[str]:
    r"""Return the lines of `data` without endings (`\n`, `\r\n`, `\r`); invalid UTF-8 is kept as surrogates."""
    return [line.decode("utf-8", "surrogateescape") for line in data.splitlines()]


def hunks(old: bytes, new: bytes) -> list[Hunk]:
    """Return the changes from `old` to `new` in order of the old version."""
    before, after = split_lines(old), split_lines(new)
    pieces = compare_lines(before, after)
    return [Hunk(i, k, tuple(before[i:j]), tuple(after[k:m])) for equal, i, j, k, m in pieces if not equal]


def signature(old: bytes, new: bytes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the removed and the added lines in order, without blank ones and outer white space.

    Two commits with the same signature make the same change, wherever it is (git's patch id, for one file).
    """
    found = hunks(old, new)
    removed = (line.strip() for hunk in found for line in hunk.removed)
    added = (line.strip() for hunk in found for line in hunk.added)
    return tuple(line for line in removed if line), tuple(line for line in added if line)


def contains_change(text: bytes, old: bytes, new: bytes) -> bool:
    """Whether `text` contains the change from `old` to `new`.

    True if it has every added line and none of the lines that were only removed. A change of blank lines only is never
    found.
    """
    removed, added = signature(old, new)
    if not removed and not added:
        return False
    present, kept = _count_lines(text), _count_lines(new)
    if not added and all(line in kept for line in removed):  # lines that occurred twice
        return all(present[line] <= kept[line] for line in removed)
    return all(line in present for line in added) and not any(line in present for line in removed if line not in kept)


def is_change_made(text: bytes, old: bytes, new: bytes) -> bool:
    """Whether `text` contains the change and, if that only removes lines, still has a line that was next to them.

    Otherwise it is another text altogether, which says nothing about the change.
    """
    if not contains_change(text, old, new) or signature(old, new)[1]:
        return contains_change(text, old, new)
    lines, present = split_lines(old), _count_lines(text)
    sides = [(lines[: hunk.start][::-1], lines[hunk.start + len(hunk.removed) :]) for hunk in hunks(old, new)]
    near = [next((line.strip() for line in side if line.strip()), "") for pair in sides for side in pair]
    return not any(near) or any(line in present for line in near if line)


def is_change_gone(text: bytes, old: bytes, new: bytes, others: Collection[str] = ()) -> bool:
    """Whether nothing of the change from `old` to `new` is left in `text`, not even reworded.

    If the change adds lines: neither they nor sufficiently similar ones are in the text; of lines and headings above
    them, the lines count. If it only removes lines: all of them are back. `others` are lines that other changes add:
    they are not this one's, reworded.
    """
    removed, added = signature(old, new)
    before = {line.strip() for line in split_lines(old)}
    fresh = [line for line in added if line not in before]
    fresh = [line for line in fresh if not line.startswith("#")] or fresh
    present, kept = _count_lines(text), _count_lines(new)
    if fresh:
        strangers = [line for line in present if line not in before and line not in others]
        reworded = (similarity(line, other) >= MIN_SIMILARITY for line in fresh for other in strangers)
        return not any(line in present for line in fresh) and not any(reworded)
    return bool(removed) and all(present[line] > kept[line] for line in removed)


def _count_lines(data: bytes) -> Counter[str]:
    """Return how often each line occurs in a text, in order, without blank ones and outer white space."""
    return Counter(line.strip() for line in split_lines(data) if line.strip())


def similarity(one: str, other: str) -> float:
    """Return the similarity of two lines; for long ones an upper bound, so that no line counts as gone too early."""
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    bound = matcher.real_quick_ratio()
    if bound < MIN_SIMILARITY:
        return bound
    return matcher.quick_ratio() if len(one) + len(other) > _MAX_RATIO_LENGTH else matcher.ratio()


def merge(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Return `ours` with the changes from `base` to `theirs`; a change that both made counts once.

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
    return [(i, j, new[k:m]) for equal, i, j, k, m in compare_lines(old, new) if not equal]


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


def merge_change(old: bytes, current: bytes, new: bytes) -> bytes:
    """Return `current` with the change from `old` to `new`, as `merge` does.

    Also raises MergeConflictError if lines that the change removes would be left because they were moved.
    """
    result = merge(old, current, new)
    before, after = _count_lines(old), _count_lines(new)
    now, done = _count_lines(current), _count_lines(result)
    if any(done[line] > max(after[line], now[line] - count) for line, count in (before - after).items()):
        raise MergeConflictError
    return result


# Undoing a change in a text that was edited since. This looks for the lines themselves, not their position, so that new
# or removed neighbours do not matter: several learnings appended to one list can be undone in any order, where git's
# merge conflicts.


class ChangeNotFoundError(SkilldError):
    """The change to undo is not in the text exactly once."""


def undo(before: bytes, after: bytes, current: bytes) -> bytes:
    """Return `current` without the change from `before` to `after`.

    Line endings of `current` are kept. Raises ChangeNotFoundError if it does not contain the change.
    """
    try:
        return merge_change(after, current, before)
    except MergeConflictError:
        return undo_lines(before, after, current)


def without_present(before: bytes, after: bytes, current: bytes) -> bytes:
    """Return `after` without the changes from `before` whose new lines are all in `current`: they are made already."""
    old, present = set(_count_lines(before)), _count_lines(current)
    lines = after.splitlines(keepends=True)
    for hunk in reversed(hunks(before, after)):
        fresh = [line.strip() for line in hunk.added if line.strip() and line.strip() not in old]
        if fresh and not hunk.removed and all(line in present for line in fresh):
            del lines[hunk.at : hunk.at + len(hunk.added)]
    return b"".join(lines)


def undo_lines(before: bytes, after: bytes, current: bytes, key: Callable[[str], str] = str) -> bytes:
    """Do as `undo` does wherever the lines are now; blocks of lines with the same keys are equal."""
    text = current.splitlines(keepends=True)
    for hunk in reversed(hunks(before, after)):
        if hunk.added:
            _undo_block(text, hunk, key)
        else:
            _restore_lines(text, hunk, split_lines(after))
    return b"".join(text)


def _undo_block(text: list[bytes], hunk: Hunk, key: Callable[[str], str]) -> None:
    """Replace the added lines, found as a block, by the removed ones; delete them one by one if none were removed."""
    plain = _plain_lines(text)
    count, keys, wanted = len(hunk.added), [*map(key, plain)], [*map(key, hunk.added)]
    starts = [i for i in range(len(plain) - count + 1) if keys[i : i + count] == wanted]
    if len(starts) == 1:
        text[starts[0] : starts[0] + count] = _encode_lines(text, hunk.removed)
        return
    words = [line for line in hunk.added if line.strip()]
    if not words:
        return  # an extra blank line does no harm
    if hunk.removed or any(plain.count(line) != 1 for line in words):
        cause = f"expected exactly one line that reads: {words[0].strip()}"
        raise ChangeNotFoundError("The change is no longer there", cause)
    for line in words:
        del text[_plain_lines(text).index(line)]


def transplant(before: bytes, after: bytes, common: bytes, current: bytes) -> bytes:
    """Return `current` with the lines that `after` adds to `before`; `common` is an earlier version of both.

    For an edit that is anchored on lines `current` never had: each block goes below the line of `common` above its
    place, which must be in `current` exactly once. A place among lines that `common` lacks is mapped to where they
    would be in it. Raises ChangeNotFoundError if there is no such line, or the change removes lines.
    """
    text = current.splitlines(keepends=True)
    plain = _plain_lines(text)
    old, shared = split_lines(before), split_lines(common)
    pieces = compare_lines(old, shared)
    for hunk in reversed(hunks(before, after)):
        inside = (k for _, i, j, k, m in pieces if i < hunk.start < j and k == m)
        at = next(inside, None)
        at = _map_gap(hunk.start, pieces) if at is None else at
        known = max((min(j, hunk.start) for equal, i, j, _, _ in pieces if equal and i < hunk.start), default=0)
        if any(line.startswith("#") for line in old[known : hunk.start]):
            raise ChangeNotFoundError("Cannot find the lines to edit", "the section for them does not exist yet")
        over = shared[at - 1] if at else ""
        if hunk.removed or not over.strip() or plain.count(over) != 1:
            line = over.strip()
            cause = (
                f"expected exactly one line that reads: {line}"
                if line
                else "no line above the edit shows where it belongs"
            )
            raise ChangeNotFoundError("Cannot find the lines to edit", cause)
        below = plain.index(over) + 1
        _insert_lines(text, below, hunk.added)
        plain[below:below] = hunk.added
    return b"".join(text)


def _restore_lines(text: list[bytes], hunk: Hunk, after: list[str]) -> None:
    """Put removed lines back at the place where they were removed."""
    plain = _plain_lines(text)
    if all(line in plain for line in hunk.removed if line.strip()):
        return
    _insert_lines(text, _map_gap(hunk.at, compare_lines(after, plain)), hunk.removed)


def _insert_lines(text: list[bytes], at: int, new: tuple[str, ...]) -> None:
    added = _encode_lines(text, new)
    if at == len(text) and text and not text[-1].endswith((b"\n", b"\r")):
        text[-1] += _line_ending(text)
        added[-1] = added[-1].rstrip(b"\r\n")  # a file without a final newline stays without
    text[at:at] = added


def _map_gap(gap: int, pieces: Sequence[Piece]) -> int:
    """Return the index in the new lines for the gap before index `gap` of the old ones.

    Raises ChangeNotFoundError if the lines around it were replaced by a different number of lines.
    """
    for equal, i, j, k, m in pieces:
        if i <= gap <= j and (equal or gap in {i, j} or j - i == m - k):
            return m if gap == j else k + gap - i
    raise ChangeNotFoundError("Cannot find the lines to edit", "the lines around their place were rewritten")


def _plain_lines(text: list[bytes]) -> list[str]:
    return [line.decode("utf-8", "surrogateescape").rstrip("\r\n") for line in text]


def _encode_lines(text: list[bytes], new: tuple[str, ...]) -> list[bytes]:
    return [line.encode("utf-8", "surrogateescape") + _line_ending(text) for line in new]


def _line_ending(text: list[bytes]) -> bytes:
    return next((end for line in text[:1] for end in (b"\r\n", b"\r") if line.endswith(end)), b"\n")
