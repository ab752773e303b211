"""A home, a project with a skill, and skilld as a program: what every end-to-end test starts from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.live_project import Project
from support.program import Program
from support.taught import Taught, taught, teach


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Project:
    """Return a repository with the skill release-notes, committed and then passed by another commit."""
    return Project(tmp_path / "project", home, ".claude/skills")


@pytest.fixture
def program(home: Path) -> Program:
    """Return skilld on the test's home, offline, without desktop notices."""
    return Program(home, {"SKILLD_NOTIFY__ENABLED": "false"})


@pytest.fixture(scope="session")
def lessons_kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of what is taught once for all tests."""
    folder = tmp_path_factory.mktemp("taught")
    teach(folder)
    return folder


@pytest.fixture
def world(lessons_kept: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Taught]:
    """Give a fresh copy of a home and a project with two open proposals, and make it this process's home."""
    with taught(lessons_kept) as world:
        monkeypatch.setenv("HOME", str(world.home))
        yield world
