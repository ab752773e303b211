"""A declarative format for agents whose logs are JSON records, and its parser.

A new agent is a `Format`: which records are a head, a prompt, a reply, a tool's call or result, and where they have
words, ids and times. Records in, events out. What the format cannot express is a small function in it. Places in a
record are keys joined by dots (`message.role`); a required value is a string (`rs-*`: a prefix), a tuple of
alternatives, ANY, or NONE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import PurePath
from typing import Any, cast

from skilld.agents.base import (
    AgentInfo,
    Parser,
    ReadFile,
    RecordParser,
    hash_name,
    items,
    mapping,
    objects,
    read_object,
    remember,
    short,
    string,
    utc,
)
from skilld.agents.questions import OpenQuestions, Question, ToolOutput
from skilld.agents.skill_reads import PendingCalls, Use, use_of_path, uses_of_call
from skilld.agents.tools import bounded
from skilld.agents.typed_history import Claim, Entry, ProvingParser, with_command
from skilld.agents.wrappers import Wrappers
from skilld.clock import rfc3339
from skilld.types import (
    Event,
    How,
    Ignored,
    Reply,
    SessionEnd,
    SkillUse,
    Span,
    ToolCall,
    ToolEvent,
    ToolOutcome,
    ToolResult,
    Turn,
)
from skilld.values import value_class

ANY, NONE = "\0any", "\0none"
Condition = Mapping[str, str | tuple[str, ...]]
Record = Mapping[str, Any]


class Role(StrEnum):
    """What a record is."""

    HEAD = "the head of a session"
    PROMPT = "a prompt"
    REPLY = "a reply"
    CALL = "a tool's call"
    RESULT = "a tool's result"
    SKILL = "a skill in use"
    END = "the end of a session"
    NOTHING = "nothing"


@value_class
class RecordKind:
    """One kind of record: those that match `when`; `part` is the same for each object in the list `each`.

    If `each` is empty, the record itself is the part; with `more`, another kind may match the record too. `text` is the
    place of words (a string, or parts with a `text`), relative to the part, as are the others: `key` is an id, `call`
    and `tool` the id and name of a call, `input` its arguments (an object, or one as a string), `failed` the mark of a
    failed result. `how` says how a prompt was typed; `listed` whether the list of what was typed must have it, None if
    that depends on the session. `why` is the reason under which `inspect` counts what is left out.
    """

    role: Role
    when: Condition
    each: str = ""
    part: Condition = field(default_factory=dict)
    more: bool = False
    text: str = ""
    key: str = ""
    call: str = ""
    tool: str = ""
    input: str = ""
    failed: Condition = field(default_factory=dict)
    how: How = How.TYPED
    listed: bool | None = None
    why: str = ""
    words: Callable[[Record], str] | None = None
    skill: Callable[[Record], Use | None] | None = None


@value_class
class Facts:
    """What other files say about a session; None if they do not say.

    In a session that is not `attended`, only prompts in the list of what was typed count; in a `headless` one none do.
    What was typed before it `began` (Unix time) is a copy, as in a fork. `skills` are the files of the session's skills
    by name.
    """

    session: str | None = None
    cwd: str | None = None
    attended: bool | None = None
    headless: bool = False
    subagent: bool = False
    began: float = 0.0
    skills: Mapping[str, str] = field(default_factory=dict)


@value_class
class Format:
    """One agent's format. `session` and `cwd` are places in its heads, `at` in every record; `time` parses a time.

    `kinds` are tried in order. `subagent` matches the head of a session without a person. A skill is in use if a call
    of one of `skills` (tool -> place of the name in its input) succeeded; `skill_file` finds its SKILL.md in the
    result. `shows` are tools that show files, with the place of their paths. `own_skills` says that skills of a
    headless run within a person's session are recognized and left out. `questions` are the tools that ask the person.
    `refused` are prefixes of the results of calls that the person refused. `facts` reads other files of the session,
    `name` derives a session's id from its path. `listed` says that prompts count only if the client's list has them; if
    False, that applies only to unattended sessions. `shape` unwraps the record, as from a row. `result` tells a call's
    outcome in more detail than whether it failed, for tool events.
    """

    agent: str
    kinds: tuple[RecordKind, ...]
    session: str = ""
    cwd: str = ""
    at: str = "timestamp"
    time: Callable[[object], str | None] = utc
    subagent: Condition = field(default_factory=dict)
    wrappers: Wrappers | None = None
    skills: Mapping[str, str] = field(default_factory=dict)
    skill_file: Callable[[str], str | None] | None = None
    shows: Mapping[str, str] = field(default_factory=dict)
    own_skills: bool = False
    questions: Mapping[str, Question] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    facts: Callable[[PurePath, ReadFile], Facts] | None = None
    name: Callable[[PurePath], str] = lambda path: path.stem
    listed: bool = False
    shape: Callable[[Record], Record] = lambda record: record
    result: Callable[[Record], ToolOutcome] | None = None

    def kinds_of(self, record: Record) -> Iterator[RecordKind]:
        """Yield the kinds that a record matches, in order; none for an unknown record."""
        for kind in self.kinds:
            if matches(record, kind.when) and (not kind.each or parts_of(record, kind)):
                yield kind
                if not kind.more:
                    return

    def tool_events(self, record: Record, session_id: str, span: Span) -> Iterator[ToolEvent]:
        """Yield the tool events of one record, for readers of whole transcripts."""
        record = self.shape(record)
        at = self.time(value(record, self.at))
        for kind in self.kinds_of(record):
            for part in parts_of(record, kind):
                call = short(value(part, kind.call)) if kind.call else ""
                if kind.role is Role.CALL:
                    name = short(value(part, kind.tool))
                    yield ToolCall(session_id, call, name, bounded(_call_input(part, kind)), at, span)
                elif kind.role is Role.RESULT:
                    outcome = self.result(part) if self.result else self.outcome(part, kind)
                    yield ToolResult(session_id, call, outcome, at, span)

    def outcome(self, part: Record, kind: RecordKind) -> ToolOutcome:
        """Return the outcome of a call from its result."""
        if string_of(value(part, kind.text)).startswith(self.refused) and self.refused:
            return ToolOutcome.REJECTED
        return ToolOutcome.FAILED if kind.failed and matches(part, kind.failed) else ToolOutcome.OK


def value(record: object, place: str) -> Any:  # noqa: ANN401 - JSON
    """Return the value at a place in a record, None if there is none."""
    for name in place.split(".") if place else ():
        record = record.get(name) if isinstance(record, dict) else None
    return record


def matches(record: Record, when: Condition) -> bool:
    """Whether a record meets a condition."""
    return all(_matches_value(value(record, place), asked) for place, asked in when.items())


def _matches_value(found: object, asked: str | tuple[str, ...]) -> bool:
    if isinstance(asked, tuple):
        return any(_matches_value(found, each) for each in asked)
    if asked in (ANY, NONE):
        return (found is not None and found != "" and found is not False) == (asked == ANY)
    if isinstance(found, str):
        return found.startswith(asked[:-1]) if asked.endswith("*") else found == asked
    return str(found).lower() == asked


def parts_of(record: Record, kind: RecordKind) -> list[Record]:
    """Return the parts of a record that match a kind."""
    if not kind.each:
        return [record]
    return [part for part in objects(value(record, kind.each)) if matches(part, kind.part)]


def texts_of(found: object) -> list[str]:
    """Return the texts in a string, a part, or a list of parts."""
    if isinstance(found, str):
        return [string(found)]
    parts = objects([found] if isinstance(found, dict) else found)
    return [
        string(part.get("text")) or string(value(part, "content.text")) or string(part.get("content")) for part in parts
    ]


def string_of(found: object) -> str:
    """Return all text in a string, a part, or a list of parts."""
    return "\n".join(text for text in texts_of(found) if text)


def milliseconds(found: object) -> str | None:
    """Return a Unix time in milliseconds as RFC 3339, None if it is not one."""
    try:
        return rfc3339(found / 1000) if isinstance(found, int | float) and not isinstance(found, bool) else None
    except (ValueError, OverflowError, OSError):
        return None


def unix_time(found: object) -> str | None:
    """Return a Unix time in seconds, or in milliseconds if it is too large for that, as RFC 3339."""
    is_seconds = isinstance(found, int | float) and found < 10_000_000_000  # noqa: PLR2004 - in 2286
    return milliseconds(found * 1000 if is_seconds and isinstance(found, int | float) else found)


def local_time(found: object) -> str | None:
    """Return a time without a zone, which is local, as RFC 3339 in UTC."""
    try:
        time = datetime.fromisoformat(found) if isinstance(found, str) else None
        return time.astimezone(UTC).isoformat().replace("+00:00", "Z") if time else None
    except (ValueError, OverflowError, OSError):
        return None


def _call_input(part: Record, kind: RecordKind) -> Record:
    found = value(part, kind.input)
    return mapping(read_object(found) if isinstance(found, str) else found)


_MAX_SEEN = 64


class DeclaredParser(RecordParser[Event | Claim]):
    """Parses a transcript by its format; prompts that a list must prove are claims (typed_history.ProvingParser)."""

    def __init__(self, declared: Format, path: PurePath, state: Mapping[str, Any]) -> None:
        """Resume from a checkpoint's state; an empty one is a fresh start."""
        self.format = declared
        self.session = short(state.get("session")) or short(declared.name(path))
        self.cwd = string(state.get("cwd")) or None
        self.subagent = state.get("subagent") is True
        self.writer = ""  # the session that first wrote a record, if it says so: forks copy records
        self._path = path
        self._facts = Facts()
        self.scripted = state.get("script") is True
        self._calls = PendingCalls(state.get("calls"))
        self._asked = OpenQuestions(state.get("asked"))
        self._seen = dict.fromkeys(map(short, items(state.get("seen"))[-_MAX_SEEN:]))
        self._places = {
            short(mark): [place for place in items(places)[-_MAX_SEEN:] if isinstance(place, int)]
            for mark, places in mapping(state.get("places")).items()
        }

    def read_side_files(self, read: ReadFile) -> None:
        """Read the facts in other files of the session."""
        if self.format.facts is not None:
            self._facts = self.format.facts(self._path, read)
            self.session = short(self._facts.session) or self.session
            self.cwd = self._facts.cwd or self.cwd

    @property
    def began(self) -> float:
        """When the session began (Unix time), 0 if unknown."""
        return self._facts.began

    def _read(self, record: dict[str, Any], span: Span) -> Iterator[Event | Claim]:
        shaped = self.format.shape(record)
        for kind in self.format.kinds_of(shaped):
            yield from self.events_of(kind, shaped, span)

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where to resume, and the state: ids, names, counts and hashes."""
        state = {"session": self.session, "cwd": self.cwd, "subagent": self.subagent, "seen": list(self._seen)}
        state["script"] = self.scripted
        return end, state | {"calls": self._calls.state(), "asked": self._asked.state(), "places": dict(self._places)}

    def events_of(self, kind: RecordKind, record: Record, span: Span) -> Iterator[Event | Claim]:
        """Yield the events of a record of one kind."""
        match kind.role:
            case Role.HEAD:
                self.session = short(value(record, self.format.session)) or self.session
                self.cwd = string(value(record, self.format.cwd)) or self.cwd
                if self.format.subagent:
                    self.subagent = matches(record, self.format.subagent)
            case Role.PROMPT:
                yield from self.prompt(kind, record, span)
            case Role.NOTHING if kind.why:
                self.scripted = self.scripted or kind.why == "headless"
                yield Ignored(kind.why, span)
            case Role.END:
                yield SessionEnd(self.session, span)
            case Role.REPLY if not self.is_subagent:
                text = "\n\n".join(filter(str.strip, (string_of(value(p, kind.text)) for p in parts_of(record, kind))))
                if text:
                    yield Reply(self.session, text, self._at(record), span)
            case Role.CALL | Role.RESULT | Role.SKILL if not self.is_subagent:
                for part in parts_of(record, kind):
                    yield from self._tool(kind, part, self._at(record), span)

    @property
    def is_subagent(self) -> bool:
        """Whether this is a session without a person."""
        return self.subagent or self._facts.subagent

    def prompt(self, kind: RecordKind, record: Record, span: Span) -> Iterator[Event | Claim]:
        """Yield the turn of a prompt, a claim, or the reason why it is not a turn."""
        words = kind.words(record) if kind.words else self._words(kind, record)
        if not words.strip():
            yield Ignored(kind.why or "empty", span)
        elif self.is_subagent or self._facts.headless:
            self.scripted = True
            yield Ignored("subagent" if self.is_subagent else "headless", span)
        else:
            at = self._at(record)
            native = short(value(record, kind.key)) if kind.key else ""
            key = f"{self.format.agent}:{native or self._prompt_name(words, at, span)}"
            turn = Turn(key, self.format.agent, self.session, words, at, kind.how, span, self.cwd)
            self.scripted = False
            if not self._is_new(key):
                return
            by_list = self.format.listed if kind.listed is None else kind.listed
            needs = by_list or (kind.listed is None and self._facts.attended is False)
            yield Claim(turn) if needs else with_command(turn)

    def _words(self, kind: RecordKind, record: Record) -> str:
        texts = [text for part in parts_of(record, kind) for text in texts_of(value(part, kind.text))]
        if self.format.wrappers is not None:
            texts = self.format.wrappers.typed_texts(texts)
        return "\n".join(text for text in texts if text.strip())

    def _prompt_name(self, words: str, at: str | None, span: Span) -> str:
        """Return a name for a prompt without an id: from its time, or the number of earlier prompts with its words."""
        mark = hash_name(self.writer or self.session, at, words)
        if at is not None:
            return mark
        places = self._places.get(mark, [])
        places = places if span.start in places else [*places[1 - _MAX_SEEN :], span.start]
        remember(self._places, mark, places, _MAX_SEEN)
        return f"{mark}.{places.index(span.start)}"

    def _at(self, record: Record) -> str | None:
        return self.format.time(value(record, self.format.at))

    def _tool(self, kind: RecordKind, part: Record, at: str | None, span: Span) -> Iterator[Event]:
        call = short(value(part, kind.call)) if kind.call else ""
        uses: list[Use] = []
        if kind.role is Role.CALL:
            tool, asked = string(value(part, kind.tool)), _call_input(part, kind)
            if tool in self.format.skills:
                name = short(value(asked, self.format.skills[tool]))
                uses = [(name, None)] if name else []
            else:
                uses = list(uses_of_call(tool.rpartition(".")[2], asked, self.cwd))
                uses += [
                    use for path in strings_at(asked, self.format.shows.get(tool, "")) if (use := use_of_path(path))
                ]
            self._calls.add(call, uses)
            if tool in self.format.questions:
                self._asked.add(call, tool, self.format.questions[tool], asked)
            return
        if kind.role is Role.SKILL:
            use = kind.skill(part) if kind.skill else None
            uses = [use] if use else []
        else:
            well = self.format.outcome(part, kind) is ToolOutcome.OK
            uses = [self._with_path(use, part, kind) for use in self._calls.pop(call, well=well)]
            yield from self._answers(call, part, kind, at, span, well=well)
        for name, path in [] if self.scripted and self.format.own_skills else uses:
            if self._is_new(hash_name("use", call or span.start, name)):
                yield SkillUse(self.session, name, path, at, span, self.cwd)

    def _with_path(self, use: Use, part: Record, kind: RecordKind) -> Use:
        name, path = use
        if path is None and self.format.skill_file is not None:
            path = self.format.skill_file(string_of(value(part, kind.text)))
        return name, path or self._facts.skills.get(name)

    def _answers(
        self, call: str, part: Record, kind: RecordKind, at: str | None, span: Span, *, well: bool
    ) -> Iterator[Event]:
        """Yield what was typed in answer to a question: questions are asked only in a terminal and are in no list."""
        reading = ToolOutput(string_of(value(part, kind.text)), part)
        for name, words in self._asked.answers(call, reading, self.format.questions) if well else ():
            key = f"{self.format.agent}:{hash_name(self.session, call)}.{name}"
            if not words:
                yield Ignored("picked-answer", span)
            elif self._is_new(key):
                yield Turn(key, self.format.agent, self.session, words, at, How.ANSWER, span, self.cwd)

    def _is_new(self, mark: str) -> bool:
        if mark in self._seen:
            return False
        remember(self._seen, short(mark), None, _MAX_SEEN)
        return True


def strings_at(found: object, place: str) -> Iterator[str]:
    """Yield the strings at a place, including those in each object of lists on the way."""
    name, _, rest = place.partition(".")
    for each in objects([found] if isinstance(found, dict) else found) if name else ():
        below = each.get(name)
        yield from strings_at(below, rest) if rest else ([string(below)] if isinstance(below, str) else ())


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

    def parser(self, path: PurePath, state: Mapping[str, Any] | None = None) -> Parser:
        """Return a parser for one transcript, fresh or resumed with the state of a checkpoint."""
        known = state or {}
        inner = self.reads(self.format, path, known)
        if not (self.INFO.typed_list or self.INFO.typed_place):
            return cast("Parser", inner)  # nothing can prove a claim, so no prompt is one
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
