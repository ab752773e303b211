"""Fixtures for tests of the whole program: a project with a skill, and skilld in the test's home."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.live_project import Project
from support.program import Program


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Project:
    """Return a repository with the skill release-notes, committed and then followed by another commit."""
    return Project(tmp_path / "project", home, ".claude/skills")


@pytest.fixture
def program(home: Path) -> Program:
    """Return skilld on the test's home, offline, without desktop notices."""
    return Program(home, {"SKILLD_NOTIFY__ENABLED": "false"})
