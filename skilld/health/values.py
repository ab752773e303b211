"""The facts that are gathered, and the checks made from them. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from skilld.service.values import ServiceState


class Verdict(StrEnum):
    """What a check says."""

    OK = "ok"
    WARN = "warn"  # it works, but not as well as it could, or it will stop
    FAIL = "fail"
    SKIP = "skip"  # not used here, or not to be told


@dataclass(frozen=True, slots=True)
class Check:
    """One part with its verdict; `remedy` is one thing to do, empty if there is none to do or to know."""

    name: str
    verdict: Verdict
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Trouble:
    """An expected error, as its class tells it: what, why, what to do."""

    what: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Disk:
    """What is free, in bytes, where `folder` is; `what` says what skilld writes there."""

    folder: Path
    what: str
    free: int


@dataclass(frozen=True, slots=True)
class BlockedWork:
    """What keeps batches from being judged, or proposals from being written.

    `cause` is one of skilld.types.Cause, `place` a path, `waits` whether it is tried again by itself, `kept` how many
    learnings are kept until it is gone.
    """

    cause: str
    place: str
    detail: str
    remedy: str
    waits: bool
    batches: int
    kept: int


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine and our own files on it. Sizes in bytes, times in Unix seconds, None if they cannot be told.

    `git` is what `git version` printed, `watch_limit` the kernel's limit of watched folders, `folders` how many would
    be watched, `remote` the transcript folders on a network file system; `rebuilt` says when and why the database was.
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


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent. `chosen` says by which setting or variable its folders are not the usual ones, empty: they are.

    `newest` is the Unix time at which its newest transcript last grew. `turns` and `malformed` are what was read,
    `watched` is how many folders are to be watched for it, `installed` whether its program is on PATH. `foreign` counts
    the transcripts that belong to another user, which are never read.
    """

    name: str
    title: str
    folders: tuple[Path, ...]
    chosen: str
    there: bool
    unreadable: tuple[Path, ...]
    files: int
    newest: float | None
    turns: int
    malformed: int
    verified: str
    watched: int = 0
    installed: bool = False
    foreign: int = 0


@dataclass(frozen=True, slots=True)
class Daemon:
    """The daemon: whether its lock is held, what it last said of itself, and whether it is paused until when."""

    running: bool
    said: Mapping[str, Any] | None
    seen_at: float | None
    paused_until: str
    version: str
    last_error: str
    delayed: int = 0  # batches, where that error is what keeps one of them waiting
    parked: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()  # the proposals that are to be made anew, with how far that is


@dataclass(frozen=True, slots=True)
class Service:
    """The service as its manager tells it, and whether what it starts exists.

    `misses` names the variables that matter to the daemon and that this shell has and the service does not.
    """

    told: ServiceState
    program_there: bool = True
    misses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Model:
    """The back-end: its model string, why that one, what else was found, and what it lacks to be asked at all.

    `answer` is None if it was not asked; else what went wrong, empty if nothing did. `agents` are those that
    cannot judge their own sessions now, with why and what to do.
    """

    name: str
    why: str
    found: tuple[str, ...] = ()
    lacks: Trouble | None = None
    answer: Trouble | str | None = None
    agents: tuple[tuple[str, Trouble], ...] = ()


@dataclass(frozen=True, slots=True)
class Counts:
    """What came of the turns since the newest proposal. Each is judged, `pending`, `waiting` for its batch, or chatter.

    `since` is when that proposal was made, empty if there is none: then all turns count.
    """

    files: int = 0
    turns: int = 0
    judged: int = 0
    taught: int = 0  # of the judged
    pending: int = 0
    waiting: int = 0
    chatter: int = 0
    batch_turns: int = 5
    idle_minutes: float = 10
    parked: int = 0  # batches
    refusals: Mapping[str, int] = field(default_factory=dict)
    learnings: int = 0
    since: str = ""
    said: tuple[str, ...] = ()  # one for each time that something was said which stands already, the newest first
    said_since: int = 0  # how many of these came after the newest proposal


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that was gathered. `model` is None if the settings are not understood.

    `spent` says which limit of the budget was reached. `notices` says why none can be shown, empty: they can be; None:
    none are wanted.
    """

    machine: Machine
    agents: tuple[Agent, ...]
    daemon: Daemon
    service: Service
    model: Model | None
    spent: str | None
    notices: str | None
    counts: Counts | None  # None where the database cannot be read
    blocked: tuple[BlockedWork, ...] = ()
    opposed: tuple[str, ...] = ()  # open proposals, each with what says otherwise
    damaged: tuple[Trouble, ...] = ()  # staging branches that lack an object
    repeated: tuple[tuple[str, int], ...] = ()  # rules by file and line, each with the sessions of its repeats
    drift: tuple[str, ...] = ()  # what clients' new versions write that is other, each with a sample's shape
