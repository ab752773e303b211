"""Which of two skills that are alike stays, and what is to be done about each pair. Pure.

The name that is kept is that of the pinned one, else of the most used one, else of the oldest one. A skill has part in
one merge at a time, so that each can be decided by itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from skilld.consolidate.match import Match

MOST = 5  # merges that one run proposes

_BUSY = "until the other merge of one of them is decided and its skill archived"
_ENOUGH = f"more than {MOST} at once are not reviewed well: decide on those first"


class Fate(StrEnum):
    """What is to be done about a pair."""

    MERGE = "merge"  # a merge can be proposed
    COVERED = "covered"  # the one that stays says all of it already
    MERGED = "merged"  # it was, and taken over: the other one is not needed any more
    OPEN = "open"  # it is proposed and not decided
    REJECTED = "rejected"  # the person did not want it; never again
    WAITS = "waits"  # for the decision on other merges; `why` says which
    APART = "apart"  # alike, but not to be merged; `why` says the reason


@dataclass(frozen=True, slots=True)
class Facts:
    """What the choice needs of a skill.

    `key` is the path of its SKILL.md, `place` where it belongs (a project's folder, empty for the person's own), `uses`
    in how many sessions, `since` a Unix time, `took` the names it has taken over, `fixed` why it may not be changed.
    """

    key: str
    name: str
    place: str
    pinned: bool = False
    uses: int = 0
    since: float = 0.0
    took: frozenset[str] = frozenset()
    fixed: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two skills that are alike: the one to `keep`, the one to merge `away`, and what is to be done."""

    keep: Facts
    away: Facts
    match: Match
    fate: Fate
    why: str = ""


def canonical(one: Facts, other: Facts) -> tuple[Facts, Facts]:
    """Return the skill that stays and the other one."""
    if one.name in other.took or other.name in one.took:
        return (other, one) if one.name in other.took else (one, other)
    keep, away = sorted((one, other), key=lambda it: (not it.pinned, -it.uses, it.since, it.name, it.key))
    return keep, away


def plan(
    matches: Iterable[Match],
    facts: Mapping[str, Facts],
    open_: Collection[str],
    rejected: Collection[str],
    known: Mapping[str, tuple[Fate, str]] | None = None,
) -> list[Pair]:
    """Return what is to be done about each match, in the order given; at most MOST are to be proposed.

    `facts` are by key; `open_` and `rejected` have the `pair_key`s of merges that were proposed before, and
    `known` what came of looking into a merge that is none, with the reason.
    """
    pairs = [_settled(match, facts, open_, rejected, known or {}) for match in matches]
    busy = {key for pair in pairs if pair.fate is Fate.OPEN for key in (pair.keep.key, pair.away.key)}
    busy |= {pair.away.key for pair in pairs if pair.fate is Fate.MERGED}
    planned = []
    left = MOST
    for pair in pairs:
        mine = {pair.keep.key, pair.away.key}
        if pair.fate is not Fate.MERGE:
            planned.append(pair)
        elif mine & busy or not left:
            planned.append(replace(pair, fate=Fate.WAITS, why=_BUSY if mine & busy else _ENOUGH))
        else:
            planned.append(pair)
            busy |= mine
            left -= 1
    return planned


def pair_key(one: str, other: str) -> str:
    """Return what the merge of two skills is known by, whichever of them stays."""
    return "merge-" + hashlib.sha256("\n".join(sorted((one, other))).encode()).hexdigest()[:16]


def _settled(
    match: Match,
    facts: Mapping[str, Facts],
    open_: Collection[str],
    rejected: Collection[str],
    known: Mapping[str, tuple[Fate, str]],
) -> Pair:
    keep, away = canonical(facts[match.one.key], facts[match.other.key])
    key = pair_key(keep.key, away.key)
    if keep.place != away.place:
        # A project's skill is for all who work there, and may come from anyone; one's own is for nobody else's eyes.
        return Pair(keep, away, match, Fate.APART, "they belong to different places")
    if fixed := keep.fixed or away.fixed:
        return Pair(keep, away, match, Fate.APART, fixed)
    if key in open_:
        return Pair(keep, away, match, Fate.OPEN)
    if away.name in keep.took:
        return Pair(keep, away, match, Fate.MERGED)
    if key in rejected:
        return Pair(keep, away, match, Fate.REJECTED)
    return Pair(keep, away, match, *known.get(key, (Fate.MERGE, "")))
