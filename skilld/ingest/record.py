"""Writes what was read from transcripts to the store: sessions, turns, skill uses, positions."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skilld.agents.base import Parser, skimming
from skilld.agents.chunk import Chunk
from skilld.batching.gate import needs_classification
from skilld.classify.backends.agent_cli.own import is_own
from skilld.clock import seconds
from skilld.crash import report
from skilld.errors import SkilldError
from skilld.ingest.source import Cursor
from skilld.paths import possible_folder
from skilld.protocol import StoredWords
from skilld.skills import opt_out
from skilld.store.transcripts import StoredFile, Transcripts
from skilld.store.words import MAX_TEXT, Words
from skilld.types import Event, Ignored, Malformed, RawLine, Reply, SessionEnd, SessionStart, SkillUse, Turn

_MAX_READINGS = 32  # readings: fewer than files are kept open, so that a file's next reading goes on from this one
_MAX_TEXT = 1 << 20  # characters


@dataclass(frozen=True, slots=True)
class FileReading:
    """What one look at a file gave, and where the next goes on. `by_time`: positions are times, in milliseconds."""

    file: StoredFile
    events: Sequence[Event]
    cursor: Cursor
    parser: dict[str, Any]
    size: int
    mtime: float
    overlong: int
    by_time: bool

    def activity(self, event: Turn | Reply | SkillUse | SessionStart) -> float:
        """Return when the session of an event was active, as a Unix time: a database has many sessions."""
        return event.span.start / 1000 if self.by_time else self.mtime


class TurnWriter:
    """Keeps readings until they are written, many at once: that finds its code in the processor's cache.

    `touched` are the sessions (agent, id) of which something was written, `new` is the number of new turns that count.
    Their words are kept, `redact`ed, until they are judged; without `redact` none are.
    """

    def __init__(
        self, rows: Transcripts, words: Words | None = None, redact: Callable[[str], str] | None = None
    ) -> None:
        self._rows = rows
        self._words = words
        self._redact = redact
        self._said: list[Turn] = []  # what is new and counts
        self._waiting: list[FileReading] = []
        self._text = 0
        self.touched: set[tuple[str, str]] = set()
        self.new = 0

    def add(self, reading: FileReading) -> None:
        """Keep a reading, and write all where there are many. Call it in the transaction that is to hold it."""
        self._waiting.append(reading)
        self._text += sum(len(event.text) for event in reading.events if isinstance(event, Turn | Reply))
        if len(self._waiting) >= _MAX_READINGS or self._text >= _MAX_TEXT:
            self.write()

    def write(self) -> None:
        """Write what waits. Call it before the end of the transaction."""
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
        self._keep_words()
        self.drop()

    def drop(self) -> None:
        """Forget what waits: the transaction has failed."""
        self._waiting.clear()
        self._said.clear()
        self._text = 0

    def _keep_words(self) -> None:
        if self._words is None or self._redact is None:
            return
        said: list[StoredWords] = []
        wanted: dict[str | None, bool] = {}
        for turn in self._said:
            cwd = self._rows.cwd(turn.agent, turn.session_id)
            if cwd not in wanted:
                wanted[cwd] = _wanted(cwd)
            if wanted[cwd] and len(turn.text) <= MAX_TEXT:
                with suppress(SkilldError):  # what cannot be redacted is not kept
                    said.append(StoredWords(turn.key, turn.how, self._redact(turn.text)))
        self._words.save(said, time.time())

    def _write(self, reading: FileReading) -> int:
        """Store the events of one file; returns how many turns are new and count."""
        rows, file = self._rows, reading.file
        new = 0
        seen: tuple[str | None, str | None] = None, None  # what was noted last: a run of one session's is noted once
        for event in reading.events:
            if isinstance(event, Ignored | Malformed):
                continue
            if isinstance(event, SessionEnd):
                rows.end_session(file.agent, event.session_id)
                self.touched.add((file.agent, event.session_id))
                seen = None, None
                continue
            cwd = None if isinstance(event, Reply) else possible_folder(event.cwd)
            if is_own(event.text if isinstance(event, Turn) else "", cwd):
                continue
            if event.session_id != seen[0] or cwd not in {None, seen[1]}:
                seen = event.session_id, cwd
                rows.record_activity(file.agent, event.session_id, cwd=cwd, activity=reading.activity(event))
                self.touched.add((file.agent, event.session_id))
            if isinstance(event, SkillUse):
                rows.add_use(file.agent, replace(event, cwd=cwd))
            if isinstance(event, Turn):
                lasting = needs_classification(event.text)
                revives = file.since is not None
                added = rows.add_turn(event, file.id, counts=_counts(event, file), lasting=lasting, revives=revives)
                new += added
                self._said += [event] * added
        return new


def _wanted(cwd: str | None) -> bool:
    """Whether the project at a folder that a session names does not ask to be left alone."""
    folder = Path(cwd) if cwd else None
    try:
        return folder is None or not folder.is_absolute() or not opt_out(folder)
    except (SkilldError, OSError, ValueError):
        return False


def _counts(turn: Turn, file: StoredFile) -> bool:
    if turn.span.start < file.baseline:
        return False
    since, at = seconds(file.since), seconds(turn.at)
    return since is None or at is None or at >= since


# Transcripts that are being read: of each its parser and how far it came, of the newest few only.


class ParsingError(Exception):
    """An adapter failed on a line, which it never should. The text says so, and nothing of the line."""


@dataclass
class OpenFile:
    """One file in memory. `cursor` may be ahead of the stored one while lines wait for their outcome."""

    file: StoredFile
    parser: Parser
    cursor: Cursor | None
    mtime: float = 0.0

    @property
    def waits(self) -> bool:
        """Whether a line was read whose outcome only a later line, or idleness, decides."""
        return self.cursor is not None and self.parser.checkpoint(self.cursor.offset)[0] < self.cursor.offset

    def feed(self, part: Chunk | RawLine) -> list[Event]:
        """Return the events of some lines, or of one. Raises ParsingError."""
        if isinstance(part, RawLine):
            return _guarded(lambda: self.parser.feed(part))
        return _guarded(lambda: skimming(self.parser)(part))

    def flush(self) -> list[Event]:
        """Return the events that waited for lines which will not come. Raises ParsingError."""
        return _guarded(self.parser.flush)


class OpenFiles:
    """The files that were read last, at most `most` next to those in which something waits."""

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._files: OrderedDict[str, OpenFile] = OrderedDict()

    def get(self, path: str) -> OpenFile | None:
        """Return an open file."""
        if path in self._files:
            self._files.move_to_end(path)
        return self._files.get(path)

    def add(self, path: str, opened: OpenFile) -> None:
        """Keep a file open, and close those that nothing waits in and that were not used for longest."""
        self._files.pop(path, None)
        while len(self._files) >= self._most:
            idle = next((name for name, other in self._files.items() if not other.waits), None)
            if idle is None:
                break
            del self._files[idle]
        self._files[path] = opened

    def forget(self, path: str) -> None:
        """Close a file: what its parser was fed and the store does not have will be read again."""
        self._files.pop(path, None)

    def idle(self, since: float) -> list[tuple[str, OpenFile]]:
        """Return the files that did not grow since a Unix time."""
        return [(path, opened) for path, opened in self._files.items() if opened.cursor and opened.mtime <= since]


def _guarded(parse: Callable[[], list[Event]]) -> list[Event]:
    try:
        return parse()
    except Exception as error:  # noqa: BLE001 - our own bug; one transcript must not stop the others
        report(error, ["run"])
        raise ParsingError("an internal error in skilld") from None
