"""Where a client's wrapper ends, whatever its content says: the one rule by which every adapter takes wrappers off.

A client puts context around a prompt in the same text: blocks before it, reminders behind it, the body of a file or a
skill. What stands in such a block is anybody's, so it may hold any mark, the block's own end among them. But it always
lies between the first mark that opens a block of its kind and the last one that closes it. So what lies between those
two, for any kind, is taken for the block; what lies outside of all of them is no block's content, however the contents
were made. Blocks are taken off where clients put them, at the ends of a text; where such blocks leave nothing, nothing
was typed. A person who types such marks may lose words by it; nobody gains any.

Texts in, texts out; knows no agent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Wrappers:
    """The wrappers that one agent's clients put around a prompt in the same text.

    `opens` and `closes` are patterns of the marks; where they
    have a group, it names the kind of the block. They must match in time linear in the text. `before` and `behind` say
    on which sides of a prompt the clients put them; blocks of a kind that begins with `amid` stand anywhere in it.
    """

    opens: str
    closes: str
    before: bool = True
    behind: bool = True
    amid: str | None = None
    _opens: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _closes: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile the patterns."""
        object.__setattr__(self, "_opens", re.compile(self.opens, re.MULTILINE))
        object.__setattr__(self, "_closes", re.compile(self.closes, re.MULTILINE))

    def begin(self, text: str) -> bool:
        """Whether a text begins with a wrapper."""
        mark = self._opens.match(text, len(text) - len(text.lstrip()))
        return self.before and mark is not None and not self._is_amid(_kind(mark))

    def typed(self, text: str) -> str:
        """Return what of a text no wrapper can hold that stands where clients put them; a text without any as it is."""
        kinds = self._spans(text)
        spans = list(kinds.values())
        start, end = 0, len(text)
        for first, past in sorted(spans) if self.before else ():
            if text[start:first].strip():
                break
            start = max(start, past)
        for first, past in sorted(spans, key=lambda span: -span[1]) if self.behind else ():
            if text[past:end].strip():
                break
            end = min(end, first)
        pieces, at = [], start
        for first, past in sorted(span for kind, span in kinds.items() if self._is_amid(kind)):
            if at < past and first < end:
                pieces.append(text[at:first])
                at = past
        pieces.append(text[at:end])
        rest = "\n".join(pieces)
        rest = rest.lstrip() if at > 0 else rest
        return rest.rstrip() if end < len(text) else rest

    def typed_in(self, texts: Sequence[str]) -> list[str]:
        """Return what is typed in each of the texts of one message.

        Where one of them is free of wrappers, a text that begins with one is a block of the client's own as a whole.
        """
        apart = any(text.strip() and not self.begin(text) for text in texts)
        return ["" if apart and self.begin(text) else self.typed(text) for text in texts]

    def _is_amid(self, kind: str) -> bool:
        return self.amid is not None and kind.startswith(self.amid)

    def _spans(self, text: str) -> dict[str, tuple[int, int]]:
        """Return from where to where the blocks of each kind could reach; one that never ends reaches on if it begins.

        A closing mark before all that open is no block's end.
        """
        opened: dict[str, int] = {}
        for mark in self._opens.finditer(text):
            opened.setdefault(_kind(mark), mark.start())
        closed = {_kind(mark): mark.end() for mark in self._closes.finditer(text)}
        begins = len(text) - len(text.lstrip())
        ends = {kind: closed.get(kind, 0) or (len(text) if start == begins else 0) for kind, start in opened.items()}
        return {kind: (start, ends[kind]) for kind, start in opened.items() if ends[kind] > start}


def _kind(mark: re.Match[str]) -> str:
    return mark[1] if mark.lastindex else ""


def last(mark: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match of a mark; None where there is none."""
    found = None
    for match in mark.finditer(text):
        found = match
    return found
