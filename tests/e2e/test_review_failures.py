"""The review stays open when its database, or a project's settings, cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from skilld.review.controller import ReviewSession
from skilld.store.connection import StoreError
from support.review_pilot import Screen, review, review_session

WHY = "Could not use the database: disk I/O error"


@pytest.fixture
def opened(home: Path) -> ReviewSession:
    mine = home / ".claude/skills/my-own/SKILL.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("---\nname: my-own\ndescription: Mine.\n---\n\n- Say it.\n")
    return review_session(home)


@pytest.mark.parametrize(
    ("method", "keys"),
    [
        ("proposals", ()),
        ("skills", ("2",)),
        ("switch_skill", ("2", "x")),
        ("sessions", ("3",)),
        ("waiting_learnings", ("4",)),
        ("report", ("5",)),
        ("decided", ("slash", "w")),
    ],
)
def test_an_error_is_a_message(
    opened: ReviewSession, monkeypatch: pytest.MonkeyPatch, method: str, keys: tuple[str, ...]
) -> None:
    def fail(*_: object) -> None:
        raise StoreError("Could not use the database", "disk I/O error", "Free some space.")

    async def story(screen: Screen) -> None:
        await screen.press("2")
        await screen.shows("my-own")
        await screen.press("1")
        await screen.settle()
        monkeypatch.setattr(opened, method, fail)
        monkeypatch.setattr(opened, "version", lambda: ("another",))
        await screen.press(*keys)
        await screen.shows(WHY, "Free some space.")
        if method != "decided":
            await screen.press("1", "2", "3")
            await screen.shows("No sessions" if method != "sessions" else WHY)
        assert screen.text.count(WHY) == 1
        assert screen.app.is_running
        for field in screen.app.query(Input):
            field.value = ""

    review(opened, story)
