"""Damage: kill -9 at random moments, then something happens to the database; afterwards nothing is lost nor doubled.

The kinds of damage, and what a person must see afterwards, stand in tests/faults/damages.py.
"""

from __future__ import annotations

import itertools
from pathlib import Path

from faults.damages import DAMAGES, Known, decide, repository_is_sound
from faults.kills import Moment, kill_at
from faults.world import DATABASE, World
from support.session import Session
from tools.soak_report import Part, dice_for, must

_LATER = "Never put more than one emoji into a release note."
_SETTINGS = {"SKILLD_WORKER__ATTEMPTS": "20"}


def run(seconds: float, seed: int, folder: Path) -> Part:
    """Damage for so long, one kind after the other."""
    part = Part("damage", seconds)
    with part.finding(f"{seed}"):
        world, unharmed = _machine(folder / "0")
        for number, kind in enumerate(itertools.cycle(DAMAGES)):
            if not part.goes_on:
                break
            _case(world, unharmed, f"{seed}/{number}/{kind}", part)
    return part


def again(case: str, folder: Path) -> Part:
    """Do one case again."""
    part = Part("damage")
    _case(*_machine(folder / "0"), case, part)
    return part


def _machine(home: Path) -> tuple[World, Known]:
    world = World(home, _SETTINGS)
    decide(world)
    session = Session(world.home, world.project)
    session.use_skill()
    session.type("Let us go on", _LATER, "ok", "thanks", "go on")
    world.keep()
    world.finish()
    return world, Known.of(world)


def _case(world: World, unharmed: Known, case: str, part: Part) -> None:
    """Kill, damage, and kill again while it is rebuilt; then compare."""
    dice = dice_for(case)
    kind = case.rpartition("/")[2]
    world.reset()
    with part.finding(case):
        for _ in range(dice.randint(1, 2)):
            part.count("kills", kill_at(world, Moment.at_random(dice), once=dice.choice((True, False))))
        DAMAGES[kind](world.home / DATABASE, dice)
        part.count("damages")
        part.count(kind)
        for _ in range(dice.randint(0, 2)):
            part.count("kills", kill_at(world, Moment.at_random(dice), once=dice.choice((True, False))))
        world.later()
        world.finish()
        found = Known.of(world)
        must(found == unharmed, f"after {kind}: {found}, not {unharmed}")
        repository_is_sound(world)
