"""The part of a turn that the person typed, for the grammar, and its clauses. Positions stay the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from skilld.classify.offline.grammar import Language
from skilld.classify.offline.product import likely_languages
from skilld.classify.offline.provenance import copied_from, own_words, without_quotations
from skilld.classify.offline.reported import without_reported
from skilld.classify.offline.sentences import Clause, clauses

MAX_LENGTH = 500  # characters of one clause: longer ones are pasted or dictated
_GAP = re.compile(r"(?<![ \t])[ \t]{200,}+")
_APOSTROPHES = str.maketrans("’ʼ`´", "''`'")


def clauses_of(typed: str, spoken_in: Sequence[Language]) -> list[Clause]:
    """Return the clauses of `typed`, with questions that have no question mark marked as such."""
    return [
        clause
        if clause.question
        or len(clause.text) > MAX_LENGTH
        or not any(language.unmarked.search(clause.text) for language in spoken_in)
        else replace(clause, question=True)
        for clause in clauses(typed)
    ]


def typed_part(text: str, agent_texts: Sequence[str]) -> str:
    """Return `text` with foreign and reported words blanked and apostrophes unified; positions stay the same.

    A gap that nobody types ends a line, so that no expression has to match a megabyte of blanks.
    """
    return _said_in(own_words(_without_gaps(text), agent_texts))


def copied_before(text: str, agent_texts: Sequence[str]) -> tuple[str, ...]:
    """Return the agent's messages that `text` may have copied from, as `typed_part` compares them."""
    return copied_from(_without_gaps(text), tuple(agent_texts))


def _without_gaps(text: str) -> str:
    return _GAP.sub(lambda gap: "\n" * len(gap[0]), text)


@lru_cache(maxsize=16)  # the turns of one batch are looked at by each check
def _said_in(own: str) -> str:
    codes = frozenset(language.code for language in likely_languages(own))
    return without_quotations(without_reported(own, codes)).translate(_APOSTROPHES)
