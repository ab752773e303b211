"""Kills: before every single step of daemon and worker, then at random moments, in chains, on the same machine.

What must come of it stands in tests/faults/world.py: exactly what comes of the machine when nothing goes wrong.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from faults.kills import Moment, kill_at, kill_before
from faults.world import World
from tools.soak_report import Part, dice_for, must

_PLACED = 0.6  # of the time at most; the rest is for kills at random moments
_CHAIN = (4, 18)  # kills in a row; a batch is given up after twenty tries
_MACHINES = min(4, os.cpu_count() or 1)
_SETTINGS = {"SKILLD_WORKER__ATTEMPTS": "20"}


@dataclass(frozen=True, slots=True)
class _Machine:
    """A machine, and what comes of it unharmed."""

    world: World
    unharmed: dict[str, Any]


def run(seconds: float, seed: int, folder: Path) -> Part:
    """Kill for so long, on as many machines at once as there are processors."""
    part = Part("kills", seconds)
    first = _machine(folder / "0")
    steps = sorted({" ".join(step.split()[:2]) for step in first.world.steps()})
    part.reached["steps there are"] = len(steps)
    dice_for(seed).shuffle(steps)
    waiting: SimpleQueue[str] = SimpleQueue()
    for step in steps:
        waiting.put(step)

    def work(number: int) -> None:
        with part.finding(f"{seed}/{number}"):
            machine = first if number == 0 else _machine(folder / str(number))
            while part.goes_on and part.share < _PLACED and (step := _next(waiting)):
                _case(machine, step, part)
            for chain in itertools.count():
                if not part.goes_on:
                    break
                _case(machine, f"{seed}/{number}/{chain}", part)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(_MACHINES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return part


def again(case: str, folder: Path) -> Part:
    """Do one case again: a step ("worker 7"), or the chain of a seed; when a kill comes the machine decides too."""
    part = Part("kills")
    _case(_machine(folder / "0"), case, part)
    return part


def _machine(home: Path) -> _Machine:
    world = World(home, _SETTINGS)
    world.reset()
    world.finish()
    world.check()
    return _Machine(world, world.outcome())


def _next(waiting: SimpleQueue[str]) -> str | None:
    try:
        return waiting.get_nowait()
    except Empty:
        return None


def _case(machine: _Machine, case: str, part: Part) -> None:
    world = machine.world
    world.reset()
    with part.finding(case):
        if "/" in case:
            _chain(world, case, part)
        else:
            part.count("placed kills", int(kill_before(world, case)))
        world.later()
        world.finish()
        world.check()
        outcome = world.outcome()
        for what, expected in machine.unharmed.items():
            must(outcome[what] == expected, f"{what} differ: {_differs(expected, outcome[what])}")


def _differs(expected: Any, found: Any) -> str:  # noqa: ANN401 - tables of rows, lists of lines, text
    """Say what is missing and what is there too many: of all that an outcome holds it would not be seen."""
    if isinstance(expected, dict):
        return "; ".join(
            f"{name}: {_differs(expected[name], found[name])}" for name in expected if expected[name] != found[name]
        )
    before, after = (Counter(of if isinstance(of, list) else of.splitlines()) for of in (expected, found))
    return f"missing {[*(before - after).elements()]}, too many {[*(after - before).elements()]}"


def _chain(world: World, case: str, part: Part) -> None:
    """Kill some runs in a row, some of them while the worker of the one before still ends."""
    dice = dice_for(case)
    for _ in range(dice.randint(*_CHAIN)):
        once, wait, later = (dice.choice((True, False)) for _ in range(3))
        part.count("random kills", kill_at(world, Moment.at_random(dice), once=once, wait=wait))
        if later:
            world.later()
    world.wait_for_end()
