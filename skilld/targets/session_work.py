"""What a transcript shows besides words: the client's version, and the files touched.

Both are only claims of a log: they select among existing files, and are never opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from skilld.agents import ADAPTERS
from skilld.agents.base import short
from skilld.agents.chunk import Chunk
from skilld.agents.tools import record_reader, tools_of, touched_files
from skilld.ingest.source import source_of
from skilld.protocol import Source
from skilld.types import RawLine, Span, ToolCall
from skilld.values import value_class

_MAX_TOUCHED = 200
_VERSION_KEY = b'"version"'


@value_class
class SessionWork:
    """The client's version ("" if unknown), and the files touched last, some relative to the session's folder."""

    version: str = ""
    touched: tuple[str, ...] = ()


def session_work(agent: str, session: str, sources: Iterable[Source]) -> SessionWork:
    """Return the work in a batch's part of its session's transcripts; unreadable ones are ignored.

    Earlier work is not what the words are about, and parsing all of it took as long as judging; so did parsing tool
    results: only lines with a tool call are parsed, and one with the version.
    """
    adapter = ADAPTERS[agent]
    records, tools, mark = record_reader(adapter), tools_of(adapter), adapter.INFO.call_mark
    version, touched = "", dict[str, None]()
    for source in sources:
        path = Path(source.path)
        try:
            parts = source_of(adapter.INFO, path).read_range(path, session, source.start, source.end)
            for part in parts:
                for record, span in chain.from_iterable(map(records, _relevant_lines(part, mark, version))):
                    version = short(record.get("version")) or version
                    for call in tools(record, session, span):
                        for file in touched_files(call) if isinstance(call, ToolCall) else ():
                            touched.pop(file, None)
                            touched[file] = None
        except OSError:
            continue
    return SessionWork(version, tuple(touched)[-_MAX_TOUCHED:])


def _relevant_lines(part: Chunk | RawLine | Span, mark: bytes, version: str) -> Iterator[RawLine]:
    """Yield the lines to parse: those with the `mark` of a tool call, or all if there is none."""
    if isinstance(part, RawLine):
        yield part
    elif isinstance(part, Chunk) and not mark:
        yield from part.raw_lines()
    elif isinstance(part, Chunk):
        yield from () if version else islice(part.lines_with(_VERSION_KEY), 1)
        yield from part.lines_with(mark)
