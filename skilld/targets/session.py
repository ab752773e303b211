"""What a transcript shows of the work besides words: the client's version, and the files that were touched.

Both are hints from a log: they choose among files that are there, and are never opened.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from skilld.agents import ADAPTERS
from skilld.agents.base import short
from skilld.agents.tools import SEARCH_TOOLS, files_named, patched_by, record_reader, tools_of
from skilld.ingest.source import source_of
from skilld.protocol import Source
from skilld.types import RawLine, ToolCall

_MAX_TOUCHED = 200


@dataclass(frozen=True, slots=True)
class Worked:
    """The client's version (empty: not told), and the newest files touched; relative ones from the session's folder."""

    version: str = ""
    touched: tuple[str, ...] = ()


def worked(agent: str, session: str, sources: Iterable[Source]) -> Worked:
    """Return what a batch's part of its session's transcripts shows; what cannot be read shows nothing.

    What was touched before is older work than the words are about, and parsing all of it took as long as judging.
    """
    adapter = ADAPTERS[agent]
    tools = tools_of(adapter)
    version, touched = "", dict[str, None]()
    for source in sources:
        path = Path(source.path)
        records = record_reader(adapter, path)
        try:
            for item in source_of(adapter.INFO).again(path, session, source.start, source.end):
                for record, span in records(item) if isinstance(item, RawLine) else ():
                    version = short(record.get("version")) or version
                    for call in tools(record, session, span):
                        for file in _files(call) if isinstance(call, ToolCall) else ():
                            touched.pop(file, None)
                            touched[file] = None
        except OSError:
            continue
    return Worked(version, tuple(touched)[-_MAX_TOUCHED:])


def _files(call: ToolCall) -> list[str]:
    """Return the files that a call names; looking for something touches none."""
    named = [] if call.name.lower() in SEARCH_TOOLS else [*files_named(call.input), *patched_by(call)]
    return [name for name in named if "\0" not in name]
