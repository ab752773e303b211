"""What is wanted by what was said in several sessions, in words that one of them had. Pure.

"again no resource limits" complains that they were missing; as a rule it would say the opposite. So a rule takes the
words of an instruction among those that say the same, or else says of what was missing that it is not to be forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from skilld.classify.contradiction import contradicts
from skilld.classify.rule_repeats import complains, demand_clauses
from skilld.classify.support import exact_tokens
from skilld.text import fold
from skilld.words import MIN_SAME_SHARE, content_stems, has_negation

_MIN_SHARED, _MIN_ALIKE = 2, 3  # stems of two sentences in other words
_MAX_TEXTS = 60  # each is compared with every other
_CLAUSE_END = re.compile(r"[,:;]\s|\s[-\u2013\u2014]\s")
_THING = r"([^,.;:!?()\n]{3,80})"
_MISSING = re.compile(
    rf"\byou(?:['\u2019]ve| have)? (?:again |still )?(?:forgot(?:ten)?|missed|omitted|left out|skipped) {_THING}"
    rf"|\b((?:the|our|its) [^,.;:!?()\n]{{3,60}}?) (?:is|are|was|were) (?:still |again )?missing\b"
    rf"|\A(?:again|still) without {_THING}",
    re.IGNORECASE,
)
_ONCE_MORE = re.compile(r"(?: (?:again|once more|once again|this time|too|as well)){1,3}$", re.IGNORECASE)
_ARTICLE = re.compile(r"\A(?:the|an?|any) ", re.IGNORECASE)
_LACK = re.compile(rf"\A(?:again|still|once more)[,:]? (?:no|without) {_THING}|\Ano {_THING}", re.IGNORECASE)
_WITHOUT = re.compile(r"\b(?:without|forgot(?:ten)?|missed|missing|omitted|left out|skipped)\b", re.IGNORECASE)
_POINTER = re.compile(r"\A(?:it|that|this|these|those|them|one|what|how|why|which)\b", re.IGNORECASE)
_LEFT_TO_PERSON = re.compile(r"\A(?:no[,.]? |please )*leave (?:the )?([^,.;:!?()\n]{3,60}) to me\b", re.IGNORECASE)


@lru_cache(maxsize=4096)  # each sentence is compared with many
def stems_of(text: str) -> frozenset[str]:
    """Return the stems of a sentence's content words."""
    return content_stems(text)


_names = lru_cache(maxsize=4096)(exact_tokens)


def wanted_line(texts: Sequence[str]) -> str:
    """Return the line for what these texts of several sessions say alike, "" if they only complain."""
    texts = [*dict.fromkeys(texts)][:_MAX_TEXTS]
    own = [one for one in texts if not complains(one)]
    shared = [one for one in own if any(_is_mostly_in(one, other) for other in texts if other != one)]
    missing = filter(None, map(missing_thing, texts))
    lines = shared or [*_shared_clauses(texts)] or own or [f"Do not forget {thing}" for thing in missing]
    line = min(lines, key=lambda one: (len(one), one), default="")
    return f"{line[:1].upper()}{line[1:]}"


def is_complaint(text: str) -> bool:
    """Whether a turn only complains about what was done, and says what was missing or wanted: it is no new task."""
    return complains(text) and bool(missing_thing(text) or demand_clauses(text))


@lru_cache(maxsize=4096)
def misses_something(text: str) -> bool:
    """Whether a turn complains that something was not done, which takes nothing back: "you forgot it"."""
    return complains(text) and bool(_WITHOUT.search(text) or has_negation(text))


def missing_thing(text: str) -> str:
    """Return what a complaint says was missing: "the header" of "you forgot the header again"; "" if it does not."""
    found = _MISSING.search(fold(text))
    thing = _ONCE_MORE.sub("", next(filter(None, found.groups()), "")).strip() if found else ""
    thing = _ARTICLE.sub("the ", thing)
    return thing if stems_of(thing) and not _POINTER.match(thing) else ""


def is_alike(one: str, other: str) -> bool:
    """Whether two sentences probably ask for the same, such as "wrap each handler in withX" and "you forgot withX".

    A clause of each is enough: "the owner is a team slug, never a name" and "I told you: the owner is a team slug".
    """
    lacks = [stems_of(_lack(text)) for text in (one, other)]
    alike = (
        _shares(one, other)
        or bool(lacks[0] and lacks[0] == lacks[1])
        or any(_share_all(part, piece) for part in _clauses(one) for piece in _clauses(other))
    )
    return alike and (misses_something(one) or misses_something(other) or not contradicts(one, other))


def asks_to_leave(text: str, ban: str) -> bool:
    """Whether a sentence leaves to the person what a ban forbids: "leave the reload to me", "never reload nginx"."""
    found = _LEFT_TO_PERSON.match(fold(text))
    stems = stems_of(found[1]) if found else frozenset[str]()
    return bool(stems) and stems <= stems_of(ban)


def _shares(one: str, other: str) -> bool:
    stems, known = stems_of(one), stems_of(other)
    shared, fewer = len(stems & known), min(len(stems), len(known))
    if shared < _MIN_SHARED:
        return False
    # Two words in common are enough if one sentence has no others, or if they share a name of code.
    least = _MIN_SHARED if shared == fewer or _names(one) & _names(other) else _MIN_ALIKE
    return shared >= least and shared / fewer >= MIN_SAME_SHARE


def _is_mostly_in(one: str, other: str) -> bool:
    stems = stems_of(one)
    return _shares(one, other) and len(stems & stems_of(other)) >= MIN_SAME_SHARE * len(stems)


def _share_all(one: str, other: str) -> bool:
    """Whether two clauses share enough words, or have the same few."""
    stems, known = stems_of(one), stems_of(other)
    return stems == known or (min(len(stems), len(known)) >= _MIN_ALIKE and _shares(one, other))


@lru_cache(maxsize=4096)
def _lack(text: str) -> str:
    """Return what a complaint misses, also "again no header", which without others may as well ban headers."""
    found = None if missing_thing(text) or not complains(text) else _LACK.match(fold(text))
    return missing_thing(text) or (_ONCE_MORE.sub("", next(filter(None, found.groups()), "")) if found else "")


@lru_cache(maxsize=4096)
def _clauses(text: str) -> tuple[str, ...]:
    """Return the clauses of a sentence that have enough words to be compared."""
    return tuple(one.strip() for one in _CLAUSE_END.split(text) if len(stems_of(one)) >= _MIN_SHARED)


def _shared_clauses(texts: Sequence[str]) -> Iterator[str]:
    """Yield the clauses that say what is wanted and that another of the texts has, too."""
    for text in texts:
        others = [piece for other in texts if other != text for piece in _clauses(other)]
        for part in {*demand_clauses(text), *(one for one in _clauses(text) if not complains(one))}:
            if len(stems_of(part)) >= _MIN_SHARED and any(_share_all(part, piece) for piece in others):
                yield part
