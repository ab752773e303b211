"""From append to record: a turn is appended to a transcript, and some time later its row is in the store.

A real daemon follows 50 files, to which another process appends 1,000 turns a second, one at a time. A third process
asks the database for the rows every millisecond. Yardstick: a bare watchdog observer on the same folders at the same
rate, from the append until its handler is called, which no program that waits for events can beat.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.kit import children
from benchmarks.kit.appending import sessions
from benchmarks.kit.daemon import daemon, database
from benchmarks.kit.figures import Figure, Of, Scale, Target
from benchmarks.kit.timing import percentile

_FILES = 50
_RATE = 1000
_EVERY = 0.001
_LATE = 20.0  # seconds after the last append: what is not there then is lost


def measure(scale: Scale) -> dict[str, Figure]:
    """Return p50 and p99 of the time from append to row."""
    length = scale.pick(20.0, 3.0)
    with children.scratch() as home:
        store = home / ".claude/projects"
        for session in sessions(store, _FILES):
            session.path.touch()
        with daemon(home):
            recorded = _latencies(home, store, length)
        seen = _seen(home, store, length)
    basis = f"{len(recorded)} turns, {_RATE} a second, {_FILES} files"
    yardstick = "a bare watchdog observer's handler is called"
    numbers = {share: (1000 * percentile(recorded, share), 1000 * percentile(seen, share)) for share in (0.5, 0.99)}
    return {
        "p50": Figure(numbers[0.5][0], "ms", yardstick, numbers[0.5][1], basis),
        "p99": Figure(numbers[0.99][0], "ms", yardstick, numbers[0.99][1], basis, Target(Of.VALUE, most=50)),
    }


@contextmanager
def _append(home: Path, store: Path, length: float) -> Iterator[subprocess.Popen[bytes]]:
    """Append while the context lasts; `_appended` has the times when it is over."""
    command = [sys.executable, "-m", "benchmarks.kit.appending", str(store), str(_FILES), str(_RATE), str(length)]
    with (
        _times(home).open("wb") as out,
        subprocess.Popen(command, env=children.environment(home), stdout=out) as appender,
    ):
        yield appender


def _appended(home: Path) -> dict[str, float]:
    times: dict[str, float] = json.loads(_times(home).read_bytes())
    return times


def _times(home: Path) -> Path:
    return home / "appended.json"


def _latencies(home: Path, store: Path, length: float) -> list[float]:
    """Return how long after its append each turn had a row."""
    rows: dict[str, float] = {}
    db = sqlite3.connect(f"file:{database(home)}?mode=ro", uri=True)
    wanted, last, end = int(_RATE * length), 0, 0.0
    with _append(home, store, length) as appender:
        while len(rows) < wanted and (not end or time.monotonic() < end):
            found = db.execute("SELECT rowid, key FROM turns WHERE rowid > ?", (last,)).fetchall()
            now = time.monotonic()
            for last, key in found:  # noqa: B007 - the last one is where the next look begins
                rows[key.partition(":")[2]] = now
            if not end and appender.poll() is not None:
                end = now + _LATE
            time.sleep(_EVERY)
    db.close()
    times = _appended(home)
    if missing := times.keys() - rows.keys():
        raise RuntimeError(f"{len(missing)} of {len(times)} turns were not recorded")
    return [rows[key] - at for key, at in times.items()]


def _seen(home: Path, store: Path, length: float) -> list[float]:
    """Return how long after each append a bare observer was told of its file."""
    observer = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.latency", str(store)],
        env=children.environment(home),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert observer.stdout is not None
    observer.stdout.readline()  # it watches
    with _append(home, store, length):
        pass
    times = _appended(home)
    events: dict[str, list[float]] = json.loads(observer.communicate("stop\n")[0])
    written: dict[str, list[float]] = {}
    for number, at in enumerate(times.values()):
        written.setdefault(str(_paths(store)[number % _FILES]), []).append(at)
    return [after - at for path, appended in written.items() for at, after in next_events(appended, events[path])]


def _paths(store: Path) -> list[Path]:
    return [session.path for session in sessions(store, _FILES)]


def next_events(appended: list[float], events: list[float]) -> list[tuple[float, float]]:
    """Pair each append with the first event of its file that came after it."""
    pairs = []
    number = 0
    for at in appended:
        while number < len(events) and events[number] < at:
            number += 1
        if number < len(events):
            pairs.append((at, events[number]))
    return pairs


def _observe(store: Path) -> dict[str, list[float]]:
    """Watch `store` with a handler that only notes the time, until a line comes in on standard input."""
    from watchdog.events import FileModifiedEvent, FileSystemEvent, FileSystemEventHandler
    from watchdog.observers import Observer

    events: dict[str, list[float]] = {}

    class Handler(FileSystemEventHandler):
        def on_any_event(self, event: FileSystemEvent) -> None:
            events.setdefault(str(event.src_path), []).append(time.monotonic())

    observer = Observer()
    observer.schedule(Handler(), str(store), recursive=True, event_filter=[FileModifiedEvent])
    observer.start()
    print("watching", flush=True)
    sys.stdin.readline()
    observer.stop()
    observer.join()
    return events


if __name__ == "__main__":
    print(json.dumps(_observe(Path(sys.argv[1]))))
