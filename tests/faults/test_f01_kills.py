"""F-01: kill -9 before any step, in any process, at any time. What comes of it is what comes of it unharmed.

Every statement that reaches the disk, every git command and every message between daemon and worker is a step (see
inject/sitecustomize.py). `make soak` kills before each of them; here chains of kills walk through all stages.
"""

from __future__ import annotations

import random
from typing import Any

from faults.inject.sitecustomize import STEPS
from faults.world import World

CHAIN = 40  # kills at most


def test_nothing_is_a_step_that_does_not_happen(world: World) -> None:
    world.finish()
    reached = {step.split()[2] for step in world.steps()}
    assert {f"{module}.{name}" for module, names in STEPS.items() for name in names} <= reached


def test_a_daemon_killed_over_and_over_a_few_steps_further(world: World, unharmed: dict[str, Any]) -> None:
    dice = random.Random(1)
    killed = 0
    while killed < CHAIN and world.run_until(f"daemon {dice.randint(4, 14)}"):
        killed += 1
    world.finish()
    assert killed > 5
    assert world.outcome() == unharmed
    world.check()


def test_workers_killed_before_each_of_their_steps(world: World, unharmed: dict[str, Any]) -> None:
    killed = 0
    for step in range(1, 60, 5):
        killed += world.run_until(f"worker {step}")
        world.later()
    world.finish()
    assert killed > 5
    assert world.outcome() == unharmed
    world.check()


def test_kills_at_random_times(world: World, unharmed: dict[str, Any]) -> None:
    dice = random.Random(2)
    killed = sum(world.run_for(dice.uniform(0.3, 1.5)) for _ in range(10))
    world.finish()
    assert killed > 3
    assert world.outcome() == unharmed
    world.check()
