"""Groups records of several people that say the same into one candidate for the team's files. Pure.

People are counted by their keys, not by their names: one person under two names is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from heapq import nlargest

from skilld.team.records import Record, RecordType
from skilld.team.refs import Member
from skilld.text import fold_case
from skilld.values import value_class
from skilld.words import MIN_SAME_SHARE, content_stems, has_negation, is_same_ask

_SKILL_FILE = "SKILL.md"
_MIN_SHARED = 2  # stems that two rules about the same thing share, unless one of them has fewer
_MAX_COMPARED = 8  # rules with the most words in common
MIN_PEOPLE = 2  # people who must say a rule before it is proposed to the team unasked


class CandidateState(StrEnum):
    """The state of a candidate."""

    READY = "ready"  # enough people said it
    WAITING = "waiting"  # one person did
    PROPOSED = "proposed"  # in the open pull request
    ACCEPTED = "accepted"  # the default branch says it
    REJECTED = "rejected"  # it was removed, or the pull request was closed


@value_class
class Voice:
    """One record with the name and the public key of the person who wrote it."""

    person: str
    public: str
    record: Record


@value_class
class Candidate:
    """A rule that one or more people say. The oldest wording comes first: its key is the candidate's `id`."""

    voices: tuple[Voice, ...]
    standing: CandidateState = CandidateState.WAITING
    why: str = ""

    @property
    def id(self) -> str:
        """The key of the oldest wording."""
        return self.voices[0].record.key

    @property
    def rule(self) -> str:
        """The wording that most people use, the oldest of several."""
        counts = Counter(voice.record.rule for voice in self.voices)
        return max(counts, key=lambda text: counts[text])

    @property
    def people(self) -> int:
        """How many people say it."""
        return len({voice.public for voice in self.voices})

    @property
    def sessions(self) -> int:
        """In how many sessions it was said; for each person the highest count of one of their names."""
        by_key: dict[str, dict[str, int]] = {}
        for voice in self.voices:
            own = by_key.setdefault(voice.public, {})
            own[voice.person] = own.get(voice.person, 0) + voice.record.sessions
        return sum(max(own.values()) for own in by_key.values())

    @property
    def since(self) -> str:
        """The day on which it was first said."""
        return min(voice.record.first for voice in self.voices)

    @property
    def last(self) -> str:
        """The day on which it was last said."""
        return max(voice.record.day for voice in self.voices)

    @property
    def kind(self) -> str:
        """The kind of rule in the oldest record."""
        return self.voices[0].record.kind

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents that it was said to."""
        return tuple(sorted({agent for voice in self.voices for agent in voice.record.agents}))

    @property
    def places(self) -> tuple[str, ...]:
        """The files that it went to, the most common one first."""
        counts = Counter(voice.record.place for voice in self.voices if voice.record.place)
        return tuple(place for place, _ in counts.most_common())

    @property
    def quotes(self) -> tuple[str, ...]:
        """The distinct quotes that people shared."""
        return tuple(dict.fromkeys(voice.record.quote for voice in self.voices if voice.record.quote))


def is_same_rule(one: str, other: str) -> bool:
    """Whether two rules are the same, matched like learnings."""
    from skilld.classify.said_already import is_same_change as matched

    return fold_case(one) == fold_case(other) or matched(one, other)


def is_same_with_negation(one: str, other: str) -> bool:
    """Whether two rules are the same, and both or neither are negated."""
    return has_negation(one) == has_negation(other) and is_same_rule(one, other)


def group_candidates(members: Iterable[Member]) -> list[Candidate]:
    """Return the candidates of all members in the same order everywhere: by number of people, then by rule."""
    voices = [
        Voice(member.person, member.public, record)
        for member in members
        for record in member.records
        if record.what is RecordType.RULE
    ]
    voices.sort(key=lambda voice: (voice.record.first, voice.record.key, voice.person))
    found = [Candidate(tuple(group)) for group in _group_voices(voices)]
    return sorted(found, key=lambda one: (-one.people, -one.sessions, one.rule))


def _group_voices(voices: Sequence[Voice]) -> list[list[Voice]]:
    """Return the voices in groups that say the same, separately for each skill."""
    groups: list[list[Voice]] = []
    stems_of: list[frozenset[str]] = []
    by_text: dict[tuple[str, str], int] = {}
    by_words: dict[tuple[str, str], int | None] = {}
    by_stem: dict[str, dict[str, list[int]]] = {}
    for voice in voices:
        text, place = voice.record.rule, _scope(voice.record.place)
        group = by_words.get((text, place))
        if group is None:
            group = by_words[text, place] = by_text.get((fold_case(text), place))
        if group is None:
            stems = content_stems(text)
            likely = _likely_groups(stems, by_stem.setdefault(place, {}))
            near = (at for at in likely if is_same_ask(stems, stems_of[at]))
            group = next((at for at in near if is_same_with_negation(text, groups[at][0].record.rule)), None)
            if group is None:
                group = len(groups)
                groups.append([])
                stems_of.append(stems)
                for stem in stems:
                    by_stem[place].setdefault(stem, []).append(group)
            by_words[text, place] = by_text[fold_case(text), place] = group
        groups[group].append(voice)
    return groups


def _likely_groups(stems: frozenset[str], by_stem: Mapping[str, Sequence[int]]) -> list[int]:
    """Return the groups that can be the same ask, in order.

    A matching group lacks at most a share of 1 - SAME of these stems, so it has at least one of any larger subset: look
    up those that the fewest groups have.
    """
    wanted = int((1 - MIN_SAME_SHARE) * len(stems) + 1e-9) + 1  # 0.4 times 5 is less than 2
    rare = sorted(stems, key=lambda stem: (len(by_stem.get(stem, ())), stem))[:wanted]
    return sorted({at for stem in rare for at in by_stem.get(stem, ())})


class _Nearest:
    """Finds, of many rules, the few that have the most words in common with another one.

    Comparing two takes half a millisecond, and anybody may share hundreds: so only these are compared.
    """

    def __init__(self, rules: Iterable[str]) -> None:
        self.rules = [*rules]
        self.stems = [content_stems(rule) for rule in self.rules]
        self._by_stem: dict[str, list[int]] = {}
        for at, stems in enumerate(self.stems):
            for stem in stems:
                self._by_stem.setdefault(stem, []).append(at)

    def find(self, rule: str) -> list[int]:
        """Return their indexes: of a few, all; never those without a word in common of many."""
        if len(self.rules) <= _MAX_COMPARED:
            return [*range(len(self.rules))]
        stems = content_stems(rule)
        shared = Counter(at for stem in stems for at in self._by_stem.get(stem, ()))
        return nlargest(_MAX_COMPARED, shared, key=lambda at: (shared[at] / len(stems | self.stems[at]), -at))

    def same(self, one: Candidate) -> set[str]:
        """Return those that say the same as a candidate."""
        return {rule for at in self.find(one.rule) if (rule := self.rules[at]) and is_same_rule(one.rule, rule)}


def disagreements(found: Sequence[Candidate]) -> dict[str, list[Candidate]]:
    """Return the candidates that say the opposite of another one, by its ID; rejected ones count for nothing."""
    from skilld.classify.contradiction import contradicts_clearly

    standing = [one for one in found if one.standing is not CandidateState.REJECTED]
    nearest = _Nearest(one.rule for one in standing)
    pairs = {(min(at, there), max(at, there)) for at, one in enumerate(standing) for there in nearest.find(one.rule)}
    clashing: dict[str, list[Candidate]] = {}
    for there, at in sorted(pairs, key=lambda pair: (pair[1], pair[0])):
        one, other = standing[at], standing[there]
        ours, theirs = nearest.stems[at], nearest.stems[there]
        if at == there or len(ours & theirs) < max(1, min(_MIN_SHARED, len(ours), len(theirs))):
            continue
        if contradicts_clearly(one.rule, other.rule) or contradicts_clearly(other.rule, one.rule):
            clashing.setdefault(one.id, []).append(other)
            clashing.setdefault(other.id, []).append(one)
    return clashing


def _scope(place: str) -> str:
    """Return the scope of a rule: one skill, or empty for a project's instruction files."""
    return place if place.rpartition("/")[2] == _SKILL_FILE else ""


@value_class
class RemoteStatus:
    """What the default branch and the pull request show.

    `says` returns whether a file of the default branch says a rule; `landed` and `proposed` have the rules of commits
    on the default branch and on the pull request's, by ID; `day` is the day of the default branch's newest commit.
    Rejections dated after `today` count as made today.
    """

    says: Callable[[Candidate], bool]
    landed: Mapping[str, str]
    proposed: Mapping[str, str]
    day: str
    today: str


def with_states(found: Iterable[Candidate], members: Iterable[Member], seen: RemoteStatus) -> list[Candidate]:
    """Return the candidates with their states, by what git shows and by members' records of rejections."""
    kinds = {RecordType.REJECTED, RecordType.PROPOSED}
    records = [(member.person, one) for member in members for one in member.records if one.what in kinds]
    named = [dict.fromkeys(record.rule for _, record in records), seen.proposed.values(), seen.landed.values()]
    told, proposed, landed = map(_Nearest, named)

    def about(one: Candidate, keys: Mapping[str, str], nearest: _Nearest) -> dict[str, str]:
        same = nearest.same(one)
        return {key: rule for key, rule in keys.items() if rule in same or is_about(one, key, "")}

    return [
        _with_state(
            one,
            [(who, record) for who, record in records if record.rule in same or is_about(one, record.key, "")],
            replace(seen, proposed=about(one, seen.proposed, proposed), landed=about(one, seen.landed, landed)),
        )
        for one in found
        for same in [told.same(one)]
    ]


def _with_state(one: Candidate, told: Sequence[tuple[str, Record]], seen: RemoteStatus) -> Candidate:
    """Return a candidate with its state, by the records, commits and proposals that are about it."""
    if seen.says(one):
        return replace(one, standing=CandidateState.ACCEPTED)
    no = [(min(record.day, seen.today), who, record.note) for who, record in told if record.what is RecordType.REJECTED]
    day, who, note = max(no, default=("", "", ""))
    again = max((record.day for _, record in told if record.what is RecordType.PROPOSED), default="")
    if day and one.last <= day and again <= day:
        return replace(one, standing=CandidateState.REJECTED, why=f"{note or 'rejected'} (recorded by {who})")
    if seen.proposed:
        return replace(one, standing=CandidateState.PROPOSED)
    if not no and one.last <= seen.day and seen.landed:
        return replace(one, standing=CandidateState.REJECTED, why="removed from the default branch")
    return replace(one, standing=CandidateState.READY if one.people >= MIN_PEOPLE else CandidateState.WAITING)


def is_about(one: Candidate, key: str, rule: str) -> bool:
    """Whether a candidate has this key or says this rule."""
    return any(voice.record.key == key for voice in one.voices) or bool(rule and is_same_rule(one.rule, rule))
