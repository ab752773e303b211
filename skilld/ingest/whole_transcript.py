"""Reads a whole transcript at once: its events, its records and what these say about tools, each with its session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from skilld.agents import ADAPTERS
from skilld.agents.tools import record_reader, tools_of
from skilld.ingest import side_files
from skilld.ingest.source import source_of
from skilld.types import Event, RawLine, ToolEvent


def read_transcript(agent: str, path: Path) -> Iterator[tuple[str, Event | ToolEvent | Mapping[str, Any]]]:
    """Yield a transcript's events, records and tool events with the ID of their session, "" as long as it is unknown.

    Raises OSError if it cannot be read.
    """
    adapter = ADAPTERS[agent]
    source, session = source_of(adapter.INFO, path), ""
    parser, records, tools = adapter.parser(path), record_reader(adapter), tools_of(adapter)
    side_files.provide(parser, path, adapter.INFO)
    for item in source.read_all(path):
        if not isinstance(item, RawLine):
            continue
        for event in parser.feed(item):
            session = getattr(event, "session_id", session)
            yield session, event
        session = source.session(item) or session
        for record, span in records(item):
            yield session, record
            for call in tools(record, session, span):
                yield session, call
    for event in parser.flush():
        yield getattr(event, "session_id", session), event
