"""Compares what an adapter reads in a session typed for this purpose with the list of what was typed.

Takes a case folder (`truth.json` beside the client's own files) and an adapter module; gives the differences as lines
of text, none when all is well. The counting rule is the README's of the cases: every required row is extracted, in
order within its file, and nothing is extracted that no row explains. Knows no agent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from skilld.agents.base import Adapter
from skilld.ingest import side_files
from skilld.ingest.source import source_of
from skilld.text import fold
from skilld.types import Event, RawLine, SkillUse, Turn

SHARED = Path(__file__).parents[2].parent / "shared" / "data"

_NOWHERE: dict[str, str] = {}  # no list of typed prompts but one beside the transcript


@dataclass
class Reading:
    """What the adapter read in all files of a case: turns by file in file order, and the skills in use."""

    turns: dict[str, list[Turn]] = field(default_factory=dict)
    skills: list[SkillUse] = field(default_factory=list)


def raw_lines(data: bytes, start: int = 0) -> Iterator[RawLine]:
    """Yield the lines of a file's bytes from offset `start`; a last line without its newline counts as a line."""
    while start < len(data):
        newline = data.find(b"\n", start)
        stop = len(data) if newline < 0 else newline
        end = stop if newline < 0 else newline + 1
        yield RawLine(start, end, data[start:stop])
        start = end


def events_of(adapter: Adapter, path: Path) -> list[Event]:
    """Return all events of one file, as if it had been read in one go and then been idle."""
    parser = adapter.parser(path)
    side_files.provide(parser, path, adapter.INFO, _NOWHERE)
    events = [event for line in _records(adapter, path) for event in parser.feed(line)]
    return events + parser.flush()


def _records(adapter: Adapter, path: Path) -> list[RawLine]:
    """Return the records of a transcript; the last line also counts without its newline."""
    if adapter.INFO.queries or adapter.INFO.is_gathered(path.name):
        return [item for item in source_of(adapter.INFO, path).read_all(path) if isinstance(item, RawLine)]
    return list(raw_lines(path.read_bytes()))


def events_of_records(adapter: Adapter, *records: dict[str, Any] | bytes, name: str = "session.jsonl") -> list[Event]:
    """Return all events of records written one to a line, as `events_of` does; bytes are a line as they are."""
    parser = adapter.parser(PurePath(name))
    data = b"".join((r if isinstance(r, bytes) else json.dumps(r).encode()) + b"\n" for r in records)
    return [event for line in raw_lines(data) for event in parser.feed(line)] + parser.flush()


def events_with_restarts(adapter: Adapter, path: Path, every: int) -> list[Event]:
    """Return all events of one file when the reader is killed and resumed after every `every` new lines.

    The state goes through JSON, as it does in the store. Lines that are read again give their events again.
    """
    records = _records(adapter, path)
    events: list[Event] = []
    state: dict[str, Any] | None = None
    position, reached = 0, 0
    while True:
        parser = adapter.parser(path, state)
        side_files.provide(parser, path, adapter.INFO, _NOWHERE)
        fresh = 0
        for line in records:
            if line.start < position:
                continue
            events += parser.feed(line)
            fresh += line.end > reached
            reached = max(reached, line.end)
            if fresh >= every:
                break
        if not fresh:
            return events + parser.flush()
        position, state = parser.checkpoint(reached)
        state = json.loads(json.dumps(state))


def read_case(case: Path, adapter: Adapter) -> Reading:
    """Read every transcript that truth.json lists; a turn in several files counts only in the first."""
    reading = Reading()
    seen: set[str] = set()
    for name in _truth(case)["session_files"]:
        path = source_of(adapter.INFO, case / name).transcript(case / name)
        if not adapter.is_transcript(path):
            continue
        events = events_of(adapter, path)
        turns = {event.key: event for event in reversed(events) if isinstance(event, Turn) and event.key not in seen}
        reading.turns[name] = list(reversed(turns.values()))
        seen |= turns.keys()
        reading.skills += [event for event in events if isinstance(event, SkillUse)]
    return reading


def find_differences(case: Path, adapter: Adapter) -> list[str]:
    """Return what the adapter lost, invented, doubled or reordered in this case."""
    truth = _truth(case)
    reading = read_case(case, adapter)
    return _turn_differences(truth["turns"], reading.turns) + _skill_differences(truth["skills"], reading.skills)


def _truth(case: Path) -> dict[str, Any]:
    truth: dict[str, Any] = json.loads((case / "truth.json").read_text(encoding="utf-8"))
    return truth


def _explained(row: dict[str, Any]) -> set[str]:
    return {fold(row[key]) for key in ("expect", "text", "recorded_as") if row.get(key)}


def _turn_differences(rows: list[dict[str, Any]], by_file: dict[str, list[Turn]]) -> list[str]:
    found: list[str] = []
    open_rows = list(range(len(rows)))
    for name, turns in by_file.items():
        last = -1
        for turn in turns:
            text = fold(turn.text)
            fits = [i for i in open_rows if text in _explained(rows[i])]
            later = [i for i in fits if i > last]
            if not fits:
                found.append(f"not typed, or typed less often: {text!r} ({turn.how}, {name})")
                continue
            if not later:
                found.append(f"out of order: {text!r} ({name})")
            row = min(later or fits)
            open_rows.remove(row)
            last = max(last, row)
            if rows[row]["required"] and text != fold(rows[row]["expect"]):
                found.append(f"expected {rows[row]['expect']!r}, read {text!r}")
    found += [f"lost: {rows[i]['expect']!r} ({rows[i]['how']})" for i in open_rows if rows[i]["required"]]
    return found


def _skill_differences(rows: list[dict[str, Any]], uses: list[SkillUse]) -> list[str]:
    truth = {(row["name"], row.get("path")) for row in rows}
    names = {name for name, _ in truth}
    read = {(use.name, use.path) for use in uses}
    unexplained = {use for use in read - truth if use[1] is not None or use[0] not in names}
    return [f"skill lost: {skill}" for skill in sorted(truth - read, key=str)] + [
        f"skill not used: {skill}" for skill in sorted(unexplained, key=str)
    ]
