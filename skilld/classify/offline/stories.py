"""Leaves out the clauses of a turn that tell how others work."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from skilld.classify.offline.grammar import Language
from skilld.classify.offline.product import after_opener
from skilld.classify.offline.sentences import Clause
from skilld.text import fold
from skilld.words import has_negation

_ALWAYS = re.compile(r"(?:always|only)\b", re.IGNORECASE)
_OPENING_CHARACTERS = 12  # of a clause, in which a negation counts


def without_stories(said: Iterable[Clause], languages: Sequence[Language]) -> Iterator[Clause]:
    """Yield clauses without stories of how others work, up to where the speaker returns to the present work."""
    telling = False
    for clause in said:
        bare = fold(clause.text)
        telling = telling and not _comes_back(clause, bare, languages)
        begins = max((story.end() for one in languages if (story := one.elsewhere.search(bare))), default=0)
        if not telling and not begins:
            yield clause
        else:
            telling = not any(one.comes_back.search(bare, begins) for one in languages)


def _comes_back(clause: Clause, bare: str, languages: Sequence[Language]) -> bool:
    """Whether a clause ends the story before it: by its words, as a question, or by addressing the agent."""
    heads = [(one, after_opener(bare, one)) for one in languages]
    if clause.question or any(one.comes_back.match(bare) or one.comes_back.match(rest) for one, rest in heads):
        return True
    if clause.lead:
        return False
    # In English any word may be a verb.
    ordering = [(one, rest) for one, rest in heads if one.code != "en"] or heads
    return any(one.frames.match(rest) for one, rest in heads) or any(
        one.commands.match(rest) and not (_ALWAYS.match(rest) or begins_negated(rest, one)) for one, rest in ordering
    )


def begins_negated(rest: str, language: Language) -> bool:
    """Whether a clause begins with a negation."""
    return has_negation(rest[:_OPENING_CHARACTERS]) or bool(language.dissent.match(rest[:_OPENING_CHARACTERS]))
