"""Follows transcripts: changed files to turns and skill uses in the store, position and turns in one transaction."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import structlog

from skilld.daemon.roots import Root, transcripts
from skilld.intake import tail
from skilld.intake.agents import ADAPTERS
from skilld.intake.agents.base import Parser
from skilld.store import Store
from skilld.store.meta import INSTALLED_AT
from skilld.store.transcripts import StoredFile
from skilld.times import rfc3339, seconds
from skilld.types import Event, Ignored, Malformed, SessionEnd, SkillUse, Turn
from skilld.window.gate import may_hold_something_lasting

log = structlog.get_logger()

_OPEN_PARSERS = 64


@dataclass
class _Followed:
    """One file in memory. `cursor` may be ahead of the stored one while lines wait for their outcome."""

    file: StoredFile
    parser: Parser
    cursor: tail.Cursor | None
    mtime: float = 0.0


class Follower:
    """Reads what is new below the roots. `now` is the Unix time, used at the very first start only."""

    def __init__(self, store: Store, roots: Sequence[Root], now: float) -> None:
        self._store = store
        self._rows = store.transcripts
        self._roots = roots
        self._open: OrderedDict[str, _Followed] = OrderedDict()
        self._seen: dict[str, tuple[int, float]] = {}
        self.unreadable: dict[str, str] = {}
        first_start = store.meta.get(INSTALLED_AT) is None
        if first_start:
            with store.transaction():
                store.meta.set(INSTALLED_AT, now)
                self._take_up_from_the_end()
        self._installed_at = float(store.meta.get(INSTALLED_AT))
        for file in self._rows.files():
            if not file.cursor or file.cursor["offset"] >= file.size:
                self._seen[file.path] = (file.size, file.mtime)

    def _take_up_from_the_end(self) -> None:
        for root in self._roots:
            for path, facts in transcripts(root):
                self._rows.add_file(root.agent, str(path), facts, baseline=facts.st_size)

    def sweep(self) -> int:
        """Look at every transcript by stat and read what changed. Returns the number of new turns."""
        new = 0
        for root in self._roots:
            for path, facts in transcripts(root):
                if self._seen.get(str(path)) != (facts.st_size, facts.st_mtime):
                    new += self.take_up(root.agent, path)
        return new

    def backfill(self, days: float, now: float) -> int:
        """Have files that grew in the last `days` read from their start. Returns how many."""
        since = now - days * 86400
        count = 0
        for root in self._roots:
            for path, facts in transcripts(root):
                if facts.st_mtime >= since:
                    name = str(path)
                    file = self._rows.file(name) or self._rows.add_file(root.agent, name, facts, baseline=0)
                    self._rows.reread(file.id, since=rfc3339(since))
                    self._open.pop(name, None)
                    self._seen.pop(name, None)
                    count += 1
        return count

    def take_up(self, agent: str, path: Path) -> int:
        """Read what is new in one file. Returns the number of new turns; trouble is kept in `unreadable`."""
        name = str(path)
        new = 0
        try:
            more = True
            while more:
                followed = self._followed(agent, path)
                reading = tail.read(path, followed.cursor)
                if reading.restarted:
                    followed.parser = ADAPTERS[agent].parser(path)
                    log.info("transcript replaced", agent=agent, file_id=followed.file.id)
                if reading.restarted or reading.size < followed.file.baseline:
                    self._rows.drop_baseline(followed.file.id)
                    followed.file = replace(followed.file, baseline=0)
                new += self._keep(followed, reading)
                more = reading.more
                self._seen[name] = (reading.size, reading.mtime)
            self.unreadable.pop(name, None)
        except FileNotFoundError:
            self._seen.pop(name, None)
        except OSError as error:
            if name not in self.unreadable:
                log.warning("transcript unreadable", agent=agent, error=type(error).__name__)
            self.unreadable[name] = error.strerror or str(error)
        return new

    def settle(self, idle_since: float) -> int:
        """Decide what still waits in files that did not grow since a Unix time. Returns the number of new turns."""
        new = 0
        for followed in self._open.values():
            if followed.mtime <= idle_since and followed.cursor and (events := followed.parser.flush()):
                new += self._record(followed, events, followed.cursor)
        return new

    def _followed(self, agent: str, path: Path) -> _Followed:
        name = str(path)
        known = self._open.get(name)
        if known is None:
            file = self._rows.file(name) or self._renamed(path) or self._new(agent, path)
            cursor = tail.Cursor(**file.cursor) if file.cursor else None
            known = _Followed(file, ADAPTERS[agent].parser(path, file.parser), cursor)
            self._open[name] = known
            if len(self._open) > _OPEN_PARSERS:
                self._open.popitem(last=False)
        self._open.move_to_end(name)
        return known

    def _new(self, agent: str, path: Path) -> StoredFile:
        return self._rows.add_file(agent, str(path), path.stat(follow_symlinks=False), baseline=0)

    def _renamed(self, path: Path) -> StoredFile | None:
        facts = path.stat(follow_symlinks=False)
        for file in self._rows.same_file(facts):
            if not os.path.lexists(file.path) and facts.st_size >= file.size:
                self._rows.rename(file.id, str(path))
                return self._rows.file(str(path))
        return None

    def _keep(self, followed: _Followed, reading: tail.Reading) -> int:
        events = [event for line in reading.lines for event in followed.parser.feed(line)]
        if followed.cursor is None and followed.file.baseline == 0 and self._speaks_of_the_past(events):
            self._learn_siblings(followed.file)
        followed.cursor, followed.mtime = reading.cursor, reading.mtime
        return self._record(followed, events, reading.cursor, overlong=len(reading.overlong), size=reading.size)

    def _record(
        self,
        followed: _Followed,
        events: Sequence[Event],
        cursor: tail.Cursor,
        *,
        overlong: int = 0,
        size: int | None = None,
    ) -> int:
        offset, state = followed.parser.checkpoint(cursor.offset)
        with self._store.transaction():
            new = sum(self._record_event(followed, event) for event in events)
            self._rows.save_reading(
                followed.file.id,
                cursor=replace(cursor, offset=offset),
                parser=state,
                size=cursor.offset if size is None else size,
                mtime=followed.mtime,
                malformed=sum(isinstance(event, Malformed) for event in events),
                overlong=overlong,
            )
        return new

    def _record_event(self, followed: _Followed, event: Event) -> bool:
        file = followed.file
        if isinstance(event, Ignored | Malformed):
            return False
        if isinstance(event, SessionEnd):
            self._rows.end_session(file.agent, event.session_id)
            return False
        cwd = event.cwd if isinstance(event, Turn | SkillUse) else None
        self._rows.see_session(file.agent, event.session_id, cwd=cwd, activity=followed.mtime)
        if isinstance(event, SkillUse):
            self._rows.add_use(file.agent, event)
        if isinstance(event, Turn):
            lasting = may_hold_something_lasting(event.text)
            return self._rows.add_turn(event, file.id, counts=_counts(event, file), lasting=lasting)
        return False

    def _speaks_of_the_past(self, events: Sequence[Event]) -> bool:
        times = (seconds(event.at) for event in events if isinstance(event, Turn))
        return any(at is not None and at < self._installed_at for at in times)

    def _learn_siblings(self, file: StoredFile) -> None:
        """Learn the turns of files beside a new one that repeats words from before skilld: it may be a fork of them."""
        folder = Path(file.path).parent
        for other in self._rows.files(file.agent):
            if other.id != file.id and other.cursor is None and Path(other.path).parent == folder:
                self.take_up(file.agent, Path(other.path))


def _counts(turn: Turn, file: StoredFile) -> bool:
    if turn.span.start < file.baseline:
        return False
    since, at = seconds(file.since), seconds(turn.at)
    return since is None or at is None or at >= since
