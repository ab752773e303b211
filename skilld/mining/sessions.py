"""Reads past sessions from transcripts. Each turn counts once, however often its session was forked or resumed."""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from skilld.agents.base import objects, string
from skilld.classify.backends.completion import Rates
from skilld.errors import SkilldError
from skilld.git.top import folders_to_top, is_top
from skilld.ingest.discover import Host, Root, find_roots, find_transcripts, is_anybodys
from skilld.ingest.inspect import FolderCounter, guess_agent
from skilld.ingest.whole_transcript import read_transcript
from skilld.jobs.limits import ProcessorTimeError, processor_time
from skilld.mining.actions import Action, ActionLog
from skilld.paths import possible_folder
from skilld.pipeline.documents import session_opt_out
from skilld.pipeline.messages import to_messages
from skilld.protocol import PROCESSOR_SECONDS
from skilld.skills.project_config import linked_work_tree, read_link
from skilld.types import Event, Message, Reply, SkillUse, ToolCall, ToolEvent, ToolResult, Turn
from skilld.values import value_class

_Event = TypeVar("_Event")

# How a session ended and what it cost, from its own log. Pure: one agent's records in, two facts out.
#
# Claude Code records tokens per answer, pi and opencode dollars as well, the others neither. What is not recorded
# stays unknown, and reports say so. Field names are those of the logs (docs/agents.md names the versions).


class Ending(StrEnum):
    """How a session's last turn ended, according to its log."""

    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    FAILED = "failed"  # an error is the last thing in it
    UNFINISHED = "unfinished"  # it stops while the agent was at work
    UNKNOWN = "unknown"


_INTERRUPTED_PREFIX = "[Request interrupted by user"
_CLAUDE_ENDINGS = {"end_turn": Ending.COMPLETED, "stop_sequence": Ending.COMPLETED, "tool_use": Ending.UNFINISHED}
_PI_ENDINGS = {"stop": Ending.COMPLETED, "aborted": Ending.INTERRUPTED, "error": Ending.FAILED} | {
    "toolUse": Ending.UNFINISHED
}
_CODEX_ENDINGS = {"task_complete": Ending.COMPLETED, "turn_aborted": Ending.INTERRUPTED, "error": Ending.FAILED}


@dataclass(slots=True)
class SessionLog:
    """The end and the cost of one session, collected from its records. `usd` is None if they name no cost."""

    ending: Ending = Ending.UNKNOWN
    usd: float | None = None
    _tokens: dict[str, tuple[str, tuple[int, int, int, int]]] = field(default_factory=dict)

    def add(self, agent: str, record: Mapping[str, Any]) -> None:
        """Add one record; a malformed one is ignored."""
        reader = _READERS.get(agent)
        try:
            if reader is not None:
                reader(self, record)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return

    def cost(self, rates: Callable[[str], Rates | None]) -> float | None:
        """Return the session's cost in US dollars, from its log or by the models' prices; None if unknown."""
        if self.usd is not None or not self._tokens:
            return self.usd
        total = 0.0
        for model, counts in self._tokens.values():
            if not any(counts):
                continue  # an answer that no model gave
            price = rates(model)
            if price is None:
                return None
            total += price.of(*counts)
        return total

    @property
    def tokens(self) -> int:
        """Input and output tokens of its answers without cached ones, 0 if its log has none."""
        return sum(read + written for _, (read, written, _, _) in self._tokens.values())

    def spend(self, usd: object) -> None:
        """Add the cost that a record names."""
        if isinstance(usd, int | float) and not isinstance(usd, bool) and usd >= 0:
            self.usd = (self.usd or 0.0) + usd

    def use(self, message: str, model: str, usage: Mapping[str, Any]) -> None:
        """Add the tokens of one answer; several records of it repeat them."""
        names = "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"
        read, written, cached, kept = (int(usage.get(name) or 0) for name in names)
        self._tokens[message] = (model, (read, written, cached, kept))


def _read_claude(log: SessionLog, record: Mapping[str, Any]) -> None:
    message = record.get("message")
    kind = record.get("type")
    if kind not in {"user", "assistant"} or not isinstance(message, dict) or record.get("isSidechain"):
        return
    if kind == "user":
        interrupted = _first_text(message.get("content")).startswith(_INTERRUPTED_PREFIX)
        if interrupted or not record.get("isMeta"):
            log.ending = Ending.INTERRUPTED if interrupted else Ending.UNFINISHED
        return
    if record.get("isApiErrorMessage"):
        log.ending = Ending.FAILED
        return
    log.ending = _CLAUDE_ENDINGS.get(str(message.get("stop_reason")), Ending.COMPLETED)
    if "costUSD" in record:
        log.spend(record["costUSD"])
    elif isinstance(usage := message.get("usage"), dict):
        log.use(str(message.get("id")), str(message.get("model")), usage)


def _first_text(content: object) -> str:
    first: Mapping[str, Any] = next(iter(objects(content)), {})
    return string(content) or string(first.get("text")) or string(first.get("content"))


def _read_codex(log: SessionLog, record: Mapping[str, Any]) -> None:
    payload = record.get("payload")
    if record.get("type") == "event_msg" and isinstance(payload, dict):
        kind = str(payload.get("type"))
        if kind == "task_started" and log.ending is not Ending.UNKNOWN:  # older versions record no end of a task
            log.ending = Ending.UNFINISHED
        log.ending = _CODEX_ENDINGS.get(kind, log.ending)


def _read_opencode(log: SessionLog, record: Mapping[str, Any]) -> None:
    rows = record.get("message")
    data = json.loads(rows[0]["data"]) if rows else {}
    if data.get("role") == "user":
        log.ending = Ending.UNFINISHED
    if data.get("role") != "assistant":
        return
    log.spend(data.get("cost"))
    if error := data.get("error"):
        log.ending = Ending.INTERRUPTED if "Abort" in str(error.get("name")) else Ending.FAILED
    else:
        log.ending = Ending.COMPLETED if data.get("finish") == "stop" else Ending.UNFINISHED


def _read_pi(log: SessionLog, record: Mapping[str, Any]) -> None:
    message = record.get("message")
    if not isinstance(message, dict):
        return
    if message.get("role") == "assistant":
        log.ending = _PI_ENDINGS.get(str(message.get("stopReason")), Ending.UNKNOWN)
        usage = message.get("usage")
        cost = usage.get("cost") if isinstance(usage, dict) else None
        if isinstance(cost, dict):
            log.spend(cost.get("total"))
    elif message.get("role") == "user":
        log.ending = Ending.UNFINISHED


_READERS: dict[str, Callable[[SessionLog, Mapping[str, Any]], None]] = {
    "claude-code": _read_claude,
    "codex": _read_codex,
    "opencode": _read_opencode,
    "pi": _read_pi,
}


@value_class
class Transcript:
    """A transcript to be read; `changed` is Unix time. `by_hand`: somebody named it; it is in no agent's folder."""

    agent: str
    path: Path
    changed: float
    by_hand: bool = False


@value_class
class Session:
    """One session, its messages redacted; `at` is the time of its last turn, empty if its log has none.

    `cwd` is where it was started, `main_dir` the folder in which most of its work was done, `project` the top folder
    of that one's repository, or `cwd` if it is not on this machine. `by_hand` is that of its transcript. Each of
    `actions`, and of the uses in `loaded`, has the key of the turn that it followed.
    """

    agent: str
    id: str
    path: Path
    cwd: str
    main_dir: str
    at: str
    messages: tuple[Message, ...]
    uses: tuple[SkillUse, ...]
    log: SessionLog = field(default_factory=SessionLog)
    project: str = ""
    by_hand: bool = False
    actions: tuple[tuple[Action, str], ...] = ()
    loaded: tuple[tuple[SkillUse, str], ...] = ()

    @property
    def turns(self) -> list[Message]:
        """The person's messages."""
        return [message for message in self.messages if message.by_person]

    @property
    def is_left_alone(self) -> bool:
        """Whether its project opts out, or has a configuration that cannot be read: then better not."""
        try:
            return bool(session_opt_out(self.cwd or None))
        except SkilldError:
            return True


@dataclass(slots=True)
class _SessionBuilder:
    """Collects one session while its transcript is read."""

    events: list[Turn | Reply] = field(default_factory=list)
    uses: list[SkillUse] = field(default_factory=list)
    work: FolderCounter = field(default_factory=FolderCounter)
    actions: ActionLog = field(default_factory=ActionLog)
    log: SessionLog = field(default_factory=SessionLog)


def recent_transcripts(host: Host, since: float) -> list[Transcript]:
    """Return the transcripts on this machine that changed after `since` (Unix seconds), the newest first.

    If the agents' own layout has none, the configured folders are searched for transcripts in any layout, as people
    keep copies.
    """
    return transcripts_in_roots(find_roots(host.home, host.environment, host.roots), since) or [
        one
        for agent, bases in host.roots.items()
        for base in bases
        for one in transcripts_below(base, since, agent)
        if is_anybodys(agent, one.path) is False
    ]


def transcripts_in_roots(places: Iterable[Root], since: float) -> list[Transcript]:
    """Return the transcripts in agents' folders that changed after `since` (Unix seconds), the newest first."""
    found = [
        Transcript(root.agent, path, facts.st_mtime)
        for root in places
        for path, facts in find_transcripts(root)
        if facts.st_mtime >= since and is_anybodys(root.agent, path) is False
    ]
    return sorted(found, key=lambda one: -one.changed)


def transcripts_below(folder: Path, since: float, agent: str | None = None) -> list[Transcript]:
    """Return the transcripts below a folder of any layout, recognized by their content, newest first.

    With `agent`, only those of that agent. `folder` may be a single file.
    """
    found = []
    for path in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
        try:
            changed = path.stat().st_mtime
            if path.is_file() and changed >= since:
                name = guess_agent(path)
                if name is not None and agent in {None, name}:
                    found.append(Transcript(name, path, changed))
        except OSError:
            continue
    return sorted(found, key=lambda one: -one.changed)


class Reader:
    """Reads transcripts one by one, leaving out turns that an earlier one had. `unreadable` counts files."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._known: set[str] = set()
        self.unreadable = 0

    def sessions(self, transcript: Transcript) -> list[Session]:
        """Return the sessions of one transcript that have new turns."""
        by_id: dict[str, _SessionBuilder] = {}
        try:
            for name, item in read_transcript(transcript.agent, transcript.path):
                self._take(item, transcript.agent, by_id.setdefault(name, _SessionBuilder()))
        except OSError:
            self.unreadable += 1
        return [
            self._session(transcript, name, read)
            for name, read in by_id.items()
            if any(isinstance(event, Turn) for event in read.events)
        ]

    def _take(self, item: Event | ToolEvent | Mapping[str, Any], agent: str, read: _SessionBuilder) -> None:
        match item:
            case Turn() if item.key not in self._known:
                self._known.add(item.key)
                read.events.append(item)
            case Reply():
                read.events.append(item)
            case SkillUse():
                read.uses.append(item)
            case ToolCall() | ToolResult():
                read.work.add(item)
                read.actions.add(item)
            case Mapping():
                read.log.add(agent, item)
            case _:
                pass

    def _session(self, transcript: Transcript, name: str, read: _SessionBuilder) -> Session:
        turns = [event for event in read.events if isinstance(event, Turn)]
        cwd = next((turn.cwd for turn in reversed(turns) if possible_folder(turn.cwd)), None) or ""
        main_dir = read.work.main_dir(cwd or None) or ""
        here = str(project_of(main_dir) or cwd or main_dir)
        return Session(
            agent=transcript.agent,
            id=name,
            path=transcript.path,
            cwd=cwd,
            main_dir=main_dir,
            at=next((turn.at for turn in reversed(turns) if turn.at), ""),
            messages=tuple(to_messages(read.events, self._redact)),
            uses=tuple(read.uses),
            log=read.log,
            project=main_tree(here),
            by_hand=transcript.by_hand,
            actions=_by_turn(((self._masked(one), one.at) for one in read.actions.actions(here)), turns),
            loaded=_by_turn(((one, one.span.start) for one in read.uses), turns),
        )

    def _masked(self, action: Action) -> Action:
        """Return an action without secrets, since skilld prints and stores why a command is in no draft."""
        return replace(action, text=self._redact(action.text), about=tuple(map(self._redact, action.about)))


def _by_turn(events: Iterable[tuple[_Event, int]], turns: Sequence[Turn]) -> tuple[tuple[_Event, str], ...]:
    """Return each event (given with its position) with the key of the turn that it followed, in the same order.

    Events before the first turn belong to turns of an earlier file, which this one repeats.
    """
    starts = sorted((turn.span.start, turn.key) for turn in turns)
    placed = [(one, bisect_right(starts, at, key=lambda start: start[0])) for one, at in events]
    return tuple((one, starts[behind - 1][1]) for one, behind in placed if behind)


def project_of(folder: str) -> Path | None:
    """Return the top folder of a folder's repository, or the folder itself; None if it is not on this machine."""
    here = [*folders_around(folder)]
    return here[-1] if here else None


# Worktrees inside their repository, where agents and people put them. They are often gone when their sessions are read.
_WORKTREE_PATTERN = re.compile(r"/\.(?:claude/)?worktrees/.+", re.DOTALL)
_HOME_PATTERN = re.compile(r"/(?:Users|home)/[^/]+|/root|")


def main_tree(top: str) -> str:
    """Return the main work tree of a work tree's repository, or `top` itself if that is unknown.

    Work in several worktrees of one repository is work in one project.
    """
    with suppress(OSError, ValueError):
        linked = linked_work_tree(top)
        if linked and read_link(f"{linked[0]}/gitdir").strip() == f"{top}/.git":  # the repository must confirm it
            return linked[1]
    within = _WORKTREE_PATTERN.sub("", top)
    here = is_top(within) or not os.path.lexists(within)
    return within if within != top and here and not _HOME_PATTERN.fullmatch(within) else top


def folders_around(folder: str) -> Iterator[Path]:
    """Yield a folder and its parents up to the top of its repository; nothing if it is not on this machine."""
    here = Path(folder)
    # The path comes from a log. Path.is_dir raises for an unreadable folder or an impossible name; os.path does not.
    if not here.is_absolute() or ".." in here.parts or not os.path.isdir(here):  # noqa: PTH112
        return
    yield from folders_to_top(here)


# Selecting past sessions. A session whose log does not show its cost or end is kept, and counted for the report.


@value_class
class SessionFilter:
    """Which sessions to read. `usd` is the minimum cost, `completed` excludes sessions that were broken off."""

    limit: int = 100
    turns: int = 1
    ids: frozenset[str] | None = None
    project: Path | None = None
    usd: float | None = None
    completed: bool = False


@dataclass
class SessionSet:
    """The sessions that were read, and counts for the report."""

    sessions: list[Session] = field(default_factory=list)
    unreadable: int = 0
    unknown_cost: int = 0
    unknown_end: int = 0
    left_alone: int = 0

    @property
    def by_hand(self) -> set[str]:
        """The sessions whose files somebody named, outside the agents' folders."""
        return {one.id for one in self.sessions if one.by_hand}


def read_sessions(
    transcripts: Iterable[Transcript],
    wanted: SessionFilter,
    redact: Callable[[str], str],
    rates: Callable[[str], Rates | None],
) -> SessionSet:
    """Return the wanted sessions, newest first. `rates` returns the prices of a model's tokens."""
    reader = Reader(redact)
    reading = SessionSet()
    for transcript in transcripts:
        try:
            with processor_time(PROCESSOR_SECONDS):
                sessions = list(reader.sessions(transcript))
        except ProcessorTimeError:  # the other transcripts are still read
            reader.unreadable += 1
            continue
        for session in sessions:
            if len(reading.sessions) < wanted.limit and _is_wanted(session, wanted, rates, reading):
                reading.sessions.append(session)
        if len(reading.sessions) >= wanted.limit:
            break
    reading.unreadable = reader.unreadable
    return reading


def _is_wanted(
    session: Session, wanted: SessionFilter, rates: Callable[[str], Rates | None], reading: SessionSet
) -> bool:
    if len(session.turns) < wanted.turns or (wanted.ids is not None and not session.id.startswith(tuple(wanted.ids))):
        return False
    folders = [Path(folder) for folder in (session.cwd, session.main_dir, session.project) if folder]
    if wanted.project is not None and not any(folder.is_relative_to(wanted.project) for folder in folders):
        return False
    if session.is_left_alone:
        reading.left_alone += 1
        return False
    if wanted.completed and session.log.ending not in {Ending.COMPLETED, Ending.UNKNOWN}:
        return False
    cost = session.log.cost(rates) if wanted.usd is not None else None
    if wanted.usd is not None and cost is not None and cost < wanted.usd:
        return False
    reading.unknown_end += wanted.completed and session.log.ending is Ending.UNKNOWN
    reading.unknown_cost += wanted.usd is not None and cost is None
    return True
