"""`skilld pause`, `resume`, `snooze` and `retry`: stop judging, mute notifications, try again."""

from __future__ import annotations

import argparse
import re
import time

from skilld import console
from skilld.cli import common
from skilld.errors import UsageError
from skilld.store import Store
from skilld.store.meta import FOREVER, PAUSED_UNTIL, SNOOZED_UNTIL, UNAVAILABLE_JUDGES
from skilld.text import pluralize

_MAX_SECONDS = 36500 * 86400  # a hundred years; later dates cannot be shown
_WAIT_SECONDS = 5.0  # for another program's lock on the database: the person is waiting, and can type it again
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_DURATION_PART = re.compile(r"(?<![\d.])(\d++(?:\.\d++)?)([smhdw])", re.ASCII)


def _store() -> Store:
    found = common.store()
    found.wait_at_most(_WAIT_SECONDS)
    return found


def pause(arguments: argparse.Namespace) -> int:
    """Stop judging, for a while or until resumed."""
    given = arguments.duration
    until = FOREVER if given is None else time.time() + _parse_duration(given)
    _store().meta.set(PAUSED_UNTIL, until)
    console.say(f"Paused {FOREVER}." if given is None else f"Paused for {given}.")
    end = "you resume. To resume" if given is None else "the pause ends. To end it now"
    console.say(f"What you say in the meantime will be judged when {end}: skilld resume")
    return 0


def resume(arguments: argparse.Namespace) -> int:
    """Resume judging."""
    del arguments
    meta = _store().meta
    was_paused = meta.paused(time.time())
    meta.delete(PAUSED_UNTIL)
    console.say("Resumed." if was_paused else "skilld was not paused.")
    return 0


def snooze(arguments: argparse.Namespace) -> int:
    """Mute notifications for a while, or unmute them."""
    if arguments.duration == "off":
        _store().meta.delete(SNOOZED_UNTIL)
        console.say("Notifications are on again.")
        return 0
    _store().meta.set(SNOOZED_UNTIL, time.time() + _parse_duration(arguments.duration))
    console.say(f"Notifications are off for {arguments.duration}.")
    return 0


def _parse_duration(text: str) -> float:
    given = text.strip()
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _DURATION_PART.findall(given))
    if _DURATION_PART.sub("", given) or not seconds:
        raise UsageError("Not a duration", text, "Use a number and a unit, such as 30m, 1h30m, 1d or 2w.")
    if seconds > _MAX_SECONDS:
        raise UsageError("Too long", f"{text} is more than a hundred years")
    return seconds


def retry(arguments: argparse.Namespace) -> int:
    """Queue failed and delayed work again."""
    del arguments
    store = _store()
    away = [model for model, absent in store.meta.get(UNAVAILABLE_JUDGES, {}).items() if not absent["limit"]]
    store.meta.delete(UNAVAILABLE_JUDGES)
    number = store.batches.retry()
    when = "now." if common.daemon_pid() else "once skilld runs: skilld run, or skilld run --once"
    waiting = pluralize(store.batches.counts()["pending"], "batch", "batches")
    none = f"No batch has failed or been delayed; {waiting} waiting to be judged."
    console.say(f"{pluralize(number, 'batch', 'batches')} will be retried {when}" if number else none)
    if away:
        console.say(f"{console.plain(', '.join(away))} will be asked again from the next batch on.")
        console.say("Messages judged without it are not judged again; to have it read past sessions: skilld mine")
    return 0
