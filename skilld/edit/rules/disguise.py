"""Lint family T-15: text a reader cannot read: encoded, turned, spelt backwards or in digits, cut into pieces."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import math
import re
import string
from collections import Counter
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from skilld.edit.change import Change
from skilld.edit.findings import Finding, flag, refuse

_MIN_LENGTH = 24  # characters; shorter stretches hide too little and are English by chance
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


def check_disguise(change: Change) -> Iterator[Finding]:
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
        if len(stretch) < _MIN_LENGTH:
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


# Lint family T-15: text that a reader cannot read: encoded, or a blob of no known form.
#
# What can be decoded is decoded once; a decoded sentence is refused, whatever it says. Digests, identifiers and
# paths are told from payloads by what decoding them gives.

_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}={0,2}")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0x)?((?:[0-9a-fA-F]{2}[ ,:]?){12,})(?![0-9A-Za-z])")
_ESCAPES = re.compile(r"(?:\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[0-3][0-7]{2}){4,}")
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2}){4,}")
_ENTITIES = re.compile(r"(?:&#(?:\d{2,7}|x[0-9a-fA-F]{2,6});){4,}")
_BINARY = re.compile(r"(?:[01]{8}\s?){4,}")
_MORSE = re.compile(r"(?:[.\-–·]{1,6}(?:\s|/)+){8,}")
_TOKEN = re.compile(r"\S{200,}")
_BLOB = 60  # characters from which a run without any meaning is opaque
_BLOB_ENTROPY = 4.3  # bits per character; English in base64 has about 5, identifiers under 4.2
_PART = 20  # characters between the signs of base64; a path has about 8 between its slashes
_READABLE = 0.95  # share of its characters
_MIN_WORD = 4  # characters of a word that commands anything


def check_encoded(change: Change) -> Iterator[Finding]:
    """Refuse text that says something only when decoded; flag what stays opaque."""
    for pattern, decode in _CODES:
        for match in change.matches(pattern):
            decoded = decode(match[0])
            if _is_text(decoded):
                yield refuse("encoded-text", "It adds encoded text that reads", decoded)
    for match in change.matches(_MORSE):
        yield flag("encoded-text", "It adds text in Morse code", match[0])
    for match in change.matches(_BASE64):
        if _is_blob(match[0]):
            yield refuse("opaque-blob", "It adds data that nobody can read", match[0])
    for match in change.matches(_TOKEN):
        yield flag("opaque-blob", "It adds a very long word", match[0])


def _base64(text: str) -> str:
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4)).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


def _hex(text: str) -> str:
    return bytes.fromhex(re.sub(r"[^0-9a-fA-F]", "", text.removeprefix("0x"))).decode("utf-8", "replace")


def _escapes(text: str) -> str:
    return codecs.decode(text, "unicode_escape")


def _binary(text: str) -> str:
    return "".join(chr(int(octet, 2)) for octet in re.findall(r"[01]{8}", text))


_CODES: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = (
    (_BASE64, _base64),
    (_HEX, _hex),
    (_ESCAPES, _escapes),
    (_PERCENT, unquote),
    (_ENTITIES, html.unescape),
    (_BINARY, _binary),
)


def _is_text(decoded: str) -> bool:
    """Whether it reads as words: nearly all printable ASCII, half of it letters, as no random bytes would be."""
    printable = sum(char.isascii() and (char.isprintable() or char in "\n\t") for char in decoded)
    letters = sum(char.isalpha() for char in decoded)
    return len(decoded) >= _MIN_WORD and printable >= _READABLE * len(decoded) and 2 * letters >= len(decoded)


def _is_blob(run: str) -> bool:
    """Whether a run has the length, the mixture and the evenness of encoded bytes, and no words between its signs."""
    kinds = all(any(test(char) for char in run) for test in (str.isupper, str.islower, str.isdigit))
    counts = Counter(run)
    entropy = -sum(n / len(run) * math.log2(n / len(run)) for n in counts.values())
    parts = len(re.findall(r"[/+_-]+", run)) + 1
    return len(run) >= _BLOB and kinds and entropy >= _BLOB_ENTROPY and len(run) / parts >= _PART
