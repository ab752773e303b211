"""Whether one rule bans outright what another asks for: "no global variables", "use global variables for flags". Pure.

English, and narrow: the ban must name nothing that the order does not name right after its verb.
"""

from __future__ import annotations

import re

from skilld.classify.offline.choices import WORD
from skilld.text import word_set
from skilld.words import content_stems, has_negation, stem

_MAX_LENGTH = 400  # characters: a longer text is more than one rule
_STRETCH = re.compile(r"[,;.:!?](?=\s|$)|\s[-\u2013\u2014]\s")
_SCOPE = r"(?:in|within|across) (?:this|the|our|my) (?:code ?base|repo(?:sitory)?|project|code|team)"
_NOISE = re.compile(
    rf"\b(?:please|pls|ever|at all|again|always|from now on|any ?more|any longer|here|{_SCOPE})\b", re.IGNORECASE
)
_EXCEPTION = re.compile(r"\b(?:except|apart from|other than|outside)\b", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:without|unless|until|but|if|when|while|where|before|after|only|instead|whenever|once|except)\b",
    re.IGNORECASE,
)
_ORDERS = "use write put add make keep prefer have include create give take set install"
_PLAIN = frozenset(map(stem, _ORDERS.split()))
_BAN = re.compile(
    r"(?P<step>never|do not|don['\u2019]?t|no need to"
    r"|(?:you |we )?(?:no longer|don['\u2019]?t|do not)(?: have| need) to|(?:you |we )?need not)\s+"
    r"(?!(?:have|need) to\b)"
    r"|(?:no more|no(?! (?:need|one|longer|matter)\b)|avoid|stop)\s+(?:using\s+|writing\s+|adding\s+)?",
    re.IGNORECASE,
)
_DETERMINERS = word_set("a an the our any all every each some more")
_ENDS_NOUN = word_set(
    "for in on at with to as from by and or over everywhere too inside within across between during throughout"
)


def bans_outright(one: str, other: str) -> bool:
    """Whether one of two rules bans what the other asks for, wherever it asks for it.

    What is banned only in one place, or but for an exception that the order is about, is no contradiction.
    """
    if max(len(one), len(other)) > _MAX_LENGTH:
        return False
    return _bans(one, other) or _bans(other, one)


def excepts(one: str, other: str) -> bool:
    """Whether one of two rules leaves out what the other is about: "..., except in migrations"."""
    return max(len(one), len(other)) <= _MAX_LENGTH and (_leaves_out(one, other) or _leaves_out(other, one))


def _leaves_out(rule: str, other: str) -> bool:
    left_out = [content_stems(part) for part in _EXCEPTION.split(rule)[1:]]
    return any(stems and stems <= content_stems(other) for stems in left_out)


def _bans(ban: str, order: str) -> bool:
    said = " ".join(_NOISE.sub(" ", ban).split()).lstrip(" ,-*+")
    found = _BAN.match(said)
    if found is None:
        return False
    rest = _EXCEPTION.split(said[found.end() :])[0]
    banned, *more = [part.strip() for part in _STRETCH.split(rest) if part.strip()] or [""]
    words = _words(banned)
    verb = words.pop(0) if found["step"] and words else ""
    if not words or _CONDITION.search(rest) or any(has_negation(part) for part in more):
        return False
    return any(_asks_for(part, verb, words) for part in _STRETCH.split(order))


def _asks_for(part: str, verb: str, thing: list[str]) -> bool:
    """Whether a stretch of a rule is an order to do this with the thing."""
    if has_negation(part) or _CONDITION.search(part):
        return False
    words = _words(_NOISE.sub(" ", part), whole=True)
    if not words or not (stem(words[0]) in _PLAIN if verb == "" or stem(verb) in _PLAIN else words[0] == verb):
        return False
    after = [word for word in words[1:] if word not in _DETERMINERS]
    named, rest = after[: len(thing)], after[len(thing) :]
    return [*map(stem, named)] == [*map(stem, thing)] and (not rest or rest[0] in _ENDS_NOUN)


def _words(text: str, *, whole: bool = False) -> list[str]:
    words = [word.lower() for word in WORD.findall(text)]
    return words if whole else [word for word in words if word not in _DETERMINERS]
