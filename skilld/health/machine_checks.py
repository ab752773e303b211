"""The doctor's checks of the machine and of skilld's own files. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf

from skilld.clock import parse_time
from skilld.health.values import Check, Disk, Machine, Trouble, Verdict
from skilld.text import pluralize

OLDEST_GIT = (2, 36)
_VERSION_PATTERN = re.compile(r"(?<!\d)(\d++)\.(\d+)")
MIN_FREE = 100 << 20  # bytes
_GIGABYTES_FROM = 10 << 30  # bytes: below, it matters how many megabytes are left
MIN_FREE_REMEDY = "Free some space there. Nothing is lost: skilld will try again."
_RELEASE_TIME = parse_time("2026-11-01T00:00:00Z") or 0.0  # when this line was written: a correct clock is later
_SKEW_SECONDS = 120.0
_POLLED = "are polled every 30 s"


def machine(facts: Machine, seen_at: float | None, newest: float | None) -> list[Check]:
    """Return all checks of the machine. `seen_at` is the daemon's last status, `newest` the last growth of a file."""
    database = _check_trouble("database", facts.store, "intact")
    if facts.store is None and facts.rebuilt:
        database = Check("database", Verdict.WARN, facts.rebuilt)
    return [
        _check_trouble("settings", facts.settings, "valid"),
        _check_trouble("permissions", facts.permissions, "only you can read skilld's files"),
        database,
        _check_git(facts.git),
        _check_clock(facts.now, seen_at, newest),
        _check_disk(facts.disks),
        _check_watches(facts),
    ]


def _check_trouble(name: str, trouble: Trouble | None, fine: str) -> Check:
    if trouble is None:
        return Check(name, Verdict.OK, fine)
    return Check(name, Verdict.FAIL, trouble.what, trouble.remedy)


def _check_git(found: str | Trouble) -> Check:
    if isinstance(found, Trouble):
        return Check("git", Verdict.FAIL, found.what, found.remedy)
    version = _VERSION_PATTERN.search(found)
    if version is None:
        return Check("git", Verdict.WARN, f"unknown version: {found}")
    if (int(version[1]), int(version[2])) < OLDEST_GIT:
        wanted = f"{'.'.join(map(str, OLDEST_GIT))} or newer"
        return Check("git", Verdict.FAIL, f"{version[0]} is too old, {wanted} is required", f"Install git {wanted}.")
    return Check("git", Verdict.OK, found.strip())


def _check_clock(now: float, seen_at: float | None, newest: float | None) -> Check:
    remedy = "Set the system clock."
    if now < _RELEASE_TIME:
        return Check("clock", Verdict.FAIL, "set to a date before this version of skilld was released", remedy)
    for what, at in (("the daemon's status", seen_at), ("a transcript", newest)):
        if at is not None and at > now + _SKEW_SECONDS:
            detail = f"seems to have been set back: {what} is dated {_span(at - now)} in the future"
            return Check("clock", Verdict.WARN, detail, remedy)
    return Check("clock", Verdict.OK, "consistent with the timestamps of your files")


def _span(seconds: float) -> str:
    limits = (("minute", 60, 7200.0), ("hour", 3600, 2 * 86400.0), ("day", 86400, inf))
    return next(pluralize(round(seconds / size), name) for name, size, most in limits if seconds <= most)


def _check_disk(disks: Sequence[Disk]) -> Check:
    if not disks:
        return Check("disk", Verdict.SKIP, "free space unknown")
    least = min(disks, key=lambda disk: disk.free)
    size = f"{least.free >> 30:,} GB" if least.free >= _GIGABYTES_FROM else f"{least.free >> 20:,} MB"
    detail = f"{size} free at {least.folder}, where skilld writes {least.what}"
    if least.free < MIN_FREE:
        return Check("disk", Verdict.FAIL, detail, MIN_FREE_REMEDY)
    return Check("disk", Verdict.OK, detail)


def _check_watches(facts: Machine) -> Check:
    if facts.remote:
        places = ", ".join(map(str, facts.remote))
        return Check("watches", Verdict.WARN, f"polling {places}: network file systems do not report changes")
    folders, setting = pluralize(facts.folders, "folder"), facts.watch_setting
    detail = folders if facts.watch_limit is None else f"{folders}; the kernel allows {facts.watch_limit:,}"
    if facts.unwatched and facts.no_watches:
        what = f"none of {folders} is watched: the kernel's limit on watching programs is reached; they {_POLLED}"
        return Check("watches", Verdict.WARN, what, "sudo sysctl fs.inotify.max_user_instances=1024")
    if facts.unwatched or facts.folders > (facts.watch_limit or facts.folders):
        more = max(524288, 2 * facts.folders, 2 * (facts.watch_limit or 0))
        told = f"{detail}, with other programs' watches" if facts.folders <= (facts.watch_limit or 0) else detail
        return Check("watches", Verdict.WARN, f"{told}; the rest {_POLLED}", f"sudo sysctl {setting}={more}")
    return Check("watches", Verdict.OK, detail)
