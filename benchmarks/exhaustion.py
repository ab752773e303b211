"""A typed turn of 1 MB that repeats one thing over and over: what the daemon and a worker spend on its batch.

Yardstick: the same with half of it, so the ratio is the growth from n to 2n; both include the time that a process takes
to start. Processor time for reading, closing and judging, offline, children included. A batch before all others writes
the workers' bytecode, as an installed program has it; otherwise that took 0.8 s, all of it in the first figure.
"""

from __future__ import annotations

import resource
import time
from pathlib import Path

from benchmarks.kit import children
from benchmarks.kit.desk import engine
from benchmarks.kit.figures import Figure, Of, Scale, Target
from benchmarks.kit.homes import person
from skilld.types import Outcome
from skilld.worker.spawn import Worker
from support.live_project import Project
from support.session import CHATTER, Session

RUNS = {
    "blanks": " ",
    "newlines": "\n",
    "brackets": "(",
    "letters": "a",
    "a_and_stop": "a.",
    "dashes": "- ",
    "digits": "7",
    "cjk": "漢",
}
_LENGTH = 1_000_000  # characters
_SAID = "From now on always sort the entries"


def measure(scale: Scale) -> dict[str, Figure]:
    """Return the seconds for each run."""
    rounds = scale.pick(3, 1)
    _spent(" ", 1)
    found = {}
    for name, unit in RUNS.items():
        whole, half = (min(_spent(unit, size) for _ in range(rounds)) for size in (_LENGTH, _LENGTH // 2))
        basis = f"one turn of {_LENGTH:,} characters among five"
        found[name] = Figure(whole, "s", "half of it", half, basis, Target(Of.VALUE, most=2.0))
    return found


def _spent(unit: str, length: int) -> float:
    """Return the processor time for a batch with a rule before a run of so many characters."""
    with children.scratch() as home:
        person(home)
        project = Project(home / "project", home, ".claude/skills")
        session = Session(home, project)
        session.use_skill()
        session.type(*CHATTER[:4], f"{_SAID}{unit * (length // len(unit))}x")
        return judged(home)


def judged(home: Path) -> float:
    """Read what is new in a home and judge the one batch in it; returns the processor time."""
    desk = engine(home, all_new=True)
    begun = _used()
    desk.follower.sweep()
    desk.close_due(time.time())
    batch = desk.next_batch(time.time())
    assert batch is not None
    with Worker(children.environment(home)) as worker:
        result = worker.do(desk.start(batch), 300.0)
    assert result.outcome not in {Outcome.RETRY, Outcome.FAILED}, result
    return _used() - begun


def _used() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
