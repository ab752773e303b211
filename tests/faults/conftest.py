"""The machine of the fault tests, laid out once for all of them; and the home and project of end-to-end tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from faults.world import World
from support.program_fixtures import program, project

__all__ = ["program", "project"]  # fixtures of others, given on to the tests here


@dataclass(frozen=True, slots=True)
class Kept:
    """A machine, and the steps and the outcome of a run in which nothing goes wrong."""

    world: World
    steps: list[str]
    outcome: dict[str, Any]


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """Return the machine of all tests that need one."""
    world = World(tmp_path_factory.mktemp("world") / "home", {"SKILLD_WORKER__ATTEMPTS": "20"})
    world.reset()
    world.finish()
    world.check()
    return Kept(world, world.steps(), world.outcome())


@pytest.fixture
def world(kept: Kept) -> World:
    """Return the machine as it is before anything goes wrong."""
    kept.world.reset()
    return kept.world


@pytest.fixture
def unharmed(kept: Kept) -> dict[str, Any]:
    """Return what comes of the machine when nothing goes wrong."""
    return kept.outcome
