"""Asks the configured model a small question, in a worker and within the day's budget."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skilld.cli import common
from skilld.errors import SkilldError

if TYPE_CHECKING:
    from skilld.classify.backends import Spec
    from skilld.protocol import Result, Work
    from skilld.settings import Settings
    from skilld.store import Store


class BudgetedModel:
    """The configured model; its costs are booked under `purpose`. Raises SkilldError if no model is configured."""

    def __init__(self, store: Store, settings: Settings, purpose: str) -> None:
        from skilld.classify.backends import OFFLINE
        from skilld.settings import choose_back_end
        from skilld.store.budget import Account

        self._settings = settings
        self._account = Account(store, settings.budget, purpose)
        self.spec: Spec = choose_back_end(settings, os.environ, in_job=False).spec
        self.model = self.spec.model
        if self.model == OFFLINE:
            raise SkilldError(
                "No model is configured", "the offline rules cannot answer questions", "Choose one: skilld setup"
            )

    def spent_limit(self) -> str | None:
        """Return the limit of today's budget that has been reached, or None."""
        return self._account.spent_limit()

    def ask(self, work: Work) -> tuple[Result | None, str]:
        """Return the model's result, or None and the reason."""
        from skilld.protocol import Job, Result
        from skilld.types import Outcome
        from skilld.worker.spawn import Worker

        if why := self.spent_limit():
            return None, f"today's budget is spent ({why})"
        with Worker(dict(os.environ)) as worker:
            job = Job(work, common.host().umask)
            result = worker.do(job, self._settings.worker.seconds * 2, charge=self._account.charge)
        if not isinstance(result, Result) or result.outcome is not Outcome.NOTHING:
            return None, result.detail
        return result, ""
