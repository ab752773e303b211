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

from skilld.words import content_stems, is_unspaced, is_unspaced_in, stem

_DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_PHRASES = tuple((words, re.compile(pattern, re.IGNORECASE)) for words, pattern in _DATA["phrases"])
_ENDINGS = frozenset(_DATA["endings"].split())
_ENDING = 3  # letters of an ending at most
_MIN_FORM = 4  # letters of a word that is looked for inside another one
_MIN_PART = 5  # the same of a part of a compound
_WORD = re.compile(r"\w+")  # what the index has as one word


def _by_stem(lines: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Return the meanings of each stem: the first words of the lines that it stands in."""
    found: dict[str, set[str]] = {}
    for line in lines:
        words = line.split()
        for word in words:
            found.setdefault(stem(word), set()).add(words[0])
    return {word: frozenset(meanings) for word, meanings in found.items()}


_THINGS, _ACTIONS = _by_stem(_DATA["things"]), _by_stem(_DATA["actions"])
_MEANING = {
    name: tuple(word for word, meanings in _THINGS.items() if name in meanings)
    for name in {line.split()[0] for line in _DATA["things"]}
}
_NAMES = {word: min(meant) for word, meant in (*_ACTIONS.items(), *_THINGS.items()) if is_unspaced(word)}
_UNSPACED = re.compile("|".join(sorted(map(re.escape, _NAMES), key=len, reverse=True)))
_MAX_LENGTH = max(map(len, _THINGS))


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a text: its stem, what it may mean, and whether it only says what is done."""

    stem: str
    meanings: frozenset[str]
    is_action: bool


def terms(text: str) -> frozenset[Term]:
    """Return what a text is about; words that any instruction is made of are left out."""
    for words, pattern in _PHRASES:
        text = pattern.sub(f" {words} ", text)
    if is_unspaced_in(text):  # whose words nothing sets apart but that they are known
        text = _UNSPACED.sub(lambda known: f" {_NAMES[known[0]]} ", text)
    return frozenset(map(_term, content_stems(text)))


class Words:
    """Terms, to be asked whether one of them is of some meaning."""

    def __init__(self, found: Iterable[Term]) -> None:
        known = tuple(found)
        self._stems = frozenset(term.stem for term in known)
        self._meanings = frozenset(meaning for term in known for meaning in term.meanings)

    def __contains__(self, term: Term) -> bool:
        return term.stem in self._stems or not self._meanings.isdisjoint(term.meanings)


@lru_cache(maxsize=512)
def words(text: str) -> Words:
    """Return the terms of a text, to be asked."""
    return Words(terms(text))


@lru_cache(maxsize=16384)
def _term(word: str) -> Term:
    things, actions = _meanings(word, _THINGS), _meanings(word, _ACTIONS)
    return Term(word, frozenset((*things, *(f"to {one}" for one in actions))), bool(actions and not things))


def _meanings(word: str, table: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return what a stem means: by itself, in another form, or by the parts of a compound."""
    if found := table.get(word):
        return found
    if len(word) < _MIN_FORM or is_unspaced(word) or word.isdigit():
        return frozenset()
    for length in range(1, _ENDING + 1):
        begin, ending = word[:-length], word[-length:]
        if len(begin) >= _MIN_FORM and ending in _ENDINGS and begin in table:
            return table[begin]
    return frozenset(meaning for part in _parts(word) for meaning in table.get(part, ()))


def _parts(word: str) -> list[str]:
    """Return what a compound may begin and end with, without and with an ending: "Versionshinweise"."""
    begins = [word[:at] for at in range(_MIN_PART, len(word) - _MIN_FORM + 1)]
    ends = [word[at:] for at in range(_MIN_FORM, len(word) - _MIN_PART + 1)]
    return [
        one[: len(one) - cut]
        for one in begins[-1:-_MAX_LENGTH:-1] + ends
        for cut in (0, 1, 2)
        if len(one) - cut >= _MIN_PART
    ]


def kin(text: str) -> list[str]:
    """Return the stems of other words that mean what a thing in `text` does, so that a search by stems finds those."""
    meant = {meaning for term in terms(text) if not term.is_action for meaning in term.meanings}
    return [word for meaning in sorted(meant) for word in _MEANING.get(meaning, ()) if _WORD.fullmatch(word)]
