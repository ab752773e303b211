from __future__ import annotations

import time

import pytest

from skilld.clock import local_day, next_day, parse_time, rfc3339, time_ago, time_until
from support.rows import for_each


def test_a_time_is_written_in_utc_to_the_second_and_read_back() -> None:
    assert rfc3339(1772442000.9) == "2026-03-02T09:00:00Z"
    assert parse_time("2026-03-02T09:00:00Z") == 1772442000.0


@for_each(
    ("text", "expected"),
    [
        ("2026-03-02T10:00:00+01:00", 1772442000.0),
        ("2026-03-02T09:00:00.500Z", 1772442000.5),
        ("2026-03-02T09:00:00", 1772442000.0),  # no zone: UTC
        ("", None),
        (None, None),
        ("yesterday", None),
        ("2026-13-40T00:00:00Z", None),
        ("9999-12-31T23:59:59Z", None),  # in Asia it is the year 10000, which has no date
        ("0001-01-01T00:00:00Z", None),
    ],
)
def test_an_unreadable_time_is_none(text: str | None, expected: float | None) -> None:
    assert parse_time(text) == expected


@for_each(
    ("passed", "words"),
    [
        (-5, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (7199, "1 hour ago"),
        (7200, "2 hours ago"),
        (86400, "1 day ago"),
        (200_000, "2 days ago"),
    ],
)
def test_an_age_is_given_in_the_largest_whole_unit(passed: int, words: str) -> None:
    assert time_ago(1000.0, 1000.0 + passed) == words


@for_each(
    ("left", "words"),
    [(-5, "now"), (0, "now"), (0.2, "in 1 s"), (60, "in 60 s"), (61, "in 2 minutes"), (3600, "in 60 minutes"),
     (3601, "in 2 hours")],
)  # fmt: skip
def test_the_time_until_a_moment_is_rounded_up(left: float, words: str) -> None:
    assert time_until(1000.0 + left, 1000.0) == words


def test_a_missing_time_is_never() -> None:
    assert time_ago(None, 1000.0) == "never"


def test_a_day_is_in_the_persons_time_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    moment = 1772442000.0  # 09:00 in UTC
    try:
        monkeypatch.setenv("TZ", "Pacific/Honolulu")  # ten hours behind
        time.tzset()
        assert local_day(moment) == "2026-03-01"
        assert next_day(moment) == 1772445600.0
        monkeypatch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        assert local_day(moment) == "2026-03-02"
    finally:
        monkeypatch.undo()
        time.tzset()
