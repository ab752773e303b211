"""Which of the proposed updates are those that a reader found: same skill and turn, same meaning by content words.

Meaning is judged by the share of content words that two sentences have in common, of the shorter one's. Measured on the
labelled development batches (46 updates; the person's own sentence against the reader's gist of it): at SAME, 40 are
taken for the same, and 5 of 40 gists of other updates of the batch would be, if they stood in the same turn.
"""

from __future__ import annotations

from collections.abc import Sequence

from skilld.evaluate.loader import BatchCase, GoldUpdate
from skilld.text import fold
from skilld.types import Update
from skilld.words import content_stems, other_tongue, share_held

SAME = 0.5
_TURN_ALONE = 0.4  # ranks below every match by meaning


def likeness(one: str, other: str) -> float:
    """Return the share of content words in common, of the sentence that has fewer: 0 to 1."""
    if fold(one) == fold(other):
        return 1.0
    few, many = sorted((content_stems(one), content_stems(other)), key=len)
    return share_held(few, many)


def held(words: str, ground: str) -> float:
    """Return the share of the content words of one text that another holds: 0 to 1."""
    return share_held(content_stems(words), content_stems(ground))


def match(found: Sequence[Update], gold: Sequence[GoldUpdate], case: BatchCase) -> dict[int, int]:
    """Return which update means which of `gold`, as positions, one to one, the likest first.

    Where a gist is not worded like the talk it comes from (most often: it is in another language), words cannot tell,
    and the turn alone decides.
    """
    pairs = [
        (score, i, j)
        for i, update in enumerate(found)
        for j, wanted in enumerate(gold)
        if (update.skill, update.turn) == (wanted.skill, wanted.turn) and (score := _score(update, wanted, case))
    ]
    matched: dict[int, int] = {}
    for _, i, j in sorted(pairs, key=lambda pair: -pair[0]):
        if i not in matched and j not in matched.values():
            matched[i] = j
    return matched


def _score(update: Update, wanted: GoldUpdate, case: BatchCase) -> float:
    alike = likeness(update.change, wanted.gist)
    if alike >= SAME:
        return alike
    apart = other_tongue(wanted.gist, update.change) or not _is_worded_like_the_talk(wanted, case)
    return _TURN_ALONE if apart else 0.0


def _is_worded_like_the_talk(wanted: GoldUpdate, case: BatchCase) -> bool:
    place = next(i for i, message in enumerate(case.messages) if message.turn == wanted.turn)
    talk = " ".join(message.text for message in case.messages[max(0, place - 1) : place + 1])
    return held(wanted.gist, talk) >= SAME
