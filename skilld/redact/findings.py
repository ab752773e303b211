"""What the detectors give: findings, and how overlapping ones become one. Pure; imports nothing of skilld.

A placeholder is `[REDACTED:<kind>:<hmac8>]`. Detectors never see one: it is blanked out first, which is what keeps a
second pass from finding anything inside the output of the first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

PLACEHOLDER = re.compile(r"\[REDACTED:[a-z0-9-]{1,40}:[0-9a-f]{8}\]")
_BEGINS = "[REDACTED:"
BLANK = "\0"  # stands for a character of a placeholder; no format, key or word contains it


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret at [start, end) of a text, in characters. `kind` is `[a-z0-9-]+` and becomes part of the placeholder."""

    start: int
    end: int
    kind: str

    @property
    def span(self) -> tuple[int, int]:
        """Return (start, end)."""
        return self.start, self.end


Detector = Callable[[str], Iterable[Finding]]
Span = tuple[int, int]
_SHORTEST_TOKEN = 11  # characters; most that people type has no word so long


def long_runs(text: str, words: list[str]) -> list[Span]:
    """Return where those of the `words` of a text stand that are long enough to hold a token."""
    spans, at = [], 0
    for run in [word for word in words if len(word) >= _SHORTEST_TOKEN]:
        at = text.index(run, at)
        spans.append((at, at := at + len(run)))
    return spans


def lower(text: str) -> str:
    """Return `text` in lower case and as long as before: one letter has a longer lower case."""
    return text.replace("\u0130", "i").lower()


def blank_placeholders(text: str) -> str:
    """Return `text`, as long as before, with every placeholder overwritten by blanks."""
    if _BEGINS not in text:
        return text
    return PLACEHOLDER.sub(lambda found: BLANK * len(found[0]), text)


def outside_placeholders(findings: Iterable[Finding], blanked: str) -> Iterator[Finding]:
    """Cut the parts of `findings` that lie over blanks away; what has no letter or digit left is dropped."""
    for finding in findings:
        for part in re.finditer(rf"[^{BLANK}]+", blanked[finding.start : finding.end]):
            if any(char.isalnum() for char in part[0]):
                yield Finding(finding.start + part.start(), finding.start + part.end(), finding.kind)


def merge(findings: Iterable[Finding], gap: int = 0) -> list[Finding]:
    """Return `findings` in order, those that overlap (or lie less than `gap` characters apart) made one.

    The one takes the kind of the first given: detectors come in order of how precisely they know what they found.
    """
    ranked = sorted(enumerate(findings), key=lambda item: (item[1].start, item[1].end))
    merged: list[tuple[int, Finding]] = []
    for rank, finding in ranked:
        if merged and finding.start < merged[-1][1].end + gap:
            last_rank, last = merged[-1]
            kind = finding.kind if rank < last_rank else last.kind
            merged[-1] = min(rank, last_rank), Finding(last.start, max(last.end, finding.end), kind)
        else:
            merged.append((rank, finding))
    return [finding for _, finding in merged]
