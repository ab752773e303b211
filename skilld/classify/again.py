"""Whether a person repeats a rule: compares the words of a turn with a line the agent had loaded.

Texts in, yes or no out. Three things are told apart: a correction or a demand that says what the rule says; talk about
the rule (a question, a story, a wish to change it); another rule that shares words with it. The surer it is that the
turn corrects something, the fewer words of the rule it takes. docs/effect.md has the figures.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from skilld.classify.contradiction import PLAIN_VERBS
from skilld.classify.gist import (
    CHOSEN,
    LANGUAGES,
    MEANT,
    META,
    OPPOSITES,
    SAME,
    TOOLS,
    Gist,
    Part,
    bonds,
    gist,
    members,
    met,
    share,
    words,
)
from skilld.classify.offline.choices import turned_round
from skilld.classify.offline.detector import clauses_of, typed_part
from skilld.classify.offline.product import spoken
from skilld.meanings import Term, Words, field_of
from skilld.text import cut, fold
from skilld.words import is_unspaced, stem

MAX_QUOTE = 300  # characters of a turn that are kept; of a longer one only the clauses that correct
_MAX_RULE = 400  # characters: a longer line is no single rule
_MAX_WHOLE = 160  # characters of a turn that is looked at as one
_MAX_PLAIN = 80  # the same of a clause of which each part is what is wanted
_MAX_QUOTES = 12  # of one turn

_DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_REMINDER, _COMPLAINT, _SOFT, _DEMAND, _TALK, _LEAVE, _NEW, _TASK = (
    re.compile("|".join(_DATA[name]), re.IGNORECASE)
    for name in ("reminder", "complaint", "soft", "demand", "talk", "leave", "new", "task")
)
_CONDUCT = "conversation"  # the field of how an agent talks and proceeds
_ANSWER = "to-answer"  # the meaning by which a rule is about the language of answers
_REMOVE = "to-remove"
_COMMA = re.compile(r"(?<!\s)[,:] (?:(?:and|but) )?", re.IGNORECASE)
_WORD = re.compile(r"[^\W_](?:[\w.-]*[^\W_])?")


class _Tone(IntEnum):
    """How sure it is that a stretch of a turn corrects something."""

    SOFT = 1  # what any task may be asked with
    DEMAND = 2
    COMPLAINT = 3  # of what was done
    REMINDER = 4  # that it was said before


@dataclass(frozen=True, slots=True)
class _Said:
    """A stretch of a turn that corrects or demands, and in which tone."""

    gist: Gist
    tone: _Tone


def corrections(text: str, agent_texts: tuple[str, ...] = ()) -> list[str]:
    """Return what of a turn corrects or demands something, as quotes: all of a short turn, else the clauses."""
    typed = typed_part(text, agent_texts)
    found = [one for one in clauses_of(typed, spoken(typed)) if _tone(one.text, question=one.question)]
    if found and len(fold(text)) <= MAX_QUOTE:
        return [fold(text)]
    quotes = [text[one.start : one.start + len(one.text)] for one in found]
    return [cut(fold(quote), MAX_QUOTE) for quote in quotes[:_MAX_QUOTES]]


def complains(quote: str) -> bool:
    """Whether a quote says that something was done wrong, or was said before, and not only what is wanted."""
    return any(said.tone >= _Tone.COMPLAINT for said in _stretches(quote[: 2 * MAX_QUOTE]))


def demands(quote: str) -> list[str]:
    """Return the clauses of a quote that say what is wanted, without those that complain, ask or talk."""
    typed = typed_part(quote[: 2 * MAX_QUOTE], ())
    clauses = [fold(one.text) for one in clauses_of(typed, spoken(typed)) if not one.question]
    found = dict.fromkeys((*clauses, *(piece for clause in clauses for piece in _COMMA.split(clause))))
    return [text for text in found if not (_complains(text) or _TALK.search(text)) and _is_wanted(text)]


def _is_wanted(text: str) -> bool:
    first = _WORD.search(text)
    return bool(_DEMAND.search(text) or _SOFT.search(text) or (first and stem(first[0].lower()) in PLAIN_VERBS))


def _complains(text: str) -> bool:
    return bool(_REMINDER.search(text) or _COMPLAINT.search(text))


def says_again(quote: str, rule: str) -> bool:
    """Whether a quote of the person says what a rule says already, as a correction or a demand."""
    if len(rule) > _MAX_RULE or near(rule).isdisjoint(near(quote)):
        return False
    if turned_round(quote, rule) and not complains(quote):  # a complaint tells of what was done
        return False
    wanted = gist(rule)
    return any(_repeats(said, wanted) for said in _stretches(quote[: 2 * MAX_QUOTE]))


# Shares of the weight of a rule's part that a stretch of each tone must have, and of its own that must be the rule's.
_HELD = {_Tone.SOFT: 0.6, _Tone.DEMAND: 0.5, _Tone.COMPLAINT: 0.55, _Tone.REMINDER: 0.3}
_OWN = {_Tone.SOFT: 0.7, _Tone.DEMAND: 0.9, _Tone.COMPLAINT: 0.55, _Tone.REMINDER: 0.5}
_WHOLE = 0.5  # the latter of a demand that has all of a part
_ALONE = 0.75  # the same of a complaint that has one term of several


@dataclass(frozen=True, slots=True)
class _Sides:
    """What a stretch and a rule say of things that exclude each other.

    `turned` are words of the stretch that say the rule by its opposite ("no spaces"), `meant` those of the rule. A
    complaint with at least a share `lone` of the rule's words is about that rule, whatever its weights; 0: it is not
    told so. In a `conflict` the stretch wants the opposite.
    """

    turned: frozenset[str]
    meant: frozenset[str]
    lone: float
    conflict: bool


def _sides(said: _Said, rule: Gist) -> _Sides:
    turned, meant, lone, conflict = set[str](), set[str](), 0.0, False
    own = said.gist
    for family in (*TOOLS, *OPPOSITES):
        wants, bans = rule.asked & family, rule.refused & family
        asked, refused = own.asked & family, own.refused & family
        if not (wants or bans) or not (asked or refused):
            continue
        if said.tone >= _Tone.COMPLAINT:
            others = (asked | refused) - wants - bans
        else:
            conflict |= bool((asked and wants and not asked & wants) or asked & bans or refused & wants)
            others = (refused - bans if wants else frozenset()) | (asked - wants if bans else frozenset())
        answers = family is LANGUAGES and any(_ANSWER in term.meanings for term in rule.words)
        if others and (family in TOOLS or answers or met(own.words, rule.words)):
            turned |= others
            meant |= wants | bans
            lone = _WHOLE if family in TOOLS else 1.0 if answers else lone
    return _Sides(frozenset(turned), frozenset(meant), lone, conflict)


def _repeats(said: _Said, rule: Gist) -> bool:
    own, sides, beyond = _telling(said, rule), _sides(said, rule), _beyond(said, rule)
    others = said.gist.numbers and rule.numbers and not said.gist.numbers & rule.numbers
    if not own or sides.conflict or (others and said.tone < _Tone.COMPLAINT):
        return False
    turned = sides.turned | (said.gist.numbers if beyond else frozenset())
    meant = sides.meant | (rule.numbers if beyond else frozenset())
    weights = bonds(own, rule.words, turned)
    if said.tone >= _Tone.COMPLAINT and sides.lone and sum(map(bool, weights.values())) >= sides.lone * len(own):
        return True
    held = share(weights)
    codes = said.gist.codes & rule.codes
    for part in dict.fromkeys((*rule.parts, Part(rule.words, rule.asked | rule.refused, rule.codes, rule.denies))):
        most = max(1, met(own, part.words)) + sum(
            not meant.isdisjoint(term.stems | term.meanings) for term in part.words
        )
        fits = said.tone >= _Tone.COMPLAINT or sides.turned or _same_answer(said.gist, part, rule)
        if fits and _is_meant(said, part, bonds(part.words, own, meant), held, most, codes=bool(codes & part.codes)):
            return True
    return False


def _telling(said: _Said, rule: Gist) -> tuple[Term, ...]:
    """Return what a stretch is about, without what the rule has not of complaining, taking out and numbers."""
    wanted = Words(rule.words)
    return tuple(term for term in said.gist.words if term in wanted or not _is_aside(term))


def _is_aside(term: Term) -> bool:
    strange = is_unspaced(term.stem) and not term.meanings
    return term.stem in META or term.stem.isdigit() or strange or _REMOVE in term.meanings


def _same_answer(said: Gist, part: Part, rule: Gist) -> bool:
    """Whether both say yes, or both no, or both refuse the same: that each refuses something is not enough."""
    says_no = said.denies or any(_REMOVE in term.meanings for term in said.words)
    return says_no == part.denies or not said.refused.isdisjoint(rule.refused)


def _is_meant(said: _Said, part: Part, weights: Mapping[Term, int], own: float, most: int, *, codes: bool) -> bool:
    """Whether a stretch says enough of a part; `own` is the share of its own weight that is the rule's."""
    found = sorted(filter(None, weights.values()), reverse=True)[:most]
    tells = MEANT in found or (SAME in found and (len(found) > 1 or own >= _OWN[_Tone.DEMAND]))
    if not (tells or codes or len(found) > 2 or (len(found) > 1 and all(weights.values()))):  # noqa: PLR2004
        return False  # one word that many rules have tells none
    is_choice = bool(part.members & (said.gist.asked | said.gist.refused) & CHOSEN) and not part.denies
    held = 1.0 if is_choice else share(weights, sum(found))
    if said.tone is _Tone.DEMAND and len(found) > 1 and all(weights.values()):
        return own >= _WHOLE
    conduct = any(bond and field_of(meaning) == _CONDUCT for term, bond in weights.items() for meaning in term.meanings)
    alone = said.tone is _Tone.COMPLAINT and len(found) == 1 and not all(weights.values()) and not conduct
    return held >= _HELD[said.tone] and own >= (_ALONE if alone else _OWN[said.tone])


def _beyond(said: _Said, rule: Gist) -> bool:
    """Whether a stretch that complains names a number beyond the rule's, of the same unit: "at 240 lines now"."""
    if said.tone < _Tone.COMPLAINT:
        return False
    limits = dict(rule.measures)
    return any(unit in limits and number != limits[unit] for unit, number in said.gist.measures)


@lru_cache(maxsize=8192)
def near(text: str) -> frozenset[str]:
    """Return the words of which a text shares one with any that says the same: its own, and all of a family.

    Most texts share none: of 400 sessions and 60 rules 8 s became 0.6 s.
    """
    named = members(text)
    own = frozenset(name for term in words(text) for name in (*term.stems, *term.meanings)) | named
    return own.union(*(family for family in (*TOOLS, *OPPOSITES) if named & family)) if named else own


@lru_cache(maxsize=8192)
def _stretches(quote: str) -> tuple[_Said, ...]:
    """Return the clauses of a quote that correct or demand, and all of it where one does and none is talk."""
    typed = typed_part(quote, ())
    parts = [(fold(one.text), one.question) for one in clauses_of(typed, spoken(typed))]
    if any(_TALK.search(part) for part, _ in parts):
        return ()
    said = {part: tone for part, question in parts if (tone := _tone(part, question=question))}
    if not said or (max(said.values()) < _Tone.COMPLAINT and any(_LEAVE.search(part) for part, _ in parts)):
        return ()
    found = dict(said)
    for part in said:
        for piece in filter(None, _COMMA.split(part) if len(part) <= _MAX_WHOLE else ()):
            if tone := _tone(piece, question=False) or (_Tone.SOFT if len(part) <= _MAX_PLAIN else None):
                found.setdefault(piece, tone)
    if len(parts) > 1 and len(typed) <= _MAX_WHOLE:
        found.setdefault(fold(typed), max(said.values()))
    return tuple(_Said(gist(_REMINDER.sub(" ", text)), tone) for text, tone in found.items())


def _tone(text: str, *, question: bool) -> _Tone | None:
    """Return in which tone a stretch corrects or demands, None where it does not: a question only by complaining."""
    if _TALK.search(text):
        return None
    if _REMINDER.search(text) and not _NEW.search(text):
        return _Tone.REMINDER
    if _COMPLAINT.search(text) and not _NEW.search(text) and not _TASK.search(text):
        return _Tone.COMPLAINT
    if question:
        return None
    return _Tone.DEMAND if _DEMAND.search(text) else _Tone.SOFT if _SOFT.search(text) else None
