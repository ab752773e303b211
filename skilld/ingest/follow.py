"""Follows transcripts: stores new turns and skill uses in one transaction with the position."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skilld.agents import ADAPTERS
from skilld.agents.chunk import Chunk
from skilld.clock import parse_time, rfc3339
from skilld.files import FileFacts
from skilld.ingest import side_files
from skilld.ingest.discover import FileStates, FolderScanner, Root, find_transcripts, is_anybodys, is_utf8
from skilld.ingest.source import Cursor, Source, TranscriptRead, source_of
from skilld.ingest.turn_writer import FileReading, OpenFile, OpenFiles, ParsingError, TurnWriter
from skilld.logs import get_logger
from skilld.store import Store
from skilld.store.meta import INSTALLED_AT
from skilld.store.transcripts import StoredFile
from skilld.text import Redact
from skilld.types import Event, Turn

log = get_logger()

# Reading is not synced: what a power cut takes back is read again, because its position goes with it. The words are in
# the transcript alone, so syncing the turns would save nothing.
_TRANSACTION_SECONDS = 0.1  # of reading for one transaction
_NOT_UTF8 = "its name is not UTF-8"
_ANYBODYS = "git tracks it, or its list of typed prompts, so someone else may have written it"


class Follower:
    """Reads what is new below the roots. `now` is the Unix time, used only at the very first start.

    `redact` is applied to the words of turns, which are stored until they are judged; without it none are stored.
    `passed_over` counts the lines that needed no parsing. `progress` is called repeatedly while it works.
    """

    progress: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, store: Store, roots: Sequence[Root], now: float, redact: Redact | None = None) -> None:
        self._store = store
        self._rows = store.transcripts
        self._roots = roots
        self._open = OpenFiles()
        self._folders = FolderScanner()
        self._seen = FileStates()
        self.unreadable: dict[str, str] = {}
        self._retries: dict[str, str] = {}  # files that could not be read, and their agents
        self._writer = TurnWriter(self._rows, store.words, redact)
        self.passed_over = 0
        self._uncommitted: set[str] = set()  # files read in the open transaction
        first_start = store.meta.get(INSTALLED_AT) is None
        if first_start:
            with store.transaction():
                store.meta.set(INSTALLED_AT, now)
                self.skip_to_end()
        self._installed_at = float(store.meta.get(INSTALLED_AT))
        for agent, path, read_until, size, mtime in self._rows.positions():
            if read_until >= size or (agent in ADAPTERS and ADAPTERS[agent].INFO.is_gathered(path)):
                self._seen.record(path, size, mtime)

    @property
    def touched(self) -> set[tuple[str, str]]:
        """The sessions (agent and id) with something new in the store; the caller clears it after handling them."""
        return self._writer.touched

    @property
    def newest(self) -> Mapping[Root, Mapping[str, float]]:
        """The newest transcripts of sparse roots, as of the last sweep."""
        return self._folders.newest

    def skip_to_end(self) -> None:
        """Follow every unknown transcript from its current end. Call it in a transaction."""
        for agent, path, facts in self._transcripts():
            self._rows.add_file(agent, str(path), facts, baseline=_source(agent, path).end(path, facts))

    def _transcripts(self) -> Iterator[tuple[str, Path, FileFacts]]:
        for root in self._roots:
            for path, facts in find_transcripts(root):
                if is_utf8(path):
                    yield root.agent, path, facts
                else:
                    self.unreadable[str(path)] = _NOT_UTF8

    def sweep(self, quiet_since: float | None = None) -> int:
        """Check every transcript with stat and read those that changed. Returns the number of new turns.

        With a Unix time, folders in which nothing happened since are skipped (see discover.py).
        """
        return self.read_all_new(self._changed_files(quiet_since))

    def _changed_files(self, quiet_since: float | None) -> Iterator[tuple[str, Path]]:
        yield from [(agent, Path(name)) for name, agent in self._retries.items()]
        for root in self._roots:
            adapter = ADAPTERS[root.agent]
            for name in self._folders.changed_files(root, self._seen, time.time(), quiet_since=quiet_since):
                self.progress()
                path = Path(name)
                if not root.file and not adapter.is_transcript(path):
                    continue
                if is_utf8(path):
                    yield root.agent, path
                else:
                    self.unreadable[str(path)] = _NOT_UTF8

    def read_all_new(self, files: Iterable[tuple[str, Path]]) -> int:
        """Read what is new in files, many parts to a transaction. Returns the number of new turns."""
        before = self._writer.new
        rest = iter(files)
        at = next(rest, None)
        while at:
            self._uncommitted.clear()
            try:
                with self._store.transaction(synced=False):
                    until = time.monotonic() + _TRANSACTION_SECONDS
                    while at and time.monotonic() < until:
                        self.progress()
                        at = at if self._read_part(*at) else next(rest, None)
                    self._writer.write()
            except BaseException:
                self._writer.discard()
                for name in self._uncommitted:
                    self._forget(name)
                raise
        return self._writer.new - before

    def backfill(self, days: float, now: float, *, known: bool = True) -> int:
        """Make files that grew in the last `days` be read from their start, `known` ones too. Returns how many."""
        since = now - days * 86400
        count = 0
        with self._store.transaction():
            for agent, path, facts in self._transcripts():
                if facts.st_mtime >= since and (known or self._rows.file(str(path)) is None):
                    file = self._rows.file(str(path)) or self._rows.add_file(agent, str(path), facts, baseline=0)
                    self._rows.reread(file.id, since=rfc3339(since))
                    self._forget(str(path))
                    count += 1
        return count

    def _read_part(self, agent: str, path: Path) -> bool:
        """Read a part of what is new in one file; return whether there is more."""
        if not is_utf8(path):
            return False
        name = str(path)
        self._uncommitted.add(name)
        try:
            if (foreign := is_anybodys(agent, path)) is not False:
                self._pass_over(agent, path, foreign=bool(foreign))
                return False
            followed = self._open_file(agent, path)
            with _source(agent, path).read_new(path, followed.cursor) as look:
                self._store_read(followed, path, look)
            self._open.add(name, followed)  # reading other files may have closed it
            self._set_note(name, look.note)
        except FileNotFoundError:
            self._forget(name)
            self._set_note(name, "")
        except (OSError, ParsingError) as error:
            self._forget(name, seen=isinstance(error, ParsingError))
            if isinstance(error, OSError):
                self._retries[name] = agent
            if name not in self.unreadable:
                log.warning("transcript unreadable", agent=agent, error=type(error).__name__)
            self.unreadable[name] = getattr(error, "strerror", None) or str(error)
        else:
            return look.more
        return False

    def _pass_over(self, agent: str, path: Path, *, foreign: bool) -> None:
        """Never count what a file of anybody's says now; try again later if only nobody knows whose it is."""
        self._retries[str(path)] = agent
        if foreign:
            facts = _source(agent, path).facts(path)
            file = self._rows.file(str(path)) or self._rows.add_file(agent, str(path), facts, baseline=0)
            self._rows.start_behind(file.id, _source(agent, path).end(path, facts))
            self._forget(str(path))
            self._seen.record(str(path), facts.st_size, facts.st_mtime)
            self._set_note(str(path), _ANYBODYS)

    def _set_note(self, name: str, note: str) -> None:
        """Record what could not be read of a file, for `status`; an empty note means that nothing was left out."""
        self._retries.pop(name, None)
        self.unreadable.pop(name, None)
        if note:
            self.unreadable[name] = note

    def _forget(self, name: str, *, seen: bool = False) -> None:
        """Drop a file's parser: what it was fed and is not stored must be read again.

        With `seen`, it is not read again until it changes.
        """
        self._open.forget(name)
        if not seen:
            self._seen.forget(name)

    def _drop_baseline(self, followed: OpenFile) -> None:
        """Treat a file as replaced since skilld was installed: whether its turns count depends on their times."""
        since = rfc3339(self._installed_at) if followed.file.baseline else followed.file.since
        self._rows.drop_baseline(followed.file.id, since=since)
        followed.file = replace(followed.file, baseline=0, since=since)

    def flush_idle(self, idle_since: float) -> int:
        """Flush the parsers of files that did not grow since a Unix time; return how many turns are new."""
        before = self._writer.new
        for name, followed in self._open.idle(idle_since):
            try:
                if not followed.cursor or not (events := followed.flush()):
                    continue
                if self._has_changed(followed.file):  # what the parser waited for may have been written since
                    self._forget(name)
                else:
                    with self._store.transaction():
                        self._add_reading(followed, events, followed.cursor, size=followed.cursor.offset)
                        self._writer.write()
            except ParsingError as error:
                self._forget(name, seen=True)
                self.unreadable[name] = str(error)
            except BaseException:
                self._writer.discard()
                self._forget(name)
                raise
        return self._writer.new - before

    def _has_changed(self, file: StoredFile) -> bool:
        try:
            path = Path(file.path)
            return not self._seen.is_unchanged(file.path, _source(file.agent, path).facts(path))
        except OSError:
            return False  # it is gone

    def _open_file(self, agent: str, path: Path) -> OpenFile:
        name = str(path)
        followed = self._open.get(name)
        if followed is None:
            file = self._rows.file(name) or self._find_renamed(agent, path) or self._add_file(agent, path)
            cursor = _source(agent, path).cursor(file.cursor, file.baseline)
            parser = ADAPTERS[agent].parser(path, file.parser)
            followed = OpenFile(file, parser, cursor)
            self._open.add(name, followed)
        return followed

    def _add_file(self, agent: str, path: Path) -> StoredFile:
        file = self._rows.add_file(agent, str(path), _source(agent, path).facts(path), baseline=0)
        if _source(agent, path).rereads:  # a new database may hold years of sessions
            since = rfc3339(self._installed_at)
            self._rows.drop_baseline(file.id, since=since)
            file = replace(file, since=since)
        return file

    def _find_renamed(self, agent: str, path: Path) -> StoredFile | None:
        facts = _source(agent, path).facts(path)
        for file in self._rows.same_file(facts):
            # Inodes are reused soon. A file that was read is recognized by its first bytes, others by name or age.
            same = (
                file.cursor
                or Path(file.path).name == path.name
                or (file.size, file.mtime) == (facts.st_size, facts.st_mtime)
            )
            if same and not os.path.lexists(file.path) and facts.st_size >= file.size:
                self._forget(file.path)
                self._rows.rename(file.id, str(path))
                return self._rows.file(str(path))
        return None

    def _store_read(self, followed: OpenFile, path: Path, look: TranscriptRead) -> None:
        """Parse a part that was read of a file, and queue its events for the store."""
        file = followed.file
        if look.restarted:
            followed.parser = ADAPTERS[file.agent].parser(path)
            log.info("transcript replaced", agent=file.agent, file_id=file.id)
        if look.restarted or look.length < file.baseline:
            self._drop_baseline(followed)
        side_files.provide(followed.parser, path, ADAPTERS[file.agent].INFO)
        self._seen.record(file.path, look.size, look.mtime)
        events: list[Event] = []
        for part in look.parts():
            events += followed.feed(part)
            if isinstance(part, Chunk):
                self.passed_over += part.passed_over
        if followed.cursor is None and followed.file.baseline == 0:
            self._read_fork_sources(followed.file, events)
        followed.cursor, followed.mtime = look.cursor, look.mtime
        self._add_reading(followed, events, followed.cursor, overlong=len(look.overlong), size=look.size)
        if _source(file.agent, path).rereads and not look.more:
            offset, _ = followed.parser.checkpoint(look.cursor.offset)
            followed.cursor = replace(look.cursor, offset=offset)

    def _add_reading(
        self, followed: OpenFile, events: Sequence[Event], cursor: Cursor, *, size: int, overlong: int = 0
    ) -> None:
        offset, state = followed.parser.checkpoint(cursor.offset)
        by_time = _source(followed.file.agent, Path(followed.file.path)).rereads
        at = replace(cursor, offset=offset)
        self._writer.add(FileReading(followed.file, events, at, state, size, followed.mtime, overlong, by_time))

    def _read_fork_sources(self, file: StoredFile, events: Sequence[Event]) -> None:
        """Read the files that a new file with old turns may be a fork of, so that the turns are known as theirs.

        Only files from before skilld are searched: others are new themselves and will be read anyway. Files in the same
        folder come first, but Codex puts a fork into the folder of the day.
        """
        turns = [event for event in events if isinstance(event, Turn)]
        past = {turn.key for turn in turns if (at := parse_time(turn.at)) is not None and at < self._installed_at}
        for other in self._rows.unread_before(file.agent, Path(file.path).parent) if past else ():
            past = self._rows.unknown(past)
            if not past:
                return
            more = True
            while more:
                more = self._read_part(file.agent, Path(other.path))
            self._writer.write()


def _source(agent: str, path: Path) -> Source:
    return source_of(ADAPTERS[agent].INFO, path)
