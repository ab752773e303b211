"""Writes what was read from transcripts to the store: sessions, turns, skill uses, positions."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skilld.agents.base import Parser, chunk_reader
from skilld.agents.chunk import Chunk
from skilld.batching.gate import needs_classification
from skilld.classify.backends.agent_cli.own_questions import is_own_question
from skilld.clock import parse_time, rfc3339
from skilld.crash import report
from skilld.errors import SkilldError
from skilld.ingest.source import Cursor
from skilld.paths import possible_folder
from skilld.protocol import StoredWords
from skilld.skills import is_left_alone, opt_out
from skilld.store.transcripts import StoredFile, Transcripts
from skilld.store.words import MAX_TEXT, Words
from skilld.text import Redact
from skilld.types import Event, Ignored, Malformed, RawLine, Reply, SessionEnd, SessionStart, SkillUse, Turn
from skilld.values import value_class

_MAX_READINGS = 32  # fewer than files are kept open, so that a file's next reading continues from this one
_MAX_QUEUED_TEXT = 1 << 20  # characters


@value_class
class FileReading:
    """The events of one read of a file, and where to read on. `by_time`: positions are times in milliseconds."""

    file: StoredFile
    events: Sequence[Event]
    cursor: Cursor
    parser: dict[str, Any]
    size: int
    mtime: float
    overlong: int
    by_time: bool

    def activity(self, event: Turn | Reply | SkillUse | SessionStart) -> float:
        """Return when the session of an event was active (Unix time): a database has many sessions."""
        return event.span.start / 1000 if self.by_time else self.mtime


class TurnWriter:
    """Queues readings and writes many at once, which makes better use of the processor's cache.

    `touched` are the sessions (agent, id) of which something was written, `new` is the number of new turns that count.
    Words that may be lasting are stored, redacted by `redact`, until they are judged; without it none are stored.
    """

    def __init__(self, rows: Transcripts, words: Words | None = None, redact: Redact | None = None) -> None:
        self._rows = rows
        self._words = words
        self._redact = redact
        self._new_turns: list[Turn] = []  # those whose words are needed
        self._waiting: list[FileReading] = []
        self._text = 0
        self.touched: set[tuple[str, str]] = set()
        self.new = 0

    def add(self, reading: FileReading) -> None:
        """Queue a reading, and write all if there are many. Call it in the transaction that is to store it."""
        self._waiting.append(reading)
        self._text += sum(len(event.text) for event in reading.events if isinstance(event, Turn | Reply))
        if len(self._waiting) >= _MAX_READINGS or self._text >= _MAX_QUEUED_TEXT:
            self.write()

    def write(self) -> None:
        """Write the queued readings. Call it before the end of the transaction."""
        for reading in self._waiting:
            new = self._write(reading)
            self._rows.save_reading(
                reading.file.id,
                cursor=reading.cursor,
                parser=reading.parser,
                size=reading.size,
                mtime=reading.mtime,
                turns=new,
                malformed=sum(isinstance(event, Malformed) for event in reading.events),
                overlong=reading.overlong,
            )
            self.new += new
        self._save_words()
        self.discard()

    def discard(self) -> None:
        """Discard the queued readings: the transaction failed."""
        self._waiting.clear()
        self._new_turns.clear()
        self._text = 0

    def _save_words(self) -> None:
        if self._words is None or self._redact is None:
            return
        said: list[StoredWords] = []
        wanted: dict[str | None, bool] = {}
        for turn in self._new_turns:
            cwd = self._rows.cwd(turn.agent, turn.session_id)
            if cwd not in wanted:
                wanted[cwd] = _may_save_words(cwd)
            if wanted[cwd] and len(turn.text) <= MAX_TEXT:
                with suppress(SkilldError):  # what cannot be redacted is not stored
                    said.append(StoredWords(turn.key, turn.how, self._redact(turn.text)))
        self._words.save(said, time.time())

    def _write(self, reading: FileReading) -> int:
        """Store the events of one file; return how many turns are new and count."""
        rows, file = self._rows, reading.file
        new, now = 0, time.time()
        # The session and folder recorded last: a run of one session's events is recorded once.
        seen: tuple[str | None, str | None] = None, None
        for event in reading.events:
            if isinstance(event, Ignored | Malformed):
                continue
            if isinstance(event, SessionEnd):
                rows.end_session(file.agent, event.session_id)
                self.touched.add((file.agent, event.session_id))
                seen = None, None
                continue
            cwd = None if isinstance(event, Reply) else possible_folder(event.cwd)
            if is_own_question(event.text if isinstance(event, Turn) else "", cwd):
                continue
            if event.session_id != seen[0] or cwd not in {None, seen[1]}:
                seen = event.session_id, cwd
                rows.record_activity(file.agent, event.session_id, cwd=cwd, activity=reading.activity(event))
                self.touched.add((file.agent, event.session_id))
            if isinstance(event, SkillUse) and not _opts_out(cwd or rows.cwd(file.agent, event.session_id)):
                rows.add_use(file.agent, replace(event, cwd=cwd))
            if isinstance(event, Turn):
                if (parse_time(event.at) or 0.0) > now:  # nothing is said after it is read: another clock is ahead
                    event = replace(event, at=rfc3339(now))  # noqa: PLW2901
                lasting = needs_classification(event.text)
                revives = file.since is not None
                added = rows.add_turn(event, file.id, counts=_counts(event, file), lasting=lasting, revives=revives)
                new += added
                self._new_turns += [event] * (added and lasting)
        return new


def _may_save_words(cwd: str | None) -> bool:
    """Whether the project in a session's folder has not opted out."""
    return not (cwd and cwd.startswith("/") and is_left_alone(Path(cwd)))


def _opts_out(cwd: str | None) -> bool:
    """Whether the project in a session's folder has surely opted out: an invalid file may yet be fixed."""
    with suppress(SkilldError, OSError, ValueError):
        return bool(cwd and cwd.startswith("/") and opt_out(Path(cwd)))
    return False


def _counts(turn: Turn, file: StoredFile) -> bool:
    if turn.span.start < file.baseline:
        return False
    since, at = parse_time(file.since), parse_time(turn.at)
    return since is None or at is None or at >= since


# The files read last, with their parsers.


class ParsingError(Exception):
    """An adapter failed on a line, which it never should. The message contains nothing of the line."""


@dataclass
class OpenFile:
    """One file and its parser. `cursor` may be ahead of the stored one while lines wait for their outcome."""

    file: StoredFile
    parser: Parser
    cursor: Cursor | None
    mtime: float = 0.0

    @property
    def is_waiting(self) -> bool:
        """Whether a line was read whose outcome depends on a later line, or on idleness."""
        return self.cursor is not None and self.parser.checkpoint(self.cursor.offset)[0] < self.cursor.offset

    def feed(self, part: Chunk | RawLine) -> list[Event]:
        """Return the events of a chunk or of one line. Raises ParsingError."""
        if isinstance(part, RawLine):
            return _run_parser(lambda: self.parser.feed(part))
        return _run_parser(lambda: chunk_reader(self.parser)(part))

    def flush(self) -> list[Event]:
        """Return the events that waited for lines that will not come. Raises ParsingError."""
        return _run_parser(self.parser.flush)


class OpenFiles:
    """The files read last, at most `limit`; those in which something waits are kept in any case."""

    def __init__(self, limit: int = 64) -> None:
        self._limit = limit
        self._files: OrderedDict[str, OpenFile] = OrderedDict()

    def get(self, path: str) -> OpenFile | None:
        """Return an open file."""
        if path in self._files:
            self._files.move_to_end(path)
        return self._files.get(path)

    def add(self, path: str, opened: OpenFile) -> None:
        """Add a file, and close the least recently used ones in which nothing waits."""
        self._files.pop(path, None)
        while len(self._files) >= self._limit:
            idle = next((name for name, other in self._files.items() if not other.is_waiting), None)
            if idle is None:
                break
            del self._files[idle]
        self._files[path] = opened

    def forget(self, path: str) -> None:
        """Close a file: what its parser was fed and is not stored will be read again."""
        self._files.pop(path, None)

    def idle(self, since: float) -> list[tuple[str, OpenFile]]:
        """Return the files that did not grow since `since` (Unix time)."""
        return [(path, opened) for path, opened in self._files.items() if opened.cursor and opened.mtime <= since]


def _run_parser(parse: Callable[[], list[Event]]) -> list[Event]:
    try:
        return parse()
    except Exception as error:  # noqa: BLE001 - our own bug; one transcript must not stop the others
        report(error, ["run"])
        raise ParsingError("an internal error in skilld") from None
