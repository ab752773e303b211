"""A home, a project with a skill, and skilld as a program: what every end-to-end test starts from."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from support import warm
from support.program_fixtures import program, project
from support.taught_project import TaughtProject, copy_of_taught_project, make_taught_project

__all__ = ["program", "project"]  # fixtures of others, given on to the tests here


@pytest.fixture(scope="session")
def lessons_kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of what is taught once for all tests."""
    folder = tmp_path_factory.mktemp("taught")
    make_taught_project(folder)
    return folder


@pytest.fixture
def world(lessons_kept: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TaughtProject]:
    """Give a fresh copy of a home and a project with two open proposals, and make it this process's home."""
    with copy_of_taught_project(lessons_kept) as world:
        monkeypatch.setenv("HOME", str(world.home))
        yield world


@pytest.fixture(autouse=True)
def workers_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the workers of what runs in this process be forks, as those of verbs are: each imported litellm."""
    replaced = SimpleNamespace(Popen=warm.start_worker, PIPE=subprocess.PIPE, DEVNULL=subprocess.DEVNULL)
    monkeypatch.setattr("skilld.worker.spawn.subprocess", replaced)
