"""Whether something that the person said no longer holds, since they said otherwise later. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from skilld.classify.contradiction import contradicts
from skilld.mining.session_summary import Row
from skilld.mining.values import Part
from skilld.words import content_stems, has_negation, matching_words

# What the person wants to do themselves: "let me commit", "leave the merge to me".
_RESERVED_PATTERN = re.compile(
    r"\b(?:let me|i(?:['\u2019]ll| will| want to|['\u2019]d rather| prefer to)|lass mich|laissez?[- ]moi"
    r"|d[e\u00e9]jame|lasciami|deixa[- ]me)\s+(?:do |make )?(?:the |a |it |den |die |das )?(?P<act>[^\s,.;:!?]+)"
    r"|\bleave (?:the |all |any )?(?P<left>[^,.;:!?\n]{2,40}?) to me\b",
    re.IGNORECASE,
)
_NO_ACT_STEMS = content_stems("know see think have get be say check look ask")  # "let me know" keeps nothing
_NOWHERE = -1, -1
_MAX_WORDS = 16  # of a request that hands something back: a longer one mentions it


class Later:
    """What was typed in all sessions of some rows, to be asked what came after something else."""

    def __init__(self, rows: Sequence[Row]) -> None:
        ordered = sorted(rows, key=lambda row: row.datetime)
        self._places = {
            (row.session_id, turn): (number, at)
            for number, row in enumerate(ordered)
            for at, turn in enumerate(row.turns)
        }
        self._said = [
            (self._places.get((row.session_id, one.turn), _NOWHERE), row, one.text)
            for row in ordered
            for one in row.tasks
        ]
        self._projects = {row.session_id: row.project for row in ordered}

    def overtakes(self, part: Part, rows: Sequence[Row]) -> bool:
        """Whether a sentence of these rows was contradicted later in them, or what it reserves was asked for anywhere.

        The newest time that it was said counts.
        """
        newest = max(
            part.proofs, key=lambda proof: self._places.get((proof.session, proof.turn), _NOWHERE), default=None
        )
        at = self._places.get((newest.session, newest.turn)) if newest else None
        if newest is None or at is None:
            return False
        here, project = {row.session_id for row in rows}, self._projects[newest.session]
        after = [(row.session_id, text) for place, row, text in self._said if place > at and row.project == project]
        if any(session in here and contradicts(text, part.text) for session, text in after):
            return True
        return bool(kept := _reserved(part.text)) and _is_handed_back(kept, (text for _, text in after))


def _reserved(text: str) -> frozenset[str]:
    """Return the words for what the person wants to do themselves."""
    acts = (match["act"] or match["left"] for match in _RESERVED_PATTERN.finditer(text))
    return content_stems(" ".join(acts)) - _NO_ACT_STEMS


def _is_handed_back(kept: frozenset[str], later: Iterable[str]) -> bool:
    return any(
        len(text.split()) <= _MAX_WORDS
        and not (_RESERVED_PATTERN.search(text) or has_negation(text))
        and kept == matching_words(kept, content_stems(text))
        for text in later
    )
