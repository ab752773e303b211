"""When an agent's usage limit resets, according to its client's message. Pure.

Clients give a Unix time ("limit reached|1763827200"), a duration ("try again in 3 days 4 hours"), or a clock time, with
or without a day and a zone ("resets Nov 25, 3pm (Europe/Berlin)").
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

_MAX_SECONDS = 8 * 86400.0  # limits run for five hours, a day or a week
_UNIX_TIME = re.compile(r"\|(\d{10})(?!\d)")
_RESET_WORD = re.compile(r"\b(?:resets?|(?:try|trying) again|retry|available again)\b", re.IGNORECASE)
_WAIT = re.compile(r"\b(?:in|after)\s+((?:\d{1,6}(?:\.\d{1,9})?\s*[a-z]+[\s,]*(?:and\s+)?){1,4})", re.IGNORECASE)
_AMOUNT = re.compile(r"(\d{1,6}(?:\.\d{1,9})?)\s*(d|h|ms|m|s)", re.IGNORECASE)
_UNIT_SECONDS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
_CLOCK = re.compile(
    rf"""(?:\b(?P<month>{"|".join(_MONTHS)})[a-z]*\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?:(?P<year>\d{{4}}),?\s+)?
        |\b(?P<weekday>{"|".join(_DAYS)})[a-z]*,?\s+)?(?:at\s+)?
        \b(?P<hour>\d{{1,2}})(?::(?P<minute>\d\d))?\s*(?P<half>[ap])?\.?(?(half)m)""",
    re.IGNORECASE | re.VERBOSE,
)
_ZONE = re.compile(r"\(([A-Za-z_]+(?:/[A-Za-z_+-]+){0,2})\)")
_NOON = 12
_JUST_NOW = timedelta(minutes=30)  # a time so recently past does not mean tomorrow


def seconds_until_reset(said: str, now: float) -> float | None:
    """Return the seconds from `now` (Unix time) until a limit resets; None if the client does not say."""
    wait = _wait(said[:4000], now)
    return wait if wait is not None and 0 < wait <= _MAX_SECONDS else None


def _wait(said: str, now: float) -> float | None:
    if stamp := _UNIX_TIME.search(said):
        return int(stamp[1]) - now
    for says in _RESET_WORD.finditer(said):
        after = said[says.end() : says.end() + 80]
        if (wait := _WAIT.search(after)) and (amounts := _AMOUNT.findall(wait[1])):
            return sum(float(amount) * _UNIT_SECONDS[unit.lower()] for amount, unit in amounts)
        if (clock := _CLOCK.search(after)) and (clock["half"] or clock["minute"]):
            zone = _ZONE.search(after, clock.end())
            return _seconds_until(clock, _zone(zone[1] if zone else ""), now)
    return None


def _zone(name: str) -> tzinfo | None:
    """Return a time zone by its name, or None, this machine's zone."""
    try:
        return UTC if name == "UTC" else ZoneInfo(name) if name else None
    except (OSError, ValueError, LookupError):
        return None


def _seconds_until(clock: re.Match[str], zone: tzinfo | None, now: float) -> float | None:
    """Return the seconds to the next such time."""
    here = datetime.fromtimestamp(now, zone) if zone else datetime.fromtimestamp(now).astimezone()
    hour = int(clock["hour"])
    if clock["half"]:
        hour = hour % _NOON + (_NOON if clock["half"].lower() == "p" else 0)
    try:
        then = here.replace(hour=hour, minute=int(clock["minute"] or 0), second=0, microsecond=0)
        if clock["month"]:
            month = _MONTHS.index(clock["month"].lower()) + 1
            then = then.replace(int(clock["year"] or here.year), month, int(clock["day"]))
            if then <= here and not clock["year"]:
                then = then.replace(year=here.year + 1)
        elif clock["weekday"]:
            then += timedelta((_DAYS.index(clock["weekday"].lower()) - here.weekday()) % 7)
            then += timedelta(7 if then <= here else 0)
        elif then <= here - _JUST_NOW:
            then += timedelta(1)
    except (ValueError, OverflowError):
        return None
    return then.timestamp() - now
