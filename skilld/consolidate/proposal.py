"""A merge as proposals on the skill that stays. Pure.

Nobody said these words in a session: they are lines of the person's own file, so a merge carries no evidence. It is
flagged for that, with everything that would be lost, and nothing applies it unasked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from skilld.classify.backends import OFFLINE
from skilld.consolidate.merge import Left, Merge, Portion
from skilld.consolidate.plan import Pair, pair_key
from skilld.text import counted, cut
from skilld.types import Kind, Proposal, State

_LOSSES = 12  # that stand in the flags of one proposal
_SHOWN = 160  # characters of one


def proposals(pair: Pair, merge: Merge, at: str, tries: int) -> list[Proposal]:
    """Return the proposals of a merge, made at a time (RFC 3339); `tries` counts those there were for this pair."""
    keep, away = pair.keep, pair.away
    number = len(merge.parts)
    return [
        Proposal(
            id=hashlib.sha256(_batch(pair, tries + index).encode()).hexdigest()[:8],
            batch_id=_batch(pair, tries + index),
            state=State.OPEN,
            skill=keep.name,
            path=keep.key,
            operations=part.operations,
            summary=_summary(part, away.name, f"part {index} of {number}" if number > 1 else ""),
            reason=f"{away.name} is for the same task: {pair.match.why}.",
            kind=Kind.ADD_STEP,
            evidence=(),
            confidence=round(pair.match.score, 2),
            agent="",
            session_id="",
            model=OFFLINE,
            created_at=at,
            flags=(*_flags(away.name, merge.left), *part.flags),
        )
        for index, part in enumerate(merge.parts, 1)
    ]


def pair_of(batch: str) -> str:
    """Return the `pair_key` of the merge that a proposal's batch belongs to; of any other batch nothing of use."""
    return batch.rpartition("-")[0]


def _batch(pair: Pair, number: int) -> str:
    """Return the batch of one part: for each file, one batch makes one commit."""
    return f"{pair_key(pair.keep.key, pair.away.key)}-{number}"


def _summary(part: Portion, name: str, which: str) -> str:
    count = len(part.carried)
    rules = f"take over {counted(count, 'thing')} that {name} says"
    return f"{rules}, {which}" if which else rules


def _flags(name: str, left: Sequence[Left]) -> list[str]:
    flags = [f"merged from {name}: these are lines of that file, nobody said them in a session"]
    flags += [f"not carried over: {cut(one.what, _SHOWN)} ({cut(one.why, _SHOWN)})" for one in left[:_LOSSES]]
    more = len(left) - _LOSSES
    return [*flags, f"{more} more are not carried over: skilld consolidate {name}"] if more > 0 else flags
