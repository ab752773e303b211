"""Entries of an index: read as they are, and set without touching any other.

Used where the file itself is to follow (auto mode, skilld's own repositories); staging a proposal needs no index.
"""

from __future__ import annotations

from collections.abc import Mapping

from skilld.git.errors import GitFailedError, RefLockedError
from skilld.git.run import Git
from skilld.git.tree import Entry

_GONE = Entry("0", "0" * 40)


def parse(out: bytes) -> dict[str, Entry]:
    """Return path -> entry from rows of `ls-files -z --stage` (mode, id, stage) or `ls-tree -z` (mode, type, id).

    An entry in conflict has no id.
    """
    found = {}
    for row in out.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        facts, relpath = row.split("\t", 1)
        mode, second, third = facts.split(" ")
        found[relpath] = Entry(mode, third if second == "blob" else second if third == "0" else "")
    return found


def stage(git: Git, changes: Mapping[str, Entry | None]) -> None:
    """Set these entries of the index, and take out those that are None; everything else in it stays.

    Raises RefLockedError where another program is at work on the index.
    """
    if not changes:
        return
    rows = [(relpath, entry or _GONE) for relpath, entry in changes.items()]
    orders = "".join(f"{entry.mode} {entry.oid}\t{relpath}\0" for relpath, entry in rows)
    result = git.call(
        "update-index", "-z", "--index-info", stdin=orders.encode("utf-8", "surrogateescape"), env=_without_filters(git)
    )
    if "index.lock': File exists" in result.err:
        raise RefLockedError("The index was not written", "another program holds its lock", after=60)
    if result.status != 0:
        raise GitFailedError("git update-index failed", result.status, result.err)


def _without_filters(git: Git) -> dict[str, str]:
    """Return variables that switch off every filter program there is a setting for.

    Writing an index makes git look again at files as young as the index, through their filters (measured, git 2.39).
    Without them such a file counts as doubtful, and the person's next `git status` looks at it.
    """
    out = git.call("config", "--null", "--name-only", "--get-regexp", r"^filter\.").out
    names = {name.rpartition(".")[0] for name in out.decode("utf-8", "surrogateescape").split("\0") if name}
    values = {"clean": "", "smudge": "", "process": "", "required": "false"}
    rows = [(f"{name}.{key}", value) for name in sorted(names) for key, value in values.items()]
    settings = {"GIT_CONFIG_COUNT": str(len(rows))}
    for number, (key, value) in enumerate(rows):
        settings |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return settings
