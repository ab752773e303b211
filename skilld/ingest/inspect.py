"""What skilld sees in one transcript: the output of `skilld inspect`, which tests compare with what was typed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from skilld.agents import ADAPTERS
from skilld.agents.base import Adapter, Parser
from skilld.agents.tools import (
    folder_of,
    record_reader,
    tool_counts,
    tools_of,
    touched_files,
)
from skilld.ingest import side_files
from skilld.ingest.source import source_of
from skilld.ingest.tail import MAX_LINE, UnreadableError
from skilld.types import Event, Ignored, Malformed, RawLine, SkillUse, Span, ToolCall, ToolEvent, ToolOutcome, Turn

# The folder in which most of a session's work was done, from its tool events.
#
# A session is often started above the part of a project it is about. Files of failed calls do not count, nor do files
# in temporary folders, in installed packages, or in an agent's own folder.

_TEMPORARY_FOLDERS = tuple(
    map(PurePosixPath, ("/tmp", "/var/tmp", "/private/tmp", "/var/folders", "/private/var/folders", "/dev/shm"))  # noqa: S108 - names
)
_SYSTEM_FOLDERS = ("/usr", "/etc", "/opt/homebrew")
_PACKAGE_FOLDERS = frozenset({"node_modules", "site-packages", "dist-packages", ".cargo", ".rustup", ".m2"})
_AGENT_HOMES = frozenset(home for adapter in ADAPTERS.values() if (home := adapter.INFO.home).startswith("."))
_SKILL_FILE = "SKILL.md"
_MAX_MENTIONS = 100_000


class FolderCounter:
    """Counts the folders in which files were touched."""

    def __init__(self) -> None:
        self._folders: Counter[str] = Counter()
        self._calls: dict[str, list[str]] = {}  # the folders of the files that each call names
        self._seen = 0

    def add(self, event: ToolEvent) -> None:
        """Count one event; calls must come before their results."""
        if isinstance(event, ToolCall):
            if event.call_id not in self._calls and self._seen < _MAX_MENTIONS:
                self._add_call(event)
        elif event.outcome not in {ToolOutcome.OK, ToolOutcome.UNKNOWN} and event.call_id in self._calls:
            self._folders.subtract(self._calls[event.call_id])
            self._calls[event.call_id] = []

    def _add_call(self, call: ToolCall) -> None:
        files = map(PurePosixPath, touched_files(call))
        named = [str(path.parent) for path in files if path.name != _SKILL_FILE]
        if call.call_id:
            self._calls[call.call_id] = named
        if folder := folder_of(call):  # a failed command still counts as work
            named = [*named, folder]
        self._seen += 1 + len(named)
        self._folders.update(named)

    def main_dir(self, cwd: str | None) -> str | None:
        """Return the deepest folder that holds more than half of what was touched; `cwd` if only / does."""
        touched = {folder: count for folder, count in self._folders.items() if count > 0}
        counts = {one: count for one, count in touched.items() if not _is_outside_work(one, cwd)}
        return deepest_common_folder(counts, cwd) or cwd


def _is_outside_work(folder: str, cwd: str | None) -> bool:
    """Whether a folder is not part of the project; everything in and below `cwd` may be, except packages."""
    path = PurePosixPath(os.path.normpath(os.path.join(cwd or "", folder)))  # noqa: PTH118 - by name, as below
    if not _PACKAGE_FOLDERS.isdisjoint(path.parts):
        return True
    if cwd and path.is_relative_to(os.path.normpath(cwd)):
        return False
    if _is_temporary(str(path)):
        return not (cwd and _is_temporary(cwd))  # if the work is in a temporary folder, another one may be part of it
    return any(path.is_relative_to(place) for place in _SYSTEM_FOLDERS) or not _AGENT_HOMES.isdisjoint(path.parts)


def _is_temporary(folder: str) -> bool:
    path = PurePosixPath(os.path.normpath(folder))
    return any(path.is_relative_to(place) for place in _TEMPORARY_FOLDERS) or "/AppData/Local/Temp" in folder


def deepest_common_folder(folders: Mapping[str, int], cwd: str | None) -> str | None:
    """Return the deepest folder with more than half of all counts in or below it; None if that is / or nothing.

    Relative names are relative to `cwd`; without one they are ignored.
    """
    counts: Counter[PurePosixPath] = Counter()
    total = 0
    for name, count in folders.items():
        path = os.path.normpath(os.path.join(cwd or "", name))  # noqa: PTH118 - by name: the file need not exist
        if not path.startswith("/"):
            continue
        total += count
        for folder in (PurePosixPath(path), *PurePosixPath(path).parents):
            counts[folder] += count
    holding = [folder for folder, count in counts.items() if 2 * count > total]
    found = max(holding, key=lambda folder: len(folder.parts), default=PurePosixPath("/"))
    return str(found) if len(found.parts) > 1 else None


_GUESS_BYTES = 1 << 20


@dataclass
class TranscriptView:
    """Everything read from one file: turns in order, copies of a turn only once."""

    agent: str
    session_id: str | None = None
    cwd: str | None = None
    turns: dict[str, Turn] = field(default_factory=dict)
    skills: list[tuple[SkillUse, str | None]] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)
    malformed: int = 0
    work: FolderCounter = field(default_factory=FolderCounter)
    tools: list[ToolEvent] = field(default_factory=list)  # calls without their input

    def add(self, event: Event) -> None:
        """Add one event."""
        match event:
            case Turn():
                self.turns.setdefault(event.key, event)
                self._set_session(event.session_id, event.cwd)
            case SkillUse():
                self.skills.append((event, next(reversed(self.turns), None)))
                self._set_session(event.session_id, event.cwd)
            case Ignored():
                self.ignored[event.reason] += 1
            case Malformed():
                self.malformed += 1
            case _:
                self._set_session(event.session_id, None)

    def _set_session(self, session_id: str, cwd: str | None) -> None:
        self.session_id = self.session_id or session_id
        self.cwd = self.cwd or cwd

    def as_json(self) -> dict[str, Any]:
        """Return the shape that `skilld inspect --json` promises."""
        return {
            "agent": self.agent,
            "session_id": self.session_id,
            "cwd": self.cwd,
            "main_dir": self.work.main_dir(self.cwd),
            "turns": [{"id": t.key, "text": t.text, "at": t.at, "how": t.how.value} for t in self.turns.values()],
            "skills": [{"name": use.name, "path": use.path, "after_turn": after} for use, after in self.skills],
            "tools": tool_counts(self.tools),
            "ignored": dict(sorted(self.ignored.items())),
            "malformed": self.malformed,
        }


def inspect(path: Path, adapter: Adapter) -> TranscriptView:
    """Read the whole file with the adapter. Raises OSError if it cannot be read."""
    view = TranscriptView(adapter.INFO.name)
    parser: Parser = adapter.parser(path)
    side_files.provide(parser, path, adapter.INFO)
    records, tools = record_reader(adapter), tools_of(adapter)
    for item in source_of(adapter.INFO, path).read_all(path):
        if isinstance(item, RawLine):
            for event in parser.feed(item):
                view.add(event)
            for record, span in records(item):
                for call in tools(record, view.session_id or "", span):
                    view.work.add(call)
                    view.tools.append(replace(call, input={}) if isinstance(call, ToolCall) else call)
        if isinstance(item, Span) or item.end - item.start > MAX_LINE + 1:
            view.ignored["line over 8 MiB"] += 1
    for event in parser.flush():
        view.add(event)
    return view


def guess_agent(path: Path) -> str | None:
    """Return the agent whose transcript this seems to be, by its path or else by which adapter finds most events."""
    place = path.absolute().as_posix()
    for name, adapter in ADAPTERS.items():
        stores = [f"/{adapter.INFO.home}/{store}".rstrip("/") + "/" for store in adapter.INFO.stores]
        if any(store in place for store in stores) and adapter.is_transcript(path):
            return name
    scores = {name: _count_events(path, adapter) for name, adapter in ADAPTERS.items()}
    best = max(scores, key=lambda name: scores[name])
    if scores[best] > 0:
        return best
    for name, adapter in ADAPTERS.items():
        owner = source_of(adapter.INFO, path).transcript(path)
        if owner != path and adapter.is_transcript(owner):
            return name
    # By the names of store and file alone: the agent's folder may have been moved.
    named = {name: it for name, it in ADAPTERS.items() if not set(it.INFO.stores).isdisjoint(path.parts)}
    return next((name for name, it in named.items() if it.is_transcript(path)), None)


def _count_events(path: Path, adapter: Adapter) -> int:
    parser = adapter.parser(path)
    events: list[Event] = []
    try:
        for item in source_of(adapter.INFO, path).read_all(path, end=_GUESS_BYTES):
            if isinstance(item, RawLine):
                events += parser.feed(item)
    except UnreadableError:  # not a database
        return 0
    events += parser.flush()
    return sum(1 for event in events if not isinstance(event, Malformed))
