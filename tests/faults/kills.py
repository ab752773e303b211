"""kill -9 on the machine of world.py: before a counted step (inject/sitecustomize.py), or at any moment of a process.

Whoever kills sees to it that nothing is left running 5 s later: neither a worker nor its git.
"""

from __future__ import annotations

import os
import random
import signal
import time
from contextlib import suppress
from dataclasses import dataclass

from faults.world import World
from support.processes import processes_of
from support.waiting import LIMIT, pause
from support.warm import Process

_PATIENCE = 2.0  # seconds that a first step is waited for: there may be nothing to do for a worker
_SHORT, _LONG = (0.005, 0.2), (0.2, 1.0)
# Who is killed, and from whose first step the time counts.
_SORTS = [("daemon", "start"), *[("daemon", "daemon"), ("daemon", "worker")] * 3, *[("worker", "worker")] * 2]


@dataclass(frozen=True, slots=True)
class Moment:
    """When a kill comes, and to whom: so many seconds after the start, or after the first step of daemon or worker."""

    victim: str
    after_seconds: str
    seconds: float

    @classmethod
    def at_random(cls, dice: random.Random) -> Moment:
        """Return some moment of some process, most often within 200 ms."""
        return cls(*dice.choice(_SORTS), dice.uniform(*(_SHORT if dice.random() < 0.8 else _LONG)))


def kill_before(world: World, step: str) -> bool:
    """Run until a process kills itself before `step` ("daemon 12"); returns whether one did."""
    (world.faults / "kill").write_text(step)
    _start(world, once=True).wait(LIMIT)
    (world.faults / "kill").unlink()
    world.wait_for_end()
    return any(line.startswith(f"{step} ") for line in world.steps())


def kill_at(world: World, moment: Moment, *, once: bool = True, wait: bool = True) -> int:
    """Run, and kill -9 at a moment; returns how many processes died of it.

    Nothing is left running, if it is to `wait`; if not, a worker whose daemon was killed may still be ending.
    """
    daemon = _start(world, once=once)
    worker = _first_step(world, moment.after_seconds, daemon)
    pause(moment.seconds)
    killed = 0
    if moment.victim == "worker":
        if worker in processes_of(world.home):  # else it came to its end, and its number may be another's by now
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
                killed += 1
        if once:
            daemon.wait(LIMIT)
    daemon.kill()
    killed += daemon.wait(LIMIT) == -signal.SIGKILL
    if wait:
        world.wait_for_end()
    return killed


def _start(world: World, *, once: bool) -> Process:
    (world.faults / "steps").unlink(missing_ok=True)
    return world.start(once=once)


def _first_step(world: World, after: str, daemon: Process) -> int:
    """Wait for the first step of "daemon" or "worker"; returns whose it was, 0 where there is none."""
    end = time.monotonic() + _PATIENCE
    while after != "start" and daemon.poll() is None and time.monotonic() < end:
        for step in world.steps():
            who, _, _, process = step.split()
            if who == after:
                return int(process)
        pause(0.005)
    return 0
