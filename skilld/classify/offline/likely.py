"""Weighs the clauses of a turn by how much they read like something to remember, whatever the grammar finds in them.

The grammar knows the words that say that something lasts. The model (`likelihood`) also knows how people say it without
them ("scripts go in tools/, not next to the code"), and how they talk about what they build. What it finds likely is a
match; what the grammar heard and it finds unlikely is a weak one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from skilld.classify.offline.detector import Match, find_lasting, is_document
from skilld.classify.offline.grammar import KEPT_STRENGTH, Cue
from skilld.classify.offline.likelihood import features, likelihood
from skilld.classify.offline.product import is_specification, is_vetoed, likely_languages, opener_end
from skilld.classify.offline.sentences import Clause
from skilld.classify.offline.typed import MAX_LENGTH, clauses_of, typed_part
from skilld.text import fold
from skilld.words import content_stems

LIKELY = 0.65  # with a skill in use that a clause is about
LIKELY_ALONE = 0.9  # without one
_UNLIKELY = 0.15  # what the grammar found is then kept but not proposed
_ABOUT_A_LINE = frozenset({Cue.CORRECTION, Cue.TAKEN_UP})  # the line of the skill shows what is meant
_UNSURE = 0.5  # at most, of a clause in a long description or a specification
_STRENGTH = 0.7  # of what is likely
_MAX_CLAUSES = 150  # of a turn, at each end


@lru_cache(maxsize=16)
def weighed_clauses(text: str, agent_texts: tuple[str, ...] = ()) -> tuple[tuple[Clause, float], ...]:
    """Return the clauses of `text`, one turn, each with the likelihood that it says something lasting."""
    return tuple((clause, likelihood(found)) for clause, found in clause_features(text, agent_texts))


def clause_features(text: str, agent_texts: Sequence[str] = ()) -> Iterator[tuple[Clause, set[int]]]:
    """Yield the clauses of `text`, one turn, each with its features for the model."""
    typed = typed_part(text, agent_texts)
    found, heard = likely_languages(typed), find_lasting(text, agent_texts)
    said = clauses_of(typed, found)
    for clause in said if len(said) <= 2 * _MAX_CLAUSES else (*said[:_MAX_CLAUSES], *said[-_MAX_CLAUSES:]):
        if len(clause.text) <= MAX_LENGTH:
            strongest = max(_overlapping(heard, clause), key=lambda one: one.strength, default=None)
            yield clause, features(clause, (strongest.cue, strongest.strength) if strongest else None, found)


def weigh(matches: Sequence[Match], text: str, agent_texts: Sequence[str], *, alone: bool) -> list[Match]:
    """Return `matches`, those of the turn `text`, with what else in it is likely; unlikely ones become weak.

    `alone`: no skill is in use, which what is said could be about.
    """
    clauses = weighed_clauses(text, tuple(agent_texts))
    if is_document(text, agent_texts) or is_specification(text):
        clauses = tuple((clause, min(likely, _UNSURE)) for clause, likely in clauses)
    out = [_weighed(one, [likely for clause, likely in clauses if _overlaps(one, clause)]) for one in matches]
    previous: Clause | None = None
    for clause, likely in clauses:
        if likely >= (LIKELY_ALONE if alone else LIKELY) and not any(_overlapping(matches, clause)):
            out += _match(clause, text, likely, previous)
        previous = clause
    return sorted(out, key=lambda one: one.start)


def _match(clause: Clause, text: str, likely: float, previous: Clause | None) -> Iterator[Match]:
    """Yield the match of a likely clause, unless it asks, holds for once, or takes something back."""
    quote, bare, found = text[clause.start : clause.start + len(clause.text)], fold(clause.text), likely_languages(text)
    of_now = any(one.corrects.match(bare) or one.has_task(bare) for one in found)
    language = likely_languages(quote)[0]
    said = quote[opener_end(clause.text, language) :]
    if not (clause.question or of_now or is_vetoed(bare, found)) and content_stems(said) - language.saying:
        yield Match(
            quote,
            said,
            clause.start,
            question=False,
            language=language,
            cue=Cue.LIKELY,
            strength=_STRENGTH,
            likelihood=likely,
            before=((previous.start, previous.text),) if previous and not previous.question else (),
        )


def _weighed(match: Match, likely: Sequence[float]) -> Match:
    highest = max(likely, default=_UNLIKELY)
    strength = max(match.strength, _STRENGTH) if highest >= LIKELY_ALONE else match.strength
    marked = match.cue is Cue.PRACTICE and match.language.frames.search(match.quote)  # "bref, désormais ..."
    if highest < _UNLIKELY and not (match.question or marked or match.of_code or match.cue in _ABOUT_A_LINE):
        strength = min(strength, KEPT_STRENGTH)
    return replace(match, strength=strength, likelihood=highest)


def _overlapping(matches: Sequence[Match], clause: Clause) -> Iterator[Match]:
    return (one for one in matches if _overlaps(one, clause))


def _overlaps(match: Match, clause: Clause) -> bool:
    return match.start < clause.start + len(clause.text) and clause.start < match.start + len(match.quote)
