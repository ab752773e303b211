"""What a text is about, so that it can be compared: its parts, what each asks for or rejects, and its numbers.

Text in, terms out (skilld.meanings); a rule of several clauses is several rules. Pure.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from skilld.classify.offline.choices import TOPICS, turned_down
from skilld.meanings import Term, Words, common, terms
from skilld.words import denies, is_unspaced, measures, numbers, stem

_DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_WORD = re.compile(r"[^\W_](?:[\w.-]*[^\W_])?")
# What programs are told by: a path, a call, an option, a name with a dot, an underscore or a capital inside.
_CODE = re.compile(
    r"(?<![\w/.-])(?:[\w.-]*\w\(\)|(?:[\w.-]+/)+[\w.*-]*|/[\w.*/-]+|--?[a-z][\w-]+|\w+(?:\.[a-z]\w{0,5})+|\w+_\w+|[a-z]+[A-Z]\w+)"
)
# Where another clause begins, and whether it says no.
_CLAUSES = re.compile(
    r"[;.:!?](?=\s|$)|\s[-–—](?=\s)|(?<=\s)\(|(?<!\()\)(?=\s|$)"
    r"|,(?=\s{1,3}(?:never|not|no|nicht|kein\w*|nie|non|pas|não|jamais|nunca|but|and never)\b)"
    r"|\b(?=instead of\b|rather than\b)",
    re.IGNORECASE,
)
_INSTEAD = re.compile(r"^(?:instead of|rather than|over)\b", re.IGNORECASE)
_DENIAL = re.compile(_DATA["denial"], re.IGNORECASE)
# What says only when a rule holds.
_CONDITION = re.compile(
    r"\b(?:when|whenever|if|unless|wenn|falls|außer|cuando|si|quand|sauf|quando|se|если|когда)\b[^,;.:]*", re.IGNORECASE
)
_EXAMPLE = re.compile(r"(?:,| \() ?(?:like|such as|e\.g\.|for example|z\. ?B\.)[^;.)]*\)?", re.IGNORECASE)

# What a term weighs: what both mean, the same word, a term that many rules share or that is only done, an unknown
# word, two characters of an unspaced script.
MEANT, SAME, _COMMON, _UNKNOWN, _LITTLE = 10, 9, 5, 4, 1


@dataclass(frozen=True, slots=True)
class Part:
    """A clause: its terms, the members of choices in it, what programs are told by in it, and whether it says no."""

    words: tuple[Term, ...]
    members: frozenset[str]
    codes: frozenset[str]
    denies: bool


@dataclass(frozen=True, slots=True)
class Gist:
    """What a text is about: its terms, the members of choices it asks for and turns down, its code and its numbers."""

    parts: tuple[Part, ...]
    words: tuple[Term, ...]
    asked: frozenset[str]
    refused: frozenset[str]
    codes: frozenset[str]
    numbers: frozenset[str]
    measures: tuple[tuple[str, float], ...]
    denies: bool


@lru_cache(maxsize=8192)
def gist(text: str) -> Gist:
    """Return what a text is about. An example that it gives is not what it is about."""
    bare = _EXAMPLE.sub(" ", text)
    clauses = [way for clause in _CLAUSES.split(bare) for way in (clause, _CONDITION.sub("", clause))]
    parts = tuple(part for clause in dict.fromkeys(clauses) if (part := _part(clause)).words) or (_part(bare),)
    down = members(turned_down(bare)) & members(bare)
    refused = down.union(*(part.members for part in parts if part.denies))
    asked = frozenset().union(*(part.members for part in parts if not part.denies)) - down
    return Gist(
        parts=parts,
        words=words(bare),
        asked=asked,
        refused=refused - asked,
        codes=codes(text),
        numbers=numbers(bare),
        measures=tuple((stem(unit), float(number)) for unit, number in measures(bare).items()),
        denies=any(part.denies for part in parts),
    )


def _part(clause: str) -> Part:
    says_no = denies(clause) or _INSTEAD.match(clause) or _DENIAL.search(clause)
    return Part(words(clause), members(clause), codes(clause), bool(says_no))


@lru_cache(maxsize=8192)
def words(text: str) -> tuple[Term, ...]:
    """Return the terms of a text without what any instruction is made of."""
    found = terms(text)
    return tuple(term for term in found if term.stem not in PLAIN) or found


@lru_cache(maxsize=8192)
def members(text: str) -> frozenset[str]:
    """Return what a text names of choices: by the word itself, or by a meaning of that name."""
    named = frozenset(stem(word) for word in _WORD.findall(text.lower()))
    return (named | {meaning for term in terms(text) for meaning in term.meanings}) & _MEMBERS


def met(some: Iterable[Term], others: Iterable[Term]) -> int:
    """Return how many of some terms have their like among others."""
    known = Words(others)
    return sum(term in known for term in some)


def bonds(some: Iterable[Term], others: Iterable[Term], given: frozenset[str] = frozenset()) -> dict[Term, int]:
    """Return how much each of some terms is among others; of those of one meaning one. `given` is among them anyway."""
    once = {term.meanings or term.stem: term for term in some if term.stem not in PLACES}
    known = Words(others)
    return {term: _bond(term, known, given) for term in once.values()}


def _bond(term: Term, known: Words, given: frozenset[str]) -> int:
    if not (term.stems.isdisjoint(given) and term.meanings.isdisjoint(given)):
        return MEANT
    shared, same = term.meanings & known.meanings, term.stems & known.stems
    both_phrases = not term.stem and not shared.isdisjoint(known.phrased)
    if not term.is_action and (both_phrases or not shared <= common()):
        return MEANT
    if (shared and is_weak(term)) or not same - META - WEAK or (not term.stem and same < term.stems):
        return _COMMON if shared or same else 0
    return _COMMON if term.is_action else SAME


def share(weights: Mapping[Term, int], found: int | None = None) -> float:
    """Return the share of the weight of all terms that is `found`: by default, what their bonds weigh."""
    whole = sum(
        max(
            bond,
            _COMMON if is_weak(term) else MEANT if term.meanings else _LITTLE if is_unspaced(term.stem) else _UNKNOWN,
        )
        for term, bond in weights.items()
    )
    return (sum(weights.values()) if found is None else found) / max(1, whole)


def codes(text: str) -> frozenset[str]:
    """Return what programs are told by: paths, calls, options, names of files and of variables."""
    return frozenset(match[0].strip("/").casefold() for match in _CODE.finditer(text))


def is_weak(term: Term) -> bool:
    """Whether a term stands in many rules, so that it does not tell which is meant."""
    if not term.stem or term.stem in CHOSEN:
        return term.is_action
    return term.is_action or term.stem in WEAK or (bool(term.meanings) and term.meanings <= common())


def _families(lines: list[str]) -> tuple[frozenset[str], ...]:
    return tuple(frozenset((*line.split(), *map(stem, line.split()))) for line in lines)


META = frozenset(map(stem, _DATA["meta"].split()))
PLAIN = frozenset(map(stem, _DATA["plain"].split()))
_CHOICES = [*TOPICS["choices"], *_DATA["tools"]]
_OF_ANYTHING = frozenset(_DATA["of_anything"].split())
TOOLS = _families([line for line in _CHOICES if _OF_ANYTHING.isdisjoint(line.split())])
OPPOSITES = _families(
    [line for line in _CHOICES if not _OF_ANYTHING.isdisjoint(line.split())]
    + TOPICS["everyday_choices"]
    + _DATA["opposites"]
)
LANGUAGES = next(family for family in OPPOSITES if "english" in family)
PLACES = _families([_DATA["places"]])[0]
CHOSEN = frozenset().union(*_families(_CHOICES)) - PLACES
_MEMBERS = frozenset().union(*TOOLS, *OPPOSITES)
WEAK = frozenset(map(stem, f"{TOPICS['weak']} {_DATA['weak']}".split()))
