"""One row per session: what was asked for, with which skills, and what the person corrected.

A session enters, a row of short texts copied from the person's own words leaves. What was said to last comes from rules
(`heard`), or from a model that was asked before.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from skilld.classify.backends.offline import Offline
from skilld.classify.offline.provenance import own_words
from skilld.classify.verify import verify
from skilld.library.patterns import work_of
from skilld.mining.actions import Action
from skilld.mining.sessions import Session
from skilld.text import cut, fold
from skilld.types import Message
from skilld.words import content_stems

MAX_TEXT = 300  # characters of a text
_MIN_STEMS = 1  # of a task: with fewer it is "go on", which is about something else every time
_MAX_WORDS = 60  # of a task that is asked for again and again: longer ones are specifications, each of its own
_ASKING = re.compile(r"\W*(?:please|(?:can|could|would|will) (?:you|we))\b", re.IGNORECASE)  # a request all the same


@dataclass(frozen=True, slots=True)
class Feedback:
    """A lasting thing that the person said: `turn` is its key, `change` the instruction, `confidence` 0 to 1."""

    turn: str
    quote: str
    change: str
    kind: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Task:
    """Something that the person asked for: `turn` is its key."""

    turn: str
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """What one session is worth knowing for.

    `turns` are the keys of what was typed, in order, and `asked` all of it; `actions` what the agent did, each behind
    the turn of that key. `skill_paths` are the files of the skills in use, as far as the log names them.
    """

    agent: str
    session_id: str
    path: str
    main_dir: str
    datetime: str
    topics: tuple[str, ...]
    tasks: tuple[Task, ...]
    skills_used: tuple[str, ...]
    user_feedback: tuple[Feedback, ...]
    project: str
    turns: tuple[str, ...] = ()
    asked: str = ""
    actions: tuple[tuple[Action, str], ...] = ()
    tokens: int = 0
    skill_paths: tuple[str, ...] = ()

    @property
    def work(self) -> str:
        """The kind of work that the session was, by what was asked for first."""
        return self.topics[0] if self.topics else "other"


def heard(session: Session) -> list[Feedback]:
    """Return the lasting things that rules hear in a session, each checked as a model's would be."""
    keys = {message.turn: message.turn_key for message in session.turns}
    verdict = verify(Offline().detect(session.messages, []), session.messages, [])
    return [
        Feedback(str(keys.get(one.turn) or ""), one.quote, one.change, one.kind.value, one.confidence)
        for one, _ in verdict.learned
    ]


def row_of(session: Session, feedback: Sequence[Feedback]) -> Row:
    """Return the row of a session in which these lasting things were said."""
    said = [(turn.turn_key or "", own_words(turn.text)) for turn in session.turns]
    worked = {turn for action, turn in session.actions if not action.looks}
    tasks = [
        Task(message.turn_key or "", text)
        for place, message in enumerate(session.messages)
        if message.by_person and (text := as_task(session.messages, place))
        if message.turn_key in worked or not _only_asks(text)
    ]
    return Row(
        agent=session.agent,
        session_id=session.id,
        path=str(session.path),
        main_dir=session.main_dir,
        datetime=session.at,
        topics=tuple(dict.fromkeys(work_of(task.text) for task in tasks)),
        tasks=tuple(tasks),
        skills_used=tuple(dict.fromkeys(use.name for use in session.uses)),
        user_feedback=tuple(feedback),
        project=session.project,
        turns=tuple(turn for turn, _ in said if turn),
        asked="\n".join(text for _, text in said),
        actions=session.actions,
        tokens=session.log.tokens,
        skill_paths=tuple(dict.fromkeys(os.path.realpath(use.path) for use in session.uses if use.path)),
    )


def typed(messages: Sequence[Message], place: int) -> str:
    """Return what the person typed of the turn at a place: what is copied from the agent before it is not theirs."""
    return own_words(messages[place].text, [message.text for message in messages[:place] if not message.by_person])


def as_task(messages: Sequence[Message], place: int) -> str:
    """Return a turn as the request it is, in one line; nothing where it is none that can be recognised again."""
    own = typed(messages, place)
    return cut(fold(own), MAX_TEXT) if _is_request(own) else ""


def _is_request(text: str) -> bool:
    """Whether a turn asks for something that can be recognised when it is asked for again."""
    return len(text.split()) <= _MAX_WORDS and len(content_stems(text)) >= _MIN_STEMS


def _only_asks(text: str) -> bool:
    """Whether a turn is a question: a request all the same where something was done about it."""
    return text.rstrip().endswith("?") and not _ASKING.match(text)
