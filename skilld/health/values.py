"""The facts that are gathered, and the checks on them. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import Any

from skilld.service.values import ServiceState
from skilld.store.batches import Delay
from skilld.values import value_class


class Verdict(StrEnum):
    """The result of a check."""

    OK = "ok"
    WARN = "warn"  # it works, but not as well as it could, or not for long
    FAIL = "fail"
    SKIP = "skip"  # not used here, or not known


@value_class
class Check:
    """One check with its verdict; `remedy` is one thing to do, empty if there is none or none is known."""

    name: str
    verdict: Verdict
    detail: str
    remedy: str = ""


@value_class
class Trouble:
    """An expected error: what is wrong, and what to do about it."""

    what: str
    remedy: str = ""


@value_class
class Disk:
    """The free bytes on the disk of `folder`; `what` says what skilld writes there."""

    folder: Path
    what: str
    free: int


@value_class
class BlockedWork:
    """What blocks batches from being judged or proposals from being written.

    `cause` is one of skilld.types.Cause, `place` a path, `waits` whether it is retried automatically, `kept` the number
    of learnings kept until then.
    """

    cause: str
    place: str
    detail: str
    remedy: str
    waits: bool
    batches: int
    kept: int


@value_class
class Machine:
    """The machine and skilld's own files on it. Sizes in bytes, times in Unix seconds, None if not known.

    `git` is the output of `git version`, `watch_limit` the kernel's limit of watched folders, which `watch_setting`
    sets, `folders` how many would be watched, `unwatched` how many the running daemon could not watch, `no_watches`
    whether that is all of them, `remote` the transcript folders on network file systems, `rebuilt` when and why the
    database was.
    """

    now: float
    settings: Trouble | None
    permissions: Trouble | None
    store: Trouble | None
    git: str | Trouble
    disks: tuple[Disk, ...]
    watch_limit: int | None
    folders: int
    remote: tuple[Path, ...] = ()
    rebuilt: str = ""
    watch_setting: str = "fs.inotify.max_user_watches"
    unwatched: int = 0
    no_watches: bool = False


@value_class
class Agent:
    """One agent. `chosen_by` names the setting or variable that sets its folders; empty for the default ones.

    `newest` is the Unix time at which its newest transcript last grew. `turns` and `malformed` count what was read,
    `watched` the folders to watch for it; `installed` says whether its program is on PATH. `foreign` counts the
    transcripts that belong to another user, which are never read. `linked` are links to transcripts, which are not
    followed, `exposed` the transcripts, or their folders, that any user can change, `gone` the folders that are no
    longer there.
    """

    name: str
    title: str
    folders: tuple[Path, ...]
    chosen_by: str
    exists: bool
    unreadable: tuple[Path, ...]
    files: int
    newest: float | None
    turns: int
    malformed: int
    verified: str
    watched: int = 0
    installed: bool = False
    foreign: int = 0
    linked: tuple[Path, ...] = ()
    exposed: tuple[Path, ...] = ()
    gone: tuple[Trouble, ...] = ()


@value_class
class Daemon:
    """The daemon: whether its lock is held, its last status, until when it is paused, and when it ran only once."""

    running: bool
    status: Mapping[str, Any] | None
    seen_at: float | None
    paused_until: str
    version: str
    last_error: str
    ran_once_at: float | None = None  # Unix time
    delayed: tuple[Delay, ...] = ()  # why batches wait, except for what other checks report
    parked: tuple[str, ...] = ()
    unusable: int = 0  # batches that failed with an answer that could not be used
    lacking: tuple[str, ...] = ()  # keys that this shell sets and the daemon was started without
    stale: tuple[str, ...] = ()  # proposals to be remade, each with the progress
    outdated: bool = False  # it was started before an upgrade
    is_set_up: bool = True  # it ran here, or there are settings


@value_class
class Service:
    """The service as reported by its manager, and whether its program exists.

    `missing` names the variables that the daemon needs and that this shell has but the service does not.
    """

    state: ServiceState
    program_exists: bool = True
    missing: tuple[str, ...] = ()


@value_class
class Model:
    """The back-end: its model string, why it was chosen, what else was found, and what it lacks to be asked at all.

    `answer` is None if it was not asked, a Trouble if that failed, otherwise a remark on the answer, or who answered if
    several agents were asked; `others` has the results of the other agents then. `agents` are those that cannot judge
    their own sessions now, each with the trouble; `unasked` are those that skilld can never ask. `answered_on` is the
    last day on which it answered anything, if there is one.
    """

    name: str
    why: str
    found: tuple[str, ...] = ()
    missing: Trouble | None = None
    answer: Trouble | str | None = None
    agents: tuple[tuple[str, Trouble], ...] = ()
    unasked: tuple[str, ...] = ()
    others: tuple[Trouble | str, ...] = ()
    answered_on: str = ""


@value_class
class Counts:
    """What became of the turns since the newest proposal: judged, `pending`, `waiting` for their batch, or skipped.

    `since` is when that proposal was made; if there is none it is empty, and all turns count. `ran` is whether skilld
    ever ran here, `spent` the limit of the budget that was reached.
    """

    files: int = 0
    turns: int = 0
    judged: int = 0
    taught: int = 0  # of the judged
    pending: int = 0
    waiting: int = 0
    chatter: int = 0
    opted_out: int = 0
    batch_turns: int = 5
    idle_minutes: float = 10
    parked: int = 0  # batches
    refusals: Mapping[str, int] = field(default_factory=dict)
    learnings: int = 0
    since: str = ""
    said: tuple[str, ...] = ()  # what was said although a file already contains it, the newest first
    said_since: int = 0  # how many of these are newer than the newest proposal
    ran: bool = True
    spent: str = ""


@value_class
class Facts:
    """All facts. `model` is None if the settings are not valid; `spent` is the limit of the budget that was reached.

    `notices` is why notices cannot be shown, empty if they can be, None if they are off.
    """

    machine: Machine
    agents: tuple[Agent, ...]
    daemon: Daemon
    service: Service
    model: Model | None
    spent: str | None
    notices: str | None
    counts: Counts | None  # None if the database cannot be read
    blocked: tuple[BlockedWork, ...] = ()
    repeated: tuple[tuple[str, int], ...] = ()  # rules by file and line, each with its number of sessions
    found: tuple[Check, ...] = ()  # nothing to weigh here: each is a warning or a failure as it is
