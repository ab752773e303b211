"""The store's overview of sessions and the skills they used."""

from __future__ import annotations

from pathlib import Path

from skilld.store import Store
from skilld.store.overview import SkillUsage, UnratedUse
from skilld.types import How, SkillUse, Span, State, Turn
from support.proposals import make_proposal

NOON = 1772452800.0  # 2026-03-02 12:00 UTC
HOUR = 3600.0


def _add_use(store: Store, session: str, activity: float, name: str = "notes", at: str | None = None) -> None:
    store.transcripts.record_activity("claude-code", session, cwd="/p", activity=activity)
    store.transcripts.add_use("claude-code", SkillUse(session, name, None, at, Span(0, 1), "/p"))


def test_uses_are_grouped_by_claimed_skill_with_the_newest_time(store: Store) -> None:
    _add_use(store, "s1", NOON, at="2026-03-02T09:00:00Z")
    _add_use(store, "s2", NOON)
    _add_use(store, "s1", NOON, name="other")
    assert store.overview.used() == [
        SkillUsage("claude-code", "notes", "", "/p", {"s1": NOON - 3 * HOUR, "s2": NOON}),
        SkillUsage("claude-code", "other", "", "/p", {"s1": NOON}),
    ]


def test_a_rating_is_requested_once_an_accepted_skill_was_used(store: Store) -> None:
    def unrated() -> list[UnratedUse]:
        return store.overview.unrated(NOON - 24 * HOUR, NOON)

    accepted = "2026-03-02T09:00:00Z"
    store.proposals.add(make_proposal(skill="notes", state=State.ACCEPTED, decided_at=accepted))
    store.proposals.add(make_proposal(id="2", skill="other", state=State.OPEN))
    _add_use(store, "before", NOON - 5 * HOUR)
    _add_use(store, "goes on", NOON + HOUR)
    _add_use(store, "of the other", NOON - HOUR, name="other")
    assert unrated() == []
    _add_use(store, "first", NOON - 2 * HOUR)
    _add_use(store, "second", NOON - HOUR)
    assert unrated() == [UnratedUse("notes", "second")]
    store.records.add_feedback("notes", "", "first", "", "2026-02-02T11:00:00Z", helpful=True)
    assert unrated() == [UnratedUse("notes", "second")]
    store.records.add_feedback("notes", "/p/notes/SKILL.md", "", "", "2026-03-02T11:00:00Z", helpful=False)
    assert unrated() == []


def test_the_sessions_of_turns_are_listed_as_far_as_known(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.touch()
    file = store.transcripts.add_file("claude-code", str(path), path.stat(), baseline=0)
    for session, key in (("s1", "t1"), ("s1", "t2"), ("s2", "t3")):
        store.transcripts.record_activity("claude-code", session, cwd=None, activity=NOON)
        turn = Turn(key, "claude-code", session, "words", None, How.TYPED, Span(0, 10))
        store.transcripts.add_turn(turn, file.id, counts=True, lasting=True)
    assert store.overview.sessions_of(["t1", "t3", "gone"]) == {"s1", "s2"}
