"""Recommends skills for a task, by what people said about such work and what the skills say. Pure.

Each term of the task is weighted by where a skill has it, or a term of the same meaning: in its name, its description,
its text, or in something said about it. Action words ("change", "check") count less and never alone; a missing term
counts a little if the skill is in the same field of work. So most tasks without a matching skill get none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from skilld.batching.gate import needs_classification
from skilld.classify.backends import OFFLINE, Backend
from skilld.classify.contradiction import contradicted_block
from skilld.classify.said_already import find_same_ban, find_same_words, says_already
from skilld.classify.verify import Verdict
from skilld.library.clusters import Ask, Mention, acceptance, confidence, group_asks
from skilld.meanings import ANYTHING, EVERYDAY, Term, Words, common_meanings, field_of, terms, words
from skilld.pipeline.documents import TargetDocument
from skilld.pipeline.judge import Judge, same_words
from skilld.skills import Skill
from skilld.text import Redact, fold, truncate
from skilld.types import Kind, Message, SkillDoc, SkillRef, TargetKind, Update
from skilld.values import value_class
from skilld.words import NUMBER_WORDS, is_other_language, stem

MAX_RECOMMENDATIONS = 10
_MAX_COVERED_SHARE = 0.5  # of a change's words, in the line that a model considers to cover it
_OTHER_PROJECT_FACTOR = 0.6  # for what was said in another project, if one is named
# Weights of a word by the place where a skill has it; a description may claim anything.
_NAME_WEIGHT, _DESCRIPTION_WEIGHT, _SAID_WEIGHT, _TEXT_WEIGHT = 0.9, 0.7, 0.5, 0.2
_ACTION_WEIGHT = 0.4  # for an action word
_MIN_RARITY = 0.6  # for a word that all skills have
_COMPLETE_FACTOR = 1.2  # if no word of the task is missing
_PHRASE_WEIGHT = 2.0  # for a phrase that occurs word for word: it counts as two words
_FREQUENT_WEIGHT = 0.7  # for a word that is common in software development
_UNKNOWN_WEIGHT = 0.8  # for a word without a known meaning
_MAX_FIELD_WEIGHT = 0.3  # for a word whose field is all that a skill has
_FOREIGN_FACTOR = 0.5  # if the task names a thing of daily life that the skill does not have
# Chosen on four sets of labelled tasks (docs/measurements/mining.md).
_MIN_WEIGHT = 0.71  # of all words of a skill: one in the description alone is not enough
_NAMED_FOR = 1 - (1 - _NAME_WEIGHT) * (1 - _DESCRIPTION_WEIGHT)  # the place of a word in both
_MIN_SHARE_OF_BEST = 0.5  # of the best skill's weight, for others to be recommended too
# What a reminder that is in no skill must have: things of the task, their weight, and its share of the possible weight.
_MIN_THINGS, _MIN_REMINDER_WEIGHT, _MIN_REMINDER_SHARE = 2, 0.275, 0.15


# People read a word instead of a number from 0 to 1, which would suggest too much precision.
_HIGH_CONFIDENCE, _MEDIUM_CONFIDENCE = 0.65, 0.45


def confidence_word(confidence: float) -> str:
    """Return a confidence as a word for people."""
    return "high" if confidence >= _HIGH_CONFIDENCE else "medium" if confidence >= _MEDIUM_CONFIDENCE else "low"


# How often a skill was called helpful and unhelpful, by its name and path ("" if only the name was known).
Feedback = Mapping[tuple[str, str], tuple[int, int]]
NO_FEEDBACK: Feedback = MappingProxyType({})


@value_class
class Because:
    """One reason: something said, its row in the store, its session, and the confidence in it."""

    kind: str
    id: str
    text: str
    session: str
    confidence: float


@value_class
class Recommendation:
    """A skill, or (with an empty `skill`) a reminder that is in no skill; `confidence` is 0 to 1."""

    skill: str
    path: str
    confidence: float
    because: tuple[Because, ...]


def recommend(
    text: str,
    said: Iterable[Mention],
    skills: Sequence[Skill],
    *,
    now: float,
    project: str = "",
    feedback: Feedback = NO_FEEDBACK,
    texts: Mapping[Path, str] = MappingProxyType({}),
) -> list[Recommendation]:
    """Return recommendations for the work in `text`, the most confident first; `texts` are SKILL.md files by path."""
    wanted = [one for one in terms(text) if one.meanings or one.stem not in _NUMBERS]
    paths: dict[str, set[str]] = {}
    candidates: dict[tuple[str, str], _Candidate] = {}
    for skill in skills:
        key = (skill.name, str(skill.path))
        paths.setdefault(skill.name, set()).add(key[1])
        candidates[key] = _Candidate(key, f"{skill.name}. {skill.front.description}")
        candidates[key].add(_NAME_WEIGHT, words(skill.name.replace("-", " ")))
        candidates[key].add(_DESCRIPTION_WEIGHT, words(skill.front.description))
        candidates[key].add(_TEXT_WEIGHT, words(texts.get(skill.path, "")))
    for ask in group_asks(said):
        newest = ask.said[0]
        sure = ask_confidence(ask, feedback_for(feedback, newest.skill, newest.path), now)
        near = not project or project in {one.project for one in ask.said}
        weight = sure * (1.0 if near else _OTHER_PROJECT_FACTOR)
        # Without a path, a mention belongs to the skill of that name if there is only one.
        (path, *others) = {newest.path} if newest.path else paths.get(newest.skill, {""})
        key = (newest.skill, "" if others else path) if newest.skill else ("", newest.id)
        found = words(f"{newest.text} {newest.quote}")
        candidate = candidates.setdefault(key, _Candidate(key))
        candidate.add((_SAID_WEIGHT if newest.skill else _NAME_WEIGHT) * weight, found, as_reason(ask, sure))
    shelf = _Rarity(wanted, [one for one in candidates.values() if one.key[0]])
    weighed = [(one, one.weighed(wanted, shelf)) for one in candidates.values()]
    best = max((weight for one, weight in weighed if one.key[0]), default=0.0)
    least = max(_MIN_SHARE_OF_BEST * best, _MIN_REMINDER_WEIGHT) if best >= _MIN_WEIGHT else math.inf
    fitting = [
        one.recommended(weight, wanted, feedback_for(feedback, *one.key))
        for one, weight in weighed
        if weight >= (least if one.key[0] else _MIN_REMINDER_WEIGHT)
    ]
    return sorted(fitting, key=lambda one: (-one.confidence, one.skill))[:MAX_RECOMMENDATIONS]


_NUMBERS = frozenset(map(stem, NUMBER_WORDS.values()))  # "split my commit in two" is about commits


class _Rarity:
    """The rarity of each term and field of work among the skills."""

    def __init__(self, wanted: Sequence[Term], skills: Sequence[_Candidate]) -> None:
        most = math.log(len(skills) + 1) or 1.0
        held = {term: sum(bool(one.place(term)) for one in skills) for term in wanted}
        self.rarity = {term: max(_MIN_RARITY, 1 - math.log(max(1, held[term])) / most) for term in wanted}
        self._fields: dict[str, float] = {}
        for skill in skills:
            for field, share in skill.fields.items():
                self._fields[field] = self._fields.get(field, 0.0) + share

    def near(self, term: Term, skill: _Candidate) -> float:
        """Return this skill's share of everything in a term's field of work, 0 to 1."""
        fields = {field_of(meaning) for meaning in term.meanings}
        return max(
            (skill.fields.get(field, 0.0) / max(0.5, self._fields.get(field, 0.0)) for field in fields), default=0.0
        )


class _Candidate:
    """A skill or a reminder with its words; `key` is its name and path, or "" and the mention's id."""

    def __init__(self, key: tuple[str, str], about: str = "") -> None:
        self.key = key
        self.fields = _field_shares(about)
        self._places: list[tuple[float, Words, Because | None]] = []

    def add(self, weight: float, found: Words, reason: Because | None = None) -> None:
        """Add words with a weight, 0 to 1."""
        self._places.append((weight, found, reason))

    def place(self, term: Term) -> float:
        """Return the combined weight of the places that have a term."""
        return 1 - math.prod(1 - weight for weight, found, _ in self._places if term in found)

    def tells(self, term: Term) -> bool:
        """Whether it has a term of the task as more than an action word."""
        things = {meaning for meaning in term.meanings if field_of(meaning) != ANYTHING}
        return not term.is_action and any(
            not (found.stems.isdisjoint(term.stems) and found.meanings.isdisjoint(things))
            for _, found, _ in self._places
            if term in found
        )

    def kind(self, term: Term) -> float:
        """Return the weight of a term by the kind of word it is."""
        if not self.tells(term):
            return _ACTION_WEIGHT
        shared = {meaning for _, found, _ in self._places for meaning in term.meanings & found.meanings}
        if not term.stem and term.stems and any(term.stems <= found.stems for _, found, _ in self._places):
            return _PHRASE_WEIGHT
        return (_FREQUENT_WEIGHT if shared <= common_meanings() else 1.0) if term.meanings else _UNKNOWN_WEIGHT

    def weighed(self, wanted: Sequence[Term], shelf: _Rarity) -> float:
        """Return its total weight; 0 without a matching thing, or with too few for a reminder."""
        whole = possible = 0.0
        for term in {term.meanings or term.stem: term for term in wanted}.values():
            most = _ACTION_WEIGHT if term.is_action else 1.0
            possible += most
            if place := self.place(term):
                whole += shelf.rarity[term] * place * self.kind(term)
            elif self.fields:
                whole += _MAX_FIELD_WEIGHT * shelf.near(term, self)
        things = sum(self.tells(term) for term in wanted)
        if all(map(self.place, wanted)):
            whole *= _COMPLETE_FACTOR
        if any(self._is_foreign(term) for term in wanted):
            whole *= _FOREIGN_FACTOR
        is_skill = bool(self.key[0])
        topics = [term for term in wanted if not term.is_action]
        if is_skill and topics and all(self.tells(term) and self.place(term) >= _NAMED_FOR for term in topics):
            whole = max(whole, _MIN_WEIGHT)  # "commit my changes", beside a skill for commits
        return (
            whole
            if things >= (1 if is_skill else _MIN_THINGS) and (is_skill or whole >= _MIN_REMINDER_SHARE * possible)
            else 0.0
        )

    def recommended(self, weight: float, wanted: Sequence[Term], told: tuple[int, int]) -> Recommendation:
        """Return it as a recommendation with this weight."""
        name, path = self.key
        sure = (1 - math.pow(0.5, weight)) * acceptance(*told)
        return Recommendation(name, path if name else "", round(sure, 3), self._reasons(wanted))

    def _is_foreign(self, term: Term) -> bool:
        daily = {meaning for meaning in term.meanings if field_of(meaning) == EVERYDAY}
        return bool(daily) and all(found.meanings.isdisjoint(daily) for _, found, _ in self._places)

    def _reasons(self, wanted: Sequence[Term]) -> tuple[Because, ...]:
        """Return the reasons that are related to the task, those with the most weight first."""
        things = [term for term in wanted if not term.is_action]
        found = [
            (weight * shared, reason)
            for weight, words, reason in self._places
            if reason is not None and (shared := sum(term in words for term in things))
        ]
        return tuple(reason for _, reason in sorted(found, key=lambda one: -one[0]))


@lru_cache(maxsize=512)
def _field_shares(text: str) -> Mapping[str, float]:
    found: dict[str, float] = {}
    for term in terms(text):
        fields = {field_of(meaning) for meaning in term.meanings} - {ANYTHING}
        for field in fields:
            found[field] = found.get(field, 0.0) + 1 / len(fields)
    whole = sum(found.values())
    return {field: count / whole for field, count in found.items()}


def feedback_for(feedback: Feedback, skill: str, path: str) -> tuple[int, int]:
    """Return how often a skill was called helpful and unhelpful.

    Feedback on a name alone counts for every skill of that name; without a `path` (""), all feedback on the name does.
    """
    counts = [count for (name, file), count in feedback.items() if name == skill and (not path or file in {"", path})]
    return sum(yes for yes, _ in counts), sum(no for _, no in counts)


def as_reason(ask: Ask, sure: float) -> Because:
    """Return an ask as a reason with this confidence."""
    newest = ask.said[0]
    return Because(newest.kind, newest.id, newest.text, newest.piece.session, round(sure, 3))


def ask_confidence(ask: Ask, told: tuple[int, int], now: float) -> float:
    """Return the confidence in an ask by its mentions, decisions and its skill's feedback (helpful, unhelpful)."""
    decided = [one.accepted for one in ask.said if one.accepted is not None]
    yes = sum(decided)
    return confidence(ask.pieces, yes + told[0], len(decided) - yes + told[1], now=now)


# What a person has said: counts, and the asks with the highest confidence.

_MAX_TOP = 5


@value_class
class Profile:
    """`total` counts asks; `in_skills` of them were accepted into a skill, and `in_files` only into another file.

    `sessions` and `projects` count where they were said; `newest` is the last time (Unix time, 0: never); `top` has
    those with the highest confidence.
    """

    total: int
    in_skills: int
    in_files: int
    sessions: int
    projects: int
    newest: float
    top: tuple[Because, ...]


def build_profile(said: Iterable[Mention], *, now: float, feedback: Feedback = NO_FEEDBACK) -> Profile:
    """Return the profile of these mentions."""
    found = group_asks(said)
    sure = {
        id(ask): ask_confidence(ask, feedback_for(feedback, ask.said[0].skill, ask.said[0].path), now) for ask in found
    }
    surest = sorted(found, key=lambda ask: -sure[id(ask)])[:_MAX_TOP]
    every = [one for ask in found for one in ask.said]
    accepted = [{bool(one.skill) for one in ask.said if one.accepted} for ask in found]
    return Profile(
        total=len(found),
        in_skills=sum(True in kinds for kinds in accepted),
        in_files=sum(kinds == {False} for kinds in accepted),
        sessions=len({one.piece.session for one in every}),
        projects=len({one.project for one in every if one.project}),
        newest=max((one.piece.at for one in every), default=0.0),
        top=tuple(as_reason(ask, sure[id(ask)]) for ask in surest),
    )


# Asking a model which of numbered skills the work is for. It answers with numbers only.

_MAX_ASKED_SKILLS = 60  # in one question
_MAX_DESCRIPTION_LENGTH, _MAX_REASON_LENGTH = 300, 100  # characters
_MAX_REASONS = 3
_RANK_CONFIDENCE = (0.8, 0.6, 0.5)  # in the model's first, second and third choice


def skills_to_ask(skills: Sequence[Skill], found: Sequence[Recommendation]) -> list[Skill]:
    """Return the skills to ask about; if there are too many, those found by words come first."""
    if len(skills) <= _MAX_ASKED_SKILLS:
        return [*skills]
    place = {one.path: number for number, one in enumerate(found)}
    return sorted(skills, key=lambda skill: place.get(str(skill.path), len(place)))[:_MAX_ASKED_SKILLS]


def skill_summary(skill: Skill, found: Sequence[Recommendation]) -> str:
    """Return a skill in a few words: its name, its description, and what was said about it and such work."""
    reasons = [reason for one in found if one.path == str(skill.path) for reason in one.because]
    texts = [truncate(reason.text, _MAX_REASON_LENGTH) for reason in reasons[:_MAX_REASONS]]
    about = truncate(fold(skill.front.description), _MAX_DESCRIPTION_LENGTH)
    return " ".join([f"{skill.name}: {about}", *(f"Said of it: {one}" for one in texts)])


def model_recommendations(
    numbers: Sequence[int], asked: Sequence[Skill], found: Sequence[Recommendation]
) -> list[Recommendation]:
    """Return the skills that a model chose, in its order, then the reminders; `numbers` count `asked` from 1."""
    by_path = {one.path: one for one in found if one.skill}
    named = []
    for rank, number in zip(_RANK_CONFIDENCE, numbers, strict=False):
        skill = asked[number - 1]
        before = by_path.get(str(skill.path))
        named.append(Recommendation(skill.name, str(skill.path), rank, before.because if before else ()))
    return [*named, *(one for one in found if not one.skill)][:MAX_RECOMMENDATIONS]


# Whether a skill would have covered what a person said in a session. Each batch of redacted messages is judged twice:
# without the skill's instructions it yields all lasting feedback, with them what the skill does not say.


class Coverage(StrEnum):
    """Whether a skill says what the person said."""

    COVERED = "covered"
    NOT_COVERED = "not_covered"
    CONTRADICTS = "contradicts"
    CANNOT_TELL = "cannot_tell"  # with the offline back-end: it was said in another language than the skill's


@value_class
class CoverageAnswer:
    """One piece of lasting feedback: `turn` is its key, `line` the skill's line about it, if there is one."""

    word: Coverage
    change: str
    quote: str
    turn: str
    line: str = ""


def message_batches(messages: Sequence[Message], size: int) -> Iterator[list[Message]]:
    """Yield the messages of a session in batches of `size` human turns, numbered from 1, without mere chatter.

    The agent's replies come before the turn that follows them.
    """
    batch: list[Message] = []
    number = 0
    last = max((place for place, message in enumerate(messages) if message.by_person), default=-1)
    for place, message in enumerate(messages):
        number += message.by_person
        batch.append(replace(message, turn=number) if message.by_person else message)
        if message.by_person and (number == size or place == last):
            if any(one.by_person and needs_classification(one.text) for one in batch):
                yield batch
            batch, number = [], 0


class CoverageExam:
    """Tests whether one skill covers feedback, with one back-end. `elsewhere` is feedback that is not about it."""

    def __init__(self, backend: Backend, name: str, path: Path, text: str, redact: Redact) -> None:
        self.name = name
        self._backend = backend
        self._redact = redact
        self._text = redact(text)
        doc = SkillDoc(1, name, str(path), text)
        self._whole = TargetDocument(SkillRef(name, str(path)), text.encode("utf-8", "replace"), doc)
        self._bare = replace(self._whole, doc=replace(doc, text=_without_instructions(text)))
        self.elsewhere: list[Update] = []

    def answers(self, messages: Sequence[Message]) -> list[CoverageAnswer]:
        """Return whether the skill covers each piece of feedback in a batch. Raises what the back-end raises."""
        asked, left = self._ask(messages, self._bare), self._ask(messages, self._whole)
        missing = [item.update for item in left.proposed]
        others = [update for update, _ in left.learned]
        sure = [item.update for item in asked.proposed]
        found = [self._missing(update) for update in missing]
        for update in (*sure, *(one for one, _ in asked.learned)):
            if any(same_words(update, other) for other in missing):
                continue
            named_elsewhere = any(same_words(update, other) for other in others)
            if says_already(update.change, self._text) or (update in sure and not named_elsewhere):
                line = _find_line(update.change, self._text)
                found.append(CoverageAnswer(Coverage.COVERED, update.change, update.quote, str(update.turn), line))
            else:
                self.elsewhere.append(update)
        keys = {str(message.turn): message.turn_key or "" for message in messages if message.by_person}
        order = list(keys)
        return [replace(one, turn=keys[one.turn]) for one in sorted(found, key=lambda one: order.index(one.turn))]

    def _ask(self, messages: Sequence[Message], loaded: TargetDocument) -> Verdict:
        def own(named: TargetDocument, kind: TargetKind) -> TargetDocument | None:
            return named if kind is TargetKind.PERSONAL else None  # the project's words are not the skill's

        return Judge(self._backend, messages, [loaded], "", self._redact, own=own).verdict()

    def _missing(self, update: Update) -> CoverageAnswer:
        against = contradicted_block(update.change, self._text)
        changes = against is not None or update.kind in {Kind.CHANGE_STEP, Kind.REMOVE_STEP}
        foreign = self._backend.name == OFFLINE and is_other_language(f"{update.quote}\n{update.change}", self._text)
        word = Coverage.CONTRADICTS if changes else Coverage.CANNOT_TELL if foreign else Coverage.NOT_COVERED
        return CoverageAnswer(word, update.change, update.quote, str(update.turn), against.text if against else "")


def _find_line(change: str, text: str) -> str:
    """Return the line that says a change, or one that has most of its words, or ""."""
    return (
        find_same_words(change, text)
        or find_same_ban(change, text)
        or find_same_words(change, text, covered=_MAX_COVERED_SHARE)
        or ""
    )


def _without_instructions(text: str) -> str:
    """Return only the front matter and the headings of a SKILL.md."""
    lines = text.splitlines()
    fences = [number for number, line in enumerate(lines) if line.rstrip() == "---"]
    end = fences[1] + 1 if fences[:1] == [0] and len(fences) > 1 else 0
    return "\n".join([*lines[:end], *(f"\n{line}" for line in lines[end:] if line.startswith("#"))]) + "\n"
