"""The fingerprint notices every change skilld promises not to make; the live tests rely on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from support.live_project import Project


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Project:
    return Project(tmp_path / "project", home, ".claude/skills")


def test_reading_and_skillds_own_refs_change_nothing(project: Project) -> None:
    before = project.fingerprint()
    project.git("branch", "skilld/staging")
    project.git("update-ref", "refs/skilld/proposals/one", "HEAD")
    assert project.fingerprint() == before


CHANGES: dict[str, Callable[[Project], object]] = {
    "files": lambda project: (project.root / "README.md").write_text("# Probe\n\nA small Program.\n"),
    "status": lambda project: (project.root / "new.txt").write_text(""),
    "index": lambda project: project.git("rm", "--quiet", "--cached", "README.md"),
    "head": lambda project: project.git("commit", "--quiet", "--allow-empty", "--message", "x"),
    "branch": lambda project: project.git("switch", "--quiet", "--create", "other"),
    "own_refs": lambda project: project.git("tag", "v1"),
    "config": lambda project: project.git("config", "core.quotePath", "false"),
    "hooks": lambda project: (project.root / ".git/hooks/post-merge").write_text("#!/bin/sh\n"),
}


def test_every_change_is_noticed(project: Project) -> None:
    before = project.fingerprint()
    for part, change in CHANGES.items():
        change(project)
        after = project.fingerprint()
        assert getattr(after, part) != getattr(before, part), part
        before = after
