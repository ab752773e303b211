"""The adapter for opencode: one SQLite database for all sessions (`opencode.db`; per channel `opencode-CHANNEL.db`).

Seen in 1.18.33: a message has parts; those of a prompt are written once, a moment after it, those of an answer change
in place. A fork copies messages with new ids and their old times. Ids are not in order: they hold 36 bits of the time,
which started over in August 2026. The tables with accounts and credentials are never read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath, PurePosixPath
from typing import Any

from skilld.agents.base import (
    AgentInfo,
    Folder,
    Query,
    hash_name,
    items,
    mapping,
    objects,
    read_object,
    remember,
    short,
    string,
)
from skilld.agents.declared import milliseconds
from skilld.agents.opencode.version_2 import as_first_version, make_queries
from skilld.agents.tools import bounded
from skilld.agents.wrappers import (
    TemplateLookup,
    last_match,
    no_templates,
    option_labels,
    possible_picks,
    typed_answer,
    typed_arguments,
)
from skilld.text import fold, read_json
from skilld.types import (
    Event,
    How,
    Ignored,
    Malformed,
    RawLine,
    Reply,
    SkillUse,
    Span,
    ToolCall,
    ToolEvent,
    ToolOutcome,
    ToolResult,
    Turn,
)

# An incomplete record waits: a prompt without its parts, an answer that continues. The reader returns to the first that
# waits and reads everything from there again; ids and keys make repeats harmless. The database holds the expanded
# prompt: the template of a command, a skill's body with the arguments at its end, a paste in full. The list of what was
# typed, `prompt-history.jsonl`, has the prompt as typed, and none that came without a terminal.

# How `opencode run` writes an argument with blanks: in quotes, with a backslash before quotes within.
_QUOTED_ARGUMENT = re.compile(r'"(?:[^"\\\s]|\\.)*+\s(?:[^"\\]|\\.)*+"', re.DOTALL)
_COMMAND = re.compile(r"/\S+\s+(\S.*)", re.DOTALL)
# A skill called by `/name args`: body, this paragraph, args. The body may contain such a paragraph; the last counts.
_SKILL_BODY = re.compile(
    r"^Base directory for this skill: (/[^\n]*)\nRelative paths in this skill [^\n]*\n*", re.MULTILINE
)


class TypedList:
    """Finds what was typed from the list, or without one (None) from the text alone."""

    def __init__(self, data: bytes | None) -> None:
        self.is_known = data is not None
        entries = [entry for line in (data or b"").splitlines() if (entry := read_object(line)) is not None]
        inputs = [_with_pastes(entry) for entry in entries if entry.get("mode") != "shell"]
        self._prompts = {fold(text) for text in inputs}
        self._arguments = {fold(match[1]): match[1].strip() for text in inputs if (match := _COMMAND.match(text))}

    def find_typed(self, text: str) -> tuple[str, bool] | None:
        """Return what of a prompt's text a person typed, and whether as arguments of a command; None if nobody did.

        It is "" for a command without arguments.
        """
        folded = fold(text)
        if folded in self._prompts:
            return text, False
        if (body := last_match(_SKILL_BODY, text)) is not None:
            arguments = text[body.end() :].strip()
            if self.may_be_arguments(arguments):
                return arguments, True
        if self.is_known:
            return self._find_arguments(folded)
        return None if _QUOTED_ARGUMENT.fullmatch(text.strip()) else (text, False)

    def find_command(self, line: str) -> tuple[str, bool] | None:
        """Return what `find_typed` does, for the line with which a skill was called."""
        command = _COMMAND.fullmatch(line.strip())
        known = not self.is_known or fold(line) in self._prompts
        return (command[1].strip() if command else "", True) if known else None

    def is_certainly_typed(self, text: str) -> bool:
        """Whether a text was certainly typed: it has blanks, and not the quotes that `opencode run` would add."""
        is_argument = _QUOTED_ARGUMENT.fullmatch(text.strip())
        return self.is_known and " " in text.strip() and not is_argument and fold(text) in self._prompts

    def may_be_arguments(self, arguments: str) -> bool:
        """Whether these may have been typed as the arguments of a command."""
        return not self.is_known or not arguments or fold(arguments) in self._arguments

    def _find_arguments(self, folded: str) -> tuple[str, bool] | None:
        """Find a command's arguments in its expanded template: the longest that occur in it as whole words."""
        found = [text for known, text in self._arguments.items() if f" {known} " in f" {folded} "]
        return (max(found, key=len), True) if found else None


def skill_folder(text: str) -> str | None:
    """Return the folder of the skill whose body is the text of a prompt; None if it is not a skill's body."""
    body = last_match(_SKILL_BODY, text)
    return body[1] if body is not None else None


def _with_pastes(entry: object) -> str:
    """Return an entry's text with its pastes, which the list stores separately, inserted."""
    text = string(mapping(entry).get("input"))
    for part in objects(mapping(entry).get("parts")):
        shown = string(mapping(mapping(part.get("source")).get("text")).get("value"))
        if part.get("type") == "text" and shown:
            text = text.replace(shown, string(part.get("text")), 1)
    return text


AGENT = "opencode"
_SKILL_FILE = "SKILL.md"
# An answer that has not ended after this never will: its client was killed.
_MAX_WAIT_MS = 3_600_000
_MAX_TOLD = _MAX_WAITING = 256
_MAX_MARK = 64  # characters of a part's id; the client's have 30
_DENIED_WHEN_HEADLESS = frozenset({"question", "plan_enter", "plan_exit"})


class Parser:
    """Reads one database."""

    def __init__(self, state: Mapping[str, Any], agent: str = AGENT) -> None:
        """Resume from a checkpoint's state; an empty one is a fresh start. `agent` is the database's owner."""
        self._agent = agent
        self._is_listening = False
        self._told = dict.fromkeys(short(mark)[:_MAX_MARK] for mark in items(state.get("told"))[-_MAX_TOLD:])
        self._waiting: dict[str, int] = {}  # message -> its position
        self._typed = TypedList(None)
        self._templates: TemplateLookup = no_templates

    def set_templates(self, templates: TemplateLookup) -> None:
        """Set the lookup for templates of commands: without a prompt history only they show what was typed."""
        self._templates = templates

    def set_typed_list(self, typed: bytes | None) -> None:
        """Set the prompt history."""
        self._typed = TypedList(typed)
        self._is_listening = True

    def feed(self, line: RawLine) -> list[Event]:
        """Return the events of one record; anything else gives Malformed."""
        span = Span(line.start, line.end)
        found = read_object(line.data)
        record = as_first_version(found) if found is not None else None
        message = next(iter(objects(record.get("message"))), None) if record is not None else None
        data = read_object(string(message.get("data"))) if message is not None else None
        if record is None or message is None or data is None:
            return [Malformed(span)]
        key, session = short(message.get("id")), short(message.get("session"))
        self._waiting = {other: at for other, at in self._waiting.items() if at > span.start - _MAX_WAIT_MS}
        self._waiting.pop(key, None)
        parts = objects(record.get("parts"))
        if data.get("role") == "user":
            if not parts:
                self._add_waiting(key, span)
            return list(self._on_prompt(message, parts, span))
        if data.get("role") != "assistant" or _is_headless(message):
            return []
        if mapping(data.get("time")).get("completed") is None and not data.get("error"):
            self._add_waiting(key, span)
        texts = (string(part.get("text")) for part in parts if part.get("type") == "text")
        if reply := "\n\n".join(text for text in texts if text.strip()):
            events: list[Event] = [Reply(session, reply, milliseconds(message.get("created")), span)]
        else:
            events = []
        return events + [event for part in parts for event in self._on_tool(message, part, span)]

    def flush(self) -> list[Event]:
        """Return nothing: records that wait are read again later."""
        return []

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where to resume, no later than the first record that waits, and the state."""
        return min([end, *self._waiting.values()]), {"told": list(self._told)}

    def _add_waiting(self, key: str, span: Span) -> None:
        if len(self._waiting) < _MAX_WAITING:
            self._waiting[key] = span.start

    def _on_prompt(self, message: Mapping[str, Any], parts: list[Mapping[str, Any]], span: Span) -> Iterator[Event]:
        """Yield the turn of a prompt, or the reason why it is not a turn."""
        own = [one for one in parts if one.get("type") == "text" and not (one.get("synthetic") or one.get("ignored"))]
        text = "\n".join(string(one.get("text")) for one in own)
        if not parts:
            return
        title = next((title for one in own if (title := string(one.get("title")))), "")
        if _is_headless(message) and not self._typed.is_certainly_typed(text):  # a person may continue such a session
            yield Ignored("headless", span)
        elif not text.strip():
            yield Ignored("added by the client", span)
        elif (typed := self._typed.find_command(title) if title else self._find_typed(text, message)) is None:
            yield Ignored("not typed", span)
        else:
            if (folder := skill_folder(text)) is not None:
                yield from self._new_use(message, short(message.get("id")), PurePosixPath(folder, _SKILL_FILE), span)
            if typed[0]:
                how = How.COMMAND if typed[1] else How.TYPED
                yield self._turn(message, message.get("created"), typed[0], how, span)
            else:
                yield Ignored("command without arguments", span)

    def _find_typed(self, text: str, message: Mapping[str, Any]) -> tuple[str, bool] | None:
        """Return what of a prompt was typed, as TypedList does; if it is a known template, its arguments."""
        folder, second = string(message.get("directory")), message.get("second")
        if second and self._is_listening and not self._typed.is_known:
            return None
        typed = self._typed.find_typed(text)
        if typed is None or (self._typed.is_known and not typed[1]):
            return typed
        arguments = typed_arguments(text, self._templates(folder or None))
        return typed if arguments is None or not self._typed.may_be_arguments(arguments) else (arguments, True)

    def _on_tool(self, message: Mapping[str, Any], part: Mapping[str, Any], span: Span) -> Iterator[Event]:
        """Yield the events of a tool's part: a skill in use, or answers to a question."""
        if part.get("type") != "tool" or part.get("status") != "completed":
            return
        asked, metadata = (mapping(read_object(string(part.get(name)))) for name in ("input", "metadata"))
        tool = part.get("tool")
        if tool == "skill" and (folder := string(metadata.get("dir"))):
            yield from self._new_use(message, short(part.get("id")), PurePosixPath(folder, _SKILL_FILE), span)
        elif tool == "read" and (path := PurePosixPath(string(asked.get("filePath")))).name == _SKILL_FILE:
            yield from self._new_use(message, short(part.get("id")), path, span)
        elif tool == "question":
            picks = possible_picks(option_labels(asked.get("questions")))
            for answer in (string(one) for answers in items(metadata.get("answers")) for one in items(answers)):
                if typed := typed_answer(answer, picks, several=False):
                    yield self._turn(message, part.get("started"), typed, How.ANSWER, span)

    def _turn(self, message: Mapping[str, Any], created: object, text: str, how: How, span: Span) -> Turn:
        """Return a turn whose key is the same in a fork, which has the same times but other ids."""
        session, cwd = short(message.get("session")), string(message.get("directory")) or None
        key = f"{self._agent}:{created if isinstance(created, int) else 0}:{hash_name(fold(text))}"
        return Turn(key, self._agent, session, text, milliseconds(created), how, span, cwd)

    def _new_use(self, message: Mapping[str, Any], mark: str, path: PurePosixPath, span: Span) -> Iterator[Event]:
        if mark[:_MAX_MARK] in self._told:
            return
        remember(self._told, mark[:_MAX_MARK], None, _MAX_TOLD)
        cwd = string(message.get("directory")) or None
        at = milliseconds(message.get("created"))
        yield SkillUse(short(message.get("session")), short(path.parent.name), str(path), at, span, cwd)


_REJECTION = "The user rejected permission"
_DENIED_BY_RULE = "The user has specified a rule which prevents you"
_STATUS = {"completed": ToolOutcome.OK, "error": ToolOutcome.FAILED}


def tool_events(record: Mapping[str, Any], session_id: str, span: Span) -> Iterator[ToolEvent]:
    """Yield the tool events of one message: each call is a part, which grows until it is done."""
    record = as_first_version(record)
    message = next(iter(objects(record.get("message"))), {})
    session = short(message.get("session")) or session_id
    for part in objects(record.get("parts")):
        if part.get("type") == "tool":
            call_id, at = short(part.get("id")), milliseconds(part.get("started"))
            asked = read_object(string(part.get("input")))
            yield ToolCall(session, call_id, short(part.get("tool")), bounded(asked), at, span)
            if outcome := _outcome(part):
                yield ToolResult(session, call_id, outcome, at, span)


def _outcome(part: Mapping[str, Any]) -> ToolOutcome | None:
    outcome, error = _STATUS.get(string(part.get("status"))), string(part.get("error"))
    if outcome is ToolOutcome.FAILED and error.startswith((_REJECTION, _DENIED_BY_RULE)):
        return ToolOutcome.REJECTED
    if outcome is ToolOutcome.FAILED and error.startswith("Tool execution aborted"):
        return ToolOutcome.INTERRUPTED
    code = mapping(read_object(string(part.get("metadata")))).get("exit") if outcome is ToolOutcome.OK else None
    return ToolOutcome.FAILED if isinstance(code, int) and code else outcome


def _is_headless(message: Mapping[str, Any]) -> bool:
    """Whether `opencode run` created the session: it denies itself what only a person can answer."""
    rules = objects(read_json(string(message.get("permission"))))
    return {rule.get("permission") for rule in rules if rule.get("action") == "deny"} >= _DENIED_WHEN_HEADLESS


FIRST_QUERY = Query(
    tables={
        "session": frozenset({"id", "parent_id", "directory", "permission"}),
        "message": frozenset({"id", "session_id", "time_created", "data"}),
        "part": frozenset({"id", "message_id", "data"}),
    },
    newer=("session_v2", "session_message"),
    newest="SELECT max(time_created) FROM message",
    last_row="SELECT coalesce(max(rowid), 0) FROM message",
    # The cross join fixes the order: sessions first, then the new messages of each by the index on session and time.
    index="""
        WITH fresh (id) AS (
          SELECT m.id FROM session s CROSS JOIN message m ON m.session_id = s.id AND m.time_created >= :since
          WHERE s.parent_id IS NULL AND (:session IS NULL OR s.id = :session)
          UNION
          SELECT m.id FROM message m JOIN session s ON s.id = m.session_id
          WHERE m.rowid > :row AND s.parent_id IS NULL AND (:session IS NULL OR s.id = :session)
        )
        SELECT m.time_created, m.id FROM fresh JOIN message m ON m.id = fresh.id
        WHERE typeof(m.time_created) = 'integer' AND typeof(m.id) = 'text' ORDER BY 1, 2 LIMIT :limit
    """,
    record={
        "message": """
            SELECT m.id, m.session_id AS session, s.directory, s.permission, m.time_created AS created,
            CASE WHEN length(m.data) <= :longest THEN m.data END AS data
            FROM message m JOIN session s ON s.id = m.session_id WHERE m.id = :key
        """,
        # Of a tool's part its input and status, never its output.
        "parts": """
            SELECT id, json_extract(data, '$.type') AS type, json_extract(data, '$.text') AS text,
            json_extract(data, '$.synthetic') AS synthetic, json_extract(data, '$.ignored') AS ignored,
            json_extract(data, '$.metadata.kilo.injected.title') AS title,
            json_extract(data, '$.tool') AS tool, json_extract(data, '$.state.status') AS status,
            json_extract(data, '$.state.input') AS input, json_extract(data, '$.state.metadata') AS metadata,
            json_extract(data, '$.state.time.start') AS started,
            substr(json_extract(data, '$.state.error'), 1, 200) AS error
            FROM part WHERE message_id = :key AND CASE WHEN length(data) <= :longest AND json_valid(data)
            THEN json_extract(data, '$.type') IN ('text', 'tool', 'compaction', 'subtask') ELSE 0 END ORDER BY id
        """,
    },
)

INFO = AgentInfo(
    name=AGENT,
    title="opencode",
    home=".local/share/opencode",
    home_parents=(("XDG_DATA_HOME", "opencode"),),
    file_variables=("OPENCODE_DB",),
    stores=("",),
    suffixes=(".db",),
    flat=True,
    queries=make_queries(FIRST_QUERY),
    typed_list=(
        "../../state/opencode/prompt-history.jsonl",
        "$XDG_STATE_HOME/opencode/prompt-history.jsonl",
        "~/.local/state/opencode/prompt-history.jsonl",
    ),
    templates=(
        "$XDG_CONFIG_HOME/opencode/command",
        "$XDG_CONFIG_HOME/opencode/commands",
        "~/.config/opencode/command",
        "~/.config/opencode/commands",
    ),
    project_templates=(".opencode/command", ".opencode/commands"),
    project_skills=(".opencode/skills", ".opencode/skill", ".claude/skills", ".agents/skills"),
    user_skills=(".claude/skills", ".agents/skills"),
    skill_homes=(),
    skill_folders=(
        Folder(".config/opencode/skills", (("XDG_CONFIG_HOME", "opencode/skills"),)),
        Folder(".config/opencode/skill", (("XDG_CONFIG_HOME", "opencode/skill"),)),
        Folder("", (("OPENCODE_CONFIG_DIR", "skills"),)),
        Folder("", (("OPENCODE_CONFIG_DIR", "skill"),)),
    ),
    wrappers=("synthetic part", "skill body", "command file", "headless prompt", "option label", "tool result"),
    instructions=("AGENTS.md", "CLAUDE.md"),
    verified="1.18.33 on 2026-11-30; 2.x: public captures only",
)

_NAME = re.compile(r"opencode(-[\w.-]+)?\.db")


def is_transcript(path: PurePath) -> bool:
    """Whether a path is that of a database with sessions."""
    return _NAME.fullmatch(path.name) is not None


def parser(path: PurePath, state: Mapping[str, Any] | None = None) -> Parser:
    """Return a parser for one database, fresh or resumed with the state of a checkpoint."""
    del path
    return Parser(state or {})
