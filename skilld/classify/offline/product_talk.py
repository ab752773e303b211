"""Follows talk about what a product does: what sounds lasting in it is not a rule for the agent. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from skilld.classify.offline.detector import Match, find_lasting, is_order
from skilld.classify.offline.grammar import Cue
from skilld.classify.offline.likely import LIKELY_ALONE
from skilld.classify.offline.phrasing import phrase
from skilld.classify.offline.product import (
    is_about_product,
    is_about_work,
    is_specification,
    opens_with_product,
)
from skilld.text import fold

# Cues that can also describe a product: "never more than three", after "the form should ask for a number".
_PRODUCT_CUES = frozenset({Cue.ADVERB, Cue.LIKELY, Cue.PRACTICE, Cue.PREFERENCE, Cue.TAKEN_UP})
_OUTRIGHT_CUES = frozenset(Cue) - _PRODUCT_CUES
STANDING_CUES = frozenset({Cue.LASTING, Cue.ADVERB, Cue.MEMORY})  # may refer to words before: "do that from now on"
_MAX_TURNS = 2  # for which talk about the product continues
_PLEASE = re.compile(
    r"\b(?:please|pls|plz|bitte|por favor|per favore|s['\u2019]il (?:te|vous) pla[iî]t|alsjeblieft|proszę|prosím)\b",
    re.IGNORECASE,
)
# An order to build something, and how a thing looks or is arranged, in words without an order.
_BUILDS = re.compile(
    r"\W*(?:(?:ok|okay|gut|super|bitte|jetzt|und|dann|please|pls|now|and)\W+)*"
    r"(?:(?:bau|erstell|mach|programmier|entwickl|schreib)\w*|build|create|make|f[üu]e?g\w*|add)\b"
    r"(?: (?:mir|uns|me|us|bitte|mal))*"
    r" (?:eine?[nmr]?|an?|the|die|den|das|noch eine?[nmr]?)\b",
    re.IGNORECASE,
)
_LOOKS = re.compile(
    r"\b(?:rot|grün|gelb|blau|grau|schwarz|weiß|orange|red|green|yellow|blue|gr[ae]y|black|white|fett|kursiv|bold|blinken\w*"
    r"|oben|unten|links|rechts|mittig|\w+(?:zentriert|sortiert|gerundet)|zentriert|sortiert|gerundet|centered|sorted|rounded"
    r"|nachkommastellen?|decimals|\d+(?:[.,]\d+)?\s?(?:min\w*|sek\w*|sec\w*|px|%|prozent|euro|€|grad))(?!\w)",
    re.IGNORECASE,
)
_FRAME = re.compile(r"^(?:\W*\b(?:please|always|never|and|or|bitte|immer|nie|und|oder)\b)*\W*", re.IGNORECASE)
_INFINITIVE = re.compile(r"[a-zäöü]{2}(?:en|ern|eln)\W*$", re.IGNORECASE)


class ProductTalk:
    """The talk about a product up to a turn."""

    def __init__(self) -> None:
        self._turns = 0  # further ones for which it may continue
        self._built = 0  # further ones in which a look is that of the thing that was ordered

    @property
    def goes_on(self) -> bool:
        """Whether the last turn, or one shortly before, was about the product."""
        return self._turns > 0

    def without(self, text: str, matches: Sequence[Match]) -> list[Match]:
        """Return the matches in the next turn that are not part of the talk about the product."""
        kept = [one for one in matches if not (self._turns and _continues(one)) and not (self._built and _is_look(one))]
        self._built = _MAX_TURNS if _BUILDS.match(text) else max(0, self._built - 1)
        self._turns = _MAX_TURNS if len(kept) < len(matches) or _speaks_of_product(text) else max(0, self._turns - 1)
        return kept


@lru_cache(maxsize=16)  # what is found in a turn is asked about, and what is passed over
def _speaks_of_product(text: str) -> bool:
    """Whether a turn says what a product must do, and states no explicit rule."""
    return is_specification(text) or (
        opens_with_product(text) and not any(one.cue in _OUTRIGHT_CUES for one in find_lasting(text))
    )


def _continues(match: Match) -> bool:
    """Whether a match after talk about the product is part of that talk."""
    if match.likelihood >= LIKELY_ALONE:
        return False
    of_it = match.cue in _PRODUCT_CUES or (match.cue in STANDING_CUES and not is_order(match))
    return of_it and not is_about_work(match.quote) and not _addresses_agent(match)


def _is_look(match: Match) -> bool:
    """Whether a match only says how a thing looks: "bitte immer rot ab 5 min"."""
    said = fold(match.said)
    rest = _FRAME.sub("", _LOOKS.sub(" ", said))
    orders = match.language.commands.match(rest) or _INFINITIVE.search(rest)
    return match.cue in _PRODUCT_CUES and bool(_LOOKS.search(said)) and not orders


def is_asked_for(quote: str) -> bool:
    """Whether words say please."""
    return bool(_PLEASE.search(quote))


def _addresses_agent(match: Match) -> bool:
    """Whether a match orders something expressly for the future, or asks for it: "from now on, ...", "please ..."."""
    said = fold(phrase(match).text)
    expressly = match.cue in _OUTRIGHT_CUES or is_asked_for(match.quote)
    orders = match.language.commands.match(said)
    return expressly and bool(orders) and not is_about_product(said, [match.language])
