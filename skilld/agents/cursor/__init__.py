"""The adapter for Cursor's agent transcripts, which the editor and `cursor-agent` both write.

Lines of a session in, events out. Not tested with the client, which needs an account: the shape is that of public
readers and collections up to 2026.10. A line has a role and content, but no id, time, folder or tool results. What was
typed is in `<user_query>`, among blocks of context; sessions without a terminal look the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from skilld.agents.base import AgentInfo, RecordParser, hash_name, mapping, objects, short, string
from skilld.agents.skill_reads import uses_of_call
from skilld.agents.tools import bounded
from skilld.agents.wrappers import Wrappers
from skilld.types import Event, How, Ignored, Reply, SkillUse, Span, ToolCall, ToolEvent, Turn

INFO = AgentInfo(
    name="cursor",
    title="Cursor",
    home=".cursor",
    stores=("projects",),
    project_skills=(".cursor/skills", ".agents/skills", ".claude/skills", ".codex/skills"),
    user_skills=(".agents/skills", ".claude/skills", ".codex/skills"),
    wrappers=("attached_files", "open_and_recently_viewed_files", "git_diff_from_branch_to_main", "cursor_commands"),
    instructions=("AGENTS.md", ".cursorrules"),
    verified="public collections up to 2026.10, not the client",
)

_QUERY_START, _QUERY_END = "<user_query>", "</user_query>"
# Any other tag is context, on either side of the query.
WRAPPERS = Wrappers(opens=r"<(?!user_query>)([A-Za-z][\w-]*)", closes=r"</(?!user_query>)([A-Za-z][\w-]*)>")
# Written by a button of the debug mode.
_BUTTONS = frozenset({"Issue reproduced, please proceed."})
_REDACTED_THOUGHTS = "[REDACTED]"


def is_transcript(path: PurePath) -> bool:
    """Whether this is a main session's file."""
    return path.suffix == ".jsonl" and "agent-transcripts" in path.parts and "subagents" not in path.parts


def parser(path: PurePath, state: Mapping[str, Any] | None = None) -> CursorParser:
    """Return a parser for one session, fresh or resumed with the state of a checkpoint."""
    return CursorParser(path, state or {})


def tool_events(record: Mapping[str, Any], session_id: str, span: Span) -> Iterator[ToolEvent]:
    """Yield the calls in one record; outcomes, and most ids, are in no record."""
    for part in objects(mapping(record.get("message")).get("content")):
        if part.get("type") == "tool_use" and record.get("role") == "assistant":
            call_id, name = short(part.get("id")), short(part.get("name"))
            yield ToolCall(session_id, call_id, name, bounded(part.get("input")), None, span)


class CursorParser(RecordParser[Event]):
    """Reads one session, line by line."""

    def __init__(self, path: PurePath, state: Mapping[str, Any]) -> None:
        """Resume from a checkpoint's state; an empty one is a fresh start."""
        queries = state.get("queries")
        self._session = path.stem
        self._queries = queries if isinstance(queries, int) else 0

    def _read(self, record: Mapping[str, Any], span: Span) -> list[Event]:
        content = mapping(record.get("message")).get("content")
        parts = objects([{"type": "text", "text": content}] if isinstance(content, str) else content)
        if record.get("role") == "user":
            return self._on_user(parts, span)
        return self._on_assistant(parts, span) if record.get("role") == "assistant" else []

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where to resume, and the state."""
        return end, {"queries": self._queries}

    def _on_user(self, parts: list[Mapping[str, Any]], span: Span) -> list[Event]:
        texts = [string(part.get("text")) for part in parts]
        text = "\n".join(filter(None, map(_query, texts))).strip()
        if not text:
            return [Ignored("injected", span)] if any(map(str.strip, texts)) else []
        if text in _BUTTONS:
            return [Ignored("button", span)]
        # No ids and no times: queries are identified by their number in the session, which a rewritten file keeps.
        self._queries += 1
        key = f"{INFO.name}:{hash_name(self._session, self._queries, text)}"
        return [Turn(key, INFO.name, self._session, text, None, How.TYPED, span)]

    def _on_assistant(self, parts: list[Mapping[str, Any]], span: Span) -> list[Event]:
        calls = (part for part in parts if part.get("type") == "tool_use")
        uses = [
            use for call in calls for use in uses_of_call(string(call.get("name")), mapping(call.get("input")), None)
        ]
        events: list[Event] = [SkillUse(self._session, name, path, None, span) for name, path in uses]
        text = "".join(string(part.get("text")) for part in parts if part.get("type") == "text")
        text = text.rstrip().removesuffix(_REDACTED_THOUGHTS).rstrip()
        return [*events, Reply(self._session, text, None, span)] if text.strip() else events


def _query(text: str) -> str:
    """Return the query in a text, if there is only context around it."""
    rest = WRAPPERS.typed_text(text).strip()
    is_query = rest.startswith(_QUERY_START) and rest.endswith(_QUERY_END)
    return rest.removeprefix(_QUERY_START).removesuffix(_QUERY_END) if is_query else ""
