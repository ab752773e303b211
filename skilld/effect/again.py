"""Whether a person repeats a rule: compares the words of a turn with a line the agent had loaded.

Texts in, yes or no out. Three things are told apart: a correction or a demand that says what the rule says; talk about
the rule (a question, a story, a wish to change it); another rule that shares words with it. By words alone, so that the
same rule in another language, or in words of its own, is not recognised. docs/quality.md has the figures.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from skilld.classify.contradiction import PLAIN_VERBS
from skilld.classify.offline.choices import TOPICS, chosen_part, turned_down
from skilld.classify.offline.detector import clauses_of, spoken, typed_part
from skilld.text import cut, fold
from skilld.words import denies, numbers, stem, stems

MAX_QUOTE = 300  # characters of a turn that are kept; of a longer one only the clauses that correct
_MAX_RULE = 400  # characters: a longer line is no single rule
_MAX_WHOLE = 160  # characters of a turn that is looked at as one
_MAX_QUOTES = 12  # of one turn

_DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_COMPLAINT, _SOFT, _DEMAND, _TALK, _NEW = (
    re.compile("|".join(_DATA[name]), re.IGNORECASE) for name in ("complaint", "soft", "demand", "talk", "new")
)
_META, _PLAIN = stems(_DATA["meta"]), stems(_DATA["plain"])
_WEAK = stems(f"{TOPICS['weak']} {_DATA['weak']}")
_FAMILIES = tuple(frozenset(family.split()) for family in (*TOPICS["choices"], *TOPICS["everyday_choices"]))
_PLACES = frozenset(_DATA["places"].split())
_TOOLS = tuple(family - _PLACES for family in _FAMILIES if family - _PLACES)
_COMMA = re.compile(r"(?<!\s), (?:(?:and|but) )?", re.IGNORECASE)
_WORD = re.compile(r"[^\W_](?:[\w.-]*[^\W_])?")


@dataclass(frozen=True, slots=True)
class _Gist:
    """What a text is about: its words, of them those it asks for and those it turns down, its choices and numbers."""

    words: frozenset[str]
    asked: frozenset[str]
    refused: frozenset[str]
    members: frozenset[str]
    numbers: frozenset[str]
    denies: bool


@dataclass(frozen=True, slots=True)
class _Said:
    """A stretch of a turn: it `complains` of what was done, or that it was said before, or demands, maybe `softly`."""

    gist: _Gist
    complains: bool
    softly: bool


def corrections(text: str, agent_texts: tuple[str, ...] = ()) -> list[str]:
    """Return what of a turn corrects or demands something, as quotes: all of a short turn, else the clauses."""
    typed = typed_part(text, agent_texts)
    found = [one for one in clauses_of(typed, spoken(typed)) if _is_said(one.text, question=one.question)]
    if found and len(fold(text)) <= MAX_QUOTE:
        return [fold(text)]
    quotes = [text[one.start : one.start + len(one.text)] for one in found]
    return [cut(fold(quote), MAX_QUOTE) for quote in quotes[:_MAX_QUOTES]]


def complains(quote: str) -> bool:
    """Whether a quote says that something was done wrong, or was said before, and not only what is wanted."""
    return any(said.complains for said in _stretches(quote[: 2 * MAX_QUOTE]))


def demands(quote: str) -> list[str]:
    """Return the clauses of a quote that say what is wanted, without those that complain, ask or talk."""
    typed = typed_part(quote[: 2 * MAX_QUOTE], ())
    clauses = [fold(one.text) for one in clauses_of(typed, spoken(typed)) if not one.question]
    found = dict.fromkeys((*clauses, *(piece for clause in clauses for piece in _COMMA.split(clause))))
    return [text for text in found if not (_COMPLAINT.search(text) or _TALK.search(text)) and _is_wanted(text)]


def _is_wanted(text: str) -> bool:
    first = _WORD.search(text)
    return bool(_DEMAND.search(text) or _SOFT.search(text) or (first and stem(first[0].lower()) in PLAIN_VERBS))


def says_again(quote: str, rule: str) -> bool:
    """Whether a quote of the person says what a rule says already, as a correction or a demand."""
    if len(rule) > _MAX_RULE:
        return False
    wanted = _gist(rule)
    return not near(rule).isdisjoint(near(quote)) and any(
        _repeats(said, wanted) for said in _stretches(quote[: 2 * MAX_QUOTE])
    )


def _repeats(said: _Said, rule: _Gist) -> bool:
    gist = said.gist
    own = gist.words - _META | gist.members - _PLACES
    if not own or (gist.numbers and rule.numbers and not gist.numbers & rule.numbers):
        return False
    if said.complains:
        against = any(gist.members & family and rule.members & family for family in _TOOLS)
        return (against or _held(own, rule) >= _HELD) and len(own & rule.words) >= _OWN * len(own) - against
    if gist.members and any(gist.asked & family and not gist.asked & rule.asked & family for family in _FAMILIES):
        return False  # it asks for another member of the family
    foreign = own - rule.words
    if said.softly:
        return not foreign and _held(own, rule) >= _MOST_HELD
    same = gist.denies == rule.denies or bool(rule.refused and gist.refused)
    return same and not foreign and _held(own, rule) >= _HELD


def _held(own: frozenset[str], rule: _Gist) -> float:
    """Return the share of a rule's words, or of one side of it, that a text has; none without one that tells it."""
    if (own & rule.members & rule.asked) - _PLACES:
        return 1.0  # the choice is the rule
    telling = rule.words - _WEAK or rule.words
    if len(own & telling) < _HELD * min(len(telling), _ENOUGH) and not own & rule.numbers:
        return 0.0
    return max(len(own & side) / len(side) for side in (rule.words, rule.asked, rule.refused) if side)


_HELD, _MOST_HELD, _OWN = 0.5, 0.6, 0.5  # shares of words
_ENOUGH = 4  # telling words of a rule: of a longer one a correction names a part


@lru_cache(maxsize=8192)
def near(text: str) -> frozenset[str]:
    """Return the words of which a text shares one with any that says the same: its own, and all of a family.

    Most texts share none: of 400 sessions and 60 rules 8 s became 0.6 s.
    """
    own = {word.lower() for word in _WORD.findall(text)}
    return stems(text).union(*(family for family in _FAMILIES if own & family))


@lru_cache(maxsize=4096)
def _gist(text: str) -> _Gist:
    words = {word.lower() for word in _WORD.findall(text)}
    members = frozenset(words & frozenset().union(*_FAMILIES))
    every = stems(text)
    found = every - _PLAIN or every
    refused = (stems(turned_down(text)) | (found if denies(chosen_part(text)) else frozenset())) & found
    asked = (found - stems(turned_down(text))) or found
    return _Gist(found, asked | (members & words), refused, members, numbers(text), denies(text))


@lru_cache(maxsize=8192)
def _stretches(quote: str) -> tuple[_Said, ...]:
    """Return the clauses of a quote that correct or demand, and all of it where one does and none is talk."""
    typed = typed_part(quote, ())
    parts = [(fold(one.text), one.question) for one in clauses_of(typed, spoken(typed))]
    if any(_TALK.search(part) for part, _ in parts):
        return ()
    said = [part for part, question in parts if _is_said(part, question=question)]
    pieces = [piece for part in said for piece in _COMMA.split(part)]
    whole = [fold(typed)] if len(parts) > 1 and len(typed) <= _MAX_WHOLE else []
    return tuple(_said(text) for text in dict.fromkeys((*said, *pieces, *whole)) if said and text)


def _said(text: str) -> _Said:
    complains = bool(_COMPLAINT.search(text)) and not _NEW.search(text)
    return _Said(_gist(text), complains, softly=not _DEMAND.search(text))


def _is_said(text: str, *, question: bool) -> bool:
    """Whether a stretch corrects or demands: a question only where it complains."""
    if _TALK.search(text):
        return False
    return bool(_COMPLAINT.search(text)) or (not question and bool(_DEMAND.search(text) or _SOFT.search(text)))
