"""Which past sessions a run is about: those asked for, with what their logs tell of cost and end.

What a log does not tell is no reason to leave a session out; how many there were is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from skilld.classify.backends.completion import Rates
from skilld.errors import SkilldError
from skilld.jobs.limits import ProcessorTimeError, processor_time
from skilld.mining.sessions import Ending, Reader, Session, Transcript
from skilld.pipeline.documents import why_session_left_alone
from skilld.protocol import PROCESSOR_SECONDS


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions are asked for. `usd` is the least that one cost, `completed` leaves out what was broken off."""

    limit: int = 100
    turns: int = 1
    ids: frozenset[str] | None = None
    project: Path | None = None
    usd: float | None = None
    completed: bool = False


@dataclass
class SessionSet:
    """The sessions that were read, and where each stands; how many files could not be read, what no log told."""

    sessions: list[Session] = field(default_factory=list)
    where: dict[str, Transcript] = field(default_factory=dict)
    unreadable: int = 0
    unknown_cost: int = 0
    unknown_end: int = 0
    left_alone: int = 0

    def is_by_hand(self, session: str) -> bool:
        """Whether a session was read from a file that somebody named, outside the agents' folders."""
        return session in self.where and self.where[session].by_hand


def read(
    transcripts: Iterable[Transcript],
    wanted: SessionFilter,
    redact: Callable[[str], str],
    rates: Callable[[str], Rates | None],
) -> SessionSet:
    """Return the wanted sessions, newest first. `rates` says what a model's tokens cost."""
    reader = Reader(redact)
    reading = SessionSet()
    for transcript in transcripts:
        try:
            with processor_time(PROCESSOR_SECONDS):
                sessions = list(reader.sessions(transcript))
        except ProcessorTimeError:  # it costs the other transcripts nothing
            reader.unreadable += 1
            continue
        for session in sessions:
            if len(reading.sessions) < wanted.limit and _is_wanted(session, wanted, rates, reading):
                reading.sessions.append(session)
                reading.where[session.id] = transcript
        if len(reading.sessions) >= wanted.limit:
            break
    reading.unreadable = reader.unreadable
    return reading


def _is_wanted(
    session: Session, wanted: SessionFilter, rates: Callable[[str], Rates | None], reading: SessionSet
) -> bool:
    if len(session.turns) < wanted.turns or (wanted.ids is not None and session.id not in wanted.ids):
        return False
    folders = [Path(folder) for folder in (session.cwd, session.main_dir) if folder]
    if wanted.project is not None and not any(folder.is_relative_to(wanted.project) for folder in folders):
        return False
    if _wants_to_be_left_alone(session.cwd):
        reading.left_alone += 1
        return False
    if wanted.completed and session.log.ending not in {Ending.COMPLETED, Ending.UNKNOWN}:
        return False
    cost = session.log.cost(rates) if wanted.usd is not None else None
    if wanted.usd is not None and cost is not None and cost < wanted.usd:
        return False
    reading.unknown_end += wanted.completed and session.log.ending is Ending.UNKNOWN
    reading.unknown_cost += wanted.usd is not None and cost is None
    return True


def _wants_to_be_left_alone(cwd: str) -> bool:
    try:
        return bool(why_session_left_alone(cwd or None))
    except SkilldError:
        return True  # what it says is not understood: rather not
