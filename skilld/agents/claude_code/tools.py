"""The tool calls of a Claude Code session and how they came out: `tool_use` and `tool_result` blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from skilld.agents.base import short
from skilld.agents.claude_code.feedback import DENIED, REFUSED, REFUSED_COPY
from skilld.agents.claude_code.prefilter import parse
from skilld.agents.claude_code.records import Record, blocks, mapping, string, texts
from skilld.agents.tools import Records, bounded
from skilld.types import Span, ToolCall, ToolEvent, ToolOutcome, ToolResult

_REJECTED = "User rejected tool use"
_BY_RULE = "Permission to use "
_STOPPED = ("[Request interrupted by user", "<tool_use_error>Sibling tool call errored")


def records_of(path: PurePath) -> Records:
    """Return how lines of a session's file make records: some hold two, or one that is torn."""
    del path
    return lambda line: [(one, Span(line.start, line.end)) for one in parse(line.data)[0]]


def tool_events(record: Mapping[str, Any], session_id: str, span: Span) -> Iterator[ToolEvent]:
    """Yield the tool events of one record. A sub-agent's within the main file are the session's, too."""
    read = Record(dict(record), span, session_id)
    if read.type not in {"assistant", "user"}:
        return
    for block in blocks(read.content):
        kind = string(block.get("type"))
        if kind.endswith("tool_use"):
            call_id, name = short(block.get("id")), short(block.get("name"))
            yield ToolCall(read.session_id, call_id, name, bounded(block.get("input")), read.at, span)
        elif kind.endswith("tool_result"):
            yield ToolResult(read.session_id, short(block.get("tool_use_id")), outcome_of(read, block), read.at, span)


def outcome_of(record: Record, block: Mapping[str, Any]) -> ToolOutcome:
    """Return what a result says of its call, by the client's marks and the beginning of what it says."""
    if block.get("is_error") is not True:
        stopped = mapping(record.get("toolUseResult")).get("interrupted") is True
        return ToolOutcome.INTERRUPTED if stopped else ToolOutcome.OK
    said = next(iter(texts(block.get("content"))), "")
    copy = record.string("toolUseResult")
    if record.string("toolDenialKind") == DENIED or copy == _REJECTED or copy.startswith(REFUSED_COPY):
        return ToolOutcome.REJECTED
    if (not copy and said.startswith(REFUSED)) or (said.startswith(_BY_RULE) and " denied" in said[:1000]):
        return ToolOutcome.REJECTED
    return ToolOutcome.INTERRUPTED if said.startswith(_STOPPED) else ToolOutcome.FAILED
