"""Mining as a map over files: each gives a small redacted result, and one place puts them together.

The results are put together in the order of the files' addresses, so the report is the same whatever the number of
workers. What a lost worker had in hand is done again. Raw text does not leave the worker.
"""

from __future__ import annotations

import importlib
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skilld.clock import seconds
from skilld.errors import SkilldError, cause_of
from skilld.ingest.inspect import guess_agent
from skilld.ingest.remote import here
from skilld.jobs.limits import ProcessorTimeError, limit_memory, processor_time
from skilld.mining.selection import judge
from skilld.mining.session_summary import Row, heard, row_of
from skilld.mining.sessions import Reader, Session, Transcript
from skilld.mining.values import Judgement
from skilld.past import PastSession
from skilld.pipeline.documents import session_opt_out
from skilld.protocol import PROCESSOR_SECONDS
from skilld.redact import Redactor

MEGABYTES = 1500  # of private memory of one local worker; Dask's own have --memory-limit
_AHEAD = 4  # files in hand for each worker: one that is lost takes few along
_AT_ONCE = 1000  # files that a scheduler is told of at a time
_TRIES = 3  # of a file whose worker was lost
_LOST = "the process that was reading it stopped unexpectedly"
_MAX_ASKED = 4000  # characters of what was typed in a session that its row keeps

Progress = Callable[[int, int], None]
Job = Callable[[str, bytes], "Found"]  # a function of a module: workers import it by its name


@dataclass(frozen=True, slots=True)
class Found:
    """What one file gave: rows of its sessions, or what they show of rules, redacted; or why it gave none."""

    url: str
    rows: tuple[Row, ...] = ()
    past: tuple[PastSession, ...] = ()
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Spread:
    """What all files came to. `unreadable` has each file that gave nothing, with why."""

    files: int
    rows: tuple[Row, ...]
    unreadable: tuple[tuple[str, str], ...]
    judgement: Judgement


def one_file(url: str, key: bytes) -> Found:
    """Read one transcript and return what it holds, redacted with `key`. Raises only for bugs. Runs in a worker."""
    redact = Redactor(key).redact

    def mined(agent: str, path: Path) -> Found:
        reader = Reader(redact)
        sessions = [one for one in reader.sessions(Transcript(agent, path, 0.0)) if _is_wanted(one)]
        rows = tuple(_small(row_of(one, heard(one)), url, redact) for one in sessions)
        return Found(url, rows, trouble="unreadable" if reader.unreadable else "")

    return guarded(url, mined)


def guarded(url: str, read: Callable[[str, Path], Found]) -> Found:
    """Return what `read` finds in a file, given its agent and a path here; of one that it cannot read, why."""
    try:
        with here(url) as path, processor_time(PROCESSOR_SECONDS):
            agent = guess_agent(path)
            return Found(url, trouble="it is not a transcript") if agent is None else read(agent, path)
    except ProcessorTimeError:
        return Found(url, trouble="reading it took too long")
    except MemoryError:
        return Found(url, trouble="reading it took too much memory")
    except OSError as error:
        return Found(url, trouble=cause_of(error))
    except SkilldError as error:
        return Found(url, trouble=error.cause or error.title)


def _is_wanted(session: Session) -> bool:
    try:
        return not session_opt_out(session.cwd or None)
    except SkilldError:
        return False  # what it says is not understood: rather not


def _small(row: Row, url: str, redact: Callable[[str], str]) -> Row:
    actions = tuple((replace(action, text=redact(action.text)), turn) for action, turn in row.actions)
    return replace(row, path=url, asked=row.asked[:_MAX_ASKED], actions=actions)


def locally(urls: Sequence[str], key: bytes, workers: int, progress: Progress, job: Job = one_file) -> Iterator[Found]:
    """Yield what each file gave, worked out by so many processes; 0: by this one, without a limit of memory."""
    if not workers:
        for number, url in enumerate(urls, 1):
            yield job(url, key)
            progress(number, len(urls))
        return
    tries = dict.fromkeys(urls, 0)
    left, done = list(reversed(urls)), 0
    while left:
        in_hand: dict[Future[Found], str] = {}
        try:
            with _pool(workers) as pool:
                while left or in_hand:
                    while left and len(in_hand) < workers * _AHEAD:
                        future = pool.submit(job, left[-1], key)
                        in_hand[future] = left.pop()
                    for future in wait(in_hand, return_when=FIRST_COMPLETED).done:
                        found = future.result()
                        del in_hand[future]
                        done += 1
                        progress(done, len(urls))
                        yield found
        except BrokenProcessPool:  # a worker was killed, and took the pool along: what it had in hand comes again
            for url in in_hand.values():
                tries[url] += 1
                if tries[url] < _TRIES:
                    left.append(url)
                else:
                    yield Found(url, trouble=_LOST)


def _pool(workers: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=limit_memory, initargs=(MEGABYTES,))


def on_cluster(
    urls: Sequence[str], key: bytes, address: str, progress: Progress, job: Job = one_file
) -> Iterator[Found]:
    """Yield what each file gave, worked out by the workers of a Dask scheduler, which have skilld installed.

    Raises SkilldError where there is no Dask, or no such scheduler.
    """
    try:
        distributed: Any = importlib.import_module("distributed")  # it has no types
    except ImportError:
        raise SkilldError(
            "Cannot use a cluster", "Dask is not installed", "Install it: pip install 'skilld[cluster]'"
        ) from None
    try:
        client = distributed.Client(address, timeout=20, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SkilldError("Cannot use the cluster", f"no scheduler responded at {address}: {error}") from None
    with client:

        def submit(url: str) -> Any:  # noqa: ANN401 - Dask has no types
            return client.submit(job, url, key, pure=False, retries=_TRIES)

        left = iter(urls)
        names = {}
        running = distributed.as_completed(loop=client.loop)
        for url in (url for url, _ in zip(left, range(_AT_ONCE), strict=False)):
            future = submit(url)
            names[future.key] = url
            running.add(future)
        for number, future in enumerate(running, 1):
            url = names.pop(future.key)
            try:
                found = future.result()  # again, where the worker that had it was lost meanwhile
            except distributed.KilledWorker:
                found = Found(url, trouble=_LOST)
            yield found
            progress(number, len(urls))
            future.release()
            if (following := next(left, None)) is not None:
                more = submit(following)
                names[more.key] = following
                running.add(more)


def together(results: Iterable[Found]) -> Spread:
    """Return what the results come to: nothing of it depends on who worked them out, or in which order they came."""
    ordered = sorted(results, key=lambda one: one.url)
    known: set[str] = set()
    rows = []
    for row in (row for one in ordered for row in one.rows):
        new = frozenset(row.turns) - known  # a session that was taken up again repeats what was said before
        known |= new
        if new:
            rows.append(_only(row, new))
    now = max((seconds(row.datetime) or 0.0 for row in rows), default=0.0)
    unreadable = tuple((one.url, one.trouble) for one in ordered if one.trouble)
    return Spread(len(ordered), tuple(rows), unreadable, judge(rows, [], {}, now=now))


def _only(row: Row, turns: frozenset[str]) -> Row:
    return replace(
        row,
        turns=tuple(turn for turn in row.turns if turn in turns),
        tasks=tuple(one for one in row.tasks if one.turn in turns),
        user_feedback=tuple(one for one in row.user_feedback if one.turn in turns),
        actions=tuple((action, turn) for action, turn in row.actions if turn in turns),
    )
