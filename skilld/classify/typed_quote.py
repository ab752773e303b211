"""Finds the words of a turn that a model's quote means.

Models quote with other quotation marks, without emphasis, in another case, or with a gap in the middle. Evidence is
never their copy, but the stretch of the turn that they meant, as it was typed. Pure.
"""

from __future__ import annotations

import re
import unicodedata

from skilld.text import fold

_GAP = re.compile(r"(?<!\s)(?:\s*+\[?(?:\.{3,}+|\u2026)\]?\s*+|[^\S\n]*+\n\s*+)")
_QUOTE_MARKS = "\"'\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a`*_"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2212"
_PUNCTUATION = ",;:.!?()[]\u3001\u3002\uff0c\uff1b\uff1a\uff01\uff1f\uff08\uff09"
_EDGE_CHARACTERS = _QUOTE_MARKS + " .,;:!?\u3002\uff01\uff1f\u2026-"
_MIN_PART_SHARE = 0.5  # share of a quote that one part must have if only parts of it are found


def typed_quote(quote: str, typed: str) -> str:
    """Return the stretch of `typed`, white space folded, that `quote` means, or "".

    For a quote with a gap it is the longest part, if that is half of the whole or all parts are found.
    """
    folded = fold(quote)
    if folded in fold(typed):
        return folded
    plain, places = _normalize(typed)
    parts = [wanted for part in _GAP.split(quote) if (wanted := _normalized_quote(part))]
    whole = _normalized_quote(quote)
    least = 1 if all(_find_word(plain, part) >= 0 for part in parts) else _MIN_PART_SHARE * len(whole)
    for wanted in sorted((whole, *parts), key=len, reverse=True):
        if not wanted or len(wanted) < least:
            continue
        at = _find_word(plain, wanted)
        if at >= 0:
            return fold(typed[places[at] : places[at + len(wanted) - 1] + 1])
    return ""


def _normalized_quote(quote: str) -> str:
    return _normalize(quote.strip(_EDGE_CHARACTERS))[0].strip()


def _find_word(plain: str, wanted: str) -> int:
    """Return the position of `wanted` as whole words, or -1."""
    at = plain.find(wanted)
    while at >= 0:
        before = plain[at - 1 : at] if at else ""
        after = plain[at + len(wanted) : at + len(wanted) + 1]
        if not (_is_same_word(before, wanted[0]) or _is_same_word(wanted[-1], after)):
            return at
        at = plain.find(wanted, at + 1)
    return -1


def _is_same_word(one: str, other: str) -> bool:
    return one.isascii() and other.isascii() and one.isalnum() and other.isalnum()


def _normalize(text: str) -> tuple[str, list[int]]:
    """Return `text` without case, marks, punctuation and runs of blanks, and each character's original position."""
    out: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        if char in _QUOTE_MARKS:
            continue
        plain = "-" if char in _DASHES else unicodedata.normalize("NFKC", char).casefold()
        if plain.isspace() or char in _PUNCTUATION:
            if out and out[-1] == " ":
                continue
            plain = " "
        out += plain
        places += [place] * len(plain)
    return "".join(out), places
