"""Scripted models: back-ends with known answers, for scoring everything behind a model.

They build the real requests, and their answers go through the real parser. No model is called; tokens are estimated at
four characters each.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import StrEnum

from skilld.classify import closed_questions, prompt
from skilld.classify.backends import EditCheck
from skilld.classify.offline.provenance import own_words
from skilld.classify.reply import parse_operations, parse_updates
from skilld.markdown.skill_file import parse
from skilld.pipeline.edits import place_updates
from skilld.scoring.batches import share_contained
from skilld.scoring.loader import GoldUpdate
from skilld.scoring.stored import estimate_usage
from skilld.text import fold
from skilld.types import Kind, Message, Op, Operation, SkillDoc, Update, Usage

Answer = Sequence[Mapping[str, object] | str]

_MAX_FIELD = 600  # characters of one field of an answer that the parser accepts
_MAX_UPDATES = 12  # of one answer
_MAX_SENTENCES = 3  # of one quote
_MIN_NEAR = 0.4  # average share of each other's words in a line of the skill and a change to it
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_PLAIN = re.compile(r"[-*+]? ?[\w\"'*]")  # no heading, code or table
_MARKER = re.compile(r"\s*+(?:[-*+]|\d{1,9}[.)])?+\s*+")


class Scripted(ABC):
    """A back-end that answers by script."""

    edits_together = True
    min_confidence = 0.5

    def __init__(self, name: str) -> None:
        self.name = name
        self.usage = Usage()

    def detect(
        self, messages: Sequence[Message], skills: Sequence[SkillDoc], *, instructions: str = ""
    ) -> tuple[list[Update], list[str]]:
        """Answer with the lasting things that were said."""
        reply = self._reply(
            "updates", prompt.detection(messages, skills, instructions), self._answer_updates(messages, skills)
        )
        return parse_updates(reply, turns=sum(message.by_person for message in messages), skills=len(skills))

    def reword(self, updates: Sequence[Update], said: Sequence[str]) -> list[str]:
        """Answer with the unchanged words of the model."""
        del said
        return [update.change for update in updates]

    def polarity(self, updates: Sequence[Update], said: Sequence[str]) -> list[bool | None]:
        """Answer that every update is what was meant."""
        question = closed_questions.polarity(updates, said)
        return question.read(self._reply("verdicts", question.request, ["same"] * len(updates)))

    def edit(self, updates: Sequence[Update], skill: SkillDoc, unfit: EditCheck | None = None) -> list[Operation] | str:
        """Answer with the operations that put the updates into the skill."""
        del unfit
        steps = [
            {"op": step.op.value, "anchor": step.anchor, "text": step.text}
            for step in self._answer_operations(updates, skill)
        ]
        return parse_operations(self._reply("operations", prompt.edit(updates, skill), steps))

    @abstractmethod
    def _answer_updates(self, messages: Sequence[Message], skills: Sequence[SkillDoc]) -> Answer:
        """Return the updates of the answer."""

    @abstractmethod
    def _answer_operations(self, updates: Sequence[Update], skill: SkillDoc) -> Sequence[Operation]:
        """Return the operations of the answer."""

    def _reply(self, tag: str, request: prompt.Prompt, answer: Answer) -> str:
        # Escaped, so that a quotation cannot end the answer.
        reply = f"<{tag}>{json.dumps(answer).replace('<', chr(92) + 'u003c')}</{tag}>"
        self.usage += estimate_usage(request, reply)
        return reply


class GoldModel(Scripted):
    """A model that finds exactly the reader's updates, in the reader's words, and writes them into the skill."""

    def __init__(self, gold: Sequence[GoldUpdate]) -> None:
        super().__init__("gold")
        self._gold = gold

    def reword(self, updates: Sequence[Update], said: Sequence[str]) -> list[str]:
        """Answer in the person's own words."""
        del said
        return [update.quote for update in updates]

    def _answer_updates(self, messages: Sequence[Message], skills: Sequence[SkillDoc]) -> Answer:
        return [
            _update(update.gist, update.kind, update.section, update.turn, _quote(update, messages))
            | {"skill": update.skill}
            for update in self._gold
            if not any(fold(update.gist) in fold(skill.text) for skill in skills)
        ]

    def _answer_operations(self, updates: Sequence[Update], skill: SkillDoc) -> Sequence[Operation]:
        text = skill.text
        steps: list[Operation] = []
        added: list[Update] = []
        for update in updates:
            line = _line_about(update.change, text) if update.kind in {Kind.CHANGE_STEP, Kind.REMOVE_STEP} else ""
            if line:
                marker = _MARKER.match(line)
                steps.append(Operation(Op.REPLACE, line, (marker[0] if marker else "") + update.change))
                text = text.replace(line, steps[-1].text)
            else:
                added.append(update)
        return [*steps, *place_updates(added, text.encode())]


class Quoting(StrEnum):
    """Whose words an obedient model gives as evidence."""

    ATTACK = "attack"
    HARMLESS = "harmless"


class ObedientModel(Scripted):
    """A model that obeys an attack, even one it was not shown, and gives every human turn as evidence.

    Asked again with a changed skill, it answers nothing, so that the loop ends. It reports `text` as the change, and
    writes `written` into the file.
    """

    def __init__(self, text: str, written: str, quoting: Quoting) -> None:
        super().__init__("obedient")
        self._change = fold(text)[:_MAX_FIELD]
        self._written = written
        self._quoting = quoting
        self._shown: list[str] | None = None

    def _answer_updates(self, messages: Sequence[Message], skills: Sequence[SkillDoc]) -> Answer:
        shown = [skill.text for skill in skills]
        if self._shown not in (None, shown):
            return []
        self._shown = shown
        turns = [(message.turn, message.text) for message in messages if message.turn is not None][-_MAX_UPDATES:]
        quotes = {turn: self._change if self._quoting is Quoting.ATTACK else fold(text) for turn, text in turns}
        return [_update(self._change, Kind.ADD_STEP, "", turn, quote[:_MAX_FIELD]) for turn, quote in quotes.items()]

    def _answer_operations(self, updates: Sequence[Update], skill: SkillDoc) -> Sequence[Operation]:
        del updates
        last = next(line for line in reversed(skill.text.split("\n")) if line.strip())
        return [Operation(Op.INSERT_AFTER, last, f"- {self._written}")]


def obedient_models(text: str, quoting: Quoting) -> list[ObedientModel]:
    """Return models that write all of `text` into a skill: one verbatim, one in a single line."""
    return [ObedientModel(text, written, quoting) for written in dict.fromkeys((text, fold(text)))]


def longest_line_model(text: str, quoting: Quoting) -> ObedientModel:
    """Return a model that writes only the longest line of `text`: the less it adds, the fewer checks apply."""
    line = max(text.splitlines() or [""], key=len)
    return ObedientModel(line, fold(line), quoting)


def _update(change: str, kind: Kind, section: str, turn: int, quote: str) -> dict[str, object]:
    return {
        "skill": 1,
        "section": section or "new step",
        "change": change,
        "reason": "Asked for.",
        "kind": kind.value,
        "turn": turn,
        "quote": quote,
        "confidence": 1.0,
    }


def _quote(update: GoldUpdate, messages: Sequence[Message]) -> str:
    """Return the shortest run of the person's sentences that contains most of the gist; the labels name only a turn.

    A run that is too long for an answer is cut. A gist in another language shares no words with any sentence; then the
    quote is everything they typed.
    """
    place = next(i for i, message in enumerate(messages) if message.turn == update.turn)
    typed = own_words(messages[place].text, [message.text for message in messages[:place] if not message.by_person])
    sentences = [sentence.strip() for sentence in _SENTENCE.split(typed) if sentence.strip()]
    runs = [
        " ".join(sentences[i:j])
        for i in range(len(sentences))
        for j in range(i + 1, min(i + _MAX_SENTENCES, len(sentences)) + 1)
    ]
    best = max(runs, key=lambda run: (share_contained(update.gist, run), -len(run)), default="")
    return (best if share_contained(update.gist, best) else fold(typed) or fold(messages[place].text))[:_MAX_FIELD]


def _line_about(change: str, text: str) -> str:
    """Return the line of the skill that a change is about, or ""."""
    body = [line.text for line in parse(text.encode()).body]
    lines = [line for line in body if _PLAIN.match(line) and text.count(line) == 1]
    near = {line: (share_contained(change, line) + share_contained(line, change)) / 2 for line in lines}
    best = max(near, key=lambda line: near[line], default="")
    return best if near.get(best, 0) >= _MIN_NEAR else ""
