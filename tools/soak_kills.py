"""Kills: before every single step of daemon and worker, then at random times, in chains, on the same machine.

What must come of it stands in tests/faults/world.py: exactly what comes of the machine when nothing goes wrong.
"""

from __future__ import annotations

import itertools
import os
import threading
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from faults.world import World
from tools.soak_report import Part, dice_for, must

_PLACED = 0.6  # of the time; the rest is for kills at random times
_LONGEST = 4.0  # seconds of a run, about
_THREADS = min(4, os.cpu_count() or 1)
_SETTINGS = {"SKILLD_WORKER__ATTEMPTS": "20"}


def run(seconds: float, seed: int, folder: Path) -> Part:
    """Kill for so long, on as many machines at once as there are processors."""
    part = Part(seconds)
    world, unharmed = _prepare(folder / "0")
    steps = _steps(world)
    part.reached["placed kill points"] = len(steps)
    dice_for(seed).shuffle(steps)
    waiting: SimpleQueue[str] = SimpleQueue()
    for step in steps:
        waiting.put(step)

    def work(number: int) -> None:
        try:
            mine, expected = (world, unharmed) if number == 0 else _prepare(folder / str(number))
            while part.goes_on and part.share < _PLACED and (step := _next(waiting)):
                _placed(mine, expected, step, part)
            for round_number in itertools.count():
                if not part.goes_on:
                    break
                _chain(mine, expected, f"{seed}/{number}/{round_number}", part)
        except Exception as error:  # noqa: BLE001 - a thread's error would be seen by nobody
            part.find(f"kills, machine {number}", error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return part


def _prepare(home: Path) -> tuple[World, dict[str, Any]]:
    world = World(home, _SETTINGS)
    world.reset()
    world.finish()
    world.check()
    return world, world.outcome()


def _steps(world: World) -> list[str]:
    """Return every step that a run takes: "daemon 1", "daemon 2", ..., "worker 1", ..."""
    return sorted({" ".join(step.split()[:2]) for step in world.steps()})


def _next(waiting: SimpleQueue[str]) -> str | None:
    try:
        return waiting.get_nowait()
    except Empty:
        return None


def _placed(world: World, unharmed: dict[str, Any], step: str, part: Part) -> None:
    world.reset()
    try:
        part.count("placed kills", int(world.run_until(step)))
        _compare(world, unharmed)
    except AssertionError as error:
        part.find(f"killed before step {step}", error)


def _chain(world: World, unharmed: dict[str, Any], seed: str, part: Part) -> None:
    """Kill some runs in a row, some of them while the worker of the one before still ends."""
    dice = dice_for(seed)
    world.reset()
    try:
        for _ in range(dice.randint(1, 6)):
            once, wait = dice.choice((True, False)), dice.choice((True, False))
            part.count("random kills", int(world.run_for(dice.uniform(0.005, _LONGEST), once=once, wait=wait)))
        world.wait_for_end()
        _compare(world, unharmed)
    except AssertionError as error:
        part.find(f"killed at random times, seed {seed}", error)


def _compare(world: World, unharmed: dict[str, Any]) -> None:
    world.later()
    world.finish()
    world.check()
    outcome = world.outcome()
    for what, expected in unharmed.items():
        must(outcome[what] == expected, f"{what} differ: {outcome[what]} instead of {expected}")
