"""An adapter with a declared format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from skilld.agents.base import AgentInfo, read_object, string
from skilld.agents.declared import DeclaredParser, Format
from skilld.agents.typed_history import Entry, ProvingParser
from skilld.types import Span, ToolEvent


@dataclass
class DeclaredAdapter:
    """The adapter of an agent with a declared format.

    `transcript` recognizes its transcripts by their paths, if INFO has no `session_place`. `entries` reads the client's
    list of what was typed; `joins` and `optional` are as for `ProvingParser`; `reads` is a parser of its own, if the
    format is not enough.
    """

    INFO: AgentInfo
    format: Format
    transcript: Callable[[PurePath], bool] | None = None
    entries: Callable[[bytes], Sequence[Entry] | None] = field(default_factory=lambda: read_entries)
    joins: bool = False
    optional: bool = False
    reads: type[DeclaredParser] = DeclaredParser

    def is_transcript(self, path: PurePath) -> bool:
        """Whether this file below one of the stores is a main-thread transcript, judged by its path alone."""
        return self.transcript(path) if self.transcript else self.INFO.is_session(path)

    def parser(self, path: PurePath, state: Mapping[str, Any] | None = None) -> ProvingParser:
        """Return a parser for one transcript, fresh or resumed with the state of a checkpoint."""
        known = state or {}
        inner = self.reads(self.format, path, known)
        return ProvingParser(inner, self.entries, known, joins=self.joins, optional=self.optional)

    def tool_events(self, record: Mapping[str, Any], session_id: str, span: Span) -> Iterator[ToolEvent]:
        """Yield the tool events of one record."""
        return self.format.tool_events(record, session_id, span)


def read_entries(data: bytes, field: str = "prompt") -> list[Entry] | None:
    """Return the entries of a list with a JSON object on each line; None if the last line is half written."""
    if data and not data.endswith(b"\n") and read_object(data.rpartition(b"\n")[2]) is None:
        return None
    records = (read_object(line) for line in data.splitlines())
    return [Entry(string(record.get(field))) for record in records if record is not None and record.get(field)]
