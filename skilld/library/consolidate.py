"""Finds pairs of similar skills, and plans which one is kept and what to do about each pair. Pure.

The most used skill is kept, or else the oldest one. A skill takes part in one merge at a time, so that each can be
decided on its own.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import combinations
from math import log, sqrt
from pathlib import Path

from skilld.classify.backends import OFFLINE
from skilld.errors import SkilldError
from skilld.library.merge import MERGED_FROM, Merge, folder_omissions, merged_files
from skilld.library.merge_sorting import Omission
from skilld.library.passages import plain_text
from skilld.library.rows import LibraryRow, written_at
from skilld.markdown.skill_file import join_lines, parse
from skilld.skills import Skill, Source, opt_out, text
from skilld.skills.spec import read_front
from skilld.text import pluralize, truncate
from skilld.types import Kind, Op, Proposal, State
from skilld.values import value_class
from skilld.words import content_stems, stem

# The similarity of two skills: the cosine of their sets of stems (skilld/words.py), each stem weighted by how few of
# the other skills have it (inverse document frequency). Measured on thirty skills by `python -m tools.measure_matching`
# (docs/measurements/quality.md); it compares words, so skills in different languages rarely match.

# The minimum score of two skills for the same task. Among few skills no word counts as common, and long texts match.
MIN_SIMILARITY = 0.27
MIN_SIMILARITY_AMONG_FEW = 0.34
FEW = 4
_MAX_SHOWN_WORDS = 6
_WORD_PATTERN = re.compile(r"[^\W_]+")


@value_class
class SkillDescription:
    """A skill or draft to be compared. `key` identifies it to the caller; for a skill on disk it is its path."""

    key: str
    name: str
    text: str
    stems: frozenset[str]


@value_class
class Match:
    """Two skills, their similarity from 0 to 1, and the shared words with the highest weights."""

    one: SkillDescription
    other: SkillDescription
    score: float
    words: tuple[str, ...]

    @property
    def why(self) -> str:
        """One line for a person."""
        both = f"; both mention {', '.join(self.words)}" if self.words else ""
        return f"similarity {self.score:.2f}{both}"


def describe_skill(key: str, name: str, text: str, project: str = "") -> SkillDescription:
    """Return a skill from the text of its SKILL.md; `name` is its folder's.

    The name of its `project`, if given, is no sign of what it is for: skills of one project share that.
    """
    words = " ".join([name.replace("-", " "), read_front(text).description, _body_text(text)])
    return SkillDescription(key, name, words, content_stems(words) - content_stems(project))


def best_match(draft: SkillDescription, existing: Iterable[SkillDescription]) -> Match | None:
    """Return the match of `draft` with the most similar skill, None if none is similar enough."""
    skills = [skill for skill in existing if skill.key != draft.key]
    spread = _StemWeights([draft, *skills])
    found = [match for skill in skills if (match := spread.match(draft, skill))]
    return max(found, key=lambda match: match.score, default=None)


def similar_pairs(skills: Sequence[SkillDescription], named: Collection[str] = ()) -> list[Match]:
    """Return the pairs of `skills` that are similar enough to be merged, the most similar first.

    If some are `named` by their keys, return every pair of those and no other.
    """
    spread = _StemWeights(skills)
    chosen = [skill for skill in skills if not named or skill.key in named]
    least = 0.0 if named else None
    found = [match for one, other in combinations(chosen, 2) if (match := spread.match(one, other, least))]
    return sorted(found, key=lambda match: -match.score)


def _body_text(text: str) -> str:
    try:
        return join_lines(parse(text.encode("utf-8", "replace")).body)
    except SkilldError:
        return text


class _StemWeights:
    """The weight of each stem, by the number of skills that have it."""

    def __init__(self, skills: Sequence[SkillDescription]) -> None:
        self._count = Counter(found for skill in skills for found in skill.stems)
        self._others = max(0, len(skills) - 2)
        self._norms: dict[str, float] = {}

    def match(self, one: SkillDescription, other: SkillDescription, threshold: float | None = None) -> Match | None:
        score = self.score(one, other)
        if threshold is None:
            threshold = MIN_SIMILARITY if self._others >= FEW else MIN_SIMILARITY_AMONG_FEW
        if score < threshold:
            return None
        words = _words_by_stem(one.text, one.stems & other.stems)
        telling = sorted(words, key=lambda found: -self._weight(found, 2))[:_MAX_SHOWN_WORDS]
        return Match(one, other, score, tuple(words[found] for found in telling))

    def score(self, one: SkillDescription, other: SkillDescription) -> float:
        """Return the cosine. The two skills are not counted, so sharing a word does not make it common."""
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
        """Return the square of a stem's weight; `own` is the number of the two compared skills that have it."""
        return (1 + log((self._others + 1) / (self._count[found] - own + 1))) ** 2


def _words_by_stem(text: str, stems: frozenset[str]) -> dict[str, str]:
    """Return each of `stems` that occurs in `text` with its first word, in the order of the text."""
    words: dict[str, str] = {}
    for word in _WORD_PATTERN.findall(text):
        found = stem(word.casefold())
        if found in stems:
            words.setdefault(found, word.casefold())
    return words


MAX_MERGES = 5  # proposed in one run
REFUSED = frozenset({State.REJECTED, State.REVERTED, State.DROPPED})

_BUSY_REASON = "until you decide on another merge that includes one of them"
OTHER_PROJECT = "they do not belong to the same project"
_LIMIT_REASON = f"until you decide on the others: at most {MAX_MERGES} are proposed at once"


class PairStatus(StrEnum):
    """What to do about a pair."""

    MERGE = "merge"  # a merge can be proposed
    COVERED = "covered"  # the skill to keep already says everything
    MERGED = "merged"  # the merge was accepted, and the skill to keep says everything: the other one is not needed
    OPEN = "open"  # the merge is proposed and not decided
    REJECTED = "rejected"  # the person rejected the merge; it is not proposed again
    WAITS = "waits"  # for the decision on other merges, as `why` says
    APART = "apart"  # similar, but must not be merged; `why` has the reason


@value_class
class MergeFacts:
    """The facts about a skill that decide how it is merged.

    `key` is the path of its SKILL.md, `place` its project's folder ("" for the person's own skills), `uses` the number
    of sessions, `since` a Unix time, `took` the keys of those merged into it, `fixed` why it may not be changed.
    """

    key: str
    name: str
    place: str
    uses: int = 0
    since: float = 0.0
    took: frozenset[str] = frozenset()
    fixed: str = ""


@value_class
class Pair:
    """Two similar skills: the one to `keep`, the one to merge `away`, what to do, and the merge if one was tried."""

    keep: MergeFacts
    away: MergeFacts
    match: Match
    status: PairStatus
    why: str = ""
    merge: Merge | None = None


def order_pair(one: MergeFacts, other: MergeFacts) -> tuple[MergeFacts, MergeFacts]:
    """Return the skill to keep and the other one."""
    if one.key in other.took or other.key in one.took:
        return (other, one) if one.key in other.took else (one, other)
    keep, away = sorted((one, other), key=lambda it: (-it.uses, it.since, it.name, it.key))
    return keep, away


def plan(
    matches: Iterable[Match],
    facts: Mapping[str, MergeFacts],
    states: Mapping[str, Collection[State]],
    merge: Callable[[Pair], Pair],
) -> list[Pair]:
    """Return what to do about each match, in the order given; at most MAX_MERGES are to be proposed.

    `facts` are by key; `states` has those of earlier proposals by `pair_key`; `merge` returns a pair with its merge, or
    with another status if there is none.
    """
    pairs = [_plan_pair(match, facts, states) for match in matches]
    # What one skill took from the other before comes first: with nothing left to take, that one is in no other merge.
    pairs = [merge(one) if one.status is PairStatus.MERGE and one.away.key in one.keep.took else one for one in pairs]
    busy = {key for pair in pairs if pair.status is PairStatus.OPEN for key in (pair.keep.key, pair.away.key)}
    busy |= {pair.away.key for pair in pairs if pair.status is PairStatus.MERGED}
    planned = []
    left = MAX_MERGES
    for pair in pairs:
        mine = {pair.keep.key, pair.away.key}
        if pair.status is PairStatus.MERGE and (mine & busy or not left):
            planned.append(replace(pair, status=PairStatus.WAITS, why=_BUSY_REASON if mine & busy else _LIMIT_REASON))
            continue
        planned.append(merge(pair) if pair.status is PairStatus.MERGE and pair.merge is None else pair)
        if planned[-1].status is PairStatus.MERGE:
            busy |= mine
            left -= 1
    return planned


def pair_key(one: str, other: str) -> str:
    """Return the id of the merge of two skills, in either order."""
    return _MERGE + hashlib.sha256("\n".join(sorted((one, other))).encode()).hexdigest()[:16]


def _plan_pair(match: Match, facts: Mapping[str, MergeFacts], states: Mapping[str, Collection[State]]) -> Pair:
    keep, away = order_pair(facts[match.one.key], facts[match.other.key])
    seen = {*states.get(pair_key(keep.key, away.key), ())}
    if keep.place != away.place:
        # A project's skill is shared and may come from anyone; the person's own skills are private.
        return Pair(keep, away, match, PairStatus.APART, OTHER_PROJECT)
    if fixed := keep.fixed or away.fixed:
        return Pair(keep, away, match, PairStatus.APART, fixed)
    if State.OPEN in seen:
        return Pair(keep, away, match, PairStatus.OPEN)
    if seen & REFUSED and away.key not in keep.took:
        return Pair(keep, away, match, PairStatus.REJECTED)
    return Pair(keep, away, match, PairStatus.MERGE)


# A merge consists of lines from the person's own file that nobody said in a session, so its proposals have no evidence.
# They are flagged, also with everything that would be lost, so that they are never applied automatically.

_MERGE = "merge-"  # the beginning of a merge's batch ids
_SUMMARY_PATTERN = re.compile(r"merge \d+ items? from (?P<name>[^,]+)")
_MAX_LOSS_FLAGS = 12  # in one proposal
_MAX_LOSS_LENGTH = 160  # characters of one flag


def merge_proposal(pair: Pair, merge: Merge, at: str, tries: int) -> Proposal:
    """Return the proposal of a merge made at a time (RFC 3339); `tries` counts earlier ones for this pair."""
    keep, away = pair.keep, pair.away
    batch = f"{pair_key(keep.key, away.key)}-{tries + 1}"
    return Proposal(
        id=hashlib.sha256(batch.encode()).hexdigest()[:8],
        batch_id=batch,
        skill=keep.name,
        path=keep.key,
        operations=merge.operations,
        summary=f"merge {pluralize(len(merge.carried), 'item')} from {away.name}",
        reason=f"{away.name} is for the same task: {pair.match.why}.",
        kind=Kind.ADD_STEP,
        confidence=round(pair.match.score, 2),
        model=OFFLINE,
        created_at=at,
        flags=(*_loss_flags(away.name, merge.left), *merge.flags),
    )


def decided_lines(proposals: Iterable[Proposal]) -> frozenset[str]:
    """Return the lines that the person was offered in these proposals of a merge and has decided on."""
    decided = [one for one in proposals if one.state in {State.ACCEPTED, State.REJECTED, State.REVERTED}]
    operations = [operation for one in decided for operation in one.operations if operation.op is not Op.MARK]
    new = {plain_text(line) for one in operations for line in set(one.text.split("\n")) - set(one.anchor.split("\n"))}
    return frozenset(new - {""})


def pair_key_of_batch(batch: str) -> str:
    """Return the `pair_key` of a merge proposal's batch. The result is meaningless for other batches."""
    return batch.rpartition("-")[0]


def merge_source(proposal: Proposal, others: Iterable[Proposal]) -> tuple[str, Path | None]:
    """Return the name of the skill whose lines a proposal carries over, and its SKILL.md; ("", None) if it is no merge.

    `others` has the other proposals of these two skills, of which the last one records the folder.
    """
    found = _SUMMARY_PATTERN.match(proposal.summary) if proposal.batch_id.startswith(_MERGE) else None
    if found is None:
        return "", None
    key = pair_key_of_batch(proposal.batch_id)
    parts = [one for one in (proposal, *others) if pair_key_of_batch(one.batch_id) == key]
    marks = [one for part in parts for one in part.operations if one.op is Op.MARK and one.anchor == MERGED_FROM]
    keep = Path(proposal.path)
    folder = marks[0].text.rpartition(",")[2].strip() if marks else found["name"]
    return found["name"], next(iter(merged_files(keep, folder)), None)


def _loss_flags(name: str, left: Sequence[Omission]) -> list[str]:
    flags = [f"merged from {name}: nobody said these lines in a session"]
    flags += [
        f"not carried over: {truncate(one.what, _MAX_LOSS_LENGTH)} ({truncate(one.why, _MAX_LOSS_LENGTH)})"
        for one in left[:_MAX_LOSS_FLAGS]
    ]
    if (more := len(left) - _MAX_LOSS_FLAGS) > 0:
        flags.append(f"{more} more not carried over; compare the two skills before you archive {name}")
    return flags


# The person's skills as matching and merging see them: their texts, and the facts that say which of two stays.

_MAX_FILES = 50  # of a skill's folder that are named


@value_class
class ComparedSkill:
    """One skill: its row, its description for comparison, and its facts."""

    row: LibraryRow
    described: SkillDescription
    facts: MergeFacts


def comparable_skills(rows: Sequence[LibraryRow], past: Sequence[Collection[str]] = ()) -> list[ComparedSkill]:
    """Return the skills that can be compared: all but plugins' and unreadable ones.

    `past` has the paths of the files that each past session loaded.
    """
    found = []
    for row in rows:
        if row.skill.source is Source.PLUGIN:
            continue
        try:
            content = text(row.path)
        except OSError:
            continue
        found.append(
            ComparedSkill(
                row,
                describe_skill(str(row.path), row.name, content, row.skill.project.name if row.skill.project else ""),
                _merge_facts(row, sum(str(row.path) in loaded for loaded in past)),
            )
        )
    return found


def folder_losses(away: Skill, keep: Skill, present: Collection[str]) -> list[Omission]:
    """Return what a merge of `away` into `keep` would lose with the folder of `away`, for the `present` agents."""
    folder = away.path.parent
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())
    agents = [agent for agent in away.agents if agent in present]
    return folder_omissions([name for name in files if name != away.path.name][:_MAX_FILES], agents, keep.agents)


def _merge_facts(row: LibraryRow, loaded: int) -> MergeFacts:
    metadata = row.skill.front.metadata
    return MergeFacts(
        key=str(row.path),
        name=row.name,
        place=str(row.skill.project or ""),
        uses=max(row.uses.number, loaded),  # of sessions that were followed, or read later
        since=written_at(row.path),
        took=frozenset(map(str, merged_files(row.path, metadata.get(MERGED_FROM, "")))),
        fixed=_fixed_reason(row),
    )


def _fixed_reason(row: LibraryRow) -> str:
    try:
        asked = opt_out(row.path, row.name)
    except SkilldError as error:
        return str(error)
    return asked or ("" if os.access(row.path, os.W_OK) else f"{row.path} is read-only")
