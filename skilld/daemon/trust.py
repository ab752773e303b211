"""How sure an update must be, by what the person decided about such updates before. Pure.

threshold = 0.5 + 0.4 x (no - yes) / (no + yes + 4), kept between 0.5 and 0.8, for each skill and kind: `yes` are the
accepted proposals, `no` the rejected and reverted ones. Nothing decided: 0.5. One rejection: 0.58. Six: 0.74. The 4
keeps a single decision from moving it by more than 0.08. Acceptances only win back what rejections took: below 0.5 a
back-end says itself that an update should not be proposed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from skilld.types import Proposal, State

START = 0.5
MOST = 0.8
_SWING = 0.4
_WEIGHT = 4


def threshold(yes: int, no: int) -> float:
    """Return the confidence that an update needs after so many decisions."""
    moved = START + _SWING * (no - yes) / (no + yes + _WEIGHT)
    return round(min(MOST, max(START, moved)), 3)


def thresholds(decided: Iterable[Proposal]) -> Mapping[str, Mapping[str, float]]:
    """Return the thresholds that differ from START, by the skill's path and the kind of update."""
    counts: dict[tuple[str, str], list[int]] = {}
    for proposal in decided:
        if not proposal.evidence:
            continue  # a merge of skills: no update was heard
        count = counts.setdefault((proposal.path, proposal.kind.value), [0, 0])
        count[proposal.state is not State.ACCEPTED] += 1
    found: dict[str, dict[str, float]] = {}
    for (path, kind), (yes, no) in counts.items():
        found.setdefault(path, {})[kind] = threshold(yes, no)
    return found
