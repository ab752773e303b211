"""Whether the words that an update quotes say that they apply only for now. Pure.

For every back-end: a model is told to leave such out, and strong ones give them all the same (docs/scoring.md).
"""

from __future__ import annotations

from skilld.classify.offline.grammar import languages
from skilld.classify.offline.sentences import clauses

FOR_NOW = "you said it was only for now"


def is_passing(quote: str, typed: str) -> bool:
    """Whether a clause that a quote is part of, or the quote itself, says that it holds for now."""
    at = typed.find(quote)
    around = [
        clause.text
        for clause in (clauses(typed) if at >= 0 else ())
        if clause.start < at + len(quote) and at < clause.start + len(clause.text)
    ]
    # In all of them: a short message tells none by its small words, and these words are none in any other.
    return any(language.meanwhile.search(text) for text in (quote, *around) for language in languages().values())
