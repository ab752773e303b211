"""Takes a proposal's change out of a file that was edited since, and says why that is impossible. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from skilld.errors import SkilldError
from skilld.git import line_diff
from skilld.git.line_diff import undo
from skilld.markdown.skill_file import parse
from skilld.markdown.structure import sections
from skilld.text import truncate

_MAX_SHOWN = 200  # characters of a line in a sentence


def take_out(before: bytes, after: bytes, current: bytes, kept: Collection[str] = ()) -> bytes:
    """Return `current` without the change from `before` to `after`.

    A heading stays if other text is below it now. The lines in `kept` stay if the change adds them, and stay away if it
    removes them. Raises ChangeNotFoundError if the lines are not there exactly once.
    """
    if line_diff.is_change_gone(current, before, after):
        return current
    stays = headings_in_use(before, after, current).union(kept)
    return undo(_with_lines(before, after, stays) if stays else before, after, current)


def lines_of_others(own: tuple[bytes, bytes], landed: tuple[bytes, bytes]) -> set[str]:
    """Return the lines that a commit adds or removes besides a proposal's own: the person amended the commit.

    Both are given as the file before and after; a line that is similar to one of the proposal's is that one, reworded.
    """
    sides = zip(line_diff.signature(*own), line_diff.signature(*landed), strict=True)
    return {line for mine, found in sides for line in _strangers(mine, found)}


def _strangers(mine: Collection[str], found: Collection[str]) -> Iterator[str]:
    missing = [line for line in mine if line not in found]
    for line in found:
        similar = (line_diff.similarity(line, other) >= line_diff.MIN_SIMILARITY for other in missing)
        if line not in mine and not any(similar):
            yield line


def headings_in_use(before: bytes, after: bytes, current: bytes) -> set[str]:
    """Return the headings of the change that have text below them in `current` that came there since."""
    own = Counter(line_diff.signature(before, after)[1])
    try:
        then, now = _texts_below(after), _texts_below(current)
    except (SkilldError, UnicodeDecodeError):
        return set()
    return {head for head, below in now.items() if own[head] and below - own - then.get(head, Counter())}


def _texts_below(data: bytes) -> dict[str, Counter[str]]:
    """Return the lines below each heading with a number sign."""
    body = parse(data).body
    found: dict[str, Counter[str]] = {}
    for part in sections(body):
        below = Counter(line.text.strip() for line in body[part.start : part.end] if line.text.strip())
        if part.level and (head := body[part.head].text.strip()).startswith("#"):
            found[head] = found.get(head, Counter()) + below
    return found


def _with_lines(before: bytes, after: bytes, kept: set[str]) -> bytes:
    """Return `before` with these of the lines that `after` adds, each with the blank lines around it.

    Those of them that `after` removes are left out.
    """
    lines = before.splitlines(keepends=True)
    for hunk in reversed(line_diff.hunks(before, after)):
        new: list[str] = []
        for above, line, below in zip(("x", *hunk.added), hunk.added, (*hunk.added[1:], "x"), strict=False):
            if line.strip() in kept:
                new += [""] * (not above.strip()) + [line] + [""] * (not below.strip())
        at = hunk.start + len(hunk.removed)
        if new and 0 < at == len(lines) and not lines[-1].endswith((b"\n", b"\r")):
            lines[-1] += b"\n"
        lines[at:at] = [f"{line}\n".encode("utf-8", "surrogateescape") for line in new]
        left = [
            data for line, data in zip(hunk.removed, lines[hunk.start : at], strict=True) if line.strip() not in kept
        ]
        lines[hunk.start : at] = left
    return b"".join(lines)


def describe_rest(before: bytes, after: bytes, current: bytes, name: str) -> str:
    """Return what `current`, the file called `name`, has in place of a line of the change; empty if unknown."""
    texts = [line.strip() for line in line_diff.split_lines(current)]
    known = {line.strip() for line in (*line_diff.split_lines(before), *line_diff.split_lines(after))}
    for line in line_diff.signature(before, after)[1]:
        places = [number for number, text in enumerate(texts, 1) if text == line]
        if len(places) > 1 and line not in {one.strip() for one in line_diff.split_lines(before)}:
            return f"{_shown(line)} is in {name} more than once: lines {', '.join(map(str, places))}"
        strangers = [(number, text) for number, text in enumerate(texts, 1) if text and text not in known]
        best = max(strangers, key=lambda one: line_diff.similarity(line, one[1]), default=None)
        if not places and best and line_diff.similarity(line, best[1]) >= line_diff.MIN_SIMILARITY:
            return f"{_shown(line)} was reworded: line {best[0]} of {name} now reads {_shown(best[1])}"
    return ""


def _shown(line: str) -> str:
    return f"\u201c{truncate(line, _MAX_SHOWN)}\u201d"
