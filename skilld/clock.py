"""Times as text: RFC 3339 in UTC, to the second. Pure, except that local times depend on the time zone."""

from __future__ import annotations

import math
import re
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta


def rfc3339(seconds: float) -> str:
    """Return a Unix time as text."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_time(text: str | None) -> float | None:
    """Return the Unix time of an RFC 3339 text, None if it is empty, invalid, or no date in some time zone."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    known = MINYEAR < moment.year < MAXYEAR
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() if known else None


def local_day(at: float) -> str:
    """Return the local day of a Unix time as YYYY-MM-DD: budgets and costs are per local day."""
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d")


def local_date(iso: str) -> str:
    """Return the local day of an RFC 3339 time as YYYY-MM-DD; a date as it is."""
    at = parse_time(iso) if "T" in iso else None
    return iso[:10] if at is None else local_day(at)


def local_minute(at: float) -> str:
    """Return the local time of a Unix time as YYYY-MM-DD HH:MM."""
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M")


def minute_of_day(at: float) -> int:
    """Return the minute of the local day at a Unix time, 0 to 1439."""
    local = datetime.fromtimestamp(at).astimezone()
    return local.hour * 60 + local.minute


def next_day(at: float) -> float:
    """Return the Unix time at which the next local day begins."""
    local = datetime.fromtimestamp(at).astimezone()
    return (local.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)).timestamp()


def time_ago(at: float | None, now: float) -> str:
    """Return how long ago a Unix time was, in words."""
    if at is None:
        return "never"
    passed = max(0, int(now - at))
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if passed >= size:
            number = passed // size
            return f"{number} {unit}{'s' if number > 1 else ''} ago"
    return "just now"


def time_until(at: float, now: float) -> str:
    """Return in how long a Unix time is, in words, rounded up."""
    left = math.ceil(at - now)
    if left <= 0:
        return "now"
    for size, unit in ((3600, "hour"), (60, "minute")):
        if left > size:
            return f"in {-(-left // size)} {unit}s"
    return f"in {left} s"


def parse_hours(hours: str) -> tuple[int, int] | None:
    """Return two times of day, joined by a hyphen, in minutes; None if the text is invalid."""
    match = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d) ?- ?([01]?\d|2[0-3]):([0-5]\d)", hours, re.ASCII)
    if match is None:
        return None
    start, end = int(match[1]) * 60 + int(match[2]), int(match[3]) * 60 + int(match[4])
    return None if start == end else (start, end)
