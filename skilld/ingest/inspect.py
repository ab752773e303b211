"""What skilld sees in one transcript: the answer of `skilld inspect`, and what tests compare with what was typed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from skilld.agents import ADAPTERS
from skilld.agents.base import Adapter, Parser
from skilld.agents.tools import record_reader, tool_counts, tools_of
from skilld.ingest import side_files
from skilld.ingest.main_dir import Work
from skilld.ingest.source import source_of
from skilld.ingest.tail import MAX_LINE, UnreadableError
from skilld.types import Event, Ignored, Malformed, RawLine, SkillUse, Span, ToolCall, ToolEvent, Turn

_GUESS_BYTES = 1 << 20  # bytes


@dataclass
class View:
    """Everything read out of one file, turns in order, copies of one turn once."""

    agent: str
    session_id: str | None = None
    cwd: str | None = None
    turns: dict[str, Turn] = field(default_factory=dict)
    skills: list[tuple[SkillUse, str | None]] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)
    malformed: int = 0
    work: Work = field(default_factory=Work)
    tools: list[ToolEvent] = field(default_factory=list)  # calls without their input

    def add(self, event: Event) -> None:
        """Take in one event."""
        match event:
            case Turn():
                self.turns.setdefault(event.key, event)
                self._see(event.session_id, event.cwd)
            case SkillUse():
                self.skills.append((event, next(reversed(self.turns), None)))
                self._see(event.session_id, event.cwd)
            case Ignored():
                self.ignored[event.reason] += 1
            case Malformed():
                self.malformed += 1
            case _:
                self._see(event.session_id, None)

    def _see(self, session_id: str, cwd: str | None) -> None:
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


def inspect(path: Path, adapter: Adapter) -> View:
    """Read the whole file with the adapter. Raises OSError where it cannot be read."""
    view = View(adapter.INFO.name)
    parser: Parser = adapter.parser(path)
    side_files.tell(parser, path, adapter.INFO)
    records, tools = record_reader(adapter, path), tools_of(adapter)
    for item in source_of(adapter.INFO).whole(path):
        if isinstance(item, RawLine):
            for event in parser.feed(item):
                view.add(event)
            for record, span in records(item):
                for call in tools(record, view.session_id or "", span):
                    view.work.see(call)
                    view.tools.append(replace(call, input={}) if isinstance(call, ToolCall) else call)
        if isinstance(item, Span) or item.end - item.start > MAX_LINE + 1:
            view.ignored["line over 8 MiB"] += 1
    for event in parser.flush():
        view.add(event)
    return view


def guess_agent(path: Path) -> str | None:
    """Return the agent whose transcript this seems to be: by its place, else by which adapter makes sense of it."""
    place = path.absolute().as_posix()
    for name, adapter in ADAPTERS.items():
        stores = [f"/{adapter.INFO.home}/{store}".rstrip("/") + "/" for store in adapter.INFO.stores]
        if any(store in place for store in stores) and adapter.is_transcript(path):
            return name
    scores = {name: _sense(path, adapter) for name, adapter in ADAPTERS.items()}
    best = max(scores, key=lambda name: scores[name])
    if scores[best] > 0:
        return best
    # By the names of store and file alone: the agent's own folder may have been moved.
    return next((name for name, it in ADAPTERS.items() if it.is_transcript(path) and _has_store(path, it)), None)


def _has_store(path: Path, adapter: Adapter) -> bool:
    return bool(set(adapter.INFO.stores) & set(path.parts))


def _sense(path: Path, adapter: Adapter) -> int:
    parser = adapter.parser(path)
    events: list[Event] = []
    try:
        for item in source_of(adapter.INFO).whole(path, end=_GUESS_BYTES):
            if isinstance(item, RawLine):
                events += parser.feed(item)
    except UnreadableError:  # no database
        return 0
    events += parser.flush()
    return sum(1 for event in events if not isinstance(event, Malformed))
