"""F-01: kill -9 before any step, in any process, at any time. What comes of it is what comes of it unharmed.

Every statement that reaches the disk, every git command and every message between daemon and worker is a step (see
inject/sitecustomize.py). `make soak` kills before each of them by itself; here chains of kills walk through all stages.
After every kill nothing may be left running.
"""

from __future__ import annotations

import random
import signal
from pathlib import Path
from typing import Any

import pytest

from faults import apart
from faults.conftest import Kept
from faults.inject.sitecustomize import STEPS
from faults.kills import Moment, kill_at, kill_before
from faults.model import teach
from faults.world import World
from support.live_project import Project
from support.processes import workers_of
from support.program import Program
from support.waiting import NEVER, wait_for

CHAIN = 40  # kills at most


def test_f01_every_counted_step_happens(kept: Kept) -> None:
    reached = {step.split()[2] for step in kept.steps}
    assert {f"{module}.{name}" for module, names in STEPS.items() for name in names} <= reached


@pytest.mark.parametrize(
    "steps", [(12, 28), *(pytest.param(steps, marks=pytest.mark.slow) for steps in ((8, 20), (4, 14)))]
)
def test_f01_a_daemon_killed_again_and_again_a_few_steps_later(
    world: World, unharmed: dict[str, Any], steps: tuple[int, int]
) -> None:
    dice = random.Random(1)
    killed = 0
    while killed < CHAIN and kill_before(world, f"daemon {dice.randint(*steps)}"):
        killed += 1
    world.finish()
    assert killed > 2
    assert world.outcome() == unharmed
    world.check()


@pytest.mark.slow
@pytest.mark.parametrize("steps", [range(2, 20, 6), range(1, 16, 2)], ids=repr)
def test_f01_workers_killed_before_their_steps(world: World, unharmed: dict[str, Any], steps: range) -> None:
    killed = 0
    for step in steps:
        killed += kill_before(world, f"worker {step}")
        world.later()
    world.finish()
    assert killed > len(steps) // 2
    assert world.outcome() == unharmed
    world.check()


@pytest.mark.parametrize(
    ("seed", "kills"), [(2, 4), *(pytest.param(seed, 18, marks=pytest.mark.slow) for seed in (3, 4, 5))]
)
def test_f01_kills_at_random_moments(world: World, unharmed: dict[str, Any], seed: int, kills: int) -> None:
    dice = random.Random(seed)
    killed = 0
    for _ in range(kills):
        killed += kill_at(world, Moment.at_random(dice), once=dice.random() < 0.5, wait=dice.random() < 0.5)
        if dice.random() < 0.5:
            world.later()
    world.wait_for_end()
    world.finish()
    assert killed > kills // 2
    assert world.outcome() == unharmed
    world.check()


STUBBORN = """\
#!/bin/sh
trap '' TERM INT HUP
sleep {never:g} &
echo "$$ $!" > {asked}.new
mv {asked}.new {asked}
wait
wait
"""


def test_f01_an_agent_being_asked_is_stopped_with_the_daemon(home: Path, project: Project) -> None:
    asked = home / "asked"
    client = home / "bin/claude"
    client.parent.mkdir()
    client.write_text(STUBBORN.format(asked=asked, never=NEVER))
    client.chmod(0o755)
    program = Program(home, {"SKILLD_NOTIFY__ENABLED": "false", "SKILLD_MODEL": "cli:claude"})
    program.environment["PATH"] = f"{client.parent}:{program.environment['PATH']}"
    with apart.daemon(program) as daemon:
        teach(home, project)
        wait_for("the agent to be asked", asked.exists, context=program.output)
        started = [int(process) for process in asked.read_text().split()]
        daemon.send_signal(signal.SIGKILL)
        wait_for("all of them to be gone", lambda: not [one for one in started if _runs(one)])
    assert workers_of(home) == []


def _runs(process: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
