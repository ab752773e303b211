"""A session in windows: what one question to the model is about. Pure: messages in, windows and their price out.

A window has so many human turns that the rules of the question are not paid for too often, and so few that an answer
can name all it found. One in which nobody said more than chatter is left out, as in the daemon.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from skilld.classify import prompt
from skilld.mine.sessions import Session
from skilld.text import counted
from skilld.types import Message, SkillDoc
from skilld.window.gate import may_hold_something_lasting

TURNS = 10  # human turns; the question's own rules are about 1,100 tokens
_REPLIES = 2  # of the agent's before each turn: it offers and asks at the end
_CHARACTERS = 4  # of a token, roughly, in whatever language
_ANSWER = 150  # tokens
# What the question is asked about where no skill is: one that says nothing yet.
NO_SKILL = SkillDoc(1, "a-skill-to-be-written", "", "")


@dataclass(frozen=True, slots=True)
class Window:
    """Messages that are asked about together, their turns numbered from 1.

    `id` is that of their content: the same words give the same one, and what was once found out about them holds.
    """

    id: str
    session_id: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the questions about windows will take, about."""

    sessions: int
    calls: int
    tokens_in: int
    tokens_out: int

    @property
    def tokens(self) -> int:
        """Both ways."""
        return self.tokens_in + self.tokens_out

    def told(self) -> str:
        """Return it in words."""
        questions, sessions = counted(self.calls, "question"), counted(self.sessions, "session")
        return f"{questions} about {sessions}, some {self.tokens} tokens"


def windows(session: Session, model: str) -> list[Window]:
    """Return the windows of a session that are worth a question to `model`."""
    parts: list[list[Message]] = [[]]
    for message in session.messages:
        if message.by_person and sum(other.by_person for other in parts[-1]) == TURNS:
            parts.append([])
        parts[-1].append(message)
    found = [_window(session, model, _brief(part)) for part in parts]
    return [one for one in found if any(_may_last(message) for message in one.messages)]


def estimate(chosen: Sequence[Window]) -> Estimate:
    """Return what it will take to ask about these windows, by the length of the questions."""
    asked = {window.id: prompt.detection(window.messages, [NO_SKILL]) for window in chosen}
    tokens = sum(len(one.system) + len(one.user) for one in asked.values()) // _CHARACTERS
    return Estimate(len({window.session_id for window in chosen}), len(asked), tokens, _ANSWER * len(asked))


def _brief(messages: Sequence[Message]) -> list[Message]:
    """Leave out what the agent wrote long before the person spoke, and what it wrote after their last word."""
    kept: list[Message] = []
    run: list[Message] = []
    for message in messages:
        if message.by_person:
            kept += [*run[-_REPLIES:], message]
            run = []
        else:
            run.append(message)
    return kept


def _window(session: Session, model: str, messages: Sequence[Message]) -> Window:
    numbers = {key: number for number, key in enumerate((m.turn_key for m in messages if m.by_person), 1)}
    renumbered = tuple(replace(m, turn=numbers[m.turn_key]) if m.by_person else m for m in messages)
    said = "\n".join(f"{m.turn_key} {m.text}" for m in messages if m.by_person)
    content = f"{model}\n{prompt.VERSION}\n{session.agent}\n{session.id}\n{said}"
    return Window(hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:24], session.id, renumbered)


def _may_last(message: Message) -> bool:
    return message.by_person and may_hold_something_lasting(message.text)
