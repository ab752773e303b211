"""Lint family T-15, words in disguise: turned letters, Pig Latin, digits for letters, pieces put together.

Text is undone in the ways that attacks on models are known to use, and is a finding where the outcome is more English
than the text. What decodes as bytes is the encoded family's.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

from skilld.edit.change import Change
from skilld.edit.findings import Finding, flag, refuse

_LEAST = 24  # characters; shorter stretches hide too little and are English by chance
_STRETCH = 8  # words that are undone together
_ENGLISH = 3  # different frequent words that no chance puts into one stretch
_PIG_LATIN = 0.6  # share of a text's words that end in "ay"
_ENDS_SO = frozenset(
    re.findall(
        r"\w+",
        "away day days say way today may pay play stay lay ray array display delay okay gray relay gateway replay"
        " overlay friday monday sunday tuesday thursday saturday wednesday spray essay birthday",
    )
)
_FREQUENT = frozenset(
    re.findall(
        r"\w+",
        "the and that this with for you your are not was from have all any use run then when must should always never"
        " before after file files send post delete ignore instructions instruction previous system user to of in is it"
        " on as at be by or do if password secret state paper curl http https bash conclusion",
    )
)
_LONG = 3  # letters; with all 25 turns to try, chance gives two-letter words often
_WORD = re.compile(r"[A-Za-z]+")
_LETTERS_APART = re.compile(r"(?<![\w'’])(?:[A-Za-z][ ._*|/-]{1,2}){5,}[A-Za-z](?!\w)")
_PUT_TOGETHER = re.compile(
    r"\b(\w{1,12})\s*=\s*[\"'‘“][^\"'’”\n]{1,40}[\"'’”][\s,;.]{0,3}(?:and\s+)?(\w{1,12})\s*=\s*[\"'‘“]"
    r"|[\"'][^\"'\n]{1,30}[\"']\s*\+\s*[\"'][^\"'\n]{1,30}[\"']\s*\+",
    re.IGNORECASE,
)
_PIECES = re.compile(
    r"\b(?:first letters? of|letter by letter|join (?:them|the parts|the pieces)|put (?:them|the parts) together"
    r"|part (?:one|1|a) is|spell(?:ed)? (?:out|backwards))\b|\b(\w{2,})(?:[\s,]+\1\b){3,}",
    re.IGNORECASE,
)
_DIGITS = str.maketrans("013457@$!", "oieastasi")
_DIGIT_WORD = re.compile(r"(?<!\S)(?=\S{0,20}[A-Za-z])(?=\S{0,20}[013457@$!]\S)\S{3,}")


def check(change: Change) -> Iterator[Finding]:
    """Refuse turned letters that read as a sentence; flag the other disguises."""
    for line in change.added:
        turned = _turned(line)
        if turned:
            yield refuse("encoded-text", "It adds text in turned letters that reads", turned)
        yield from _played(line)
    for match in change.matches(_LETTERS_APART):
        yield flag("disguised-words", "It spells out words letter by letter", match[0])
    for match in change.matches(_PIECES):
        yield flag("disguised-words", "It hides words in letters, pieces or repetition", match[0])
    for match in change.matches(_PUT_TOGETHER):
        yield flag("disguised-words", "It puts words together from pieces", match[0])


def _played(line: str) -> Iterator[Finding]:
    """Yield what reads better backwards, as Pig Latin or with digits as letters."""
    words = _WORD.findall(line)
    turned = [word for word in words if word.casefold().endswith("ay") and word.casefold() not in _ENDS_SO]
    if len(turned) >= _ENGLISH and len(turned) >= _PIG_LATIN * len(words):
        yield flag("disguised-words", "It adds text in Pig Latin", line)
    for undone in (line[::-1], " ".join(word[::-1] for word in words)):
        if _meaning(undone) >= _ENGLISH and _meaning(undone) > 2 * _meaning(line):
            yield flag("disguised-words", "It adds text that reads backwards", undone)
    if len(_DIGIT_WORD.findall(line)) >= _ENGLISH:
        undone = line.translate(_DIGITS)
        if _meaning(undone) >= _meaning(line) + _ENGLISH - 1:
            yield flag("disguised-words", "It writes digits for letters", undone)


def _turned(line: str) -> str:
    """Return a stretch of the line that becomes English when all its letters are turned alike, or an empty string."""
    words = _WORD.findall(line)
    for start in range(0, max(1, len(words) - _STRETCH + 1), _STRETCH // 2):
        stretch = " ".join(words[start : start + _STRETCH])
        if len(stretch) < _LEAST:
            continue
        known = _meaning(stretch)
        for table in _TURNS:
            turned = stretch.translate(table)
            if _meaning(turned) >= _ENGLISH and _meaning(turned) > 2 * known and _meaning(turned, _LONG) >= 2:  # noqa: PLR2004 - one could be chance
                return turned
    return ""


def _turn(by: int) -> dict[int, int]:
    small, great = string.ascii_lowercase, string.ascii_uppercase
    return str.maketrans(small + great, small[by:] + small[:by] + great[by:] + great[:by])


_TURNS = tuple(_turn(by) for by in range(1, 26))


def _meaning(text: str, least: int = 1) -> int:
    """Count the different frequent English words of a text that have at least so many letters."""
    return sum(len(word) >= least for word in _FREQUENT.intersection(_WORD.findall(text.casefold())))
