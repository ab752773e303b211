"""Recognizes a sentence that says what to do instead of what the one before bans."""

from __future__ import annotations

import re

_BAN = re.compile(
    r"(?<![\w'])(?:never(?:\s+ever)?|(?:don'?t|do\s+not)(?:\s+ever)?|stop|no\s+more|niemals|nie|jamais|nunca|mai)\s+(?P<verb>[\w'-]+)",
    re.IGNORECASE,
)
_MAX_LENGTH = 120  # characters of what to do instead: a longer sentence says more
_OF_NOW = re.compile(
    r"\b(?:this|now|today|tonight|tomorrow|first|diese[nrsm]?|jetzt|heute|esta?|hoy|ahora|cette?|oggi|questo)\b",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"\b(?:instead|rather|stattdessen|statt\s+dessen|lieber|plutôt|à\s+la\s+place|en\s+su\s+lugar|en\s+vez\s+de\s+eso"
    r"|em\s+vez\s+disso|invece|вместо\s+этого)\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?:(?:please|just|but|and|better)\s+){0,2}(?P<verb>[\w'-]+)"
    r"(?:(?P<it>\s+(?:it|them|those)\b)|(?P<article>\s+(?:the|an?|all|every|your|my|our)\b)|)",
    re.IGNORECASE,
)
_PLACING = frozenset(
    {"put", "place", "keep", "leave", "write", "name", "call", "spell", "store", "wrap", "use", "send", "load", "say"}
)
_WORDING = frozenset({"use", "say", "write", "call", "name", "spell"})


def says_instead(ban: str, then: str) -> bool:
    """Whether a sentence says what to do instead: "open a pull request instead" behind "never push to main".

    Without such a word it has the verb of the ban ("never use px. Use rem"), or puts what was named elsewhere ("never
    put a key next to the lamp. Keep it under the mat"). A sentence about the present task never does.
    """
    order = _ORDER.match(then)
    bans = [*_BAN.finditer(ban)]
    if order is None or not bans or len(then) > _MAX_LENGTH or _OF_NOW.search(then):
        return False
    verb, banned = order["verb"].lower(), bans[-1]["verb"].lower()
    same = banned in {verb, f"{verb}ing", f"{verb[:-1]}ing"}
    worded = {verb, banned} <= _WORDING and not order["article"]
    return bool(_INSTEAD.search(then) or (order["it"] and verb in _PLACING) or worded or same)
