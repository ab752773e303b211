"""Claude Code: turns lines of a session's JSONL file into events.

The format is internal to the client and changes from version to version: nothing is required, everything is tolerated.
Every record goes to the module that knows its sort: prompts and wrappers, notes at tool results, the prompt queue,
skills. The order of a file is nearly that of the talk; in its first lines an answer may come before its prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from skilld.agents.base import AgentInfo, mapping, short
from skilld.agents.chunk import Chunk
from skilld.agents.claude_code.prefilter import Calls, Heads, outside, parse, stands_alone, sure_until
from skilld.agents.claude_code.records import AGENT, Record, blocks, string, texts
from skilld.agents.claude_code.skills import TOOLS, Skills
from skilld.agents.claude_code.typed import Delivery, Presence, Queue, attached, blocked_prompt, flagged, prompt
from skilld.agents.claude_code.wrappers import DENIED, REFUSED, REFUSED_COPY, Words, bash_input, notes
from skilld.agents.tools import Records, bounded
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

# The tool calls of a Claude Code session and how they came out: `tool_use` and `tool_result` blocks.

_REJECTED = "User rejected tool use"
_BY_RULE = "Permission to use "
_STOPPED = ("[Request interrupted by user", "<tool_use_error>Sibling tool call errored")


def records_of(path: PurePath) -> Records:
    """Return how lines of a session's file make records: some hold two, or one that is torn."""
    del path
    return lambda line: [(one, Span(line.start, line.end)) for one in parse(line.data)[0]]


def tool_events(record: Mapping[str, Any], session_id: str, span: Span) -> Iterator[ToolEvent]:
    """Yield the tool events of one record. A sub-agent's within the main file are the session's, too."""
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


__all__ = ["INFO", "Parser", "is_transcript", "parser", "records_of", "tool_events"]


class Parser:
    """Reads one session's file. `session` names the session where a record does not."""

    def __init__(self, session: str, state: Mapping[str, Any]) -> None:
        self._session = session
        self._presence = Presence(mapping(state.get("presence")))
        self._calls = Calls({call: string(name) for call, name in mapping(state.get("calls")).items()})
        self._queue = Queue()
        self._skills = Skills(mapping(state.get("skills")))
        self._heads = Heads(self._calls)
        self._passed: tuple[bytearray, int, int] | None = None  # where the last record is that was passed over

    def feed(self, line: RawLine) -> list[Event]:
        """Return the events of one complete line, and of earlier ones that have waited for it long enough."""
        self._queue.tick()
        events: list[Event] = [*self._skills.tick()]
        span = Span(line.start, line.end)
        found, whole = parse(line.data)
        if not (whole and len(found) == 1 and stands_alone(found[0])):
            self._catch_up()
        self._passed = None
        if not whole:
            events.append(Malformed(span))
        for fields in found:
            events += self._read(Record(fields, span, self._session))
        return events

    def skim(self, chunk: Chunk) -> list[Event]:
        """Return the events of a chunk; of replies only that there were some. See base.skimming."""
        events: list[Event] = []
        at, until = 0, sure_until(chunk, 0)
        while at < chunk.size:
            if not self._waits():
                run = self._heads.pass_over(chunk, at, until)
                if run.last:
                    self._passed = chunk.data, *run.last
                if run.spoke is not None:
                    span = Span(chunk.offset + at, chunk.offset + run.stop)
                    events.append(Reply(run.spoke or self._standing().session_id, "", None, span))
                at = run.stop
            if at < chunk.size:
                line = chunk.line(at)
                events += self.feed(line)
                at += len(line.data) + 1
            if at > until:
                until = sure_until(chunk, at)
        if self._passed:  # the buffer is used again
            passed = outside(*self._passed)
            self._passed = passed, 0, len(passed)
        return events

    def _waits(self) -> bool:
        """Whether lines must be counted because something waits for one."""
        return self._queue.waits or self._skills.waits

    def _catch_up(self) -> None:
        """Take from the records that were passed over who sits there, and where."""
        if self._passed:
            self._presence.follow(self._standing())
            self._passed = None

    def _standing(self) -> Record:
        """Return the last record that was passed over, without its words."""
        fields = next(iter(parse(bytes(outside(*self._passed)))[0]), {}) if self._passed else {}
        return Record({**fields, "type": "assistant"}, Span(0, 0), self._session)

    def flush(self) -> list[Event]:
        """Return what waited for a line that will not come."""
        self._catch_up()
        self._queue.flush()
        return [*self._skills.flush()]

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where reading may resume, and the state to resume with: ids, names, paths, hashes and flags."""
        self._catch_up()
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
                return [*self._queue.operate(record, self._presence)]
            case "continued-in" | "ended":
                return [SessionEnd(record.session_id, record.span)]
            case "user":
                return self._user(record, by_person=self._presence.follow(record))
            case "assistant" | "attachment" | "system" if self._presence.follow(record):
                return self._other(record)
        return []

    def _user(self, record: Record, *, by_person: bool) -> list[Event]:
        if any(record.results()):
            return self._results(record) if by_person and not flagged(record) else []
        if flagged(record) == "meta":
            text = "\n".join(texts(record.content))
            # A scheduled prompt goes through the queue as a typed one does, and would wait there for ever.
            if record.string("promptSource") == "system":
                self._queue.delivered(text, "system")
            uses = self._skills.body(record, text) if by_person else None
            return [*(uses or []), record.ignored("meta" if uses is None else "skill-body")]
        if record.get("toolUseResult") is not None:
            return []
        if not isinstance(record.content, str | list):
            return [Malformed(record.span)]
        found = prompt(record)
        if isinstance(found, str):
            self._queue.delivered(bash_input("".join(texts(record.content))))
            uses = self._skills.output(record) if found == "command-output" and by_person else []
            own = _of_session(record) if found == "local-command" and by_person else []
            return [*uses, *own, record.ignored(found)]
        if found.command:
            return self._command(record, found) if by_person else [record.ignored("headless")]
        return self._typed(record, found, by_person=by_person)

    def _typed(self, record: Record, found: Words, *, by_person: bool) -> list[Event]:
        delivery = self._queue.delivered(found.text, record.string("promptSource"))
        if not by_person:
            return [record.ignored("headless")]
        if delivery is Delivery.QUEUED:
            return [*self._skills.before_turn(), record.turn(found.text, How.QUEUED)]
        self._queue.overtaken(record)
        return [*self._skills.before_turn(), record.turn(found.text, How.TYPED)]

    def _command(self, record: Record, found: Words) -> list[Event]:
        if self._skills.is_the_agents(found.command):
            return [record.ignored("agents-command")]
        uses = [*self._skills.before_turn(), *self._skills.typed(record, found.command)]
        return [*uses, record.turn(found.text, How.COMMAND) if found.text.strip() else record.ignored("bare-command")]

    def _results(self, record: Record) -> list[Event]:
        uses: list[SkillUse] = []
        for block in record.results():
            call = string(block.get("tool_use_id"))
            tool = self._calls.get(call, "")
            if tool in TOOLS and block.get("is_error") is not True:
                uses += self._skills.result(record, call, tool)
        return [*uses, *notes(record, self._calls)]

    def _other(self, record: Record) -> list[Event]:
        if record.type == "assistant":
            return self._assistant(record)
        if record.type == "system":
            blocked = blocked_prompt(record)
            self._queue.delivered(blocked)
            if blocked.strip():
                return [record.turn(blocked, How.TYPED)]
            return [*self._skills.launched(record)]
        attachment = Record(mapping(record.get("attachment")), record.span, record.session_id)
        if attachment.type == "invoked_skills":
            return [*self._skills.kept(record, attachment.get("skills"))]
        return [self._queued_command(record, attachment)] if attachment.type == "queued_command" else []

    def _assistant(self, record: Record) -> list[Event]:
        for block in blocks(record.content):
            if block.get("type") == "tool_use":
                call, tool = string(block.get("id")), string(block.get("name"))
                self._calls.note(call, tool)
                if tool in TOOLS:
                    self._skills.called(call, mapping(block.get("input")))
        text = "\n".join(texts(record.content))
        # An error of the service, or words that the client put into the agent's mouth.
        made_up = (
            record.get("isApiErrorMessage") is True or mapping(record.get("message")).get("model") == "<synthetic>"
        )
        if made_up or not text.strip():
            return []
        return [Reply(record.session_id, text, record.at, record.span)]

    def _queued_command(self, record: Record, attachment: Record) -> Event:
        found = attached(attachment)
        if isinstance(found, str):
            return record.ignored(found)
        self._queue.delivered(found.text, "queued")
        # The uuid under which some versions write the same prompt a second time.
        own = attachment.string("source_uuid") or record.string("uuid")
        carrier = Record({**record.fields, "uuid": own}, record.span, self._session)
        return carrier.turn(found.text, How.QUEUED, at=attachment.at)


_OWN_COMMAND = re.compile(r"\s*<command-name>/?(exit|quit|clear)</command-name>")


def _of_session(record: Record) -> list[SessionStart | SessionEnd]:
    """Return what a command of the client does to the session: `/clear` begins one, in a file of its own."""
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
    verified="2.1.197 on 2026-11-20, 2.1.330 on 2026-11-22",
)


def is_transcript(path: PurePath) -> bool:
    """Whether a path is that of a main-thread session, `<store>/<project>/<session>.jsonl`, and of no sub-agent."""
    store = path.parent.parent.name
    return path.suffix == ".jsonl" and not path.name.startswith("agent-") and store in INFO.stores


def parser(path: PurePath, state: Mapping[str, Any] | None = None) -> Parser:
    """Return a parser for one session's file, fresh or resumed with the state of a checkpoint."""
    return Parser(path.stem, state or {})
