"""Windows before a model, within the day's budget: what is found out is kept and booked window by window.

A worker asks; here is decided whether it may go on. Nothing that was paid for is lost, however the run ends.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from skilld.classify.backends import Spec
from skilld.daemon.budget import Limits, why_spent
from skilld.daemon.spawn import Worker
from skilld.errors import SkilldError
from skilld.mine.windows import NO_SKILL, Window
from skilld.store import Store
from skilld.times import day, rfc3339
from skilld.types import Outcome, Usage

BOOKED_UNDER = "(mining)"  # in place of a skill, in `skilld cost`
_AT_ONCE = 40  # windows handed to one worker: its start takes seconds
_WAITS = 4  # times in a row that a model may ask us to come back later
_WAIT = 20.0  # seconds, doubled with every time, where it does not say how long
_LONGEST_WAIT = 300.0


@dataclass
class Asked:
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


class Asking:
    """One run over windows that nobody asked about before. `progress` is told how many are done."""

    def __init__(self, store: Store, terms: Terms, progress: Callable[[int], None]) -> None:
        self._store = store
        self._terms = terms
        self._progress = progress
        self.asked = Asked()

    def about(self, windows: Sequence[Window]) -> Asked:
        """Ask about the windows in order until they are done, the budget is spent or the model gives up.

        Raises SkilldError where the model cannot be asked at all. An interruption loses nothing that was answered.
        """
        left = {window.id: window for window in windows}
        waits = 0
        while left and not self._spent():
            chunk = list(left.values())[:_AT_ONCE]
            answered = self.asked.windows
            result = self._work(chunk, left)
            if self.asked.stopped:
                break
            if result["outcome"] == Outcome.NOTHING.value:
                continue
            if result["outcome"] == Outcome.FAILED.value:
                raise SkilldError("The model could not be asked", result["detail"], result.get("remedy", ""))
            waits = 1 if self.asked.windows > answered else waits + 1
            if waits > _WAITS:
                self.asked.stopped = f"the model did not answer: {result['detail']}"
                break
            asked_to = float(result.get("retry_after") or _WAIT * 2 ** (waits - 1))
            self._terms.wait(min(asked_to, _LONGEST_WAIT))
        return self.asked

    def _work(self, chunk: Sequence[Window], left: dict[str, Window]) -> dict[str, Any]:
        job = {
            "kind": "distil",
            "umask": self._terms.umask,
            "backend": asdict(self._terms.spec),
            "skill": asdict(NO_SKILL),
            "windows": [{"id": one.id, "messages": [asdict(message) for message in one.messages]} for one in chunk],
        }
        worker = Worker(job, self._terms.environment, self._terms.seconds * len(chunk))

        def keep(told: Mapping[str, Any]) -> None:
            self._keep(told, left.pop(told["window"]))
            self._progress(self.asked.windows)
            if left and self._spent():
                worker.kill()

        result = worker.result(keep)
        self._book(self._terms.spec.model, Usage(**result.get("usage", {})))
        return result

    def _keep(self, told: Mapping[str, Any], window: Window) -> None:
        with self._store.transaction():
            self._book(told["model"], Usage(**told["usage"]))
            self.asked.windows += 1
            if "unusable" in told:
                self.asked.unusable += 1  # not kept: the next run asks again
                return
            self._store.mining.keep(window.id, window.session_id, told["updates"], rfc3339(time.time()))

    def _book(self, model: str, usage: Usage) -> None:
        self.asked.usage += usage
        self._store.usage.add(day(time.time()), model, BOOKED_UNDER, usage)

    def _spent(self) -> bool:
        why = why_spent(self._store.usage.on(day(time.time())), self._terms.limits)
        if why:
            self.asked.stopped = f"today's budget is spent: {why}"
        return bool(why)


def rates_of(models: Sequence[str], terms: Terms) -> Mapping[str, Any]:
    """Return what the tokens of these models cost as JSON, None for each without a known price."""
    job = {"kind": "price", "umask": terms.umask, "models": list(models)}
    found = Worker(job, terms.environment, terms.seconds).result(lambda _: None).get("rates", {})
    return {model: found.get(model) for model in models}
