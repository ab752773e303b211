"""How much a thing that was said is to be relied on, from its evidence, what became of it, and its age. Pure.

    confidence = evidence * acceptance * age

- evidence = 1 - (1 - c) * 0.5 ** (n - 1): `c` is the surest piece, `n` the distinct sessions that said it, of which
  at most two count for each distinct day; each further one halves the doubt. One long evening is not three weeks.
- acceptance = (yes + 2) / (yes + no + 2): what was accepted or called helpful against what was rejected, reverted or
  called unhelpful. Without a decision it is 1; one no in its first decision makes it 2/3.
- age = 0.5 ** (days / 180) since it was last said or called helpful: what nobody needs fades, and comes back when
  somebody says it again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

HALF_LIFE = 180.0  # days
_A_DAY = 86400.0
_PER_DAY = 2


@dataclass(frozen=True, slots=True)
class Piece:
    """One time that something was said: by which session, when (Unix seconds), how surely (0 to 1)."""

    session: str
    at: float
    confidence: float


def confidence(pieces: Sequence[Piece], yes: int = 0, no: int = 0, *, now: float) -> float:
    """Return the confidence in what the pieces say, 0 to 1; 0 where there are none."""
    if not pieces:
        return 0.0
    days = len({int(piece.at // _A_DAY) for piece in pieces})
    counted = min(len({piece.session for piece in pieces}), _PER_DAY * days)
    surest = max(piece.confidence for piece in pieces)
    evidence = 1 - (1 - surest) * _halved(counted - 1)
    age = max(0.0, now - max(piece.at for piece in pieces)) / _A_DAY
    return evidence * acceptance(yes, no) * _halved(age / HALF_LIFE)


def acceptance(yes: int, no: int) -> float:
    """Return the factor that decisions and feedback make, 0 to 1."""
    return (yes + 2) / (yes + no + 2)


def _halved(times: float) -> float:
    return math.exp(-math.log(2) * times)
