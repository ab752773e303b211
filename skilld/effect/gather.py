"""The effect of all rules, from the store and the files as they are now. Reads only."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from skilld.clock import seconds
from skilld.effect.lines import came_in, text_of
from skilld.effect.rules import Effect, effects, rules, with_notes
from skilld.git.environment import scrub_environment
from skilld.past import PastSession
from skilld.store import Store
from skilld.types import State


def with_what_was_said(store: Store, past: Sequence[PastSession] | None = None) -> list[PastSession]:
    """Return the past sessions, or those given, with the repeats that were noted when they were judged."""
    scrub_environment()
    sessions = store.past.sessions() if past is None else past
    return with_notes(sessions, store.proposals.in_states([State.SAID]), text_of, cache(came_in))


def collect(store: Store, sessions: Sequence[PastSession]) -> list[Effect]:
    """Return what became of all rules, by what past sessions show."""
    accepted = [
        (one, seconds(store.proposals.accepted_at(one.id) or one.decided_at) or 0.0)
        for one in store.proposals.in_states([State.ACCEPTED])
    ]
    return effects(rules(accepted, sessions, text_of), sessions)
