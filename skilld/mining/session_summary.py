"""Summarizes a session in one row: the requests, the skills in use, and the person's lasting feedback.

The texts are copied from the person's own words. The feedback comes from rules (`detect_feedback`), or from a model
that was asked before.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from skilld.classify.backends.offline import Offline
from skilld.classify.offline.provenance import own_words
from skilld.classify.verify import verify
from skilld.library.patterns import kind_of_work
from skilld.mining.actions import Action
from skilld.mining.sessions import Session
from skilld.mining.written_parts import answer_shape
from skilld.text import fold, truncate
from skilld.types import Message
from skilld.values import value_class
from skilld.words import content_stems

MAX_TEXT_LENGTH = 300  # characters of a text
_MIN_STEMS = 1  # of a task: "go on" has none and means something else every time
_MAX_WORDS = 60  # of a task that rules may recognize: longer ones are specifications
# A question in this form is a request.
_REQUEST_PATTERN = re.compile(r"\W*(?:please|(?:can|could|would|will) (?:you|we))\b", re.IGNORECASE)


@value_class
class Feedback:
    """Lasting feedback of the person: `turn` is its key, `change` the instruction, `confidence` 0 to 1."""

    turn: str
    quote: str
    change: str
    kind: str
    confidence: float


@value_class
class Task:
    """A request of the person; `turn` is its key. A `long` one is a specification: only a model recognizes it again."""

    turn: str
    text: str
    long: bool = False


@value_class
class Row:
    """The summary of one session.

    `turns` are the keys of the person's turns, in order, and `asked` is all that they typed. `actions` has each action
    with the key of the turn it followed, and `answers` the headings of the agent's last answer to a turn, with its key.
    `skill_paths` are the files of the skills in use, as far as the log names them.
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
    answers: tuple[tuple[tuple[str, ...], str], ...] = ()

    @property
    def work(self) -> str:
        """The kind of work, by the first request."""
        return self.topics[0] if self.topics else "other"


def detect_feedback(session: Session) -> list[Feedback]:
    """Return the lasting feedback that rules detect in a session, verified like a model's."""
    keys = {message.turn: message.turn_key for message in session.turns}
    verdict = verify(Offline().detect(session.messages, []), session.messages, [])
    return [
        Feedback(str(keys.get(one.turn) or ""), one.quote, one.change, one.kind.value, one.confidence)
        for one, _ in verdict.learned
    ]


def summarize(session: Session, feedback: Sequence[Feedback]) -> Row:
    """Return the row of a session with this feedback."""
    turns = [(turn.turn_key or "", own_words(turn.text)) for turn in session.turns]
    worked = {turn for action, turn in session.actions if not action.read_only}
    tasks = [
        Task(message.turn_key or "", text, len(typed_text(session.messages, place).split()) > _MAX_WORDS)
        for place, message in enumerate(session.messages)
        if message.by_person and (text := task_text(session.messages, place))
        if message.turn_key in worked or not _is_question(text)
    ]
    return Row(
        agent=session.agent,
        session_id=session.id,
        path=str(session.path),
        main_dir=session.main_dir,
        datetime=session.at,
        topics=tuple(dict.fromkeys(kind_of_work(task.text) for task in tasks if not task.long)),
        tasks=tuple(tasks),
        skills_used=tuple(dict.fromkeys(use.name for use in session.uses)),
        user_feedback=tuple(feedback),
        project=session.project,
        turns=tuple(turn for turn, _ in turns if turn),
        asked="\n".join(text for _, text in turns),
        actions=session.actions,
        tokens=session.log.tokens,
        skill_paths=tuple(dict.fromkeys(os.path.realpath(use.path) for use in session.uses if use.path)),
        answers=tuple((shape, turn) for turn, text in _last_answers(session) if (shape := answer_shape(text))),
    )


def _last_answers(session: Session) -> Iterator[tuple[str, str]]:
    """Yield the last thing that the agent wrote after each turn, with the turn's key."""
    turn, text = "", ""
    for message in session.messages:
        if message.by_person:
            yield turn, text
            turn, text = message.turn_key or "", ""
        else:
            text = message.text
    yield turn, text


def typed_text(messages: Sequence[Message], place: int) -> str:
    """Return the part of the turn at `place` that the person typed, without what is copied from the agent."""
    return own_words(messages[place].text, [message.text for message in messages[:place] if not message.by_person])


def task_text(messages: Sequence[Message], place: int) -> str:
    """Return a turn's request in one line, "" if it has none that can be recognized again."""
    own = typed_text(messages, place)
    return truncate(fold(own), MAX_TEXT_LENGTH) if len(content_stems(own)) >= _MIN_STEMS else ""


def _is_question(text: str) -> bool:
    """Whether a turn is a question; it still counts as a request if the agent acted on it."""
    return text.rstrip().endswith("?") and not _REQUEST_PATTERN.match(text)
