"""Checks of the machine and of our own files on it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skilld.doctor.values import Check, Disk, Machine, Trouble, Verdict
from skilld.text import counted
from skilld.times import seconds

OLDEST_GIT = (2, 36)
_VERSION = re.compile(r"(?<!\d)(\d++)\.(\d+)")
_LEAST_FREE = 100 << 20  # bytes
_WRITTEN = seconds("2026-11-01T00:00:00Z") or 0.0  # no clock that is right shows an earlier time than this line
_SKEW = 120.0


def machine(facts: Machine, seen_at: float | None, newest: float | None) -> list[Check]:
    """Return all checks of the machine. `seen_at` is when the daemon last said something, `newest` when a file grew."""
    return [
        _trouble("settings", facts.settings, "they are understood"),
        _trouble("permissions", facts.permissions, "what skilld keeps is yours alone"),
        _database(facts.store, facts.rebuilt),
        _git(facts.git),
        _clock(facts.now, seen_at, newest),
        _disk(facts.disks),
        _watches(facts),
    ]


def _trouble(name: str, trouble: Trouble | None, fine: str) -> Check:
    if trouble is None:
        return Check(name, Verdict.OK, fine)
    return Check(name, Verdict.FAIL, trouble.what, trouble.remedy)


def _database(trouble: Trouble | None, rebuilt: str) -> Check:
    if trouble is None and rebuilt:
        return Check("database", Verdict.WARN, rebuilt)
    return _trouble("database", trouble, "it is sound")


def _git(found: str | Trouble) -> Check:
    if isinstance(found, Trouble):
        return Check("git", Verdict.FAIL, found.what, found.remedy)
    version = _VERSION.search(found)
    if version is None:
        return Check("git", Verdict.WARN, f"its version is not told: {found}")
    if (int(version[1]), int(version[2])) < OLDEST_GIT:
        wanted = ".".join(map(str, OLDEST_GIT))
        return Check("git", Verdict.FAIL, f"it is {version[0]}, older than {wanted}", f"Install git {wanted} or newer.")
    return Check("git", Verdict.OK, found.strip())


def _clock(now: float, seen_at: float | None, newest: float | None) -> Check:
    if now < _WRITTEN:
        return Check("clock", Verdict.FAIL, "it is set to a time before this skilld was made", "Set the clock.")
    later = {"the daemon last wrote": seen_at, "a transcript last grew": newest}
    for what, at in later.items():
        if at is not None and at > now + _SKEW:
            minutes = round((at - now) / 60)
            return Check("clock", Verdict.WARN, f"{what} {minutes} minutes from now: it was set back", "Set the clock.")
    return Check("clock", Verdict.OK, "it agrees with what was written before")


def _disk(disks: Sequence[Disk]) -> Check:
    if not disks:
        return Check("disk", Verdict.SKIP, "the free space cannot be told")
    least = min(disks, key=lambda disk: disk.free)
    shown = f"{least.free >> 20} MB free at {least.folder}, where skilld writes {least.what}"
    if least.free < _LEAST_FREE:
        remedy = "Free some space there. Nothing is lost: what could not be written is tried again."
        return Check("disk", Verdict.FAIL, shown, remedy)
    return Check("disk", Verdict.OK, shown)


def _watches(facts: Machine) -> Check:
    if facts.remote:
        places = ", ".join(map(str, facts.remote))
        return Check("watches", Verdict.WARN, f"on a network file system nothing tells of changes: {places} is polled")
    if facts.watch_limit is None:
        return Check("watches", Verdict.OK, counted(facts.folders, "folder"))
    shown = f"{counted(facts.folders, 'folder')}, of {facts.watch_limit} that the kernel allows"
    if facts.folders > facts.watch_limit:
        more = max(524288, 2 * facts.folders)
        return Check(
            "watches",
            Verdict.WARN,
            f"{shown}: the rest is polled every half minute",
            f"sudo sysctl fs.inotify.max_user_watches={more}",
        )
    return Check("watches", Verdict.OK, shown)
