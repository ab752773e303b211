"""What an agent adapter is: a data record and a parser. Adapters translate; they decide nothing.

An adapter is a package in this folder with `INFO: AgentInfo`, `is_transcript(path)` and `parser(path, state)`, and with
`tool_events(record, session_id, span)` where its log has tool calls (skilld/agents/tools.py). It is pure: bytes in,
events out; no disk, no clock, no environment, no settings. It is registered in the dict of `skilld.agents`.
docs/adding-an-agent.md walks through one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from skilld.agents.chunk import Chunk
from skilld.types import Event, Malformed, RawLine, Span


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder below the person's home, and what moves it: the first variable that is set, and the way down from it.

    Where `usual` is empty there is none unless a variable names one.
    """

    usual: str
    variables: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """How to read one generation of an agent's database, whose records are rows.

    `tables` are those it asks, with the columns they must have; `newer` are tables that newer clients fill instead.
    `newest` gives the greatest position (a time in milliseconds), `last_row` the greatest row number; `index` the
    positions and keys of records in order: those at `:since` or later and those behind row `:row`, of session
    `:session` or, where that is null, of all, at most `:most` of them. `record` gives the rows that make up the record
    `:key`, by name, without values longer than `:longest`.
    """

    tables: Mapping[str, frozenset[str]]
    newer: tuple[str, ...]
    newest: str
    last_row: str
    index: str
    record: Mapping[str, str]


class Beside(Protocol):
    """How an adapter's function reads the files that make up one session: names relative to the transcript's folder."""

    def read(self, name: str) -> bytes | None:
        """Return what a file holds, None where it is not to be had or is too large."""

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield what a file holds, piece by piece."""

    def names(self, folder: str) -> Sequence[str]:
        """Return the names of the files in a folder, sorted."""


class CutError(Exception):
    """A file of a session ends in the middle: its client is writing it. What is missing comes with the next look."""


Gather = Callable[[PurePath, Beside], Iterator[bytes]]
Read = Callable[[str], bytes | None]


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """What is fixed about an agent.

    `home` is the agent's folder below the person's home, `home_variables` the environment variables that name it when
    it is elsewhere, `home_parents` those that name a folder above it, each with the way down from there.
    `stores` are the folders below it that hold transcripts ("" is the folder itself) in files that end in one of
    `suffixes`; where `flat`, only files that lie in a store itself are transcripts, and none further down. Where each
    session has a folder of its own, `session_place` is its transcript's place in it, with `*` for that folder's name.
    `typed_list` are the places of the file in which the client lists what a person typed, of which the first that is
    there is taken: relative to the transcript's folder, or from `~/` or `$VARIABLE/`; `typed_place` names one that only
    another file tells. Its parser is a `Listener`.
    Where a client logs a prompt template as if it were typed, `templates` are the folders of such files, given as for
    `typed_list`, `project_templates` those in a project, and `template_settings` the files in one whose list `prompts`
    names others. Its parser is an `ExpandingParser`.
    Where one session is more than a file of lines (a document that is written anew, a file for each event), `gather`
    yields its records from the start, and `owner` names the transcript that a file of a session belongs to. An agent
    whose prompts cannot be told from those of a script is `asked_for`: nothing is followed but the roots that the
    settings name.
    `queries` are given where transcripts are SQLite databases, one for each generation; a parser is then fed each
    record as a line with a JSON object. `file_variables` name one transcript itself. `call_mark` stands in every line
    that holds a tool call; empty where any line may hold one.

    `wrappers` names every place where its clients put text that nobody typed near what was typed: the tests of forged
    content (tests/support/forged.py) have a session for each.

    `project_skills` are the folders, below a project's root or any folder in it, that hold skills; `user_skills` those
    below the person's home; `skill_homes` those below the agent's own folder; `skill_folders` those with variables of
    their own. `instructions` are the names of standing-instruction files a session loads from its project; `verified`
    names the newest client version checked and the day.
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
    template_settings: tuple[str, ...] = ()
    typed_place: Callable[[PurePath, Read], str] | None = None
    gather: Gather | None = None
    owner: Callable[[PurePath], PurePath] | None = None
    asked_for: bool = False
    queries: tuple[Query, ...] = ()
    file_variables: tuple[str, ...] = ()
    call_mark: bytes = b""
    skill_folders: tuple[Folder, ...] = ()
    wrappers: tuple[str, ...] = ()

    def is_session(self, path: PurePath) -> bool:
        """Whether a path is a transcript by its place in its session's own folder."""
        parts = path.parts[-self.session_place.count("/") - 2 :]
        return "/".join(parts[1:]) == self.session_place.replace("*", parts[0])

    @property
    def variables(self) -> tuple[str, ...]:
        """Every environment variable that moves its folders, its transcripts or its skills."""
        parents = (name for name, _ in self.home_parents)
        skills = (name for folder in self.skill_folders for name, _ in folder.variables)
        return tuple(dict.fromkeys([*self.home_variables, *self.file_variables, *parents, *skills]))


class Parser(Protocol):
    """Turns the lines of one file, in order, into events. One parser per file; it keeps what later lines need."""

    def feed(self, line: RawLine) -> list[Event]:
        """Return the events of one complete line. Never raises on bad input: that is a Malformed event."""

    def flush(self) -> list[Event]:
        """Decide what still waits for a later line (a queued prompt whose delivery was never written).

        Called when the file has been idle long enough that no such line will come. The parser goes on afterwards.
        """

    def checkpoint(self, end: int) -> tuple[int, dict[str, Any]]:
        """Return where reading may resume after a restart, and the state to resume with.

        `end` is the end of the last line fed. The offset is `end`, or the start of the first line that still waits for
        its outcome: reading that line again then yields the same events, and turn keys make repeats harmless. The
        state is JSON-able and holds no words of anyone, only ids, names, paths and counts, and is bounded in size.
        """


@runtime_checkable
class Listener(Protocol):
    """A parser that needs the client's own list of what a person typed to tell typed words from others."""

    def listen(self, typed: bytes | None) -> None:
        """Take in the whole list as it is now; None where there is none (what that means is the agent's to know).

        Called before lines are fed. A parser that is never told takes for typed what might be: its reader looks for
        turns that were found by the list before, and by their keys.
        """


@runtime_checkable
class ConsultingParser(Protocol):
    """A parser that asks files beside the transcript whose session it is, and whether a person is in it."""

    def consult(self, read: Read) -> None:
        """Read what it needs: `read` takes a place as in `AgentInfo.typed_list`. Called before lines are fed."""


def skimming(parser: Parser) -> Callable[[Chunk], list[Event]]:
    """Return how to read chunks with a parser: by its own filter, `skim(chunk)`, or fed line by line.

    Such a filter gives the events of whole lines in order, as if each were fed, but perhaps without replies' texts and
    order. It passes over a line (and counts it in `chunk.passed_over`) only where that is certain to give no turn, no
    skill use and no end of a session; a reply with an empty text says that the agent wrote something.
    """
    own: Callable[[Chunk], list[Event]] | None = getattr(parser, "skim", None)  # isinstance takes 20 us here
    return own or (lambda chunk: [event for line in chunk.raw_lines() for event in parser.feed(line)])


class Adapter(Protocol):
    """The module of one agent, as the registry sees it.

    `tools.tools_of` and `tools.record_reader` name what it may have besides.
    """

    INFO: AgentInfo

    def is_transcript(self, path: PurePath) -> bool:
        """Whether this file below one of the stores is a main-thread transcript, judged by its path alone."""

    def parser(self, path: PurePath, state: Mapping[str, Any] | None = None) -> Parser:
        """Return a parser for one file, fresh or resumed with the state of a checkpoint."""


# Fields of a JSON record whose types nobody vouches for: each reader returns what it promises, whatever stands there.

SHORT = 512  # characters kept of an id or a name: a hostile log must not grow the state


def read_json(data: bytes | str) -> Any:  # noqa: ANN401 - JSON
    """Return the JSON value of a text, None if it is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def read_object(data: bytes | str) -> dict[str, Any] | None:
    """Return the JSON object of a line, or None if the line is none."""
    record = read_json(data)
    return record if isinstance(record, dict) else None


def utc(value: object) -> str | None:
    """Return an RFC 3339 time in UTC, None where there is none or its zone is not told."""
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
        if time is None or time.tzinfo is None:
            return None
        text = string(value)
        return text if text.endswith("Z") else time.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return None


def string(value: object) -> str:
    """Return a string as it is, anything else as "". Lone surrogates, which no file could hold, become "?"."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def short(value: object) -> str:
    """Return a string cut to the length of an id or a name, anything else as ""."""
    return string(value)[:SHORT]


def mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON object as it is, anything else as an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """Return a JSON array as it is, anything else as an empty one."""
    return value if isinstance(value, list) else []


def objects(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of a JSON array, anything else as an empty list."""
    return [element for element in items(value) if isinstance(element, dict)]


def named_by(*values: object) -> str:
    """Return a name for what has no id of its own: the same for the same values, told apart by any of them."""
    return hashlib.sha256("\0".join(string(value) or str(value) for value in values).encode()).hexdigest()[:16]


def remember(kept: dict[str, Any], key: str, value: object, most: int) -> None:
    """Put an entry at the end of a dictionary that keeps the newest `most`."""
    kept.pop(key, None)
    kept[key] = value
    while len(kept) > most:
        del kept[next(iter(kept))]


Found = TypeVar("Found")


class RecordParser(Generic[Found]):
    """A parser whose lines are JSON objects, none of which waits for another: `_read` makes events of one."""

    def feed(self, line: RawLine) -> list[Found | Malformed]:
        """Return the events of one line; a line that is no record gives Malformed."""
        span = Span(line.start, line.end)
        record = read_object(line.data)
        if record is None:
            return [Malformed(span)] if line.data.strip() else []
        return [*self._read(record, span)]

    def flush(self) -> list[Found]:
        """Return nothing."""
        return []

    def _read(self, record: dict[str, Any], span: Span) -> Iterable[Found]:
        raise NotImplementedError


# Where an agent's own folders lie on a machine with this home and these variables.


def agent_homes(info: AgentInfo, home: Path, environment: Mapping[str, str]) -> list[Path]:
    """Return the agent's own folders: the usual one, or where its variable moved it (several with commas)."""
    for variable, below in (*((name, "") for name in info.home_variables), *info.home_parents):
        if value := environment.get(variable):
            named = dict.fromkeys(part.strip() for part in value.split(","))
            moved = dict.fromkeys(_below_home(part, home) / below for part in named if part)
            return [path for path in moved if path.is_absolute()] or [home / info.home]
    return [home / info.home]


def skill_folder(folder: Folder, home: Path, environment: Mapping[str, str]) -> Path | None:
    """Return where a folder of skills is; None where it is nowhere."""
    for variable, below in folder.variables:
        if (value := environment.get(variable)) and (top := _below_home(value, home)).is_absolute():
            return top / below
    return home / folder.usual if folder.usual else None


def _below_home(folder: str, home: Path) -> Path:
    return home / folder[2:] if folder.startswith("~/") else Path(folder)
