"""The person's words that a model quotes: found where they stand, and given back as they were typed. Pure.

Models copy words with other quotation marks, without emphasis, in another case, or with a gap in the middle. What is
kept as evidence is never theirs: it is the stretch of the turn that they meant.
"""

from __future__ import annotations

import re
import unicodedata

from skilld.text import fold

_GAP = re.compile(r"(?<!\s)(?:\s*+\[?(?:\.{3,}+|\u2026)\]?\s*+|[^\S\n]*+\n\s*+)")
_MARKS = "\"'\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a`*_"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2212"
_PUNCTUATION = ",;:.!?()[]\u3001\u3002\uff0c\uff1b\uff1a\uff01\uff1f\uff08\uff09"
_AROUND = _MARKS + " .,;:!?\u3002\uff01\uff1f\u2026-"
_LEAST = 0.5  # share of the quote that one part of it must make up, where it stands there only in parts


def as_typed(quote: str, typed: str) -> str:
    """Return the stretch of `typed`, white space folded, that `quote` means; empty where there is none.

    Of a quote with a gap the longest part counts, if it is half of the whole or all parts stand there.
    """
    folded = fold(quote)
    if folded in fold(typed):
        return folded
    plain, places = _plain(typed)
    parts = [wanted for part in _GAP.split(quote) if (wanted := _wanted(part))]
    whole = _wanted(quote)
    least = 1 if all(_at_word(plain, part) >= 0 for part in parts) else _LEAST * len(whole)
    for wanted in sorted((whole, *parts), key=len, reverse=True):
        if not wanted or len(wanted) < least:
            continue
        at = _at_word(plain, wanted)
        if at >= 0:
            return fold(typed[places[at] : places[at + len(wanted) - 1] + 1])
    return ""


def _wanted(quote: str) -> str:
    return _plain(quote.strip(_AROUND))[0].strip()


def _at_word(plain: str, wanted: str) -> int:
    """Return where `wanted` stands and is no part of a longer word, -1 where nowhere."""
    at = plain.find(wanted)
    while at >= 0:
        before = plain[at - 1 : at] if at else ""
        after = plain[at + len(wanted) : at + len(wanted) + 1]
        if not (_joins(before, wanted[0]) or _joins(wanted[-1], after)):
            return at
        at = plain.find(wanted, at + 1)
    return -1


def _joins(one: str, other: str) -> bool:
    return one.isascii() and other.isascii() and one.isalnum() and other.isalnum()


def _plain(text: str) -> tuple[str, list[int]]:
    """Return `text` without case, marks, punctuation and runs of white space, and of each character its place there."""
    out: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        if char in _MARKS:
            continue
        plain = "-" if char in _DASHES else unicodedata.normalize("NFKC", char).casefold()
        if plain.isspace() or char in _PUNCTUATION:
            if out and out[-1] == " ":
                continue
            plain = " "
        out += plain
        places += [place] * len(plain)
    return "".join(out), places
