"""What a text is about, in words that can be compared: its parts, what each asks for or rejects, and its numbers.

Text in, sets of words out. Words of one meaning are one word, whatever their language (gist.toml), and a rule of
several clauses is several rules. Pure.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from skilld.classify.offline.choices import TOPICS, turned_down
from skilld.words import denies, measures, numbers, stem, stems

_DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_WORD = re.compile(r"[^\W_](?:[\w.-]*[^\W_])?")
# What programs are told by: a path, a call, an option, a name with a dot, an underscore or a capital inside.
_CODE = re.compile(
    r"(?<![\w/.-])(?:[\w.-]*\w\(\)|(?:[\w.-]+/)+[\w.*-]*|/[\w.*/-]+|--?[a-z][\w-]+|\w+(?:\.[a-z]\w{0,5})+|\w+_\w+|[a-z]+[A-Z]\w+)"
)
_PHRASES = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _DATA["phrases"])
_ANY_PHRASE = re.compile("|".join(pattern for _, pattern in _DATA["phrases"]), re.IGNORECASE)
# Where another clause begins, and whether it says no.
_CLAUSES = re.compile(
    r"[;.:!?](?=\s|$)|\s[-–—](?=\s)|(?<=\s)\(|(?<!\()\)(?=\s|$)"
    r"|,(?=\s{1,3}(?:never|not|no|nicht|kein\w*|nie|non|pas|não|jamais|nunca|but|and never)\b)"
    r"|\b(?=instead of\b|rather than\b)",
    re.IGNORECASE,
)
_INSTEAD = re.compile(r"^(?:instead of|rather than|over)\b", re.IGNORECASE)
_DENIAL = re.compile(_DATA["denial"], re.IGNORECASE)
_EXAMPLE = re.compile(r"(?:,| \() ?(?:like|such as|e\.g\.|for example|z\. ?B\.)[^;.)]*\)?", re.IGNORECASE)
_ENDINGS = frozenset(_DATA["endings"].split())
_MIN_FORM = 4  # letters of a word that another form begins with
_CONCEPTS: dict[str, str] = {stem(word): line.split()[0] for line in _DATA["concepts"] for word in line.split()}


@dataclass(frozen=True, slots=True)
class Part:
    """A clause: its words, what programs are told by in it, and whether it says no."""

    words: frozenset[str]
    codes: frozenset[str]
    denies: bool


@dataclass(frozen=True, slots=True)
class Gist:
    """What a text is about: its words, of them those it asks for and those it turns down, its code and its numbers."""

    parts: tuple[Part, ...]
    words: frozenset[str]
    asked: frozenset[str]
    refused: frozenset[str]
    codes: frozenset[str]
    numbers: frozenset[str]
    measures: tuple[tuple[str, float], ...]
    denies: bool


@lru_cache(maxsize=8192)
def gist(text: str) -> Gist:
    """Return what a text is about. An example that it gives is not what it is about."""
    bare = _EXAMPLE.sub(" ", _plainly(text))
    every = words(bare)
    parts = tuple(part for clause in _CLAUSES.split(bare) if (part := _part(clause)).words) or (_part(bare),)
    down = words(turned_down(bare)) & every
    refused = down.union(*(part.words for part in parts if part.denies))
    asked = frozenset().union(*(part.words for part in parts if not part.denies)) - down
    return Gist(
        parts=parts,
        words=every,
        asked=asked,
        refused=refused - asked,
        codes=codes(text),
        numbers=numbers(bare),
        measures=tuple((stem(unit), float(number)) for unit, number in measures(bare).items()),
        denies=any(part.denies for part in parts),
    )


def _part(clause: str) -> Part:
    says_no = denies(clause) or _INSTEAD.match(clause) or _DENIAL.search(clause)
    return Part(words(clause), codes(clause), bool(says_no))


@lru_cache(maxsize=8192)
def words(text: str) -> frozenset[str]:
    """Return the words of a text, those of one meaning as one, without what any instruction is made of."""
    plainly = _plainly(text)
    found = frozenset(map(_meaning, stems(plainly)))
    members = set(map(_form, _WORD.findall(plainly.lower()))) & _MEMBERS - PLACES
    return (found - PLAIN or found) | members


def codes(text: str) -> frozenset[str]:
    """Return what programs are told by: paths, calls, options, names of files and of variables."""
    return frozenset(match[0].strip("/").casefold() for match in _CODE.finditer(text))


def _plainly(text: str) -> str:
    if not _ANY_PHRASE.search(text):
        return text
    for name, pattern in _PHRASES:
        text = pattern.sub(name, text)
    return text


@lru_cache(maxsize=16384)
def _form(word: str) -> str:
    return _meaning(stem(word))


@lru_cache(maxsize=16384)
def _meaning(word: str) -> str:
    """Return the word that stands for a stem: of one meaning with it, or its own form as the British spell it."""
    if word in _CONCEPTS:
        return _CONCEPTS[word]
    for length in (1, 2, 3):
        begin, ending = word[:-length], word[-length:]
        if len(begin) > _MIN_FORM and ending in _ENDINGS and begin in _CONCEPTS:
            return _CONCEPTS[begin]
    return re.sub(r"or$", "our", re.sub(r"iz$", "is", word)) if len(word) > _MIN_FORM else word


def _families(lines: list[str]) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(_meaning(stem(word)) for word in line.split()) for line in lines)


PLAIN = frozenset(map(stem, _DATA["plain"].split()))
_CHOICES = [*TOPICS["choices"], *_DATA["tools"]]
_OF_ANYTHING = frozenset(_DATA["of_anything"].split())
TOOLS = _families([line for line in _CHOICES if _OF_ANYTHING.isdisjoint(line.split())])
OPPOSITES = _families(
    [line for line in _CHOICES if not _OF_ANYTHING.isdisjoint(line.split())]
    + TOPICS["everyday_choices"]
    + _DATA["opposites"]
)
PLACES = _families([_DATA["places"]])[0]
CHOSEN = frozenset().union(*_families(_CHOICES)) - PLACES
_MEMBERS = frozenset().union(*TOOLS, *OPPOSITES)
WEAK = words(f"{TOPICS['weak']} {_DATA['weak']}")
