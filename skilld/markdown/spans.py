"""Code spans of Markdown text: what stands in backticks, after CommonMark 0.31 chapter 6.1.

Takes text, gives positions. Linear in the length of the text, whatever the backticks.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

_RUN = re.compile(r"`+")
_INK = re.compile(r"[^\n]")


@dataclass(frozen=True, slots=True)
class CodeSpan:
    """Characters [start, end) of the text, backticks included; `content` is what stands between them."""

    start: int
    end: int
    content: str


def code_spans(text: str) -> list[CodeSpan]:
    """Return the code spans of one block of text. A backtick run without a partner of its length is plain text."""
    runs = [(match.start(), match.end()) for match in _RUN.finditer(text)]
    by_length: dict[int, list[int]] = defaultdict(list)  # starts of the runs of each length, the nearest one last
    for start, end in reversed(runs):
        by_length[end - start].append(start)
    out: list[CodeSpan] = []
    free = 0
    for run_start, end in runs:
        start = run_start + (1 if _escaped(text, run_start) else 0)
        if run_start < free or start == end:
            continue
        partners = by_length[end - start]
        while partners and partners[-1] < end:
            partners.pop()
        if partners:
            closer = partners[-1]
            free = closer + end - start
            out.append(CodeSpan(start, free, text[end:closer].strip()))
    return out


def _escaped(text: str, at: int) -> bool:
    first = at
    while first > 0 and text[first - 1] == "\\":
        first -= 1
    return (at - first) % 2 == 1


def blank_code(text: str) -> str:
    """Return `text` with its code spans blanked out, each character but newlines by a blank, so that positions stay."""
    out: list[str] = []
    done = 0
    for span in code_spans(text):
        out += [text[done : span.start], _INK.sub(" ", text[span.start : span.end])]
        done = span.end
    return "".join([*out, text[done:]])
