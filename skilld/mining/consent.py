"""The person's consent to the questions of one run: they are asked once, with the most that it may use.

A run that would use more ends its questions, so what the person agreed to is never exceeded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

from skilld.classify import prompt
from skilld.clock import local_day
from skilld.mining.draft_questions import DRAFTS_ASKED, MAX_DRAFTS
from skilld.mining.kinds import MIN_SESSIONS
from skilld.mining.questions import LONGEST_ANSWER, NO_SKILL, Estimate, Terms
from skilld.mining.selection import MAX_SKILLS
from skilld.mining.sessions import Session
from skilld.mining.values import Hooks
from skilld.protocol import Window
from skilld.store import Store
from skilld.store.budget import Limits
from skilld.text import format_usd, pluralize
from skilld.types import Usage

_CALLS_PER_WINDOW = 2  # half of the windows need no second question about the answer, some need two
_CALLS_PER_SKILL = 3  # that is extended: what it says already, the edit, and whether that says what was meant
_SPARE_CALLS = 2  # for answers of the later questions that are asked for again
_CHARACTERS_PER_TOKEN = 3  # a low estimate
_LATER_TOKENS = 3_000  # of a question about requests, drafts or a skill
_ANSWER_TOKENS = 700  # on average, with a few thoughts


def run_estimate(sessions: Sequence[Session], new: Sequence[Window], *, proposes: bool) -> Estimate:
    """Return the most that a run may use: questions about its `new` windows, tasks, drafts, titles and edits."""
    turns = sum(message.by_person for session in sessions for message in session.messages)
    drafts = min(MAX_DRAFTS, turns // MIN_SESSIONS) if len(sessions) >= MIN_SESSIONS else 0
    tasks = 1 + 2 * ceil(drafts / DRAFTS_ASKED) if drafts else 0
    later = tasks + 1 + (_CALLS_PER_SKILL * min(MAX_SKILLS, turns) if proposes else 0) + _SPARE_CALLS
    asked = [prompt.detection(window.messages, [NO_SKILL]) for window in new]
    read = sum(len(one.system) + len(one.user) for one in asked) // _CHARACTERS_PER_TOKEN
    calls = _CALLS_PER_WINDOW * len(new) + later
    written = calls * _ANSWER_TOKENS + LONGEST_ANSWER
    return Estimate(len(sessions), calls, _CALLS_PER_WINDOW * read + later * _LATER_TOKENS, written)


def budget_left(today: Usage, limits: Limits) -> str:
    """Describe what today's budget leaves; empty if it has no limit. The one in dollars needs a known price."""
    tokens = limits.tokens - today.tokens_in - today.tokens_out
    left = [pluralize(max(0, limits.calls - today.calls), "call")] if limits.calls else []
    left += [pluralize(max(0, tokens), "token")] if limits.tokens else []
    priced = today.usd or not today.tokens_in
    left += [format_usd(max(0.0, limits.usd - today.usd))] if limits.usd and priced else []
    return ", ".join(left)


@dataclass
class Consent:
    """Whether the questions of one run, which begins with it, may be sent; the person is asked before the first."""

    terms: Terms
    hooks: Hooks
    expected: Estimate
    price: Callable[[], float | None]
    given: bool | None = None

    def __post_init__(self) -> None:
        self.terms.allowance.grant(None)

    def __call__(self, store: Store) -> bool:
        """Return whether questions may be sent; ask if this is the first. With a spent budget nothing is asked."""
        if self.given is None and not self.terms.spent_reason(store):
            self.expected.left = budget_left(store.usage.on(local_day(time.time())), self.terms.limits)
            self.given = self.hooks.agree(self.expected, self.price)
            self.terms.allowance.grant(self.expected)
        return self.given is not False
