"""Asks a model about windows of past sessions within the daily budget; answers are stored and charged at once."""

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
from skilld.classify.backends.paid_calls import Charge, ModelCall
from skilld.classify.partial_results import WindowResult
from skilld.classify.question_jobs import LookUpPrices
from skilld.clock import local_day, rfc3339
from skilld.errors import SkilldError
from skilld.mining.sessions import Session
from skilld.protocol import PROCESSOR_SECONDS, ExtractUpdates, Job, PartialResult, PriceResult, Result, Window
from skilld.store import Store
from skilld.store.budget import Account, Limits
from skilld.text import format_usd, pluralize
from skilld.types import Message, Outcome, SkillDoc, Usage
from skilld.values import value_class
from skilld.worker.spawn import Worker

# Windows: the part of a session that one question is about. Pure: messages in, windows and their price out.
#
# A window has enough human turns that the question's instructions are not paid for too often, and few enough that an
# answer can name all it found. A window of nothing but chatter is left out, as in the daemon.

WINDOW_TURNS = 10  # human turns; the question's own instructions are about 1,100 tokens
_REPLIES_KEPT = 2  # agent replies before each turn: its offers and questions come last
# Stands in for the skill in the question: an empty one.
NO_SKILL = SkillDoc(1, "a-skill-to-be-written", "", "")


@dataclass(slots=True)
class Estimate:
    """The most that the questions of a run may use, and what today's budget leaves, empty if it has no limit."""

    sessions: int
    calls: int
    tokens_in: int
    tokens_out: int
    left: str = ""

    @property
    def tokens(self) -> int:
        """Input and output tokens."""
        return self.tokens_in + self.tokens_out

    def told(self, dollars: Callable[[], float | None] | None) -> str:
        """Return the estimate in words, with its price if `dollars` is given: that returns None if it is not known."""
        most = [f"at most {pluralize(self.calls, 'call')}", f"{self.tokens:,} tokens"]
        if dollars is not None:
            most.append("price unknown" if (usd := dollars()) is None else format_usd(usd))
        left = f". Today's budget leaves {self.left}" if self.left else ""
        return f"{', '.join(most)}, for {pluralize(self.sessions, 'session')}{left}"


def session_windows(session: Session, model: str) -> list[Window]:
    """Return the windows of a session that are worth asking `model` about."""
    parts: list[list[Message]] = [[]]
    for message in session.messages:
        if message.by_person and sum(other.by_person for other in parts[-1]) == WINDOW_TURNS:
            parts.append([])
        parts[-1].append(message)
    found = [_window(session, model, _without_distant_replies(part)) for part in parts]
    return [one for one in found if any(m.by_person and needs_classification(m.text) for m in one.messages)]


def _without_distant_replies(messages: Sequence[Message]) -> list[Message]:
    """Leave out replies long before the person's next turn, and those after their last one."""
    kept: list[Message] = []
    run: list[Message] = []
    for message in messages:
        if message.by_person:
            kept += [*run[-_REPLIES_KEPT:], message]
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


DECLINED_REASON = "nobody agreed to send them"
BOOKED_AS = "(mining)"  # in place of a skill, in `skilld cost`
_MAX_WINDOWS_PER_JOB = 40  # a worker takes seconds to start
_FIRST_WAIT_SECONDS = 5.0  # doubled each time, if the model does not say how long to wait
_MAX_FAILING_SECONDS = 60.0  # of asking and waiting, without one answer; earlier answers are kept


@dataclass
class QuestionStats:
    """Windows answered, answers that were unusable, the cost, and why the run stopped early."""

    windows: int = 0
    unusable: int = 0
    usage: Usage = field(default_factory=Usage)
    stopped: str = ""


LONGEST_ANSWER = 8_000  # tokens that a model may answer with


_REFUSED_REASON = "the run would use more than you agreed to; the next run continues from here"


@dataclass(slots=True)
class Consent:
    """What one run may use: at `most` so much, or only the day's budget if nobody is asked (without `agree`).

    The person is asked once, before the first question. A run that would use more ends its questions, so what they
    agreed to is never exceeded.
    """

    most: Estimate | None = None
    agree: Callable[[Estimate], bool] | None = None
    given: bool | None = None
    used: Usage = field(default_factory=Usage)
    refused: bool = False

    def charge(self, call: ModelCall, book: Charge) -> str:
        """Book a call; return why it may not be made. Room for the longest answer is kept."""
        if call.used is not None:
            book(call)
            self.used += call.used
            return ""
        if self.most is not None:
            tokens = sum(one.tokens_in + one.tokens_out for one in (self.used, call.expected))
            self.refused |= self.used.calls >= self.most.calls or tokens + LONGEST_ANSWER > self.most.tokens
        return _REFUSED_REASON if self.refused else book(call)


def budget_left(today: Usage, limits: Limits) -> str:
    """Describe what today's budget leaves; empty if it has no limit. The one in dollars needs a known price."""
    tokens = limits.tokens - today.tokens_in - today.tokens_out
    left = [pluralize(max(0, limits.calls - today.calls), "call")] if limits.calls else []
    left += [pluralize(max(0, tokens), "token")] if limits.tokens else []
    priced = today.usd or not today.tokens_in
    left += [format_usd(max(0.0, limits.usd - today.usd))] if limits.usd and priced else []
    return ", ".join(left)


@value_class
class Terms:
    """How a model is asked: which one, the daily limits, the time limit, the worker's environment, the consent."""

    spec: Spec
    limits: Limits
    seconds: float
    umask: int
    environment: Mapping[str, str]
    wait: Callable[[float], object] = threading.Event().wait
    consent: Consent = field(default_factory=Consent, compare=False)

    def account(self, store: Store, skill: str) -> Account:
        """Return the account for questions about a skill, or what replaces it."""
        return Account(store, self.limits, skill)

    def charge(self, store: Store) -> Charge:
        """Return what books the calls of a mining run."""
        book = self.account(store, BOOKED_AS).charge
        return lambda call: self.consent.charge(call, book)

    def spent_reason(self, store: Store) -> str | None:
        """Return why nothing more may be asked now, None if it may."""
        if self.consent.refused:
            return _REFUSED_REASON
        why = self.account(store, "").spent_limit()
        return f"today's budget is spent: {why}" if why else None

    def may_ask(self, store: Store) -> bool:
        """Return whether questions may be sent; ask if this is the first. With a spent budget nothing is asked."""
        consent = self.consent
        if consent.given is None and consent.agree and consent.most and not self.spent_reason(store):
            consent.most.left = budget_left(store.usage.on(local_day(time.time())), self.limits)
            consent.given = consent.agree(consent.most)
        return consent.given is not False


class QuestionRun:
    """Asks about windows that have no answer yet.

    `progress` gets the number of finished windows, and a message while it waits for a failing model.
    """

    def __init__(self, store: Store, terms: Terms, progress: Callable[[int, str], None]) -> None:
        self._store = store
        self._terms = terms
        self._progress = progress
        self.asked = QuestionStats()

    def about(self, windows: Sequence[Window]) -> QuestionStats:
        """Ask about the windows in order until all are done, the budget is spent or the model keeps failing.

        Raises SkilldError if the model cannot be asked at all. An interruption loses no answer.
        """
        left = {window.id: window for window in windows}
        waits, failing = 0, 0.0
        while left and not self._spent():
            chunk = list(left.values())[:_MAX_WINDOWS_PER_JOB]
            answered, started = self.asked.windows, time.monotonic()
            result = self._work(chunk, left)
            if result.outcome is Outcome.NOTHING:
                continue
            if self._spent():
                break
            if result.outcome is Outcome.FAILED:
                raise SkilldError("Could not ask the model", result.detail, result.remedy)
            took = time.monotonic() - started
            waits, failing = (1, 0.0) if self.asked.windows > answered else (waits + 1, failing + took)
            wait = result.retry_after or _FIRST_WAIT_SECONDS * 2 ** (waits - 1)
            if failing + wait + took > _MAX_FAILING_SECONDS:
                self.asked.stopped = f"the model did not answer: {result.detail}; the next run continues from here"
                break
            self._progress(self.asked.windows, f"waiting {wait:.0f} s for the model ({result.detail})")
            self._terms.wait(wait)
            failing += wait
        return self.asked

    def _work(self, chunk: Sequence[Window], left: dict[str, Window]) -> Result:
        work = ExtractUpdates(self._terms.spec, NO_SKILL, tuple(chunk))
        job = Job(work, self._terms.umask, processor_seconds=PROCESSOR_SECONDS * len(chunk))

        def keep(told: PartialResult) -> None:
            if isinstance(told, WindowResult):
                self._keep(told, left.pop(told.window))
                self._progress(self.asked.windows, "")

        charge = self._terms.charge(self._store)
        with Worker(self._terms.environment) as worker:
            result = worker.do(job, self._terms.seconds * len(chunk), keep, charge=charge)
        self.asked.usage += result.usage
        return result

    def _keep(self, told: WindowResult, window: Window) -> None:
        with self._store.transaction():
            self.asked.usage += told.usage
            self.asked.windows += 1
            if told.unusable:
                self.asked.unusable += 1  # not stored: the next run asks again
                return
            updates = [asdict(update) for update in told.updates]
            self._store.mining.save(window.id, window.session_id, updates, rfc3339(time.time()))

    def _spent(self) -> bool:
        why = self._terms.spent_reason(self._store)
        self.asked.stopped = why or self.asked.stopped
        return bool(why)


def model_rates(models: Sequence[str], terms: Terms) -> Mapping[str, Rates | None]:
    """Return the token prices of these models, None for each without a known price."""
    with Worker(terms.environment) as worker:
        found = worker.do(Job(LookUpPrices(tuple(models)), terms.umask), terms.seconds)
    rates = found.rates if isinstance(found, PriceResult) else {}
    return {model: rates.get(model) for model in models}
