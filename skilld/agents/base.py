"""The protocol of agent adapters: a data record and a parser. Adapters translate; they decide nothing.

An adapter is a package in this folder with `INFO: AgentInfo`, `is_transcript(path)` and `parser(path, state)`, and
`tool_events(record, session_id, span)` if its log has tool calls (skilld/agents/tools.py). It is pure: bytes in, events
out; no disk, clock, environment or settings. It is registered in `skilld.agents`. docs/adding-an-agent.md
walks through one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any, Generic, Protocol, TypeVar

from skilld.agents.chunk import Chunk
from skilld.text import read_json
from skilld.types import Event, Malformed, RawLine, Span
from skilld.values import value_class


@value_class
class Folder:
    """A folder below the person's home, and the variables that move it: the first one set counts, with a path below it.

    If `usual` is empty, there is none unless a variable names one.
    """

    usual: str
    variables: tuple[tuple[str, str], ...] = ()


@value_class
class Query:
    """The SQL to read one generation of an agent's database.

    `tables` are those it reads, with the columns they must have; `newer` are tables that newer clients use instead.
    `newest` returns the greatest position (a time in milliseconds), `last_row` the greatest row number, `index` the
    positions and keys of records in order: those at `:since` or later and those after row `:row`, of session `:session`
    or of all if that is null, at most `:limit`. `record` returns the rows that make up the record `:key`, by name,
    without values longer than `:longest`.
    """

    tables: Mapping[str, frozenset[str]]
    newer: tuple[str, ...]
    newest: str
    last_row: str
    index: str
    record: Mapping[str, str]


class SessionFiles(Protocol):
    """Access to the files of one session, for an adapter's `gather`; names are relative to the transcript's folder."""

    def read(self, name: str) -> bytes | None:
        """Return the contents of a file, None if it cannot be read or is too large."""

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield the contents of a file in pieces."""

    def names(self, folder: str) -> Sequence[str]:
        """Return the names of the files in a folder, sorted."""


class TruncatedFileError(Exception):
    """A file of a session is incomplete because its client is writing it. The next read gets the rest."""


Gather = Callable[[PurePath, SessionFiles], Iterator[bytes]]
ReadFile = Callable[[str], bytes | None]


@value_class
class AgentInfo:
    """The fixed facts about an agent.

    `home` is the agent's folder below the person's home, `home_variables` the environment variables that move it,
    `home_parents` those that move a folder above it, each with the path down from there.
    `stores` are the folders below it that hold transcripts ("" is the folder itself), in files that end in one of
    `suffixes`; if `flat`, only files directly in a store are transcripts. If each session has its own folder,
    `session_place` is the path of its transcript in it, with `*` for that folder's name.
    `typed_list` are possible places of the client's list of what a person typed, of which the first that exists is
    used: relative to the transcript's folder, or starting with `~/` or `$VARIABLE/`; `typed_place` returns one that
    depends on another file. Its parser has `set_typed_list`.
    If a client logs a prompt template as if it were typed, `templates` are the folders of such files, and the settings
    that name more, given as for `typed_list`; `project_templates` are those in a project. Its parser has
    `set_templates`.
    If a session is not a file of lines (a document that is rewritten, a file for each event), `gather` yields its
    records from the start, and `owner` returns the transcript that a file of a session belongs to. With `gathered`,
    only transcripts with that ending are such. An agent whose prompts cannot be distinguished from those of a script
    is `asked_for`: only roots named in the settings are followed. An agent that keeps its sessions in the project
    has the names of those files in `project_files`: if git tracks one of them, anybody may have written it, and the
    transcript is not read.
    `queries` are given if transcripts are SQLite databases, one for each generation; the parser is then fed each
    record as a line with a JSON object. `file_variables` name one transcript itself. `call_mark` is in every line with
    a tool call; empty if any line may have one.

    `wrappers` names every place where its clients put text that nobody typed next to what was typed: the tests of
    forged content (tests/support/forged.py) have a session for each.

    `unsure` says which words of a script its log does not distinguish from typed ones: such words are never applied
    without the person.

    `project_skills` are the folders with skills below a project's root or any folder in it; `user_skills` those below
    the person's home; `skill_homes` those below the agent's own folder; `skill_folders` those with their own variables.
    `instructions` are the names of instruction files that a session loads from its project; `verified` gives the newest
    client version that was checked, and the day.
    """

    name: str
    title: str
    home: str
    stores: tuple[str, ...]
    project_skills: tuple[str, ...]
    instructions: tuple[str, ...]
    verified: str
    user_skills: tuple[str, ...] = ()
    skill_homes: tuple[str, ...] = ("skills",)
    home_variables: tuple[str, ...] = ()
    home_parents: tuple[tuple[str, str], ...] = ()
    suffixes: tuple[str, ...] = (".jsonl",)
    flat: bool = False
    session_place: str = ""
    typed_list: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    project_templates: tuple[str, ...] = ()
    typed_place: Callable[[PurePath, ReadFile], str] | None = None
    gather: Gather | None = None
    gathered: str = ""
    owner: Callable[[PurePath], PurePath] | None = None
    asked_for: bool = False
    project_files: tuple[str, ...] = ()
    queries: tuple[Query, ...] = ()
    file_variables: tuple[str, ...] = ()
    call_mark: bytes = b""
    skill_folders: tuple[Folder, ...] = ()
    wrappers: tuple[str, ...] = ()
    unsure: str = ""

    def is_session(self, path: PurePath) -> bool:
        """Whether a path is that of a transcript in its session's own folder."""
        parts = path.parts[-self.session_place.count("/") - 2 :]
        return "/".join(parts[1:]) == self.session_place.replace("*", parts[0])

    def is_gathered(self, path: str) -> bool:
        """Whether the records of a transcript are gathered, so that their positions are numbers."""
        return self.gather is not None and path.endswith(self.gathered)

    @property
    def variables(self) -> tuple[str, ...]:
        """Every environment variable that moves its folders, transcripts or skills."""
        parents = (name for name, _ in self.home_parents)
        skills = (name for folder in self.skill_folders for name, _ in folder.variables)
        return tuple(dict.fromkeys([*self.home_variables, *self.file_variables, *parents, *skills]))


class Parser(Protocol):
    """Turns the lines of one file, in order, into events. One parser per file; it remembers what later lines need.

    If it needs more, it has any of these, called before lines are fed. `read_side_files(read)` reads other files about
    its session, such as whether a person is in it: `read` takes a place as in `AgentInfo.typed_list`.
    `set_typed_list(typed)` gets the client's whole list of what a person typed as it is now, to distinguish typed words
    from others; None if there is none (the adapter knows what that means). A parser that never gets a list treats
    everything that may be typed as typed: its caller looks for turns that were found with the list before, by their
    keys. `set_templates(lookup)` is for prompts that may be templates without a mark: without it, every prompt counts
    as typed.
    """

    def feed(self, line: RawLine) -> list[Event]:
        """Return the events of one complete line. Never raises on bad input: that is a Malformed event."""

    def flush(self) -> list[Event]:
        """Return the events that still wait for a later line (a queued prompt whose delivery was never written).

        Called when the file has been idle so long that no such line will come. The parser can be fed again afterwards.
        """

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where reading may resume after a restart, and the state to resume with.

        `end` is the end of the last line fed. The offset is `end`, or the start of the first line that still waits for
        its outcome: reading that line again yields the same events, and turn keys make repeats harmless. The state is
        bounded, serializable as JSON, and holds nobody's words, only ids, names, paths and counts.
        """


def chunk_reader(parser: Parser) -> Callable[[Chunk], list[Event]]:
    """Return a function that reads chunks with a parser: its own filter, `skim(chunk)`, or one that feeds each line.

    Such a filter returns the events of complete lines in order, as if each were fed, but may leave out the texts and
    order of replies. It skips a line (and counts it in `chunk.passed_over`) only if that certainly gives no turn, skill
    use or end of a session; a reply with an empty text says that the agent wrote something.
    """
    own: Callable[[Chunk], list[Event]] | None = getattr(parser, "skim", None)  # isinstance takes 20 us here
    return own or (lambda chunk: [event for line in chunk.raw_lines() for event in parser.feed(line)])


class Adapter(Protocol):
    """The module of one agent, as the registry sees it.

    Its optional functions are named in `tools.tools_of` and `tools.record_reader`.
    """

    INFO: AgentInfo

    def is_transcript(self, path: PurePath) -> bool:
        """Whether this file below one of the stores is a main-thread transcript, judged by its path alone."""

    def parser(self, path: PurePath, state: Mapping[str, Any] | None = None) -> Parser:
        """Return a parser for one file, fresh or resumed with the state of a checkpoint."""


# Readers of JSON fields whose types are not guaranteed: each returns its declared type, whatever the field holds.

MAX_SHORT = 512  # characters of an id or a name: a hostile log must not make the state grow


def read_object(data: bytes | str) -> dict[str, Any] | None:
    """Return the JSON object of a line, None if it is not one."""
    record = read_json(data)
    return record if isinstance(record, dict) else None


def utc(value: object) -> str | None:
    """Return a time as RFC 3339 in UTC, None if it is not a time or has no zone."""
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
        if time is None or time.tzinfo is None:
            return None
        text = string(value)
        return text if text.endswith("Z") else time.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return None


def string(value: object) -> str:
    """Return a string as it is, anything else as "". Lone surrogates, which no file can hold, become "?"."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def short(value: object) -> str:
    """Return a string cut to the length of an id or a name, anything else as ""."""
    return string(value)[:MAX_SHORT]


def mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON object as it is, anything else as an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """Return a JSON array as it is, anything else as an empty one."""
    return value if isinstance(value, list) else []


def objects(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of a JSON array, anything else as an empty list."""
    return [element for element in items(value) if isinstance(element, dict)]


def hash_name(*values: object) -> str:
    """Return a name for what has no id: a hash of all values."""
    return hashlib.sha256("\0".join(string(value) or str(value) for value in values).encode()).hexdigest()[:16]


def remember(kept: dict[str, Any], key: str, value: object, limit: int) -> None:
    """Add an entry at the end of a dictionary, which keeps the newest `limit`."""
    kept.pop(key, None)
    kept[key] = value
    while len(kept) > limit:
        del kept[next(iter(kept))]


EventType = TypeVar("EventType")


class RecordParser(Generic[EventType]):
    """A parser of lines that are independent JSON objects: `_read` returns the events of one."""

    def feed(self, line: RawLine) -> list[EventType | Malformed]:
        """Return the events of one line; a line that is not a record gives Malformed."""
        span = Span(line.start, line.end)
        record = read_object(line.data)
        if record is None:
            return [Malformed(span)] if line.data.strip() else []
        return [*self._read(record, span)]

    def flush(self) -> list[EventType]:
        """Return nothing."""
        return []

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where to resume, and the state."""
        raise NotImplementedError

    def _read(self, record: dict[str, Any], span: Span) -> Iterable[EventType]:
        raise NotImplementedError


# Where an agent's folders are, given a home and environment variables.


def agent_homes(info: AgentInfo, home: Path, environment: Mapping[str, str]) -> list[Path]:
    """Return the agent's own folders: the usual one, or those in its variable (separated by commas)."""
    for variable, below in (*((name, "") for name in info.home_variables), *info.home_parents):
        if value := environment.get(variable):
            named = dict.fromkeys(part.strip() for part in value.split(","))
            moved = dict.fromkeys(_below_home(part, home) / below for part in named if part)
            return [path for path in moved if path.is_absolute()] or [home / info.home]
    return [home / info.home]


def resolve_skill_folder(folder: Folder, home: Path, environment: Mapping[str, str]) -> Path | None:
    """Return the path of a folder with skills; None if there is none."""
    for variable, below in folder.variables:
        if (value := environment.get(variable)) and (top := _below_home(value, home)).is_absolute():
            return top / below
    return home / folder.usual if folder.usual else None


def _below_home(folder: str, home: Path) -> Path:
    return home / folder[2:] if folder.startswith("~/") else Path(folder)
