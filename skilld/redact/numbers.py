"""Find numbers of payment cards and seed phrases of wallets: what is known by a checksum or by a list of words. Pure.

Sources: ISO/IEC 7812 (Luhn's checksum, ranges of issuers); BIP-39, whose English list is `seed_words.txt`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
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
_LONGEST = 24  # letters of a word on either side, with what stands between
_AS_WORDS = 12  # words of the shortest phrase
# Phrases as they are written: words in a line, or each behind a comma, a line end, a number.
_SEEDS = (
    re.compile(r"(?: (?:\d{1,2}[.):]? )?[A-Za-z]{3,8}){10,48}+"),
    re.compile(r"(?:[\n,;][ \t]{0,4}(?:\d{1,2}[.):]?[ \t]{1,2})?[A-Za-z]{3,8}\r?){10,48}+"),
)
_WORD = re.compile(r"[^\W\d_]+")
_APART = 8  # characters between two words of a phrase: a number, a comma, a line end


def find(text: str) -> Iterator[Finding]:
    """Yield every card number and every seed phrase in `text`."""
    for found in _CARD.finditer(text):
        digits = re.sub(r"\D", "", found[0])
        if _ISSUERS.fullmatch(digits) and len(set(digits)) >= _FEW and _luhn(digits):
            yield Finding(*found.span(), "card")
    for seed in _SEEDS:
        for found in seed.finditer(text):
            yield from _phrases(text, max(0, found.start() - _LONGEST), min(len(text), found.end() + _LONGEST))


def _luhn(digits: str) -> bool:
    doubled = (2 * int(digit) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(number - 9 * (number > 9) for number in doubled)) % 10 == 0  # noqa: PLR2004


def _phrases(text: str, start: int, end: int) -> Iterator[Finding]:
    """Yield each run of words of the list that is long enough to be a phrase."""
    run: list[re.Match[str]] = []
    for word in [*_WORD.finditer(text, start, end), None]:
        is_next = word is not None and (not run or word.start() - run[-1].end() <= _APART)
        if word is not None and is_next and word[0].lower() in _seed_words():
            run.append(word)
            continue
        if len(run) >= _AS_WORDS:
            yield Finding(run[0].start(), run[-1].end(), "seed-phrase")
        run = []


@cache
def _seed_words() -> frozenset[str]:
    return frozenset(Path(__file__).with_name("seed_words.txt").read_text(encoding="ascii").split())
