"""Judging what was said before skilld was installed: batches per second of processor time, over all processes.

`skilld run --once --backfill` runs offline over transcripts that are all new: collected ones, which give no proposals
because the skills in them are not on this machine, and sessions that give one proposal each. Yardstick: a process per
batch that only imports what a worker imports.
"""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.chain import IMPORTS
from benchmarks.kit import children, corpus
from benchmarks.kit.daemon import database
from benchmarks.kit.figures import Figure, Of, Scale, Target
from benchmarks.kit.homes import STORE, person
from support.live_project import Project
from support.session import CHATTER, Session

_COLLECTED = children.ROOT.parent / "shared" / "data" / "transcripts" / "claude-code"
_COUNTING = Path(__file__).parent / "kit" / "counting"
_LASTING = (
    "From now on, always put the ticket number first in the entry.",
    "never mention internal hostnames in the notes again",
    "please always ask me before you tag a release",
    "from now on, sign the notes with the name of the editor",
)
_LONG_AGO = time.time() - 86400.0
_ROUNDS = 5  # starts of the yardstick
_TARGETS = {"nothing": Target(Of.VALUE, least=20), "proposed": Target(Of.VALUE, least=8)}


@dataclass(frozen=True, slots=True)
class _Took:
    batches: int
    seconds: float  # of processor time
    started: int  # processes


def measure(scale: Scale) -> dict[str, Figure]:
    """Return batches per second of processor time and the processes started for each batch."""
    projects = scale.pick(10, 3)
    _run(lambda home: _lasting(home, 1))  # fills the bytecode cache
    found = {"nothing": _run(_collected), "proposed": _run(lambda home: _lasting(home, projects))}
    with children.scratch() as home:
        children.python(["-c", IMPORTS], home)
        bare = _processor_time(lambda: [children.python(["-c", IMPORTS], home) for _ in range(_ROUNDS)]) / _ROUNDS
    figures = {}
    for name, took in found.items():
        basis = f"{took.batches} batches, {took.seconds:.1f} s of processor time, {took.started} processes"
        speed = took.batches / took.seconds
        figures[name] = Figure(
            speed, "batches/s", "a process a batch that imports what a worker does", 1 / bare, basis, _TARGETS[name]
        )
        each = took.started / took.batches
        figures[f"{name}_processes"] = Figure(each, "processes a batch", "one process a batch", 1.0, basis)
    return figures


def _collected(home: Path) -> None:
    """Put the collected transcripts into a home, or generated ones where there are none."""
    store = home / STORE / "-collected"
    store.mkdir(parents=True)
    files = sorted(_COLLECTED.rglob("*.jsonl"))
    for number, file in enumerate(files):
        shutil.copyfile(file, store / f"{number}.jsonl")
        os.utime(store / f"{number}.jsonl", (_LONG_AGO, _LONG_AGO))  # so that what was said last is judged too
    if not files:
        corpus.write(home / STORE, 20_000_000)


def _lasting(home: Path, projects: int) -> None:
    """Write sessions with one lasting thing each, a few about each of some projects."""
    for number in range(projects):
        project = Project(home / f"project-{number}", home, ".claude/skills")
        for said in _LASTING:
            session = Session(home, project)
            session.use_skill()
            session.type(CHATTER[0], said, *CHATTER[1:4])


def _run(furnish: Callable[[Path], None]) -> _Took:
    with children.scratch() as home:
        person(home)
        furnish(home)
        tally = home / "tally"
        path = os.pathsep.join([str(_COUNTING), children.environment(home)["PYTHONPATH"]])
        more = {"PYTHONPATH": path, "PYTHONTALLY": str(tally)}
        arguments = ["-m", "skilld", "run", "--once", "--backfill", "36500"]
        seconds = _processor_time(lambda: children.python(arguments, home, more))
        with closing(sqlite3.connect(f"file:{database(home)}?mode=ro", uri=True)) as db:
            (batches,) = db.execute("SELECT count(*) FROM batches WHERE attempts > 0").fetchone()
        return _Took(batches, seconds, tally.stat().st_size)


def _processor_time(work: Callable[[], object]) -> float:
    """Return the processor time that the children which `work` waits for take, with theirs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
