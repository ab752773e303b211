"""Asks the configured model a small question, in a worker and within the day's budget."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from skilld import console
from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.question_jobs import FindRedundancy, MatchSkills
from skilld.cli import common
from skilld.clock import local_day
from skilld.errors import SkilldError
from skilld.protocol import Job, Result, Work
from skilld.store import Store
from skilld.store.budget import Account, spent_limit
from skilld.text import format_usd, pluralize
from skilld.types import Outcome
from skilld.worker.spawn import Worker

if TYPE_CHECKING:
    from skilld.settings import Settings


def announce(store: Store, settings: Settings, spec: Spec, what: str) -> None:
    """Print on standard error which model is about to be asked, what, and what today's budget leaves, if anything."""
    from skilld.mining.questions import budget_left

    today = store.usage.on(local_day(time.time()))
    if spent_limit(today, settings.budget):
        return
    left = budget_left(today, settings.budget)
    rest = f" Today's budget leaves {left}." if left else ""
    console.warn(f"Asking {console.plain(spec.model)}{what}.{rest}")


class BudgetedModel:
    """The configured model; its costs are booked under `purpose`. Raises SkilldError if no model can be asked.

    If each session is judged by its own agent (`own`), an agent that worked in `project` is asked, the most used first;
    if it does not answer, the next one.
    """

    def __init__(self, store: Store, settings: Settings, purpose: str, project: Path) -> None:
        from skilld.daemon.judges import own_judges
        from skilld.settings import choose_back_end

        self._store, self._settings = store, settings
        self._account = Account(store, settings.budget, purpose)
        choice = choose_back_end(settings, os.environ, in_job=False)
        can, cannot = own_judges(store, settings, os.environ, time.time())
        here = store.transcripts.agents_in(str(project))
        self._specs = [can[name] for name in sorted(can, key=lambda name: name not in here)] or [choice.spec]
        self.own = choice.agent
        if choice.agent and not can:
            used = [name for name in store.transcripts.summary() if name in cannot]
            raise SkilldError("No agent can be asked", cannot[used[0] if used else next(iter(cannot))])
        if self.model == OFFLINE:
            cause = "the offline rules cannot answer questions"
            raise SkilldError("No model is configured", cause, "Choose one: skilld setup")

    @property
    def spec(self) -> Spec:
        """The back-end that is asked next."""
        return self._specs[0]

    @property
    def model(self) -> str:
        """Its model string."""
        return self.spec.model

    def spent_limit(self) -> str | None:
        """Return the limit of today's budget that has been reached, or None."""
        return self._account.spent_limit()

    def announce(self, sizes: Sequence[int]) -> None:
        """Print how many questions are about to be asked and what they may cost, given the tokens of each."""
        from skilld.classify.backends.agent_cli.clients import PREFIX
        from skilld.mining.questions import model_rates

        most = [pluralize(len(sizes), "call"), f"about {pluralize(sum(sizes), 'token')}"]
        if not self.model.startswith(PREFIX):  # otherwise its own plan or credits pay
            rates = model_rates([self.model], common.terms(self.spec, self._settings))[self.model]
            most.append(f"about {format_usd(rates.of(sum(sizes), 0))}" if rates else "price unknown")
        again = "; skilld asks once more if an answer cannot be used"
        announce(self._store, self._settings, self.spec, f": {', '.join(most)}{again}")

    def ask(self, work: MatchSkills | FindRedundancy) -> tuple[Result | None, str]:
        """Return the model's result, or None and the reason."""
        result, why = self._ask(work)
        while result is None and len(self._specs) > 1 and not self.spent_limit():
            self._specs.pop(0)
            console.warn(f"{console.plain(why)}. Asking {console.plain(self.model)}.")
            result, why = self._ask(replace(work, backend=self.spec))
        return result, why

    def _ask(self, work: Work) -> tuple[Result | None, str]:
        if why := self.spent_limit():
            return None, f"today's budget is spent ({why})"
        with Worker(dict(os.environ)) as worker:
            job = Job(work, common.host().umask)
            result = worker.do(job, self._settings.worker.seconds * 2, charge=self._account.charge)
        if not isinstance(result, Result) or result.outcome is not Outcome.NOTHING:
            return None, result.detail
        return result, ""
