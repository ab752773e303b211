"""Whether a person wants the opposite of a rule, in any language that meanings know. Pure.

Narrow: the words must be about nothing that the rule is not about. It decides what is named to the person and what
counts as a repeat, and never what is replaced.
"""

from __future__ import annotations

import re
from functools import lru_cache

from skilld.classify.content import LANGUAGES, OPPOSITES, PLACES, TOOLS, Content, content_of
from skilld.classify.offline.choices import WORD
from skilld.meanings import Term, Words
from skilld.words import content_stems, has_negation, stem

_STRETCH = re.compile(r"[,;.:!?](?=\s|$)|\s[-\u2013\u2014]\s")
_CONDITION = re.compile(
    r"\b(?:without|unless|until|except|but|if|when|while|before|after|ohne|bevor|außer|wenn|falls|sauf|sans|sin|senza)\b",
    re.IGNORECASE,
)
_BAN = re.compile(
    r"\W*(?:please |bitte )?(?:never(?: again)?|do not|don['\u2019]?t|stop|nie(?: wieder|mals)?) ", re.IGNORECASE
)
# Words that do not say what is banned: a step is banned for the agent, whoever else does it.
_FOR_THE_AGENT = frozenset(map(stem, ("yourself", "own", "ever", "again", "anymore", "more", "any", "from", "now")))
_MIN_BANNED = 2  # stems: "never run" bans no step
MAX_CHANGE = 2000  # characters: a longer change is no instruction and is not compared
_FAMILIES = tuple(family for family in (*TOOLS, *OPPOSITES) if not family & PLACES)


def opposes(said: str, rule: str) -> bool:
    """Whether `said` chooses otherwise than `rule` on the same subject, or bans a step that `rule` orders."""
    if max(len(said), len(rule)) > MAX_CHANGE:
        return False
    return _bans_step(said, rule) or any(_chooses_otherwise(content_of(said), part) for part in _parts(rule))


def forbids_what_is_wanted(said: str, rule: str) -> bool:
    """Whether `said` is a ban of what `rule` asks for: "never use named exports again" of "named exports only"."""
    return bool(_BAN.match(said)) and opposes(said, rule)


@lru_cache(maxsize=4096)
def _parts(rule: str) -> tuple[Content, ...]:
    """Return the rule and its stretches: "code and commits in English" is one of "answer in German, code and ..."."""
    stretches = [one for one in _STRETCH.split(rule) if one.strip()]
    return tuple(content_of(one) for one in dict.fromkeys(stretches))


def _chooses_otherwise(said: Content, rule: Content) -> bool:
    if not ((said.asked or said.refused) and (rule.asked or rule.refused)):
        return False
    for family in _FAMILIES:
        asked, refused = said.asked & family, said.refused & family
        wants, bans = rule.asked & family, rule.refused & family
        turned = (asked and wants and not asked & wants) or (asked & bans and not asked & wants)
        if (turned or (refused & wants and not asked & wants)) and _is_same_subject(said, rule, family):
            return True
    return False


def _is_same_subject(said: Content, rule: Content, family: frozenset[str]) -> bool:
    """Whether both are about the same besides the choice; of several things in one language, one may be meant."""
    mine, theirs = _subject(said, family), _subject(rule, family)
    own, others = Words(mine), Words(theirs)
    whole = family is LANGUAGES or all(term in own for term in theirs)
    return bool(mine) and whole and all(term in others for term in mine)


def _subject(content: Content, family: frozenset[str]) -> tuple[Term, ...]:
    return tuple(term for term in content.words if term.stems.isdisjoint(family) and term.meanings.isdisjoint(family))


def _bans_step(said: str, rule: str) -> bool:
    """Whether `said` bans what `rule` orders in its first words: "never bump the version yourself"."""
    ban = _BAN.match(said)
    if (
        ban is None
        or has_negation(rule)
        or {one.lower() for one in _CONDITION.findall(said)} - {one.lower() for one in _CONDITION.findall(rule)}
    ):
        return False
    words, order = WORD.findall(said[ban.end() :]), WORD.findall(rule)
    banned = content_stems(said[ban.end() :]) - _FOR_THE_AGENT
    first = bool(words and order) and stem(words[0].lower()) == stem(order[0].lower())
    return first and len(banned) >= _MIN_BANNED and banned <= content_stems(rule)
