"""What the store says of sessions and the skills they used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skilld.store import Store
from skilld.store.overview import Unrated, Used
from skilld.types import SkillUse, Span, State
from support.proposals import a_proposal

NOON = 1772452800.0  # 2026-03-02 12:00 UTC
HOUR = 3600.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(tmp_path / "skilld.db")
    yield opened
    opened.close()


def _use(store: Store, session: str, activity: float, name: str = "notes", at: str | None = None) -> None:
    store.transcripts.see_session("claude-code", session, cwd="/p", activity=activity)
    store.transcripts.add_use("claude-code", SkillUse(session, name, None, at, Span(0, 1), "/p"))


def test_uses_are_gathered_by_what_the_logs_claim_with_the_time_of_the_newest(store: Store) -> None:
    _use(store, "s1", NOON, at="2026-03-02T09:00:00Z")
    _use(store, "s2", NOON)
    _use(store, "s1", NOON, name="other")
    assert store.overview.used() == [
        Used("claude-code", "notes", "", "/p", {"s1": NOON - 3 * HOUR, "s2": NOON}),
        Used("claude-code", "other", "", "/p", {"s1": NOON}),
    ]


def test_a_rating_is_asked_for_once_a_session_used_what_was_accepted(store: Store) -> None:
    def unrated() -> list[Unrated]:
        return store.overview.unrated(NOON - 24 * HOUR, NOON)

    accepted = "2026-03-02T09:00:00Z"
    store.proposals.add(a_proposal(skill="notes", state=State.ACCEPTED, decided_at=accepted))
    store.proposals.add(a_proposal(id="2", skill="other", state=State.OPEN))
    _use(store, "before", NOON - 5 * HOUR)
    _use(store, "goes on", NOON + HOUR)
    _use(store, "of the other", NOON - HOUR, name="other")
    assert unrated() == []
    _use(store, "first", NOON - 2 * HOUR)
    _use(store, "second", NOON - HOUR)
    assert unrated() == [Unrated("notes", "second")]
    store.records.add_feedback("notes", "first", "", "2026-02-02T11:00:00Z", helpful=True)
    assert unrated() == [Unrated("notes", "second")]
    store.records.add_feedback("notes", "", "", "2026-03-02T11:00:00Z", helpful=False)
    assert unrated() == []
