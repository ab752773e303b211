"""Mines many files in parallel: each worker returns small redacted results, which are merged in one place.

Results are merged in the order of the files' addresses, so the report does not depend on the number of workers. The
files of a lost worker are done again. Raw text does not leave the worker.
"""

from __future__ import annotations

import importlib
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from skilld.clock import parse_time
from skilld.errors import SkilldError, cause_of
from skilld.ingest.inspect import guess_agent
from skilld.ingest.remote import local_file
from skilld.jobs.limits import ProcessorTimeError, limit_memory, processor_time
from skilld.mining.selection import judge
from skilld.mining.session_summary import Row, detect_feedback, summarize
from skilld.mining.sessions import Reader, Transcript
from skilld.mining.values import Judgement
from skilld.past import PastSession
from skilld.protocol import PROCESSOR_SECONDS
from skilld.redact import Redactor
from skilld.values import value_class

WORKER_MEMORY_MB = 1500  # private memory of one local worker; Dask's workers have --memory-limit
_FILES_PER_WORKER = 4  # queued at a time, so that few are lost with a worker
_MAX_QUEUED_FILES = 1000  # submitted to a scheduler at a time
_MAX_TRIES = 3  # for a file whose worker was lost
_LOST_REASON = "the process that was reading it stopped unexpectedly"
_MAX_TYPED_LENGTH = 4000  # characters of a session's typed text that its row keeps

Job = Callable[[str, bytes], "FileResult"]  # a module-level function: workers import it by name


@value_class
class FileResult:
    """The result of one file: the rows of its sessions, or what they show about rules, redacted; or why it has none."""

    url: str
    rows: tuple[Row, ...] = ()
    past: tuple[PastSession, ...] = ()
    trouble: str = ""


@value_class
class MergedResults:
    """The merged results of all files. `unreadable` has each file without a result, with the reason."""

    files: int
    rows: tuple[Row, ...]
    unreadable: tuple[tuple[str, str], ...]
    judgement: Judgement


def mine_file(url: str, key: bytes) -> FileResult:
    """Return the rows of one transcript, redacted with `key`. Raises only for bugs. Runs in a worker."""
    redact = Redactor(key).redact

    def mined(agent: str, path: Path) -> FileResult:
        reader = Reader(redact)
        sessions = [one for one in reader.sessions(Transcript(agent, path, 0.0)) if not one.is_left_alone]
        rows = tuple(_reduced_row(summarize(one, detect_feedback(one)), url) for one in sessions)
        return FileResult(url, rows, trouble="unreadable" if reader.unreadable else "")

    return read_guarded(url, mined)


def read_guarded(url: str, read: Callable[[str, Path], FileResult]) -> FileResult:
    """Call `read` with a file's agent and local path, and return its result or why the file cannot be read."""
    try:
        with local_file(url) as path, processor_time(PROCESSOR_SECONDS):
            agent = guess_agent(path)
            return FileResult(url, trouble="it is not a transcript") if agent is None else read(agent, path)
    except ProcessorTimeError:
        return FileResult(url, trouble="reading it took too long")
    except MemoryError:
        return FileResult(url, trouble="reading it took too much memory")
    except OSError as error:
        return FileResult(url, trouble=cause_of(error))
    except SkilldError as error:
        return FileResult(url, trouble=error.cause or error.title)


def _reduced_row(row: Row, url: str) -> Row:
    return replace(row, path=url, asked=row.asked[:_MAX_TYPED_LENGTH])


def run_locally(urls: Sequence[str], key: bytes, workers: int, job: Job = mine_file) -> Iterator[FileResult]:
    """Yield the result of each file, using `workers` processes; 0: this process, without a memory limit."""
    if not workers:
        yield from (job(url, key) for url in urls)
        return
    tries = dict.fromkeys(urls, 0)
    left = list(reversed(urls))
    while left:
        in_hand: dict[Future[FileResult], str] = {}
        try:
            yield from _run_pool(left, in_hand, tries, key, job, workers=workers)
        except BrokenProcessPool:  # a killed worker ends the pool: its files are done again
            for url in in_hand.values():
                tries[url] += 1
                if tries[url] < _MAX_TRIES:
                    left.append(url)
                else:
                    yield FileResult(url, trouble=_LOST_REASON)


def _run_pool(
    left: list[str],
    in_hand: dict[Future[FileResult], str],
    tries: Mapping[str, int],
    key: bytes,
    job: Job,
    *,
    workers: int,
) -> Iterator[FileResult]:
    """Yield the results of the files that are `left`. Raises BrokenProcessPool if a worker is lost.

    What was in hand then is done alone the next time: otherwise the others would be blamed for one that kills workers.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=limit_memory, initargs=(WORKER_MEMORY_MB,)) as pool:
        while left or in_hand:
            while left:
                alone = any(tries[url] for url in (left[-1], *in_hand.values()))
                if len(in_hand) >= (1 if alone else workers * _FILES_PER_WORKER):
                    break
                future = pool.submit(job, left[-1], key)
                in_hand[future] = left.pop()
            for future in wait(in_hand, return_when=FIRST_COMPLETED).done:
                found = future.result()
                del in_hand[future]
                yield found


def run_on_cluster(urls: Sequence[str], key: bytes, address: str, job: Job = mine_file) -> Iterator[FileResult]:
    """Yield the result of each file, using the workers of a Dask scheduler, which have skilld installed.

    Raises SkilldError if Dask or the scheduler is missing.
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
        left, names = iter(urls), dict[str, str]()
        running = distributed.as_completed(loop=client.loop)

        def submit(url: str) -> None:
            future = client.submit(job, url, key, pure=False, retries=_MAX_TRIES)
            names[future.key] = url
            running.add(future)

        for url in islice(left, _MAX_QUEUED_FILES):
            submit(url)
        for future in running:
            url = names.pop(future.key)
            try:
                yield future.result()  # Dask has retried it if its worker was lost
            except distributed.KilledWorker:
                yield FileResult(url, trouble=_LOST_REASON)
            future.release()
            if (following := next(left, None)) is not None:
                submit(following)


def merge_results(results: Iterable[FileResult]) -> MergedResults:
    """Merge the results, independent of their order."""
    ordered = sorted(results, key=lambda one: one.url)
    known: set[str] = set()
    rows = []
    for row in (row for one in ordered for row in one.rows):
        new = frozenset(row.turns) - known  # a resumed session repeats earlier turns
        known |= new
        if new:
            rows.append(_row_of_turns(row, new))
    now = max((parse_time(row.datetime) or 0.0 for row in rows), default=0.0)
    unreadable = tuple((one.url, one.trouble) for one in ordered if one.trouble)
    return MergedResults(len(ordered), tuple(rows), unreadable, judge(rows, [], {}, now=now))


def _row_of_turns(row: Row, turns: frozenset[str]) -> Row:
    return replace(
        row,
        turns=tuple(turn for turn in row.turns if turn in turns),
        tasks=tuple(one for one in row.tasks if one.turn in turns),
        user_feedback=tuple(one for one in row.user_feedback if one.turn in turns),
        actions=tuple((action, turn) for action, turn in row.actions if turn in turns),
    )
