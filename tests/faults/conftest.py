"""The machine of the fault tests, laid out once for all of them; and the home and project of end-to-end tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from faults.world import World
from support.live_project import Project
from support.program import Program


@pytest.fixture(scope="session")
def kept_world(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, dict[str, Any]]:
    """Return the machine, and what comes of it when nothing goes wrong."""
    world = World(tmp_path_factory.mktemp("world") / "home", {"SKILLD_WORKER__ATTEMPTS": "20"})
    world.reset()
    world.finish()
    world.check()
    return world, world.outcome()


@pytest.fixture
def world(kept_world: tuple[World, dict[str, Any]]) -> World:
    """Return the machine as it is before anything goes wrong."""
    kept_world[0].reset()
    return kept_world[0]


@pytest.fixture
def unharmed(kept_world: tuple[World, dict[str, Any]]) -> dict[str, Any]:
    """Return what comes of the machine when nothing goes wrong."""
    return kept_world[1]


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Project:
    """Return a repository with the skill release-notes, committed and then passed by another commit."""
    return Project(tmp_path / "project", home, ".claude/skills")


@pytest.fixture
def program(home: Path) -> Program:
    """Return skilld on the test's home, offline, without desktop notices."""
    return Program(home, {"SKILLD_NOTIFY__ENABLED": "false"})
