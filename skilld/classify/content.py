"""The content of a text for comparison: its parts, what each asks for or rejects, and its numbers. Pure.

Terms come from skilld.meanings; a rule with several clauses counts as several rules.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from skilld.classify.offline.choices import TOPICS, refused_part
from skilld.meanings import Term, Words, common_meanings, terms
from skilld.values import value_class
from skilld.words import has_negation, is_unspaced, numbers, numbers_by_unit, stem

_DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_WORD = re.compile(r"[^\W_](?:[\w.-]*[^\W_])?")
# Names in code: a path, a call, an option, a name with a dot, an underscore or a capital inside.
_CODE = re.compile(
    r"(?<![\w/.-])(?:[\w.-]*\w\(\)|(?:[\w.-]+/)+[\w.*-]*|/[\w.*/-]+|--?[a-z][\w-]+|\w+(?:\.[a-z]\w{0,5})+|\w+_\w+|[a-z]+[A-Z]\w+)"
)
# Where another clause begins, in some cases with a negation.
_CLAUSE_BREAK = re.compile(
    r"[;.:!?](?=\s|$)|\s[-–—](?=\s)|(?<=\s)\(|(?<!\()\)(?=\s|$)"
    r"|,(?=\s{1,3}(?:never|not|no|nicht|kein\w*|nie|non|pas|não|jamais|nunca|but|and never)\b)"
    r"|,(?=\s[^,;.]{1,40}\s(?:only|nur)\b)|\b(?=instead of\b|rather than\b|(?:and|but) (?:not|never|no)\b)",
    re.IGNORECASE,
)
_INSTEAD = re.compile(r"^(?:instead of|rather than|over)\b", re.IGNORECASE)
_DENIAL = re.compile(_DATA["denial"], re.IGNORECASE)
# A condition of a rule.
_CONDITION = re.compile(
    r"\b(?:when|whenever|if|unless|wenn|falls|außer|cuando|si|quand|sauf|quando|se|если|когда)\b[^,;.:]*", re.IGNORECASE
)
_EXAMPLE = re.compile(
    r"(?:,| \() ?(?:(?:like|such as|e\.g\.|for example|z\. ?B\.)[^;.)]*\)?"
    r"|[^,;.]{1,50} (?:or so|or similar|oder so|oder ähnlich\w*|o algo así|ou quelque chose|o simili)\b)",
    re.IGNORECASE,
)

# The weight of a term: a shared meaning, the same word, a term that many rules share or that is only an action, an
# unknown word, two characters of an unspaced script.
MEANING_WEIGHT, SAME_WEIGHT, _COMMON_WEIGHT, _UNKNOWN_WEIGHT, _UNSPACED_WEIGHT = 10, 9, 5, 4, 1


@value_class
class ContentPart:
    """A clause: its terms, the members of choices in it, its code names, and whether it is negated."""

    words: tuple[Term, ...]
    members: frozenset[str]
    codes: frozenset[str]
    denies: bool


@value_class
class Content:
    """The content of a text: its terms, the members of choices it asks for and refuses, its code and its numbers."""

    parts: tuple[ContentPart, ...]
    words: tuple[Term, ...]
    asked: frozenset[str]
    refused: frozenset[str]
    codes: frozenset[str]
    numbers: frozenset[str]
    measures: tuple[tuple[str, float], ...]
    denies: bool


@lru_cache(maxsize=8192)
def content_of(text: str) -> Content:
    """Return the content of a text, without its examples."""
    bare = without_examples(text)
    clauses = [way for clause in _CLAUSE_BREAK.split(bare) for way in (clause, _CONDITION.sub("", clause))]
    parts = tuple(part for clause in dict.fromkeys(clauses) if (part := _parse_part(clause)).words) or (
        _parse_part(bare),
    )
    down = choice_members(refused_part(bare)) & choice_members(bare)
    refused = down.union(*(part.members for part in parts if part.denies))
    asked = frozenset().union(*(part.members for part in parts if not part.denies)) - down
    return Content(
        parts=parts,
        words=content_terms(bare),
        asked=asked,
        refused=refused - asked,
        codes=code_names(text),
        numbers=numbers(bare),
        measures=tuple((stem(unit), float(number)) for unit, number in numbers_by_unit(bare).items()),
        denies=any(part.denies for part in parts),
    )


def without_examples(text: str) -> str:
    """Return a text without its examples: ", such as ...", ", reversal_amount or so"."""
    return _EXAMPLE.sub(" ", text)


def _parse_part(clause: str) -> ContentPart:
    says_no = has_negation(clause) or _INSTEAD.match(clause) or _DENIAL.search(clause)
    return ContentPart(content_terms(clause), choice_members(clause), code_names(clause), bool(says_no))


@lru_cache(maxsize=8192)
def content_terms(text: str) -> tuple[Term, ...]:
    """Return the terms of a text without the words that any instruction may have."""
    found = terms(text)
    return tuple(term for term in found if term.stem not in PLAIN_STEMS) or found


@lru_cache(maxsize=8192)
def choice_members(text: str) -> frozenset[str]:
    """Return the members of choices that a text names, by the word itself or by a meaning of that name."""
    named = frozenset(stem(word) for word in _WORD.findall(text.lower()))
    return (named | {meaning for term in terms(text) for meaning in term.meanings}) & _MEMBERS


def count_shared(some: Iterable[Term], others: Iterable[Term]) -> int:
    """Return how many of some terms have a match among others."""
    known = Words(others)
    return sum(term in known for term in some)


_LANGUAGE = "language-"  # begins the meanings of all words of one programming language


def term_weights(some: Iterable[Term], others: Iterable[Term], given: frozenset[str] = frozenset()) -> dict[Term, int]:
    """Return the weight of each term's match among others, one term per meaning. `given` counts as matched anyway."""
    once = {term.meanings or term.stem: term for term in some if term.stem not in PLACES}
    known = Words(others)
    return {term: _term_weight(term, known, given) for term in once.values()}


def _term_weight(term: Term, known: Words, given: frozenset[str]) -> int:
    if not (term.stems.isdisjoint(given) and term.meanings.isdisjoint(given)):
        return MEANING_WEIGHT
    shared, same = term.meanings & known.meanings, term.stems & known.stems
    if not same:  # "unwrap" and "crate" are only both words of Rust
        shared = frozenset(one for one in shared if not one.startswith(_LANGUAGE))
    both_phrases = not term.stem and not shared.isdisjoint(known.phrased)
    if not term.is_action and (both_phrases or not shared <= common_meanings()):
        return MEANING_WEIGHT
    if (shared and is_weak(term)) or not same - META_STEMS - WEAK_STEMS or (not term.stem and same < term.stems):
        return _COMMON_WEIGHT if shared or same else 0
    return _COMMON_WEIGHT if term.is_action else SAME_WEIGHT


def weight_share(weights: Mapping[Term, int], found: int | None = None) -> float:
    """Return the share of the weight of all terms that is `found`; by default, the sum of the given weights."""
    whole = sum(
        max(
            bond,
            _COMMON_WEIGHT
            if is_weak(term)
            else MEANING_WEIGHT
            if term.meanings
            else _UNSPACED_WEIGHT
            if is_unspaced(term.stem)
            else _UNKNOWN_WEIGHT,
        )
        for term, bond in weights.items()
    )
    return (sum(weights.values()) if found is None else found) / max(1, whole)


def code_names(text: str) -> frozenset[str]:
    """Return the names in code: paths, calls, options, names of files and variables."""
    return frozenset(match[0].strip("/").casefold() for match in _CODE.finditer(text))


def is_weak(term: Term) -> bool:
    """Whether a term occurs in many rules, so that it does not show which one is meant."""
    if not term.stem or term.stem in CHOICE_STEMS:
        return term.is_action
    return term.is_action or term.stem in WEAK_STEMS or (bool(term.meanings) and term.meanings <= common_meanings())


def _families(lines: list[str]) -> tuple[frozenset[str], ...]:
    return tuple(frozenset((*line.split(), *map(stem, line.split()))) for line in lines)


META_STEMS = frozenset(map(stem, _DATA["meta"].split()))
PLAIN_STEMS = frozenset(map(stem, _DATA["plain"].split()))
_CHOICES = [*TOPICS["choices"], *_DATA["tools"]]
_GENERAL_CHOICES = frozenset(_DATA["of_anything"].split())
TOOLS = _families([line for line in _CHOICES if _GENERAL_CHOICES.isdisjoint(line.split())])
OPPOSITES = _families(
    [line for line in _CHOICES if not _GENERAL_CHOICES.isdisjoint(line.split())]
    + TOPICS["everyday_choices"]
    + _DATA["opposites"]
)
LANGUAGES = next(family for family in OPPOSITES if "english" in family)
PLACES = _families([_DATA["places"]])[0]
CHOICE_STEMS = frozenset().union(*_families(_CHOICES)) - PLACES
_MEMBERS = frozenset().union(*TOOLS, *OPPOSITES)
WEAK_STEMS = frozenset(map(stem, f"{TOPICS['weak']} {_DATA['weak']}".split()))
