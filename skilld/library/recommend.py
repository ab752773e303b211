"""Which skills fit a task, because of what people said about such work or what skills say of themselves. Pure.

Each term of the task counts by where a skill has it, or one of its meaning: in its name, its description, its text, or
what was said of it. A term that only says what is done ("change", "check") counts less and never alone; one that no
place has counts a little where the skill is of that field of work. So a task that no skill is for mostly gets none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from skilld.batching.gate import needs_classification
from skilld.classify.backends import OFFLINE, Backend
from skilld.classify.contradiction import contradicted_block
from skilld.classify.said_already import forbidden_in, said_in, says_already
from skilld.classify.verify import Verdict
from skilld.library.clusters import Ask, Mention, acceptance, asks, confidence
from skilld.meanings import ANYTHING, EVERYDAY, Term, Words, common, field_of, terms, words
from skilld.pipeline.documents import TargetDocument
from skilld.pipeline.judge import Judge, Redact, same_words
from skilld.skills import Skill
from skilld.text import cut, fold
from skilld.types import Kind, Message, SkillDoc, SkillRef, TargetKind, Update
from skilld.words import other_tongue

TOP = 10
_MAX = 0.5  # share of a change's words that the line has which a model takes to cover it
_ELSEWHERE = 0.6  # weight of what was said in another project, where one is named
# What a word counts by the place where a skill has it; anyone can claim anything in a description.
_NAMED, _DESCRIBED, _SAID, _WRITTEN = 0.9, 0.7, 0.5, 0.2
_DONE = 0.4  # what a word counts that only says what is done
_COMMONEST = 0.6  # what is left of a word that all skills have
_ALL = 1.2  # what all words count more where none of the task is missing
_PHRASE = 2.0  # what a phrase counts that is there word for word: as two words
_FREQUENT = 0.7  # what is left of a word that this trade uses all the time
_UNKNOWN = 0.8  # what is left of a word that no meaning is known of
_NEAR = 0.3  # what a word counts at most that a skill has only the field of
_FOREIGN = 0.5  # what is left of all words where the task names a thing of daily life that the skill has not
# Chosen on four sets of labelled tasks (docs/mining.md): below, a skill is no answer.
_MIN = 0.71  # of all words together: one in the description alone is too little
_ALSO = 0.5  # of what the best has, from which on others are named beside it
_FEW, _LEAST, _SHARE = 2, 0.275, 0.15  # things of the task, and of their weight, that what no skill says must have


# What people read in place of a number from 0 to 1, which would claim more than is known.
_HIGH, _MEDIUM = 0.65, 0.45


def in_words(confidence: float) -> str:
    """Return a confidence as people read it."""
    return "high" if confidence >= _HIGH else "medium" if confidence >= _MEDIUM else "low"


# How often a skill, by its name and its path ("" where only the name was known), was called helpful, and unhelpful.
Feedback = Mapping[tuple[str, str], tuple[int, int]]
NO_FEEDBACK: Feedback = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Because:
    """One reason: what was said, where it is kept, in which session, and how much it is relied on."""

    kind: str
    id: str
    text: str
    session: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A skill, or with an empty `skill` a thing to mind that no skill says; `confidence` is 0 to 1."""

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
    """Return at most TOP recommendations for the work in `text`, the surest first; `texts` are SKILL.md's by path."""
    wanted = terms(text)
    paths: dict[str, set[str]] = {}
    candidates: dict[tuple[str, str], _Candidate] = {}
    for skill in skills:
        key = (skill.name, str(skill.path))
        paths.setdefault(skill.name, set()).add(key[1])
        candidates[key] = _Candidate(key, f"{skill.name}. {skill.front.description}")
        candidates[key].add(_NAMED, words(skill.name.replace("-", " ")))
        candidates[key].add(_DESCRIBED, words(skill.front.description))
        candidates[key].add(_WRITTEN, words(texts.get(skill.path, "")))
    for ask in asks(said):
        newest = ask.said[0]
        sure = sure_of(ask, told_of(feedback, newest.skill, newest.path), now)
        near = not project or project in {one.project for one in ask.said}
        weight = sure * (1.0 if near else _ELSEWHERE)
        # What is known by its name alone is the one skill of that name.
        (path, *others) = {newest.path} if newest.path else paths.get(newest.skill, {""})
        key = (newest.skill, "" if others else path) if newest.skill else ("", newest.id)
        found = words(f"{newest.text} {newest.quote}")
        candidate = candidates.setdefault(key, _Candidate(key))
        candidate.add((_SAID if newest.skill else _NAMED) * weight, found, because(ask, sure))
    shelf = _Shelf(wanted, [one for one in candidates.values() if one.key[0]])
    weighed = [(one, one.weighed(wanted, shelf)) for one in candidates.values()]
    best = max((weight for one, weight in weighed if one.key[0]), default=0.0)
    least = max(_ALSO * best, _LEAST) if best >= _MIN else math.inf
    fitting = [
        one.recommended(weight, wanted, told_of(feedback, *one.key))
        for one, weight in weighed
        if weight >= (least if one.key[0] else _LEAST)
    ]
    return sorted(fitting, key=lambda one: (-one.confidence, one.skill))[:TOP]


class _Shelf:
    """How much each term, and each field of work, tells one skill from others: less the more have it."""

    def __init__(self, wanted: Sequence[Term], skills: Sequence[_Candidate]) -> None:
        most = math.log(len(skills) + 1) or 1.0
        held = {term: sum(bool(one.place(term)) for one in skills) for term in wanted}
        self.rarity = {term: max(_COMMONEST, 1 - math.log(max(1, held[term])) / most) for term in wanted}
        self._fields: dict[str, float] = {}
        for skill in skills:
            for field, share in skill.fields.items():
                self._fields[field] = self._fields.get(field, 0.0) + share

    def near(self, term: Term, skill: _Candidate) -> float:
        """Return how much of all that is of a term's field of work is this skill's, 0 to 1."""
        if term.is_action:
            return 0.0
        fields = {field_of(meaning) for meaning in term.meanings}
        return max(
            (skill.fields.get(field, 0.0) / max(0.5, self._fields.get(field, 0.0)) for field in fields), default=0.0
        )


class _Candidate:
    """A skill, or a thing to mind, with what it is known by; `key` is its name and path, or no name and the id."""

    def __init__(self, key: tuple[str, str], about: str = "") -> None:
        self.key = key
        self.fields = _fields(about)
        self._places: list[tuple[float, Words, Because | None]] = []

    def add(self, weight: float, found: Words, reason: Because | None = None) -> None:
        """Let words speak for it with a weight, 0 to 1."""
        self._places.append((weight, found, reason))

    def place(self, term: Term) -> float:
        """Return what a word of a task counts here: each place that has it leaves less of the doubt."""
        return 1 - math.prod(1 - weight for weight, found, _ in self._places if term in found)

    def tells(self, term: Term) -> bool:
        """Whether it has a word of a task as more than what is only done."""
        things = {meaning for meaning in term.meanings if field_of(meaning) != ANYTHING}
        return not term.is_action and any(
            not (found.stems.isdisjoint(term.stems) and found.meanings.isdisjoint(things))
            for _, found, _ in self._places
            if term in found
        )

    def kind(self, term: Term) -> float:
        """Return what is left of a word that counts here, by what sort of word it is."""
        if not self.tells(term):
            return _DONE
        shared = {meaning for _, found, _ in self._places for meaning in term.meanings & found.meanings}
        if not term.stem and term.stems and any(term.stems <= found.stems for _, found, _ in self._places):
            return _PHRASE
        return (_FREQUENT if shared <= common() else 1.0) if term.meanings else _UNKNOWN

    def weighed(self, wanted: Sequence[Term], shelf: _Shelf) -> float:
        """Return how much speaks for it; 0 where no thing does, or too few do for what no skill says."""
        whole = possible = 0.0
        for term in {term.meanings or term.stem: term for term in wanted}.values():
            most = _DONE if term.is_action else 1.0
            possible += most
            if place := self.place(term):
                whole += shelf.rarity[term] * place * self.kind(term)
            elif self.fields:
                whole += _NEAR * shelf.near(term, self)
        things = sum(self.tells(term) for term in wanted)
        if all(map(self.place, wanted)):
            whole *= _ALL
        if any(self._is_foreign(term) for term in wanted):
            whole *= _FOREIGN
        is_skill = bool(self.key[0])
        return whole if things >= (1 if is_skill else _FEW) and (is_skill or whole >= _SHARE * possible) else 0.0

    def recommended(self, weight: float, wanted: Sequence[Term], told: tuple[int, int]) -> Recommendation:
        """Return it as a recommendation for which so much speaks."""
        name, path = self.key
        sure = (1 - math.pow(0.5, weight)) * acceptance(*told)
        return Recommendation(name, path if name else "", round(sure, 3), self._reasons(wanted))

    def _is_foreign(self, term: Term) -> bool:
        daily = {meaning for meaning in term.meanings if field_of(meaning) == EVERYDAY}
        return bool(daily) and all(found.meanings.isdisjoint(daily) for _, found, _ in self._places)

    def _reasons(self, wanted: Sequence[Term]) -> tuple[Because, ...]:
        """Return what was said that has to do with the task, the weightiest first."""
        things = [term for term in wanted if not term.is_action]
        found = [
            (weight * shared, reason)
            for weight, words, reason in self._places
            if reason is not None and (shared := sum(term in words for term in things))
        ]
        return tuple(reason for _, reason in sorted(found, key=lambda one: -one[0]))


@lru_cache(maxsize=512)
def _fields(text: str) -> Mapping[str, float]:
    """Return which share of what a text is about is of each field of work."""
    found: dict[str, float] = {}
    for term in terms(text):
        fields = {field_of(meaning) for meaning in term.meanings} - {ANYTHING}
        for field in fields:
            found[field] = found.get(field, 0.0) + 1 / len(fields)
    whole = sum(found.values())
    return {field: count / whole for field, count in found.items()}


def told_of(feedback: Feedback, skill: str, path: str) -> tuple[int, int]:
    """Return how often a skill was called helpful, and unhelpful.

    What was told of its name alone counts for every skill of that name; where its `path` is not known (""), so does all
    that was told of one of them.
    """
    told = [counts for (name, file), counts in feedback.items() if name == skill and (not path or file in {"", path})]
    return sum(yes for yes, _ in told), sum(no for _, no in told)


def because(ask: Ask, sure: float) -> Because:
    """Return an ask as a reason, relied on as much as `sure` says."""
    newest = ask.said[0]
    return Because(newest.kind, newest.id, newest.text, newest.piece.session, round(sure, 3))


def sure_of(ask: Ask, told: tuple[int, int], now: float) -> float:
    """Return how much an ask is relied on, by what was said, decided, and told of its skill (helpful, unhelpful)."""
    decided = [one.accepted for one in ask.said if one.accepted is not None]
    yes = sum(decided)
    return confidence(ask.pieces, yes + told[0], len(decided) - yes + told[1], now=now)


# What a model is asked where there is one: which of numbered skills the work is for. It answers with numbers alone.

_MAX_ASKED = 60  # skills in one question
_MAX_WORDS, _MAX_OF_SAID = 300, 100  # characters of a skill, and of a thing said of it
_SAID_OF_ONE = 3
_RANKS = (0.8, 0.6, 0.5)  # the confidence in what a model names first, second and third


def candidates(skills: Sequence[Skill], found: Sequence[Recommendation]) -> list[Skill]:
    """Return the skills to ask about; of too many those that words alone find, first."""
    if len(skills) <= _MAX_ASKED:
        return [*skills]
    place = {one.path: number for number, one in enumerate(found)}
    return sorted(skills, key=lambda skill: place.get(str(skill.path), len(place)))[:_MAX_ASKED]


def described(skill: Skill, found: Sequence[Recommendation]) -> str:
    """Return a skill in a few words: its name, what it says it is for, and what was said of it about such work."""
    reasons = [reason for one in found if one.path == str(skill.path) for reason in one.because]
    said = [cut(reason.text, _MAX_OF_SAID) for reason in reasons[:_SAID_OF_ONE]]
    about = cut(fold(skill.front.description), _MAX_WORDS)
    return " ".join([f"{skill.name}: {about}", *(f"Said of it: {one}" for one in said)])


def chosen(numbers: Sequence[int], asked: Sequence[Skill], found: Sequence[Recommendation]) -> list[Recommendation]:
    """Return what a model named, in its order, then what no skill says; `numbers` count `asked` from 1."""
    known = {one.path: one for one in found if one.skill}
    named = []
    for rank, number in zip(_RANKS, numbers, strict=False):
        skill = asked[number - 1]
        before = known.get(str(skill.path))
        named.append(Recommendation(skill.name, str(skill.path), rank, before.because if before else ()))
    return [*named, *(one for one in found if not one.skill)][:TOP]


# Whether a skill would have covered what a person said in a session: the closed-loop question on past turns, twice for
# each batch. Of the skill without its rules it gives all lasting things that were said, of the skill as it is those
# that it does not say. Messages come redacted.


class Word(StrEnum):
    """What a skill says of a lasting thing."""

    COVERED = "covered"
    NOT_COVERED = "not_covered"
    CONTRADICTS = "contradicts"
    CANNOT_TELL = "cannot_tell"  # by rules alone: it was said in another language than the skill's


@dataclass(frozen=True, slots=True)
class Answer:
    """One lasting thing that was said: `turn` is its key, `line` what the skill says of it, if one line does."""

    word: Word
    change: str
    quote: str
    turn: str
    line: str = ""


def batches(messages: Sequence[Message], size: int) -> Iterator[list[Message]]:
    """Yield the messages of a session in batches of `size` human turns, numbered from 1; none that is mere chatter.

    What the agent wrote stands before the turn that follows it.
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


class Examination:
    """One skill, called `name`, before one back-end. `elsewhere` counts lasting things that are not about it."""

    def __init__(self, backend: Backend, name: str, path: Path, text: str, redact: Redact) -> None:
        self.name = name
        self._backend = backend
        self._redact = redact
        self._text = redact(text)
        doc = SkillDoc(1, name, str(path), text)
        self._whole = TargetDocument(SkillRef(name, str(path)), text.encode("utf-8", "replace"), doc)
        self._bare = replace(self._whole, doc=replace(doc, text=_without_rules(text)))
        self.elsewhere = 0

    def answers(self, messages: Sequence[Message]) -> list[Answer]:
        """Return what the skill says of each lasting thing in a batch. Raises as the back-end does."""
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
                line = _line_on(update.change, self._text)
                found.append(Answer(Word.COVERED, update.change, update.quote, str(update.turn), line))
            else:
                self.elsewhere += 1
        keys = {str(message.turn): message.turn_key or "" for message in messages if message.by_person}
        order = list(keys)
        return [replace(one, turn=keys[one.turn]) for one in sorted(found, key=lambda one: order.index(one.turn))]

    def _ask(self, messages: Sequence[Message], loaded: TargetDocument) -> Verdict:
        def own(named: TargetDocument, kind: TargetKind) -> TargetDocument | None:
            return named if kind is TargetKind.PERSONAL else None  # the project's words are not the skill's

        return Judge(self._backend, messages, [loaded], "", self._redact, own=own).verdict()

    def _missing(self, update: Update) -> Answer:
        against = contradicted_block(update.change, self._text)
        changes = against is not None or update.kind in {Kind.CHANGE_STEP, Kind.REMOVE_STEP}
        foreign = self._backend.name == OFFLINE and other_tongue(f"{update.quote}\n{update.change}", self._text)
        word = Word.CONTRADICTS if changes else Word.CANNOT_TELL if foreign else Word.NOT_COVERED
        return Answer(word, update.change, update.quote, str(update.turn), against.text if against else "")


def _line_on(change: str, text: str) -> str:
    """Return the line that says a change, else one that has most of its words; empty if none has."""
    return said_in(change, text) or forbidden_in(change, text) or said_in(change, text, covered=_MAX) or ""


def _without_rules(text: str) -> str:
    """Return the front matter and headings of a SKILL.md: what it is about, and nothing of what it says."""
    lines = text.splitlines()
    fences = [number for number, line in enumerate(lines) if line.rstrip() == "---"]
    end = fences[1] + 1 if fences[:1] == [0] and len(fences) > 1 else 0
    return "\n".join([*lines[:end], *(f"\n{line}" for line in lines[end:] if line.startswith("#"))]) + "\n"
