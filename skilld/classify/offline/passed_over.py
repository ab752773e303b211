"""Finds orders that sound lasting but that the offline judge treats as no rule, and why: none vanishes silently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skilld.classify.offline.detector import MODEST_STRENGTH, Match, find_lasting
from skilld.classify.offline.grammar import Cue, Language
from skilld.classify.offline.phrasing import phrase
from skilld.classify.offline.product import (
    after_opener,
    describes_product,
    is_about_product,
    likely_languages,
    only_tells,
)
from skilld.classify.offline.provenance import own_words, without_quotations
from skilld.classify.offline.reported import reporting, without_reported
from skilld.classify.offline.typed import clauses_of
from skilld.text import fold

_MAX_LENGTH = 200  # characters of a clause
_MAX_TURN = 2000  # characters: a longer turn is a description or a paste
_REPORTED = "it seems to be somebody else's words"
_ONCE = "it seems to be meant only for now, or not to be certain"
PRODUCT = "it seems to describe what a product does"
_TELLS = "it seems only to state what is or will be"
_UNKNOWN = "the offline judge does not know this wording"


def passed_over(text: str, agent_texts: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield the clauses of a turn that sound like a lasting order ("never ...") and were not heard; and why."""
    if len(text) > _MAX_TURN:
        return
    own = without_quotations(own_words(text, agent_texts))
    found = likely_languages(own)
    codes = frozenset(one.code for one in found)
    lasting, left = reporting(codes).lasting, without_reported(own, codes)
    heard = [(one.start, one.start + len(one.quote)) for one in find_lasting(text, agent_texts)]
    for clause in clauses_of(own, found):
        end = clause.start + len(clause.text)
        known = any(begin < end and clause.start < until for begin, until in heard)
        bare = fold(clause.text)
        sounds = any(one.sounds_lasting.match(head) for one in found for head in (bare, after_opener(bare, one)))
        if known or clause.question or len(bare) > _MAX_LENGTH or not (sounds or lasting.search(clause.text)):
            continue
        if any(one.retracts.search(bare) for one in found):  # "never mind"
            continue
        reported = left[clause.start : end] != own[clause.start : end]
        if reported or sounds or _is_order(bare, found, codes) or _states(bare, found):
            yield fold(text[clause.start : end]), _REPORTED if reported else _reason(bare, found)


def instruction(quote: str) -> str:
    """Return a clause that was passed over as an instruction."""
    language = likely_languages(quote)[0]
    said = after_opener(fold(quote), language)
    clause = Match(quote, said, 0, question=False, language=language, cue=Cue.TAKEN_UP, strength=MODEST_STRENGTH)
    return phrase(clause).text or quote


def _is_order(bare: str, found: Sequence[Language], codes: frozenset[str]) -> bool:
    heads = [(one, after_opener(bare, one)) for one in found]
    return any(one.commands.match(head) or reporting(codes).lasting.match(head) for one, head in heads)


def _states(bare: str, found: Sequence[Language]) -> bool:
    """Whether a clause says how a kind of things always is, and not what happens to one: "dates are always in UTC"."""
    return any(one.states.search(bare) and not one.reports.search(after_opener(bare, one)) for one in found)


def _reason(bare: str, found: Sequence[Language]) -> str:
    if any(one.vetoes.search(one.without_not_once(bare)) or one.hedges.search(bare) for one in found):
        return _ONCE
    if is_about_product(bare, found) or any(describes_product(after_opener(bare, one), one, found) for one in found):
        return PRODUCT
    return _TELLS if any(only_tells(after_opener(bare, one), one) for one in found) else _UNKNOWN
