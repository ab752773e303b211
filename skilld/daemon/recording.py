"""What readings of transcripts gave, written into the store: sessions seen and ended, turns, skill uses, positions."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilld.classify.backends.agent_cli.own import is_own
from skilld.errors import SkilldError
from skilld.intake.source import Cursor
from skilld.skills import why_left_alone
from skilld.store.files import StoredFile
from skilld.store.transcripts import Transcripts
from skilld.store.words import LONGEST, Said, Words
from skilld.times import seconds
from skilld.types import Event, Ignored, Malformed, Reply, SessionEnd, SkillUse, Turn
from skilld.window.gate import may_hold_something_lasting

_MOST = 32  # readings: fewer than files are kept open, so that a file's next reading goes on from this one
_MOST_TEXT = 1 << 20  # characters


@dataclass(frozen=True, slots=True)
class Reading:
    """What one look at a file gave, and where the next goes on. `by_time`: positions are times, in milliseconds."""

    file: StoredFile
    events: Sequence[Event]
    cursor: Cursor
    parser: dict[str, Any]
    size: int
    mtime: float
    overlong: int
    by_time: bool

    def activity(self, event: Turn | Reply | SkillUse) -> float:
        """Return when the session of an event was active, as a Unix time: a database has many sessions."""
        return event.span.start / 1000 if self.by_time else self.mtime


class Recording:
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
        self._waiting: list[Reading] = []
        self._text = 0
        self.touched: set[tuple[str, str]] = set()
        self.new = 0

    def add(self, reading: Reading) -> None:
        """Keep a reading, and write all where there are many. Call it in the transaction that is to hold it."""
        self._waiting.append(reading)
        self._text += sum(len(event.text) for event in reading.events if isinstance(event, Turn | Reply))
        if len(self._waiting) >= _MOST or self._text >= _MOST_TEXT:
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
        said: list[Said] = []
        wanted: dict[str | None, bool] = {}
        for turn in self._said:
            cwd = self._rows.cwd(turn.agent, turn.session_id)
            if cwd not in wanted:
                wanted[cwd] = _wanted(cwd)
            if wanted[cwd] and len(turn.text) <= LONGEST:
                with suppress(SkilldError):  # what cannot be redacted is not kept
                    said.append(Said(turn.key, turn.how.value, self._redact(turn.text)))
        self._words.keep(said, time.time())

    def _write(self, reading: Reading) -> int:
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
            cwd = event.cwd if isinstance(event, Turn | SkillUse) else None
            if is_own(event.text if isinstance(event, Turn) else "", cwd):
                continue
            if event.session_id != seen[0] or cwd not in {None, seen[1]}:
                seen = event.session_id, cwd
                rows.see_session(file.agent, event.session_id, cwd=cwd, activity=reading.activity(event))
                self.touched.add((file.agent, event.session_id))
            if isinstance(event, SkillUse):
                rows.add_use(file.agent, event)
            if isinstance(event, Turn):
                lasting = may_hold_something_lasting(event.text)
                revives = file.since is not None
                added = rows.add_turn(event, file.id, counts=_counts(event, file), lasting=lasting, revives=revives)
                new += added
                self._said += [event] * added
        return new


def _wanted(cwd: str | None) -> bool:
    """Whether the project at a folder that a session names does not ask to be left alone."""
    folder = Path(cwd) if cwd else None
    try:
        return folder is None or not folder.is_absolute() or not why_left_alone(folder)
    except (SkilldError, OSError, ValueError):
        return False


def _counts(turn: Turn, file: StoredFile) -> bool:
    if turn.span.start < file.baseline:
        return False
    since, at = seconds(file.since), seconds(turn.at)
    return since is None or at is None or at >= since
