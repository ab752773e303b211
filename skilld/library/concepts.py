"""What a piece of work is about, in words that can be compared: those of one meaning are one, whatever the language.

Text in, terms out, by the word lists of concepts.toml. Pure; no model, nothing is learned.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from skilld.words import content_stems, is_unspaced, stem

_DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_PHRASES = tuple((words, re.compile(pattern, re.IGNORECASE)) for words, pattern in _DATA["phrases"])
_ENDINGS = frozenset(_DATA["endings"].split())
_ENDING = 3  # letters of an ending at most
_MIN_FORM = 4  # letters of a word that is looked for inside another one
_MIN_PART = 5  # the same of a part of a compound


def _by_stem(lines: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Return the meanings of each stem: the first words of the lines that it stands in."""
    found: dict[str, set[str]] = {}
    for line in lines:
        words = line.split()
        for word in words:
            found.setdefault(stem(word), set()).add(words[0])
    return {word: frozenset(meanings) for word, meanings in found.items()}


_THINGS, _ACTIONS = _by_stem(_DATA["things"]), _by_stem(_DATA["actions"])
_LONGEST = max(map(len, _THINGS))


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a text: its stem, what it may mean, and whether it only says what is done."""

    stem: str
    meanings: frozenset[str]
    is_action: bool

    def same(self, other: Term) -> bool:
        """Whether both may mean one thing."""
        return self.stem == other.stem or bool(self.meanings & other.meanings)


@lru_cache(maxsize=4096)
def terms(text: str) -> frozenset[Term]:
    """Return what a text is about; words that any instruction is made of are left out."""
    for words, pattern in _PHRASES:
        text = pattern.sub(f" {words} ", text)
    return frozenset(map(_term, content_stems(text)))


@lru_cache(maxsize=16384)
def _term(word: str) -> Term:
    things, actions = _meanings(word, _THINGS), _meanings(word, _ACTIONS)
    return Term(word, frozenset((*things, *(f"to {one}" for one in actions))), bool(actions and not things))


def _meanings(word: str, table: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return what a stem means: by itself, in another form, or by the parts of a compound."""
    if found := table.get(word):
        return found
    if len(word) < _MIN_FORM or is_unspaced(word):
        return frozenset()
    for length in range(1, _ENDING + 1):
        begin, ending = word[:-length], word[-length:]
        if len(begin) >= _MIN_FORM and ending in _ENDINGS and begin in table:
            return table[begin]
    return (
        frozenset().union(*(table[part] for part in _parts(word) if part in table))
        if not word.isdigit()
        else frozenset()
    )


def _parts(word: str) -> list[str]:
    """Return what a compound may begin and end with, without and with an ending: "Versionshinweise"."""
    begins = [word[:at] for at in range(_MIN_PART, len(word) - _MIN_FORM + 1)]
    ends = [word[at:] for at in range(_MIN_FORM, len(word) - _MIN_PART + 1)]
    return [
        one[: len(one) - cut]
        for one in begins[-1:-_LONGEST:-1] + ends
        for cut in (0, 1, 2)
        if len(one) - cut >= _MIN_PART
    ]
