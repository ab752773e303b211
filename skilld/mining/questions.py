"""Asks a model about windows of past sessions within the day's budget; answers are stored and charged at once."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from skilld.batching.gate import needs_classification
from skilld.classify import prompt
from skilld.classify.backends import Spec
from skilld.classify.backends.completion import Rates
from skilld.classify.partial import WindowResult
from skilld.clock import day, rfc3339
from skilld.errors import SkilldError
from skilld.mining.sessions import Session
from skilld.protocol import PROCESSOR_SECONDS, Distil, Job, PartialResult, Price, PriceResult, Result, Window
from skilld.store import Store
from skilld.store.budget import Limits, spent_limit
from skilld.text import counted
from skilld.types import Message, Outcome, SkillDoc, Usage
from skilld.worker.spawn import Worker

# A session in windows: what one question to the model is about. Pure: messages in, windows and their price out.
#
# A window has so many human turns that the rules of the question are not paid for too often, and so few that an
# answer can name all it found. One in which nobody said more than chatter is left out, as in the daemon.

TURNS = 10  # human turns; the question's own rules are about 1,100 tokens
_REPLIES = 2  # of the agent's before each turn: it offers and asks at the end
_CHARACTERS = 4  # of a token, roughly, in whatever language
_ANSWER = 150  # tokens
# What the question is asked about where no skill is: one that says nothing yet.
NO_SKILL = SkillDoc(1, "a-skill-to-be-written", "", "")


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
        return f"{questions} on {sessions}, about {self.tokens} tokens"


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
    return message.by_person and needs_classification(message.text)


BOOKED_UNDER = "(mining)"  # in place of a skill, in `skilld cost`
_AT_ONCE = 40  # windows handed to one worker: its start takes seconds
_WAIT = 5.0  # seconds, doubled with every time, where it does not say how long
_PATIENCE = 60.0  # seconds waited in a row for a model that fails; what was answered is kept


@dataclass
class QuestionStats:
    """How far it came: windows answered, those whose answer was no use, what it cost, why it stopped early."""

    windows: int = 0
    unusable: int = 0
    usage: Usage = field(default_factory=Usage)
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which terms a model is asked: which, for how much a day, for how long each time, in which surroundings."""

    spec: Spec
    limits: Limits
    seconds: float
    umask: int
    environment: Mapping[str, str]
    wait: Callable[[float], object] = threading.Event().wait

    def spent_reason(self, store: Store) -> str:
        """Return why nothing more may be asked today, empty where it may."""
        why = spent_limit(store.usage.on(day(time.time())), self.limits)
        return f"today's budget is spent: {why}" if why else ""


class QuestionRun:
    """One run over windows that nobody asked about before.

    `progress` is told how many are done, and what is waited for where the model failed.
    """

    def __init__(self, store: Store, terms: Terms, progress: Callable[[int, str], None]) -> None:
        self._store = store
        self._terms = terms
        self._progress = progress
        self.asked = QuestionStats()

    def about(self, windows: Sequence[Window]) -> QuestionStats:
        """Ask about the windows in order until they are done, the budget is spent or the model gives up.

        Raises SkilldError where the model cannot be asked at all. An interruption loses nothing that was answered.
        """
        left = {window.id: window for window in windows}
        waits, waited = 0, 0.0
        while left and not self._spent():
            chunk = list(left.values())[:_AT_ONCE]
            answered = self.asked.windows
            result = self._work(chunk, left)
            if self.asked.stopped:
                break
            if result.outcome is Outcome.NOTHING:
                continue
            if result.outcome is Outcome.FAILED:
                raise SkilldError("Could not ask the model", result.detail, result.remedy)
            waits, waited = (1, 0.0) if self.asked.windows > answered else (waits + 1, waited)
            wait = result.retry_after or _WAIT * 2 ** (waits - 1)
            if waited + wait > _PATIENCE:
                self.asked.stopped = f"the model did not answer: {result.detail}; the next run continues from here"
                break
            self._progress(self.asked.windows, f"waiting {wait:.0f} s for the model ({result.detail})")
            self._terms.wait(wait)
            waited += wait
        return self.asked

    def _work(self, chunk: Sequence[Window], left: dict[str, Window]) -> Result:
        work = Distil(self._terms.spec, NO_SKILL, tuple(chunk))
        job = Job(work, self._terms.umask, processor_seconds=PROCESSOR_SECONDS * len(chunk))

        def keep(told: PartialResult) -> None:
            if isinstance(told, WindowResult):
                self._keep(told, left.pop(told.window))
                self._progress(self.asked.windows, "")
                if left and self._spent():
                    worker.kill()

        with Worker(self._terms.environment) as worker:
            result = worker.do(job, self._terms.seconds * len(chunk), keep)
        self._book(self._terms.spec.model, result.usage)
        return result

    def _keep(self, told: WindowResult, window: Window) -> None:
        with self._store.transaction():
            self._book(told.model, told.usage)
            self.asked.windows += 1
            if told.unusable:
                self.asked.unusable += 1  # not kept: the next run asks again
                return
            updates = [asdict(update) for update in told.updates]
            self._store.mining.keep(window.id, window.session_id, updates, rfc3339(time.time()))

    def _book(self, model: str, usage: Usage) -> None:
        self.asked.usage += usage
        self._store.usage.add(day(time.time()), model, BOOKED_UNDER, usage)

    def _spent(self) -> bool:
        why = self._terms.spent_reason(self._store)
        self.asked.stopped = why or self.asked.stopped
        return bool(why)


def rates_of(models: Sequence[str], terms: Terms) -> Mapping[str, Rates | None]:
    """Return what the tokens of these models cost, None for each without a known price."""
    with Worker(terms.environment) as worker:
        found = worker.do(Job(Price(tuple(models)), terms.umask), terms.seconds)
    rates = found.rates if isinstance(found, PriceResult) else {}
    return {model: rates.get(model) for model in models}
