"""When a notice is shown: literal days, and the policy's promises on random ones."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilld.clock import local_day
from skilld.notify.notice import Digest, NoticeRules, PastNotice, is_quiet, next_digest
from skilld.settings import Notify
from support.rows import for_each

NOON = 1772452800.0  # 2026-03-02 12:00 UTC
MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
RULES = NoticeRules()


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def _past_notice(at: float, *ids: str) -> PastNotice:
    return PastNotice(at, frozenset(ids))


def test_nothing_open_means_no_notice() -> None:
    assert next_digest([], [], [], RULES, NOON) is None


def test_the_first_notice_comes_at_once_and_later_ones_are_grouped() -> None:
    assert next_digest(["a"], [], [], RULES, NOON) == Digest(("a",), ())
    shown = [_past_notice(NOON, "a")]
    assert next_digest(["a", "b"], [], shown, RULES, NOON + 14 * MINUTE) is None
    assert next_digest(["a", "b", "c"], [], shown, RULES, NOON + 15 * MINUTE) == Digest(("a", "b", "c"), ())


def test_open_proposals_are_mentioned_again_after_a_day() -> None:
    shown = [_past_notice(NOON, "a")]
    assert next_digest(["a"], [], shown, RULES, NOON + 23 * HOUR) is None
    assert next_digest(["a"], [], shown, RULES, NOON + DAY) == Digest(("a",), ())
    assert next_digest([], [], shown, RULES, NOON + DAY) is None


def test_quiet_hours_past_midnight_hold_back_until_morning() -> None:
    rules = replace(RULES, quiet=(22 * 60, 8 * 60))
    assert next_digest(["a"], [], [], rules, NOON + 10 * HOUR) is None
    assert next_digest(["a"], [], [], rules, NOON + 19.9 * HOUR) is None
    assert next_digest(["a"], [], [], rules, NOON + 20 * HOUR) == Digest(("a",), ())


def test_a_snooze_holds_everything_back_until_it_ends() -> None:
    rules = replace(RULES, snoozed_until=NOON + HOUR)
    assert next_digest(["a"], ["budget"], [], rules, NOON) is None
    assert next_digest(["a"], ["budget"], [], rules, NOON + HOUR) == Digest(("a",), ("budget",))


def test_an_error_is_reported_once_a_day_and_never_instead_of_a_proposal() -> None:
    shown = [PastNotice(NOON, frozenset("a"), frozenset({"budget"}))]
    assert next_digest(["a"], ["budget"], shown, RULES, NOON + HOUR) is None
    digest = next_digest(["a"], ["budget", "failed"], shown, RULES, NOON + HOUR)
    assert digest == Digest(("a",), ("failed",))
    assert next_digest([], ["budget"], shown, RULES, NOON + 13 * HOUR) == Digest((), ("budget",))


def test_a_clock_set_back_silences_nothing() -> None:
    told_of_a = [_past_notice(NOON + 30 * DAY, "a")]
    assert next_digest(["a", "b"], [], told_of_a, RULES, NOON) == Digest(("a", "b"), ())


@for_each(("text", "minutes"), [("22:00-08:00", (1320, 480)), ("0:30 - 6:05", (30, 365)), ("", None)])
def test_quiet_hours_are_parsed_as_people_write_them(text: str, minutes: tuple[int, int] | None) -> None:
    assert Notify(quiet_hours=text).quiet == minutes


@for_each("text", ["22-08", "25:00-08:00", "08:00-08:00", "night", "22:00", "-"])
def test_invalid_quiet_hours_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="two different times"):
        Notify(quiet_hours=text)


def test_quiet_hours_are_exact_to_the_minute() -> None:
    for hours, ends in (((22, 8), (9.99, 10, 19.99, 20)), ((13, 14), (0.99, 1, 1.99, 2))):
        minutes = (hours[0] * 60, hours[1] * 60)
        assert [is_quiet(minutes, NOON + hour * HOUR) for hour in ends] == [False, True, True, False]


_STEP = 10 * MINUTE  # between two looks of the simulated daemon; the real one looks every few seconds


@given(
    data=st.data(),
    per_day=st.integers(1, 4),
    between=st.sampled_from([0.0, 15.0, 120.0]),
    quiet=st.none() | st.tuples(st.integers(0, 143), st.integers(0, 143)).filter(lambda pair: pair[0] != pair[1]),
)
def test_the_daily_cap_quiet_hours_and_daily_reminder_always_hold(
    data: st.DataObject, per_day: int, between: float, quiet: tuple[int, int] | None
) -> None:
    """Four days in steps: proposals come and go, troubles come; every look may show a notice."""
    hours = (quiet[0] * 10, quiet[1] * 10) if quiet else None
    rules = NoticeRules(per_day=per_day, minutes_between=between, quiet=hours)
    steps = int(4 * DAY / _STEP)
    events = data.draw(st.dictionaries(st.integers(0, steps), st.sampled_from(["open", "decide", "trouble"])))
    waiting: list[str] = []
    causes: list[str] = []
    shown: list[PastNotice] = []
    silent_since: float | None = None
    for step in range(steps):
        now = NOON + step * _STEP
        match events.get(step):
            case "open":
                waiting.append(f"p{step}")
            case "decide":
                del waiting[:1]
            case "trouble":
                causes = [*causes, "budget" if step % 2 else "failed"]
        if not waiting:
            silent_since = None
        elif silent_since is None:
            silent_since = now
        if digest := next_digest(waiting, causes, shown, rules, now):
            assert not is_quiet(hours, now)
            shown.append(PastNotice(now, frozenset(digest.proposals), frozenset(digest.causes)))
            assert sum(local_day(notice.at) == local_day(now) for notice in shown) <= per_day
            assert set(digest.proposals) == set(waiting)
            causes = []
            silent_since = now if waiting else None
        if silent_since is not None:
            assert now - silent_since <= DAY + _STEP, "silent for more than a day"
    gaps = [later.at - earlier.at for earlier, later in pairwise(shown)]
    assert all(gap >= between * 60 for gap in gaps)
    told = [(local_day(notice.at), cause) for notice in shown for cause in notice.causes]
    assert len(told) == len(set(told)), "a cause twice on one day"
