"""Regular expressions that ignore case, compiled for lower case and matched with lower-cased text.

Long lists of words take half as long that way as with `re.IGNORECASE`, to compile and to match: without it Python skips
an alternative by its first letter.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from typing import Literal

from skilld.values import value_class

CASED = "(?-i:"  # begins a part that does not ignore case
_KEPT = re.compile(r"(\\[A-Z\\]|\(\?P<\w+>)")  # `\S` is not `\s`
# Letters that `re.IGNORECASE` takes for others too, or whose lower case is two characters or depends on their word.
_SAME_LETTERS = {"İ": "i", "ı": "i", "ſ": "s", "Σ": "σ", "ς": "σ"}
_UNUSUAL = re.compile(f"[{''.join(_SAME_LETTERS)}]")


@value_class
class Caseless:
    """An expression for lower case. What it finds has the positions of the text given, but the text in lower case."""

    expression: re.Pattern[str]

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """Return the first match, as `re.Pattern.search` does."""
        return self.expression.search(lower(text), start, end)

    def match(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """Return the match at `start`, as `re.Pattern.match` does."""
        return self.expression.match(lower(text), start, end)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Return the match of the whole text, as `re.Pattern.fullmatch` does."""
        return self.expression.fullmatch(lower(text))

    def finditer(self, text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
        """Return all matches, as `re.Pattern.finditer` does."""
        return self.expression.finditer(lower(text), start, end)

    def sub(self, instead: Literal["", " ", "\0"] | Callable[[int, int], str], text: str) -> str:
        """Return `text` with each match replaced by one character, none, or what a function returns for its span."""
        out, done = list[str](), 0
        for found in self.finditer(text):
            out += [text[done : found.start()], instead if isinstance(instead, str) else instead(*found.span())]
            done = found.end()
        return "".join([*out, text[done:]])


def caseless(source: str) -> Caseless:
    """Compile an expression that ignores case. Raises ValueError if a part of it does not."""
    if CASED in source:
        raise ValueError(f"the expression has {CASED!r}: {source[:80]!r}")
    parts = _KEPT.split(source)
    return Caseless(re.compile("".join(part if i % 2 else lower(part) for i, part in enumerate(parts))))


def lower(text: str) -> str:
    """Return `text` in lower case, with each character at its place."""
    if not text.isascii() and _UNUSUAL.search(text):
        text = _UNUSUAL.sub(lambda found: _SAME_LETTERS[found[0]], text)
    return text.lower()
