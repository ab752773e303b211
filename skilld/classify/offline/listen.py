"""Which clauses of a turn say something lasting.

One turn in, the clauses heard out, each with its cue and its exact place in the turn. Knows nothing of skills.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skilld.classify.offline.cues import LANGUAGES, Cue, Language
from skilld.classify.offline.provenance import own_words, without_quotations
from skilld.classify.offline.sentences import Clause, clauses

_LONGEST = 500  # characters of one clause: longer ones are pasted or dictated, and no rule


@dataclass(frozen=True, slots=True)
class Heard:
    """A clause that says something lasting.

    `quote` is the clause as typed, `said` the same without what stands before the instruction, `strength` 0 to 1.
    """

    quote: str
    said: str
    start: int
    question: bool
    language: Language
    cue: Cue
    strength: float


def listen(text: str, agent_texts: Sequence[str] = ()) -> list[Heard]:
    """Return what lasting things `text`, one turn, says; `agent_texts` are the agent's messages before it."""
    typed = own_words(text, agent_texts)
    ordered = any(language.orders and language.orders.match(typed) for language in LANGUAGES)
    heard = (_hear(clause, text) for clause in clauses(typed))
    return [one for one in heard if one and (one.cue is Cue.MEMORY or not ordered)]


def retractions(text: str, agent_texts: Sequence[str] = ()) -> list[str]:
    """Return the clauses of `text` that take something back."""
    typed = own_words(text, agent_texts)
    return [
        clause.text
        for clause in clauses(typed)
        if any(language.retracts.search(without_quotations(clause.text)) for language in LANGUAGES)
    ]


def _hear(clause: Clause, text: str) -> Heard | None:
    if len(clause.text) > _LONGEST:
        return None
    bare = without_quotations(clause.text)
    best: Heard | None = None
    for language in LANGUAGES:
        opener = language.openers.match(bare)
        begin = opener.end() if opener else 0
        rest = bare[begin:]
        if language.vetoes.search(bare) or language.retracts.search(bare) or language.asks.match(rest):
            continue
        for pattern in language.patterns:
            if (best is None or pattern.strength > best.strength) and pattern.regex.search(rest):
                quote = text[clause.start : clause.start + len(clause.text)]
                best = Heard(
                    quote, quote[begin:], clause.start, clause.question, language, pattern.cue, pattern.strength
                )
    return best
