"""Which of two similar skills is kept, and what to do about each pair. Pure.

The name that is kept is that of the pinned one, else of the most used one, else of the oldest one. A skill has part in
one merge at a time, so that each can be decided by itself.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from math import log, sqrt
from pathlib import Path

from skilld.classify.backends import OFFLINE
from skilld.clock import seconds
from skilld.errors import SkilldError
from skilld.library.merge import MERGED_FROM, Merge, Omission, Portion, beside
from skilld.library.rows import LibraryRow, changed_at
from skilld.markdown.skill_file import join_lines, parse
from skilld.skills import Skill, Source, opt_out, text
from skilld.skills.spec import front
from skilld.text import counted, cut
from skilld.types import Kind, Proposal
from skilld.words import content_stems, stem

# How alike two skills are: the cosine of the two sets of stems (skilld/words.py), each stem weighed by how few of the
# other skills have it (inverse document frequency). Measured on thirty skills by `python -m tools.measure_matching`
# (docs/quality.md); it hears words, so another language is mostly missed.

# Least score of two skills for one task. Among few skills no word counts as common yet, and long texts look alike.
SAME = 0.27
SAME_AMONG_FEW = 0.34
FEW = 4
_SHOWN = 6
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class SkillDescription:
    """A skill, drafted or there, as it is compared. `key` is what the caller knows it by, its path for one on disk."""

    key: str
    name: str
    text: str
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class Match:
    """Two skills, the score 0 to 1 of their likeness, and the shared words that weigh most, the heaviest first."""

    one: SkillDescription
    other: SkillDescription
    score: float
    words: tuple[str, ...]

    @property
    def why(self) -> str:
        """One line for a person."""
        both = f"; both mention {', '.join(self.words)}" if self.words else ""
        return f"similarity {self.score:.2f}{both}"


def described(key: str, name: str, text: str) -> SkillDescription:
    """Return a skill from the whole text of its SKILL.md; `name` is its folder's."""
    said = " ".join([name.replace("-", " "), front(text).description, _body(text)])
    return SkillDescription(key, name, said, content_stems(said))


def best(draft: SkillDescription, existing: Iterable[SkillDescription]) -> Match | None:
    """Return the match of `draft` with the skill most like it, or None if none is like enough."""
    skills = [skill for skill in existing if skill.key != draft.key]
    spread = _Spread([draft, *skills])
    found = [match for skill in skills if (match := spread.match(draft, skill))]
    return max(found, key=lambda match: match.score, default=None)


def pairs(skills: Sequence[SkillDescription], named: Collection[str] = ()) -> list[Match]:
    """Return the pairs of `skills` that are like enough to be one, the most alike first.

    Of those that are `named` by their keys, every pair, and no other.
    """
    spread = _Spread(skills)
    chosen = [skill for skill in skills if not named or skill.key in named]
    least = 0.0 if named else None
    found = [match for one, other in combinations(chosen, 2) if (match := spread.match(one, other, least))]
    return sorted(found, key=lambda match: -match.score)


def scores(skills: Sequence[SkillDescription]) -> Mapping[tuple[str, str], float]:
    """Return the score of every pair of `skills`, by their keys in the order given: what a threshold is measured on."""
    spread = _Spread(skills)
    return {(one.key, other.key): spread.score(one, other) for one, other in combinations(skills, 2)}


def _body(text: str) -> str:
    try:
        return join_lines(parse(text.encode("utf-8", "replace")).body)
    except SkilldError:
        return text


class _Spread:
    """In how many skills of a collection each stem occurs."""

    def __init__(self, skills: Sequence[SkillDescription]) -> None:
        self._count = Counter(found for skill in skills for found in skill.stems)
        self._others = max(0, len(skills) - 2)
        self._norms: dict[str, float] = {}

    def match(self, one: SkillDescription, other: SkillDescription, least: float | None = None) -> Match | None:
        score = self.score(one, other)
        if least is None:
            least = SAME if self._others >= FEW else SAME_AMONG_FEW
        if score < least:
            return None
        words = _words(one.text, one.stems & other.stems)
        telling = sorted(words, key=lambda found: -self._weight(found, 2))[:_SHOWN]
        return Match(one, other, score, tuple(words[found] for found in telling))

    def score(self, one: SkillDescription, other: SkillDescription) -> float:
        """Return the cosine. The two do not count among the others, so that sharing a word never makes it common."""
        shared = one.stems & other.stems
        if not shared:
            return 0.0
        both = sum(self._weight(found, 2) for found in shared)
        rarer = both - sum(self._weight(found, 1) for found in shared)
        return both / sqrt((self._norm(one) + rarer) * (self._norm(other) + rarer))

    def _norm(self, skill: SkillDescription) -> float:
        if skill.key not in self._norms:
            self._norms[skill.key] = sum(self._weight(found, 1) for found in skill.stems)
        return self._norms[skill.key]

    def _weight(self, found: str, own: int) -> float:
        """Return the square of a stem's weight, `own` being how many of the two compared have it."""
        return (1 + log((self._others + 1) / (self._count[found] - own + 1))) ** 2


def _words(text: str, stems: frozenset[str]) -> dict[str, str]:
    """Return each of `stems` that a word of `text` gives, with that word, in the order of the text."""
    words: dict[str, str] = {}
    for word in _WORD.findall(text):
        found = stem(word.casefold())
        if found in stems:
            words.setdefault(found, word.casefold())
    return words


MAX_MERGES = 5  # merges that one run proposes

_BUSY = "until you decide on another merge that includes one of them"
_TOO_MANY_MERGES = f"until you decide on the others: at most {MAX_MERGES} are proposed at once"


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
    """Return what is to be done about each match, in the order given; at most MAX_MERGES are to be proposed.

    `facts` are by key; `open_` and `rejected` have the `pair_key`s of merges that were proposed before, and
    `known` what came of looking into a merge that is none, with the reason.
    """
    pairs = [_settled(match, facts, open_, rejected, known or {}) for match in matches]
    busy = {key for pair in pairs if pair.fate is Fate.OPEN for key in (pair.keep.key, pair.away.key)}
    busy |= {pair.away.key for pair in pairs if pair.fate is Fate.MERGED}
    planned = []
    left = MAX_MERGES
    for pair in pairs:
        mine = {pair.keep.key, pair.away.key}
        if pair.fate is not Fate.MERGE:
            planned.append(pair)
        elif mine & busy or not left:
            planned.append(replace(pair, fate=Fate.WAITS, why=_BUSY if mine & busy else _TOO_MANY_MERGES))
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
        return Pair(keep, away, match, Fate.APART, "they do not belong to the same project")
    if fixed := keep.fixed or away.fixed:
        return Pair(keep, away, match, Fate.APART, fixed)
    if key in open_:
        return Pair(keep, away, match, Fate.OPEN)
    if away.name in keep.took:
        return Pair(keep, away, match, Fate.MERGED)
    if key in rejected:
        return Pair(keep, away, match, Fate.REJECTED)
    return Pair(keep, away, match, *known.get(key, (Fate.MERGE, "")))


# Nobody said the words of a merge in a session: they are lines of the person's own file, so it carries no evidence. It
# is flagged for that, with everything that would be lost, and nothing applies it unasked.

_LOSSES = 12  # that stand in the flags of one proposal
_LOSS_CHARS = 160  # characters of one


def proposals(pair: Pair, merge: Merge, at: str, tries: int) -> list[Proposal]:
    """Return the proposals of a merge, made at a time (RFC 3339); `tries` counts those there were for this pair."""
    keep, away = pair.keep, pair.away
    number = len(merge.parts)
    return [
        Proposal(
            id=hashlib.sha256(_batch(pair, tries + index).encode()).hexdigest()[:8],
            batch_id=_batch(pair, tries + index),
            skill=keep.name,
            path=keep.key,
            operations=part.operations,
            summary=_summary(part, away.name, f"part {index} of {number}" if number > 1 else ""),
            reason=f"{away.name} is for the same task: {pair.match.why}.",
            kind=Kind.ADD_STEP,
            confidence=round(pair.match.score, 2),
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
    rules = f"merge {counted(count, 'item')} from {name}"
    return f"{rules}, {which}" if which else rules


def _flags(name: str, left: Sequence[Omission]) -> list[str]:
    flags = [f"merged from {name}: nobody said these lines in a session"]
    flags += [f"not carried over: {cut(one.what, _LOSS_CHARS)} ({cut(one.why, _LOSS_CHARS)})" for one in left[:_LOSSES]]
    if (more := len(left) - _LOSSES) > 0:
        flags.append(f"{more} more not carried over; compare the two skills before you archive {name}")
    return flags


# The person's skills as matching and merging see them: their texts, and the facts that say which of two stays.

_FILES = 50  # of a skill's folder that are named


@dataclass(frozen=True, slots=True)
class Comparable:
    """One skill: its row, its text, and the facts of it."""

    row: LibraryRow
    described: SkillDescription
    facts: Facts


def compared(rows: Sequence[LibraryRow], pinned: Collection[Path]) -> list[Comparable]:
    """Return the skills that can be compared: all but those of plugins and those that cannot be read."""
    found = []
    for row in rows:
        if row.skill.source is Source.PLUGIN:
            continue
        try:
            said = text(row.path)
        except OSError:
            continue
        found.append(Comparable(row, described(str(row.path), row.name, said), _facts(row, row.path in pinned)))
    return found


def lost_with(away: Skill, keep: Skill) -> list[Omission]:
    """Return what a merge of `away` into `keep` would lose with its folder."""
    folder = away.path.parent
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())
    return beside([name for name in files if name != away.path.name][:_FILES], away.agents, keep.agents)


def _facts(row: LibraryRow, pinned: bool) -> Facts:  # noqa: FBT001 - a fact like the others
    metadata = row.skill.front.metadata
    took = (name.strip() for name in metadata.get(MERGED_FROM, "").split(","))
    return Facts(
        key=str(row.path),
        name=row.name,
        place=str(row.skill.project or ""),
        pinned=pinned,
        uses=row.uses.number,
        since=seconds(metadata.get("skilld-date")) or changed_at(row.path),
        took=frozenset(filter(None, took)),
        fixed=_fixed(row),
    )


def _fixed(row: LibraryRow) -> str:
    try:
        asked = opt_out(row.path, row.name)
    except SkilldError as error:
        return str(error)
    return asked or ("" if os.access(row.path, os.W_OK) else f"{row.path} is read-only")
