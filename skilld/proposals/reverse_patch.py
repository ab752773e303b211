"""Taking a change back out of a text that has changed since. Pure: three versions in, one out.

Works by the lines themselves, not by their position, so that neighbours which came or went do not matter: several
learnings appended to one list can be taken back in any order, where git's merge conflicts.
"""

from __future__ import annotations

from collections.abc import Sequence

from skilld.errors import SkilldError
from skilld.git import line_diff


class NotThereError(SkilldError):
    """What is to be taken back does not stand in the text exactly once."""


def undo(before: bytes, after: bytes, current: bytes) -> bytes:
    """Return `current` without what the change from `before` to `after` did.

    Line endings of `current` are kept. Raises NotThereError where the change cannot be found in it.
    """
    try:
        return line_diff.merge(after, current, before)
    except line_diff.MergeConflictError:
        pass
    text = current.splitlines(keepends=True)
    for hunk in reversed(line_diff.hunks(before, after)):
        if hunk.added:
            _put_back(text, hunk)
        else:
            _insert(text, hunk, line_diff.split(after))
    return b"".join(text)


def _put_back(text: list[bytes], hunk: line_diff.Hunk) -> None:
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
        raise NotThereError("The change is not there any more", f"not found exactly once: {words[0].strip()}")
    for line in words:
        del text[_plain(text).index(line)]


def transplant(before: bytes, after: bytes, common: bytes, current: bytes) -> bytes:
    """Return `current` with the lines that `after` adds to `before`, where `common` is an earlier version of both.

    For an edit that is anchored on lines `current` never had: each block goes below the line of `common` that stands
    over its place, which must be in `current` exactly once. Raises NotThereError otherwise, and where the change takes
    lines away.
    """
    text = current.splitlines(keepends=True)
    plain = _plain(text)
    old, shared = line_diff.split(before), line_diff.split(common)
    codes = line_diff.opcodes(old, shared)
    for hunk in reversed(line_diff.hunks(before, after)):
        at = _across(hunk.start, codes)
        over = shared[at - 1] if at else ""
        if hunk.removed or not over.strip() or plain.count(over) != 1:
            raise NotThereError("The place is not there", f"not found exactly once: {over.strip() or 'its line'}")
        below = plain.index(over) + 1
        _place(text, below, hunk.added)
        plain[below:below] = hunk.added
    return b"".join(text)


def _insert(text: list[bytes], hunk: line_diff.Hunk, after: list[str]) -> None:
    """Put removed lines back where the gap they left has gone to."""
    plain = _plain(text)
    if all(line in plain for line in hunk.removed if line.strip()):
        return
    _place(text, _follow(hunk.at, after, plain), hunk.removed)


def _place(text: list[bytes], at: int, new: tuple[str, ...]) -> None:
    added = _encoded(text, new)
    if at == len(text) and text and not text[-1].endswith((b"\n", b"\r")):
        text[-1] += _ending(text)
        added[-1] = added[-1].rstrip(b"\r\n")  # a file without a final newline stays without
    text[at:at] = added


def _follow(gap: int, old: list[str], new: list[str]) -> int:
    """Return the index in `new` of what was the gap before index `gap` in `old`.

    Raises NotThereError where the lines around it were rewritten into a different number of lines.
    """
    return _across(gap, line_diff.opcodes(old, new))


def _across(gap: int, codes: Sequence[line_diff.Opcode]) -> int:
    for tag, i, j, k, m in codes:
        if i <= gap <= j and (tag == "equal" or gap in {i, j} or j - i == m - k):
            return m if gap == j else k + gap - i
    raise NotThereError("The place is not there any more", "the lines around it were rewritten")


def _plain(text: list[bytes]) -> list[str]:
    return [line.decode("utf-8", "surrogateescape").rstrip("\r\n") for line in text]


def _encoded(text: list[bytes], new: tuple[str, ...]) -> list[bytes]:
    return [line.encode("utf-8", "surrogateescape") + _ending(text) for line in new]


def _ending(text: list[bytes]) -> bytes:
    return next((end for line in text[:1] for end in (b"\r\n", b"\r") if line.endswith(end)), b"\n")
