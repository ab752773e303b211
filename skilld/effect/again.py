"""Whether a person repeats a rule: compares the words of a turn with a line the agent had loaded.

Texts in, yes or no out. Three things are told apart: a correction or a demand that says what the rule says; talk about
the rule (a question, a story, a wish to change it); another rule that shares words with it. The surer it is that the
turn corrects something, the fewer words of the rule it takes. docs/effect.md has the figures.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from skilld.classify.contradiction import PLAIN_VERBS
from skilld.classify.offline.detector import clauses_of, spoken, typed_part
from skilld.effect.gist import CHOSEN, OPPOSITES, PLACES, TOOLS, WEAK, Gist, Part, gist, words
from skilld.text import cut, fold
from skilld.words import stem

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
_META = frozenset(map(stem, _DATA["meta"].split())) | words(_DATA["meta"])
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
    wanted = gist(rule)
    return any(_repeats(said, wanted) for said in _stretches(quote[: 2 * MAX_QUOTE]))


# Shares of the words of a rule's part that a stretch of each tone must have, and of its own that must be the rule's.
_HELD = {_Tone.SOFT: 0.6, _Tone.DEMAND: 0.5, _Tone.COMPLAINT: 0.5, _Tone.REMINDER: 0.3}
_OWN = {_Tone.SOFT: 1.0, _Tone.DEMAND: 1.0, _Tone.COMPLAINT: 0.5, _Tone.REMINDER: 0.5}
_HALF, _ENOUGH = 0.5, 4  # of a part's telling words; of a longer one a correction names some
_LITTLE, _FULL = 7, 10  # the weight of a word that many rules share, and of any other


@dataclass(frozen=True, slots=True)
class _Sides:
    """What a stretch and a rule say of things that exclude each other.

    `turned` are words of the stretch that say the rule by its opposite ("no spaces"), `meant` those of the rule. By
    a `lone` one a complaint is about that rule. In a `conflict` the stretch wants the opposite.
    """

    turned: frozenset[str]
    meant: frozenset[str]
    lone: bool
    conflict: bool


def _sides(said: _Said, rule: Gist) -> _Sides:
    turned, meant, lone, conflict = set[str](), set[str](), False, False
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
        if others and (family in TOOLS or own.words & rule.words - family):
            turned |= others
            meant |= wants | bans
            lone |= family in TOOLS
    return _Sides(frozenset(turned), frozenset(meant), lone, conflict)


def _repeats(said: _Said, rule: Gist) -> bool:
    own, tone = said.gist.words - (_META - rule.words) - PLACES, said.tone
    sides, beyond = _sides(said, rule), _beyond(said, rule)
    others = said.gist.numbers and rule.numbers and not said.gist.numbers & rule.numbers
    if not own or sides.conflict or (others and tone < _Tone.COMPLAINT):
        return False
    covered = own & rule.words | sides.meant | (rule.words & rule.numbers if beyond else frozenset())
    shared = own & (rule.words | sides.turned | (said.gist.numbers if beyond else frozenset()))
    if tone >= _Tone.COMPLAINT and sides.lone and len(shared) >= len(own) / 2:
        return True
    codes = said.gist.codes & rule.codes
    return any(
        _is_meant(said, part, covered, codes, _share(len(shared), len(own)))
        and (tone >= _Tone.COMPLAINT or sides.turned or _same_answer(said.gist, part, rule))
        for part in dict.fromkeys((*rule.parts, Part(rule.words, rule.codes, rule.denies)))
    )


def _share(shared: int, own: int) -> float:
    """Return the share of its words in which a stretch is the rule's; of two words, one is too few to tell."""
    return 0.0 if shared == 1 and own > 1 else shared / own


def _same_answer(said: Gist, part: Part, rule: Gist) -> bool:
    """Whether both say yes, or both no."""
    return said.denies == part.denies or bool(said.refused and rule.refused)


def _is_meant(said: _Said, part: Part, covered: frozenset[str], codes: frozenset[str], own: float) -> bool:
    """Whether a stretch says enough of a part; `own` is the share of its words that are the rule's."""
    wanted = part.words - PLACES or part.words
    telling = wanted - WEAK or wanted
    least = 1 if said.tone is _Tone.REMINDER else _HALF * min(len(telling), _ENOUGH)
    if not telling - WEAK:
        least = min(len(telling), 2)  # one word that many rules have tells none
    if len(covered & telling) < least and not codes & part.codes and not covered & said.gist.numbers:
        return False
    is_choice = bool(covered & said.gist.words & CHOSEN & part.words) and not part.denies
    held = 1.0 if is_choice else _weight(covered & wanted) / _weight(wanted)
    if said.tone is _Tone.DEMAND and len(telling) > 1 and telling <= covered:
        return own >= _HALF
    return held >= _HELD[said.tone] and own >= _OWN[said.tone]


def _weight(some: frozenset[str]) -> int:
    """Return a whole number: parts of one would sum to something else in each order, and sets have none."""
    return sum(_LITTLE if word in WEAK else _FULL for word in some)


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
    own = words(text)
    return own.union(*(family for family in (*TOOLS, *OPPOSITES) if own & family))


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
