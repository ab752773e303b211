"""Where a client's wrapper ends, whatever its content says: the one rule by which every adapter takes wrappers off.

A client puts context around a prompt: blocks before it, reminders behind it, the body of a file or skill. What stands in
such a block is anybody's, so it may hold any mark, the block's own end among them. Only what comes before the first mark
that opens, or after the last mark that closes, is out of its reach:

- A text that begins with a wrapper and goes on behind it is typed behind the last mark that closes any wrapper.
- A text that ends with a wrapper but does not begin with one is typed before the first mark that opens any.
- A text that begins and ends with one could hold a prompt between two blocks or be one block: nothing of it is typed.

A person who types such marks loses words by it, and never gains any. Takes texts, gives texts; knows no agent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Wrappers:
    """The wrappers that one agent's clients put around a prompt in the same text.

    `names` are how a test of forged content calls them. `opens` and `closes` are patterns of the marks; they match in
    time linear in the text. `before` and `behind` say on which sides of a prompt the clients put them.
    """

    names: tuple[str, ...]
    opens: str
    closes: str
    before: bool = True
    behind: bool = True
    _open: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _close: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile the patterns."""
        object.__setattr__(self, "_open", re.compile(self.opens, re.MULTILINE))
        object.__setattr__(self, "_close", re.compile(self.closes, re.MULTILINE))

    def begin(self, text: str) -> bool:
        """Whether a text begins with a wrapper."""
        return self.before and self._open.match(text, _first(text)) is not None

    def typed(self, text: str) -> str:
        """Return what of a text stands outside of all wrappers for certain; a text without any as it is."""
        begins = self.begin(text)
        end = last_end(self._close, text)
        ends = self.behind and end is not None and not text[end:].strip()
        if begins:
            return "" if end is None else text[end:].lstrip()
        opened = self._open.search(text) if ends else None
        return text[: opened.start()].rstrip() if opened else text

    def typed_in(self, texts: Sequence[str]) -> list[str]:
        """Return what is typed in each of the texts of one message.

        Where one of them is free of wrappers, a text that begins with one is a block of the client's own as a whole.
        """
        apart = any(text.strip() and not self.begin(text) for text in texts)
        return ["" if apart and self.begin(text) else self.typed(text) for text in texts]


def last_end(mark: re.Pattern[str], text: str) -> int | None:
    """Return where the last match of a mark ends; None where there is none."""
    last = None
    for match in mark.finditer(text):
        last = match.end()
    return last


def inside(text: str, tag: str) -> str | None:
    """Return what a client put between `<tag>` and `</tag>` in a text that may have blocks of context on one side.

    The reverse of the above: here the prompt is wrapped, and so is the context, in other tags. None where there is no
    such pair out of the context's reach.
    """
    opens, closes, whole = f"<{tag}>", f"</{tag}>", text.strip()
    if whole.startswith(opens):
        body = whole.removeprefix(opens)
        end = body.find(closes)
        if body.endswith(closes) and body.rfind(opens) < end:  # one prompt, which may speak of its own marks
            return body.removesuffix(closes)
        return body[:end] if end >= 0 else None  # with context behind it
    if not (whole.endswith(closes) and _TAG.match(whole)):
        return None
    start = last_end(re.compile(_CLOSED + re.escape(opens)), whole)  # with context before it
    return None if start is None else whole[start:].removesuffix(closes)


_TAG = re.compile(r"<[A-Za-z][\w-]*")
_CLOSED = r"</[A-Za-z][\w-]*>\s*"


def _first(text: str) -> int:
    return len(text) - len(text.lstrip())
