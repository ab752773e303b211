"""Claude Code: turns lines of a session's JSONL file into events.

The format is internal to the client and changes between versions: nothing is required, everything is tolerated. Each
record is handled by the module for its kind: prompts and wrappers, notes in tool results, the prompt queue, skills. The
order of a file is nearly that of the conversation; in its first lines an answer may come before its prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from skilld.agents.base import AgentInfo, mapping, short
from skilld.agents.chunk import Chunk
from skilld.agents.claude_code.prefilter import (
    Calls,
    LineFilter,
    is_self_contained,
    next_denial,
    outside_message,
    parse,
)
from skilld.agents.claude_code.prompts import (
    Delivery,
    Presence,
    Queue,
    attached_prompt,
    blocked_prompt,
    flag_reason,
    lacks_signature,
    typed_prompt,
)
from skilld.agents.claude_code.records import AGENT, Record, blocks, string, texts
from skilld.agents.claude_code.skills import TOOLS, Skills
from skilld.agents.claude_code.wrappers import DENIAL_KIND, REFUSAL, REFUSAL_COPY, TypedWords, bash_input, find_notes
from skilld.agents.tools import bounded
from skilld.types import (
    Event,
    How,
    Malformed,
    RawLine,
    Reply,
    SessionEnd,
    SessionStart,
    SkillUse,
    Span,
    ToolCall,
    ToolEvent,
    ToolOutcome,
    ToolResult,
)

# Tool calls and their outcomes: `tool_use` and `tool_result` blocks.

_REJECTION = "User rejected tool use"
_DENIED_BY_RULE = "Permission to use "
_INTERRUPTIONS = ("[Request interrupted by user", "<tool_use_error>Sibling tool call errored")


def records_of(line: RawLine) -> list[tuple[dict[str, Any], Span]]:
    """Return the records of a line: some hold two, or a torn one."""
    return [(one, Span(line.start, line.end)) for one in parse(line.data)[0]]


def tool_events(record: Mapping[str, Any], session_id: str, span: Span) -> Iterator[ToolEvent]:
    """Yield the tool events of one record, including those of a sub-agent in the main file."""
    read = Record(record, span, session_id)
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
    """Return the outcome of a call from the client's marks in its result and the start of its text."""
    if block.get("is_error") is not True:
        stopped = mapping(record.get("toolUseResult")).get("interrupted") is True
        return ToolOutcome.INTERRUPTED if stopped else ToolOutcome.OK
    text = next(iter(texts(block.get("content"))), "")
    copy = record.string("toolUseResult")
    if record.string("toolDenialKind") == DENIAL_KIND or copy == _REJECTION or copy.startswith(REFUSAL_COPY):
        return ToolOutcome.REJECTED
    if (not copy and text.startswith(REFUSAL)) or (text.startswith(_DENIED_BY_RULE) and " denied" in text[:1000]):
        return ToolOutcome.REJECTED
    return ToolOutcome.INTERRUPTED if text.startswith(_INTERRUPTIONS) else ToolOutcome.FAILED


__all__ = ["INFO", "Parser", "is_transcript", "parser", "records_of", "tool_events"]


class Parser:
    """Reads one session's file. `session` is the id for records without one."""

    def __init__(self, session: str, state: Mapping[str, Any]) -> None:
        self._session = session
        self._presence = Presence(mapping(state.get("presence")))
        self._calls = Calls({call: string(name) for call, name in mapping(state.get("calls")).items()})
        self._queue = Queue()
        self._skills = Skills(mapping(state.get("skills")))
        self._filter = LineFilter(self._calls)
        self._skipped: tuple[bytearray, int, int] | None = None  # position of the last skipped record

    def feed(self, line: RawLine) -> list[Event]:
        """Return the events of one complete line, and of earlier ones that have waited long enough."""
        self._queue.tick()
        events: list[Event] = [*self._skills.tick()]
        span = Span(line.start, line.end)
        found, whole = parse(line.data)
        if not (whole and len(found) == 1 and is_self_contained(found[0])):
            self._follow_skipped()
        self._skipped = None
        if not whole:
            events.append(Malformed(span))
        for fields in found:
            events += self._read(Record(fields, span, self._session))
        return events

    def skim(self, chunk: Chunk) -> list[Event]:
        """Return the events of a chunk; for replies only that there were some. See base.chunk_reader."""
        events: list[Event] = []
        at, until = 0, next_denial(chunk, 0)
        while at < chunk.size:
            if not (self._queue.is_waiting or self._skills.is_waiting):  # nothing counts lines
                run = self._filter.skip_lines(chunk, at, until)
                if run.last:
                    self._skipped = chunk.data, *run.last
                if run.spoke is not None:
                    span = Span(chunk.offset + at, chunk.offset + run.stop)
                    events.append(Reply(run.spoke or self._last_skipped().session_id, "", None, span))
                at = run.stop
            if at < chunk.size:
                line = chunk.line(at)
                events += self.feed(line)
                at += len(line.data) + 1
            if at > until:
                until = next_denial(chunk, at)
        if self._skipped:  # the buffer is reused
            passed = outside_message(*self._skipped)
            self._skipped = passed, 0, len(passed)
        return events

    def _follow_skipped(self) -> None:
        """Update the presence from the last skipped record."""
        if self._skipped:
            self._presence.update(self._last_skipped())
            self._skipped = None

    def _last_skipped(self) -> Record:
        """Return the last skipped record without its words."""
        fields = next(iter(parse(bytes(outside_message(*self._skipped)))[0]), {}) if self._skipped else {}
        return Record({**fields, "type": "assistant"}, Span(0, 0), self._session)

    def flush(self) -> list[Event]:
        """Return the events that waited for a line that will not come."""
        self._follow_skipped()
        self._queue.flush()
        return [*self._skills.flush()]

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where reading may resume, and the state to resume with: ids, names, paths, hashes and flags."""
        self._follow_skipped()
        parse.cache_clear()  # no words stay in the memory of a daemon that waits
        starts = [start for start in (self._queue.start, self._skills.start) if start is not None]
        return min([end, *starts]), {
            "presence": self._presence.state(),
            "calls": dict(self._calls),
            "skills": self._skills.state(),
        }

    def _read(self, record: Record) -> list[Event]:
        if record.get("isSidechain"):
            return [record.ignored("sidechain")] if record.type == "user" and not any(record.results()) else []
        match record.type:
            case "queue-operation":
                return [*self._queue.on_operation(record, self._presence)]
            case "continued-in" | "ended":
                return [SessionEnd(record.session_id, record.span)]
            case "user":
                return self._on_user(record, by_person=self._presence.update(record))
            case "assistant" | "attachment" | "system" if self._presence.update(record):
                return self._on_other(record)
        return []

    def _on_user(self, record: Record, *, by_person: bool) -> list[Event]:
        if any(record.results()):
            return self._on_results(record) if by_person and not flag_reason(record) else []
        if flag_reason(record) == "meta":
            text = "\n".join(texts(record.content))
            # A scheduled prompt goes through the queue like a typed one, and would wait there forever.
            if record.string("promptSource") == "system":
                self._queue.on_delivery(text, "system")
            uses = self._skills.on_body(record, text) if by_person else None
            return [*(uses or []), record.ignored("meta" if uses is None else "skill-body")]
        if record.get("toolUseResult") is not None:
            return []
        if not isinstance(record.content, str | list):
            return [Malformed(record.span)]
        found = typed_prompt(record)
        if isinstance(found, str):
            self._queue.on_delivery(bash_input("".join(texts(record.content))))
            uses = self._skills.on_output(record) if found == "command-output" and by_person else []
            own = _session_events(record) if found == "local-command" and by_person else []
            return [*uses, *own, record.ignored(found)]
        if found.command:
            return self._on_command(record, found) if by_person else [record.ignored("headless")]
        return self._on_typed(record, found, by_person=by_person)

    def _on_typed(self, record: Record, found: TypedWords, *, by_person: bool) -> list[Event]:
        delivery = self._queue.on_delivery(found.text, record.string("promptSource"))
        if not by_person:
            return [record.ignored("headless")]
        if lacks_signature(record, self._presence.version):
            return [record.ignored("unsigned")]
        if delivery is Delivery.QUEUED:
            return [*self._skills.before_turn(), record.turn(found.text, How.QUEUED)]
        self._queue.drop_older(record)
        return [*self._skills.before_turn(), record.turn(found.text, How.TYPED)]

    def _on_command(self, record: Record, found: TypedWords) -> list[Event]:
        if self._skills.repeats_call(found.command):
            return [record.ignored("agents-command")]
        uses = [*self._skills.before_turn(), *self._skills.on_command(record, found.command)]
        return [*uses, record.turn(found.text, How.COMMAND) if found.text.strip() else record.ignored("bare-command")]

    def _on_results(self, record: Record) -> list[Event]:
        uses: list[SkillUse] = []
        for block in record.results():
            call = string(block.get("tool_use_id"))
            tool = self._calls.get(call, "")
            if tool in TOOLS and block.get("is_error") is not True:
                uses += self._skills.on_result(record, call, tool)
        return [*uses, *find_notes(record, self._calls)]

    def _on_other(self, record: Record) -> list[Event]:
        if record.type == "assistant":
            return self._on_assistant(record)
        if record.type == "system":
            blocked = blocked_prompt(record)
            self._queue.on_delivery(blocked)
            if blocked.strip():
                return [record.turn(blocked, How.TYPED)]
            return [*self._skills.on_launch(record)]
        attachment = Record(mapping(record.get("attachment")), record.span, record.session_id)
        if attachment.type == "invoked_skills":
            return [*self._skills.on_compaction(record, attachment.get("skills"))]
        return [self._on_queued_command(record, attachment)] if attachment.type == "queued_command" else []

    def _on_assistant(self, record: Record) -> list[Event]:
        for block in blocks(record.content):
            if block.get("type") == "tool_use":
                call, tool = string(block.get("id")), string(block.get("name"))
                self._calls.add(call, tool)
                if tool in TOOLS:
                    self._skills.on_call(call, mapping(block.get("input")))
        text = "\n".join(texts(record.content))
        # An API error, or text that the client wrote as the agent's.
        fake = record.get("isApiErrorMessage") is True or mapping(record.get("message")).get("model") == "<synthetic>"
        if fake or not text.strip():
            return []
        return [Reply(record.session_id, text, record.at, record.span)]

    def _on_queued_command(self, record: Record, attachment: Record) -> Event:
        found = attached_prompt(attachment)
        if isinstance(found, str):
            return record.ignored(found)
        self._queue.on_delivery(found.text, "queued")
        if lacks_signature(attachment, self._presence.version):
            return record.ignored("unsigned")
        # The uuid under which some versions write the same prompt again.
        own = attachment.string("source_uuid") or record.string("uuid")
        carrier = Record({**record.fields, "uuid": own}, record.span, self._session)
        return carrier.turn(found.text, How.QUEUED, at=attachment.at)


_OWN_COMMAND = re.compile(r"\s*<command-name>/?(exit|quit|clear)</command-name>")


def _session_events(record: Record) -> list[SessionStart | SessionEnd]:
    """Return the events of a client command: `/clear` starts a session in its own file."""
    match _OWN_COMMAND.match("".join(texts(record.content))):
        case None:
            return []
        case found if found[1] == "clear":
            return [SessionStart(record.session_id, record.span, record.cwd)]
    return [SessionEnd(record.session_id, record.span)]


INFO = AgentInfo(
    name=AGENT,
    title="Claude Code",
    home=".claude",
    home_variables=("CLAUDE_CONFIG_DIR",),
    stores=("projects",),
    call_mark=b'tool_use"',
    project_skills=(".claude/skills",),
    wrappers=(
        "system-reminder",
        "ide_selection",
        "ide_opened_file",
        "new-diagnostics",
        "user-prompt-submit-hook",
        "pasted_content",
        "bash-stdout",
        "local-command-stdout",
        "task-notification",
        "teammate-message",
        "command-contents",
        "command body",
        "skill body",
        "attachment hook_success",
        "attachment selected_lines_in_ide",
        "tool result",
        "queue",
        "option label",
        "blocking hook",
        "compact summary",
        "side chain",
    ),
    instructions=("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md"),
    verified="2.1.197 on 2026-11-20, 2.1.332 on 2026-11-30",
)


def is_transcript(path: PurePath) -> bool:
    """Whether a path is that of a main-thread session, `<store>/<project>/<session>.jsonl`, not of a sub-agent."""
    store = path.parent.parent.name
    return path.suffix == ".jsonl" and not path.name.startswith("agent-") and store in INFO.stores


def parser(path: PurePath, state: Mapping[str, Any] | None = None) -> Parser:
    """Return a parser for one session's file, fresh or resumed with the state of a checkpoint."""
    return Parser(path.stem, state or {})
