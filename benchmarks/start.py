"""Starting, and what grows with the amount of data.

Ready: from the start of the daemon's process until it says that it is ready, with 10,000 transcripts that it knows;
yardstick: kit/bare.py on the same folders, until it watches them and has its database. Slopes: what one append costs
(read, recorded, due batches closed) with ten times the files, with a file ten times the size, and with ten times the
sessions that wait for more turns; yardstick: the same without the "ten times". A slope of 1 means no growth.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from benchmarks.kit import children
from benchmarks.kit.appending import CHATTER
from benchmarks.kit.corpus import Session
from benchmarks.kit.daemon import bare, daemon
from benchmarks.kit.desk import AGENT, engine
from benchmarks.kit.figures import Figure, Of, Scale, Target
from benchmarks.kit.homes import STORE, furnish
from benchmarks.kit.timing import seconds, side_by_side

_BATCH = 5
_NO_GROWTH = Target(Of.RATIO, most=1.5)  # the rest is noise of a few hundred microseconds


def measure(scale: Scale) -> dict[str, Figure]:
    """Return the time until ready and the slopes."""
    files = scale.pick(10_000, 2_000)
    few, small, waiting = scale.pick((1000, 2_000_000, 200), (200, 500_000, 100))
    rounds = scale.pick(40, 9)
    slope = "the same append"
    return {
        "ready": _ready(files, scale.pick(7, 3)),
        "append_with_10x_files": _slope(
            f"{slope} with {few} files", f"{10 * few} files", rounds, lambda n: _desk(n * few, all_new=False)
        ),
        "append_with_10x_size": _slope(
            f"{slope} to a file of {small / 1e6:g} MB",
            f"a file of {small / 1e5:g} MB",
            rounds,
            lambda n: _desk(10, all_new=False, size=n * small),
        ),
        "append_with_10x_sessions": _slope(
            f"{slope} with {waiting} sessions that wait",
            f"{10 * waiting} sessions that wait",
            rounds,
            lambda n: _desk(n * waiting, all_new=True),
        ),
    }


def _ready(files: int, rounds: int) -> Figure:
    with children.scratch() as home:
        furnish(home, files)

        def ours() -> float:
            with daemon(home) as running:
                return running.ready_after

        def yardstick() -> float:
            with bare(home, home / STORE) as running:
                return running.ready_after

        ours()  # from now on it knows the files
        ready, other = side_by_side(rounds, ours, yardstick)
    basis = f"{files} known files in {files // 10} folders"
    return Figure(ready, "s", "a process with the same libraries and watches", other, basis)


_Append = Callable[[], float]


def _slope(yardstick: str, basis: str, rounds: int, desk: Callable[[int], AbstractContextManager[_Append]]) -> Figure:
    with desk(1) as once, desk(10) as tenfold:
        before, after = side_by_side(rounds, once, tenfold)
    return Figure(1e3 * after, "ms", yardstick, 1e3 * before, basis, _NO_GROWTH)


@contextmanager
def _desk(files: int, *, all_new: bool, size: int = 0) -> Iterator[_Append]:
    """Yield what appends a batch of turns to a transcript among `files` others and returns the seconds of each.

    With `all_new` each of the others is a session with turns that wait for company.
    """
    with children.scratch() as home:
        furnish(home, files)
        folder = home / STORE / "-work-growing"
        folder.mkdir()
        session = Session(folder, random.Random("growing"))
        with session.path.open("wb") as file:
            while file.tell() < size:
                file.write(session.result("x = 1\n" * 2000))
        desk = engine(home, all_new=all_new)
        desk.follower.sweep()
        desk.close_due(time.time())

        def record() -> None:
            desk.follower.read_all_new([(AGENT, session.path)])
            desk.close_due(time.time())

        def append() -> float:
            took = 0.0
            for _ in range(_BATCH):
                with session.path.open("ab") as file:
                    file.write(session.prompt(CHATTER))
                took += seconds(record)
            return took / _BATCH

        yield append
        desk.store.close()
