"""Whether one of two instructions wants the opposite of the other: by meaning, or by an outright ban. Pure.

By meaning in any language that meanings know, and narrow: the words must be about nothing that the other one is not
about. A ban is English, and must name nothing that the order does not name right after its verb: "no global variables",
"use global variables for flags". It decides what is named to the person and what counts as a repeat, and never what is
replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import takewhile

from skilld.classify.content import LANGUAGES, OPPOSITES, PLACES, TOOLS, Content, content_of
from skilld.classify.offline.choices import WORD
from skilld.meanings import Term, Words
from skilld.text import word_set
from skilld.words import content_stems, has_negation, stem, with_digits

MAX_CHANGE = 2000  # characters: a longer change is no instruction and is not compared
_MAX_LENGTH = 400  # characters: a longer text is more than one rule
STRETCH = re.compile(r"[,;.:!?](?=\s|$)|\s[-\u2013\u2014]\s")
_FAMILIES = tuple(family for family in (*TOOLS, *OPPOSITES) if not family & PLACES)


def opposes(said: str, rule: str) -> bool:
    """Whether `said` chooses otherwise than `rule` on the same subject, or bans what `rule` asks for."""
    if max(len(said), len(rule)) > MAX_CHANGE:
        return False
    return (
        bans(said, rule)
        or differs_in_consent(said, rule)
        or any(_chooses_otherwise(content_of(said), part) for part in _parts(rule))
    )


@lru_cache(maxsize=4096)
def _parts(rule: str) -> tuple[Content, ...]:
    """Return the rule and its stretches: "code and commits in English" is one of "answer in German, code and ..."."""
    stretches = [one for one in STRETCH.split(rule) if one.strip()]
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
    """Whether both are about the same thing apart from the choice; of several in one language, one may be meant."""
    mine, theirs = _subject(said, family), _subject(rule, family)
    own, others = Words(mine), Words(theirs)
    whole = family is LANGUAGES or all(term in own for term in theirs)
    return bool(mine) and whole and all(term in others for term in mine)


def _subject(content: Content, family: frozenset[str]) -> tuple[Term, ...]:
    return tuple(term for term in content.words if term.stems.isdisjoint(family) and term.meanings.isdisjoint(family))


# A ban binds the agent, whoever else does it ("never bump it yourself"), in whatever it works on.
_SCOPE = r"(?:in|within|across) (?:this|the|our|my) (?:code ?base|repo(?:sitory)?|project|code|team)"
# Leave, and no condition: "mock it if it's faster", "if you like".
AT_WILL = (
    r"\b(?:if|when(?:ever)?|where) (?:(?:it|that)(?:['\u2019]s| is) (?:\w+er|better|more \w+)"
    r"|you(?:['\u2019]d)? (?:like|want|prefer|wish)(?: to)?|(?:it |that )?(?:helps|suits you))\b"
)
_NOISE = re.compile(
    r"\b(?:please|pls|ever|at all|again|always|from now on|any ?more|any longer|here|yourself"
    rf"|{_SCOPE})\b|{AT_WILL}",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(r"\b(?:except|apart from|other than|outside)\b", re.IGNORECASE)
_TIME = "when|where|before|after|whenever|once"
_CONDITION = re.compile(r"\b(?:without|unless|until|but|if|while|only|instead|except)\b", re.IGNORECASE)
_TIME_OR_CONDITION = re.compile(rf"{_CONDITION.pattern}|\b(?:{_TIME})\b", re.IGNORECASE)
_ORDERS = "use write put add make keep prefer have include create give take set install"
_PLAIN = frozenset(map(stem, _ORDERS.split()))
_BAN = re.compile(
    r"(?P<step>never|do not|don['\u2019]?t|no need to"
    r"|(?:you |we )?(?:no longer|don['\u2019]?t|do not)(?: have| need) to|(?:you |we )?need not)\s+"
    r"(?!(?:have|need) to\b)"
    r"|(?:no more|no(?! (?:need|one|longer|matter)\b)|avoid|stop)\s+(?:using\s+|writing\s+|adding\s+)?",
    re.IGNORECASE,
)
_SCOPE_START = re.compile(rf"\b(?:{_TIME}|in|on|at|for|during|inside|within|if|unless|while)\b", re.IGNORECASE)
_DETERMINERS = word_set("a an the our any all every each some more")
_ENDS_NOUN = word_set(
    "for in on at with to as from by and or over everywhere too inside within across between during throughout"
) | frozenset(_TIME.split("|"))


_WITHOUT = re.compile(
    r"(?P<act>.*)\bwithout (?:(?:first|ever|even) )?(?P<step>[a-z]{3,20}ing)\b", re.IGNORECASE | re.DOTALL
)
_FIRST = re.compile(r"\b(?:before|first|until|always|each time|every time)\b", re.IGNORECASE)


def differs_in_consent(one: str, other: str) -> bool:
    """Whether one of two rules has something done without a step that the other asks for: "ask before you push"."""
    return max(len(one), len(other)) <= _MAX_LENGTH and (_waives(one, other) or _waives(other, one))


def _waives(rule: str, other: str) -> bool:
    found = _WITHOUT.match(rule)
    if found is None or has_negation(found["act"]) or has_negation(other) or not _FIRST.search(other):
        return False
    act, step = content_stems(found["act"]), stem(found["step"].lower())
    asks = step in map(stem, _words(other, whole=True))
    return bool(act) and asks and all(any(_is_same_verb(one, two) for two in content_stems(other)) for one in act)


def _is_same_verb(one: str, other: str) -> bool:
    """Whether two stems may be of one word: "apply" and "applying" have two."""
    return one == other or (min(len(one), len(other)) >= _MIN_STEM and (one.startswith(other) or other.startswith(one)))


_UNITS = re.compile(r"(?<![\w.,-])(?P<number>\d{1,9}|an? single|one)[ -](?P<unit>[^\W\d_]{3,30})")
_MIN_STEM = 3  # characters
_MIN_SHARE = 0.5  # of the shorter rule's stems, which both must have besides the measure


def differs_in_measure(one: str, other: str) -> bool:
    """Whether two rules on the same thing give different numbers for one measure: "one line", "two lines at most"."""
    if max(len(one), len(other)) > _MAX_LENGTH:
        return False
    mine, theirs = _measures(one), _measures(other)
    units = {unit for unit in mine.keys() & theirs.keys() if mine[unit].isdisjoint(theirs[unit])}
    about, theirs_about = (content_stems(with_digits(text)) - units for text in (one, other))
    shared = {stem for stem in about & theirs_about if not stem.isdigit()}
    return bool(units and shared) and len(shared) / max(1, min(len(about), len(theirs_about))) >= _MIN_SHARE


@lru_cache(maxsize=4096)
def _measures(text: str) -> dict[str, frozenset[str]]:
    """Return the numbers of a text by the stem of the word after them."""
    found: dict[str, frozenset[str]] = {}
    for match in _UNITS.finditer(with_digits(text.lower())):
        unit = stem(match["unit"])
        number = match["number"] if match["number"].isdigit() else "1"
        if unit in content_stems(match["unit"]):
            found[unit] = found.get(unit, frozenset()) | {number}
    return found


def excepts(one: str, other: str) -> bool:
    """Whether one of two rules leaves out what the other is about: "..., except in migrations"."""
    return max(len(one), len(other)) <= _MAX_LENGTH and (_leaves_out(one, other) or _leaves_out(other, one))


def _leaves_out(rule: str, other: str) -> bool:
    left_out = [content_stems(part) for part in _EXCEPTION.split(rule)[1:]]
    return any(stems and stems <= content_stems(other) for stems in left_out)


def is_ban(text: str) -> bool:
    """Whether a text begins by forbidding a step; "again no tests" complains of what was done."""
    found = _BAN.match(text.lstrip(" ,-*+"))
    return found is not None and found["step"] is not None


def _without_noise(text: str) -> str:
    return " ".join(_NOISE.sub(" ", text).split()).lstrip(" ,-*+")


def bans(ban: str, order: str) -> bool:
    """Whether `ban` forbids outright what `order` asks for: "no named exports" of "use named exports".

    A ban on a kind of things covers each of them ("never squash commits", "squash fixup commits"). What is banned only
    in one place, or but for an exception that the order is about, is no contradiction.
    """
    said = _without_noise(ban)
    found = _BAN.match(said) if max(len(ban), len(order)) <= _MAX_LENGTH else None
    if found is None:
        return False
    rest = _EXCEPTION.split(said[found.end() :])[0]
    words = _words(STRETCH.split(rest)[0])
    verb = words.pop(0) if found["step"] and words else ""
    if not (words or (verb and stem(verb) not in _PLAIN)) or _TIME_OR_CONDITION.search(rest):
        return False
    return any(_asks_for(part, verb, words) for part in STRETCH.split(order))


def rests(rule: str, other: str) -> Iterator[str]:
    """Yield a rule, and what is left of it from each later stretch on: "mock it, never use postgres" bans something.

    Nothing after a label, or after a place or time that `other` does not name: "mock it in tests, never use the clock".
    """
    yield rule
    for part in STRETCH.finditer(rule) if len(rule) <= _MAX_LENGTH else ():
        scope = _SCOPE_START.search(rule, 0, part.start())
        if part[0] == ":" or (scope and not content_stems(rule[scope.start() : part.start()]) <= content_stems(other)):
            return
        yield rule[part.end() :]


def _asks_for(part: str, verb: str, thing: list[str]) -> bool:
    """Whether a stretch of a rule is an order to do this with the thing, or with nothing if none is named."""
    part = _NOISE.sub(" ", part)
    if has_negation(part) or _CONDITION.search(part):
        return False
    words = _words(part, whole=True)
    if not words or not (stem(words[0]) in _PLAIN if verb == "" or stem(verb) in _PLAIN else words[0] == verb):
        return False
    after = [word for word in words[1:] if word not in _DETERMINERS]
    named = [*map(stem, takewhile(lambda word: word not in _ENDS_NOUN, after))]
    wanted = [*map(stem, thing)]
    begins = [*map(stem, after[: len(thing)])] == wanted and (after[len(thing) :] or ["for"])[0] in _ENDS_NOUN
    return begins or (len(named) > len(wanted) > 0 and named[-len(wanted) :] == wanted)


def _words(text: str, *, whole: bool = False) -> list[str]:
    words = [word.lower() for word in WORD.findall(text)]
    return words if whole else [word for word in words if word not in _DETERMINERS]
