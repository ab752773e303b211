"""Find numbers of payment cards and seed phrases of wallets: what is known by a checksum or by a list of words. Pure.

Sources: ISO/IEC 7812 (Luhn's checksum, ranges of issuers); BIP-39, whose English list is `seed_words.txt`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

from skilld.redact.findings import Finding

# The first digit stands before everything else, so that the search has something to look for.
_CARD = re.compile(
    r"[2-689](?<![\w.,:/#=+-].)(?:\d{3}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{1,3})?|\d{3}([ -])\d{6}\2\d{4,5}|\d{12,18}+)"
    r"(?![^\W_]|[.,:/-]\d)"
)
# Visa, Mastercard, American Express, Diners, Discover, JCB, UnionPay, Maestro, Mir, RuPay, Elo, Troy, Shetab.
_ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|4[4-9]\d|5\d\d)\d{12}"
    r"|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17}|(?:50|5[6-9]|6[0-9])\d{14}|220[0-4]\d{12}|(?:8[12]|508)\d{13,14}|9792\d{12}"
)
_FEW = 5  # kinds of digits from which a number is no example such as 4242 4242 4242 4242
_AS_WORDS = 12  # words of the shortest phrase
_HITS = bytes([1] * 5)  # of every other word of a phrase, less its first and last
_WORD = re.compile(r"[^\W\d_]+")
_APART = re.compile(r"[ \t\r\n,;]{1,6}(?:\d{1,2}[.):]?[ \t]{1,2})?")  # what stands between two words of a phrase


def find_cards(text: str) -> Iterator[Finding]:
    """Yield every card number in `text`."""
    for found in _CARD.finditer(text):
        digits = re.sub(r"\D", "", found[0])
        if _ISSUERS.fullmatch(digits) and len(set(digits)) >= _FEW and _luhn(digits):
            yield Finding(*found.span(), "card")


def _luhn(digits: str) -> bool:
    doubled = (2 * int(digit) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(number - 9 * (number > 9) for number in doubled)) % 10 == 0  # noqa: PLR2004


def find_seeds(text: str, words: list[str]) -> Iterator[Finding]:
    """Yield each run of words of the list that is long enough to be a phrase; `words` are those of `text`."""
    if text.count(",") + text.count(";") >= _AS_WORDS - 1:
        words = text.replace(",", " ").replace(";", " ").split()
    # Most texts end here, by one word in nine, or by every other word. A number may stand before each word of a phrase.
    if len(words) < _AS_WORDS or _seed_words().isdisjoint(words[:: _AS_WORDS - 3]):
        return
    hits = bytes(map(_seed_words().__contains__, words))
    if _HITS not in hits[::2] and _HITS not in hits[1::2]:
        return
    run: list[re.Match[str]] = []
    for word in chain(_WORD.finditer(text), [None]):
        listed = [word] if word is not None and word[0] in _seed_words() else []
        if listed and run and _APART.fullmatch(text, run[-1].end(), listed[0].start()):
            run += listed
            continue
        if len(run) >= _AS_WORDS:
            yield Finding(run[0].start(), run[-1].end(), "seed-phrase")
        run = listed


@cache
def _seed_words() -> frozenset[str]:
    words = Path(__file__).with_name("seed_words.txt").read_text(encoding="ascii").split()
    return frozenset([*words, *map(str.capitalize, words), *map(str.upper, words)])
