"""Notices across a restart or a crash, and at the daemon's shutdown: nothing twice, nothing lost (18.10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace

import pytest

from skilld.daemon import judges, notices
from skilld.daemon.messages import Message
from skilld.daemon.notices import Notices
from skilld.notify.desktop import Desktop
from skilld.notify.notice import Notice
from skilld.settings import Notify
from skilld.store import Store
from support.new_store import new_store
from support.proposals import COMMIT_FIELDS, make_proposal

NOON = 1_795_435_200.0  # 2026-11-23T12:00:00Z
HOUR = 3600.0
AWAY = "judge Codex"


class Screen(Desktop):
    """A desktop that keeps what it is to show; `answers` says how each came out, None: it never answers."""

    def __init__(self, *answers: str | None) -> None:
        super().__init__()
        self.shown: list[str] = []
        self._answers = iter(answers)

    def show(self, notice: Notice, pressed: Callable[[str], None] = lambda _: None) -> Future[str | None]:
        del pressed
        self.shown.append(notice.message)
        answer: Future[str | None] = Future()
        if (why_not := next(self._answers, "")) is not None:
            answer.set_result(why_not)
        return answer


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Callable[[], Store]]:
    made: list[Store] = []

    def opened() -> Store:
        made.append(new_store(tmp_path / "skilld.db"))
        return made[-1]

    opened().proposals.add(make_proposal(**COMMIT_FIELDS))
    yield opened
    for store in made:
        store.close()


def start_notices(store: Store, screen: Screen) -> Notices:
    """Return the notices of a daemon that has just started, with a loop that takes each message at once."""

    def post(message: Message) -> None:
        assert callable(message)
        message(NOON)

    return Notices(store, Notify(quiet_hours=""), screen, post, {})


def show_notices(notices: Notices, store: Store, now: float) -> None:
    """Do what the daemon's loop does: name what is wrong with who judges, where that was not told, and look."""
    if AWAY not in store.meta.get("judges_told", ()):
        notices.add_trouble(AWAY, "Codex: it has no login", now)
    notices.show_due(now)


@pytest.mark.parametrize("answer", ["", None], ids=["shown", "killed before the desktop answered"])
def test_nothing_is_shown_twice_across_a_restart(database: Callable[[], Store], answer: str | None) -> None:
    before, after = Screen(answer), Screen()
    store = database()
    show_notices(start_notices(store, before), store, NOON)
    assert len(before.shown) == 1
    again = database()  # nothing is carried over but the database
    notices = start_notices(again, after)
    for hours in (0, 1, 5):
        show_notices(notices, again, NOON + hours * HOUR)
    assert after.shown == []
    show_notices(notices, again, NOON + 24 * HOUR)
    assert len(after.shown) == 1, "a proposal that still waits is told of again after a day"
    assert "Codex" not in after.shown[0]


def test_a_notice_that_could_not_be_shown_is_shown_after_a_restart(database: Callable[[], Store]) -> None:
    before, after = Screen("no notification service"), Screen()
    store = database()
    show_notices(start_notices(store, before), store, NOON)
    assert store.notices.all() == []
    again = database()
    show_notices(start_notices(again, after), again, NOON + 60)
    assert after.shown == before.shown
    assert "Codex" in after.shown[0]


def test_marking_causes_as_unreported_keeps_the_others(database: Callable[[], Store]) -> None:
    store = database()
    judges.mark_reported(store, (judges.SETUP_CAUSE, AWAY, "budget"))
    judges.mark_unreported(store, (AWAY, "budget"))
    assert store.meta.get("judges_told") == [judges.SETUP_CAUSE]


def test_running_decisions_share_one_time_limit_at_shutdown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    made = Notices(new_store(tmp_path / "skilld.db"), Notify(), None, lambda _: None, {})
    monkeypatch.setattr(made, "_acting", [SimpleNamespace(join=waited.append) for _ in range(3)])
    clock = iter([5.0, 9.0, 12.0])
    monkeypatch.setattr(notices, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    made.wait_for_actions(10.0)
    assert waited == [5.0, 1.0, 0.0]
