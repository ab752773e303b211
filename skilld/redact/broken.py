"""Find tokens that a terminal or a mail broke across a line end. Pure.

The pieces are put together again and searched as one. A piece counts only where it fills a line's end or beginning and
looks made by a machine, so that the first word of the next line does not go along.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.redact.findings import Detector, Finding
from skilld.redact.values import is_opaque

_MOST = 8  # lines of one token
_BREAK = re.compile(r"\n[ \t>|]{0,8}(?P<piece>[A-Za-z0-9_.+/~-]{3,512}+={0,2})(?=[\s\"'`,;)]|$)")
_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.=+/:~-"
_REACH, _SHORTEST = 512, 4  # characters of the piece at a line's end
_KINDS = tuple(map(re.compile, ("[A-Z]", "[a-z]", "[0-9]")))
_MIXED = 2  # kinds of characters that a piece has at least, digits among them or capitals inside


def find(text: str, detect: Detector) -> Iterator[Finding]:
    """Yield every finding of `detect` that reaches over a line end, once that is taken out."""
    done = 0
    for found in _BREAK.finditer(text):
        if found.start() < done or not _is_piece(found["piece"]):
            continue
        head = _head(text, found.start())
        if head is None:
            continue
        pieces = [head, *_following(text, found)]
        done = pieces[-1][0]
        joined = "".join(text[start:end] for start, end in pieces)
        for finding in detect(joined):
            if finding.start < head[1] - head[0] < finding.end:
                yield Finding(head[0] + finding.start, _end(pieces, finding.end), finding.kind)


def extended(text: str, finding: Finding) -> Finding:
    """Return a finding with the pieces on the next lines that it goes on with, where it ends with its line."""
    end = finding.end
    for _ in range(_MOST):
        piece = _BREAK.match(text, end)
        if piece is None or not is_opaque(piece["piece"]):
            break
        end = piece.end()
    return finding if end == finding.end else Finding(finding.start, end, finding.kind)


def _is_piece(piece: str) -> bool:
    kinds = sum(kind.search(piece) is not None for kind in _KINDS)
    return kinds >= _MIXED and (
        is_opaque(piece) or _KINDS[2].search(piece) is not None or piece[1:] != piece[1:].lower()
    )


def _head(text: str, at: int) -> tuple[int, int] | None:
    """Return the run of token characters that the line before `at` ends with."""
    end = at
    while end and text[end - 1] in " \t\r\\":
        end -= 1
    before = text[max(0, end - _REACH) : end]
    length = len(before) - len(before.rstrip(_CHARACTERS))
    return (end - length, end) if length >= _SHORTEST else None


def _following(text: str, first: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield the pieces from the first one on, as long as each fills its line."""
    found: re.Match[str] | None = first
    for _ in range(_MOST):
        if found is None or not _is_piece(found["piece"]):
            return
        yield found.span("piece")
        found = _BREAK.match(text, found.end())


def _end(pieces: list[tuple[int, int]], length: int) -> int:
    """Return where the first `length` characters of the pieces end in the text."""
    for start, end in pieces:
        if length <= end - start:
            return start + length
        length -= end - start
    return pieces[-1][1]
