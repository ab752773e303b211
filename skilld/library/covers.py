"""Whether a skill, as it stands, would have covered what a person said in a session.

The closed-loop question on past turns, twice for each batch: of the skill without its rules, which gives all lasting
things that were said, and of the skill as it is, which gives those that it does not say. Messages come redacted; which
back-end answers, and whether it may be asked, is the caller's affair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from skilld.batching.gate import needs_classification
from skilld.classify.backends import Backend
from skilld.classify.offline.coverage import contradicted, says_already
from skilld.classify.verify import Verdict
from skilld.pipeline.documents import Loaded
from skilld.pipeline.judge import Judge, Redact, same_words
from skilld.types import Kind, Message, SkillDoc, SkillRef, Update


class Word(StrEnum):
    """What a skill says of a lasting thing."""

    COVERED = "covered"
    NOT_COVERED = "not_covered"
    CONTRADICTS = "contradicts"


@dataclass(frozen=True, slots=True)
class Answer:
    """One lasting thing that was said: `turn` is its key, `line` what the skill says against it, if that is known."""

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
        self._whole = Loaded(SkillRef(name, str(path)), text.encode("utf-8", "replace"), doc)
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
            if says_already(update.change, self._text) or (update in sure and not _any_same(update, others)):
                found.append(Answer(Word.COVERED, update.change, update.quote, str(update.turn)))
            else:
                self.elsewhere += 1
        keys = {str(message.turn): message.turn_key or "" for message in messages if message.by_person}
        order = list(keys)
        return [replace(one, turn=keys[one.turn]) for one in sorted(found, key=lambda one: order.index(one.turn))]

    def _ask(self, messages: Sequence[Message], loaded: Loaded) -> Verdict:
        return Judge(self._backend, messages, [loaded], "", self._redact).verdict()

    def _missing(self, update: Update) -> Answer:
        against = contradicted(update.change, self._text)
        changes = against is not None or update.kind in {Kind.CHANGE_STEP, Kind.REMOVE_STEP}
        word = Word.CONTRADICTS if changes else Word.NOT_COVERED
        return Answer(word, update.change, update.quote, str(update.turn), against.text if against else "")


def _any_same(update: Update, others: Sequence[Update]) -> bool:
    return any(same_words(update, other) for other in others)


def _without_rules(text: str) -> str:
    """Return the front matter and headings of a SKILL.md: what it is about, and nothing of what it says."""
    lines = text.splitlines()
    fences = [number for number, line in enumerate(lines) if line.rstrip() == "---"]
    end = fences[1] + 1 if fences[:1] == [0] and len(fences) > 1 else 0
    return "\n".join([*lines[:end], *(f"\n{line}" for line in lines[end:] if line.startswith("#"))]) + "\n"
