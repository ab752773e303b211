"""The daemon's notices: collects what to report, shows it when the digest policy allows, and runs button actions.

Runs on the daemon's thread, except for button actions, which have their own threads. A notice that cannot be shown is
tried again later; nothing waits for it. It is stored before it is shown: a daemon that ends in between does not report
anything twice, and an open proposal is reported again after a day.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from skilld.caller.programs import AGENT_VARIABLES
from skilld.clock import local_day
from skilld.daemon import judges
from skilld.daemon.messages import Message
from skilld.logs import get_logger
from skilld.notify import desktop, notice
from skilld.notify.desktop import Desktop
from skilld.notify.notice import Digest, Notice, NoticeRules, PastNotice, next_digest
from skilld.settings import Notify
from skilld.store import Store
from skilld.store.connection import StoreError
from skilld.store.meta import NOTICE_ERROR, SNOOZED_UNTIL
from skilld.types import Outcome, Proposal, State, TargetKind

log = get_logger()

_RETRY_SECONDS = 60.0  # until the next try to show a notice, doubled with every try
_MAX_RETRY_SECONDS = 3600.0
_MAX_DETAILED = 3  # changes shown in full if the settings ask for words


class Notices:
    """Pending and past notices. Without a `desktop` nothing is ever shown."""

    def __init__(
        self,
        store: Store,
        settings: Notify,
        desktop: Desktop | None,
        post: Callable[[Message], None],
        environment: Mapping[str, str],
    ) -> None:
        self._store = store
        self._settings = settings
        self._desktop = desktop
        self._post = post
        # A person pressed the button, even if an agent started the daemon.
        self._environment = {name: value for name, value in environment.items() if name not in AGENT_VARIABLES}
        self._applied: dict[str, Proposal] = {}
        self._troubles: dict[str, tuple[str, str]] = {}  # cause -> the day, what to say
        self._shown = [PastNotice(at, frozenset(ids), frozenset(causes)) for at, ids, causes in store.notices.all()]
        self._under_way = False
        self._written: int | None = None  # the number of the notice under way
        self._failures = 0
        self._again_at = 0.0
        self._acting: list[threading.Thread] = []

    def use_settings(self, settings: Notify) -> None:
        """Use other settings from now on."""
        self._settings = settings

    def add_judged(self, new: Sequence[Proposal], outcome: Outcome, now: float) -> None:
        """Add the result of a batch: open proposals, those that auto mode applied, or a failure."""
        self._applied |= {proposal.id: proposal for proposal in new if proposal.state is State.ACCEPTED}
        if outcome is Outcome.FAILED:
            self.add_trouble("failed", notice.CANNOT_JUDGE, now)
        elif new:
            self.show_due(now)

    def add_trouble(self, cause: str, text: str, now: float) -> None:
        """Add a problem of today; each cause is reported once a day."""
        if not any(cause in past.causes and local_day(past.at) == local_day(now) for past in self._shown):
            self._troubles[cause] = (local_day(now), text)
        self.show_due(now)

    def show_due(self, now: float) -> None:
        """Show a notice if one is due at a Unix time. Raises StoreError if the store cannot be read."""
        if self._desktop is None or self._under_way or now < self._again_at:
            return
        ids = [*self._store.proposals.ids(State.OPEN), *self._applied]
        troubles = {cause: text for cause, (since, text) in self._troubles.items() if since == local_day(now)}
        digest = next_digest(ids, list(troubles), self._shown, self._rules(), now)
        if digest is None:
            return
        waiting = self._store.proposals.in_states([State.OPEN])
        shown = self._build_notice(waiting, {cause: troubles[cause] for cause in digest.causes})
        self._under_way = True
        with suppress(StoreError):  # a full disk is one of the problems to report
            self._written = self._store.notices.add(now, digest.proposals, digest.causes)
            judges.mark_reported(self._store, digest.causes)
        delivery = self._desktop.show(shown, partial(self._start_action, [proposal.id for proposal in waiting]))
        delivery.add_done_callback(lambda done: self._post(lambda _: self.record_shown(done.result(), digest, now)))

    def record_shown(self, why_not: str | None, digest: Digest, at: float) -> None:
        """Record whether a notice was shown; if not, its content is shown later."""
        self._under_way = False
        if why_not:
            self._again_at = at + min(_RETRY_SECONDS * 2**self._failures, _MAX_RETRY_SECONDS)
            self._failures = min(self._failures + 1, 10)
        else:
            self._failures, self._again_at = 0, 0.0
            proposals = frozenset(digest.proposals)
            self._shown.append(PastNotice(at, proposals, frozenset(digest.causes)))
            self._applied = {name: proposal for name, proposal in self._applied.items() if name not in proposals}
            self._troubles = {cause: item for cause, item in self._troubles.items() if cause not in digest.causes}
        written, self._written = self._written, None
        with suppress(StoreError):
            if why_not:
                judges.mark_unreported(self._store, digest.causes)
                if written is not None:
                    self._store.notices.delete(written)
            self._store.meta.set(NOTICE_ERROR, why_not or "")

    def wait_for_actions(self, deadline: float) -> None:
        """Wait for running button actions until `deadline` by the monotonic clock."""
        for thread in self._acting:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _rules(self) -> NoticeRules:
        return NoticeRules(
            self._settings.per_day,
            self._settings.minutes_between,
            self._settings.quiet,
            float(self._store.meta.get(SNOOZED_UNTIL, 0.0)),
        )

    def _build_notice(self, waiting: Sequence[Proposal], troubles: Mapping[str, str]) -> Notice:
        parts = []
        if waiting:
            skills = all(proposal.target is TargetKind.SKILL for proposal in waiting)
            parts.append(notice.about_proposals([_display_name(proposal) for proposal in waiting], skills=skills))
        if self._applied:
            parts.append(notice.about_applied([(item.skill, item.id) for item in self._applied.values()]))
        if self._settings.words:
            detailed = [*self._applied.values(), *reversed(waiting)][:_MAX_DETAILED]
            parts += [notice.about_change(proposal) for proposal in detailed]
        homeless = self._store.learnings.count_for_files()
        if homeless and notice.WAITING not in troubles:
            parts.append(notice.about_waiting(homeless))
        return Notice("\n".join([*parts, *troubles.values()]), notice.buttons(waiting))

    def _start_action(self, proposals: Sequence[str], action: str) -> None:
        thread = threading.Thread(target=self._carry_out, args=(action, proposals), name="button", daemon=True)
        self._acting = [other for other in self._acting if other.is_alive()]
        if action != notice.REVIEW:
            self._acting.append(thread)
        thread.start()

    def _carry_out(self, action: str, proposals: Sequence[str]) -> None:
        if action == notice.REVIEW:
            why = desktop.open_review(proposals if len(proposals) == 1 else (), self._environment)
        else:
            why = desktop.run_decision(action, proposals[0], self._environment)
        log.info("button", kind=action, outcome="failed" if why else "done")
        if why and self._desktop is not None:
            self._desktop.show(Notice(notice.about_failure(action, why)))


def _display_name(proposal: Proposal) -> str:
    what = "new skill" if proposal.target is TargetKind.SKILL else "new file"
    return f"{what} {proposal.skill}" if proposal.creates else proposal.skill
