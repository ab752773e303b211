"""Decisions: `skilld accept`, and `skilld run --once` with a new proposal, as whole commands with their git processes.

Yardsticks, in turn with them: the `git cherry-pick` that accepting corresponds to, and `git commit-tree` with
`git update-ref`, the least that makes a proposal. Time and processor time include all children. A `git` that comes
first on PATH counts the git processes, in a separate round because it costs time. For a new proposal, those up to the
move of its ref count; the look at all repositories that ends every run is reported separately.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.kit import children
from benchmarks.kit.figures import Figure, Of, Scale, Target
from support.lessons import Lessons
from support.taught_project import TaughtProject, copy_of_taught_project, make_taught_project

_SAID = "Always mention breaking changes before anything else."
_PROCESSES = {"accept": 9, "proposal": 8}
# Runs a command; writes how long it took, and what it and its children had of the processor.
_TIMED = """
import json, resource, subprocess, sys, time
begun = time.perf_counter()
code = subprocess.run(sys.argv[2:]).returncode
took = time.perf_counter() - begun
used = resource.getrusage(resource.RUSAGE_CHILDREN)
open(sys.argv[1], "w").write(json.dumps([took, used.ru_utime + used.ru_stime]))
sys.exit(code)
"""
Run = Callable[[TaughtProject], None]


def measure(scale: Scale) -> dict[str, Figure]:
    """Return time, processor time and git processes of accepting a proposal, and of making a new one."""
    works: dict[str, Run] = {"accept": _accept, "proposal": _propose}
    figures: dict[str, Figure] = {}
    with children.scratch() as folder:
        make_taught_project(folder)
        for name, work in works.items():
            rounds = [_timed(folder, work) for _ in range(scale.pick(11, 3))]
            plain = [_timed(folder, _YARDSTICKS[name][1]) for _ in range(scale.pick(11, 3))]
            for number, what in enumerate(("time", "processor")):
                value, beside = (statistics.median(row[number] for row in rows) for rows in (rounds, plain))
                figures[f"{name}_{what}"] = Figure(value, "s", _YARDSTICKS[name][0], beside, "two open proposals")
            most = Target(Of.VALUE, most=_PROCESSES[name])
            count = float(_counted(folder, work))
            figures[f"{name}_git"] = Figure(count, "processes", *_LEAST[name], "two open proposals", most)
    return figures


def _accept(world: TaughtProject) -> None:
    _succeed(world, "accept", world.two)


def _propose(world: TaughtProject) -> None:
    Lessons(world.home, world.project, world.program).say(_SAID)
    _succeed(world, "run", "--once")


def _succeed(world: TaughtProject, *verb: str) -> None:
    done = world.program.run(*verb)
    if done.returncode:
        raise RuntimeError(done.stderr)


def _typed(world: TaughtProject, *command: str) -> None:
    there = world.project.root
    subprocess.run([*world.program.before, *command], cwd=there, env=world.program.environment, check=True)


def _pick(world: TaughtProject) -> None:
    _typed(world, "git", "cherry-pick", world.show(world.two)["commit"])


def _commit(world: TaughtProject) -> None:
    _typed(world, "sh", "-c", "git update-ref refs/bench $(git commit-tree -p HEAD -m one HEAD^{tree})")


_YARDSTICKS: dict[str, tuple[str, Run]] = {
    "accept": ("git cherry-pick", _pick),
    "proposal": ("git commit-tree and git update-ref", _commit),
}
_LEAST = {"accept": ("git cherry-pick", 1.0), "proposal": ("git commit-tree and git update-ref", 2.0)}


def _timed(folder: Path, work: Run) -> list[float]:
    told = folder / "took.json"
    with copy_of_taught_project(folder) as world:
        world.program.before = (sys.executable, "-c", _TIMED, str(told))
        work(world)
    took: list[float] = json.loads(told.read_text(encoding="utf-8"))
    return took


def _counted(folder: Path, work: Run) -> int:
    log, git = folder / "git.log", folder / "bin" / "git"
    git.parent.mkdir(exist_ok=True)
    git.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> "{log}"\nexec {shutil.which("git")} "$@"\n', encoding="utf-8")
    git.chmod(0o755)
    with copy_of_taught_project(folder) as world:
        world.program.environment["PATH"] = f"{git.parent}:{os.environ['PATH']}"
        log.unlink(missing_ok=True)
        work(world)
    started = log.read_text(encoding="utf-8").splitlines()
    if work is _accept:
        return len(started)
    return next(number for number, line in enumerate(started, 1) if " update-ref " in line)
