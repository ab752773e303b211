"""R9: every commit of a test has a date of its own: seconds and hours apart, and once before the one it follows."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import pytest

from support import git_clock
from support.repos import new_repo

pytestmark = pytest.mark.skipif(os.environ.get(git_clock.CHOSEN) == "real", reason="the clock is switched off")


def test_the_commits_of_a_test_are_seconds_and_hours_apart_and_once_go_back(tmp_path: Path) -> None:
    person = new_repo(tmp_path / "project")
    for number in range(9):
        person.commit(f"change {number}", {"notes.md": f"{number}\n"})
    dates = [int(date) for date in person.git("log", "--topo-order", "--reverse", "--format=%ct").splitlines()]
    assert len(set(dates)) == len(dates) == 10
    steps = [later - earlier for earlier, later in pairwise(dates)]
    if git_clock.CHOSEN not in os.environ:
        assert steps == [1, 10_798, 1, -7_201, 10_800, 1, 60, 60, 60]


def test_a_date_that_a_program_sets_is_kept(tmp_path: Path) -> None:
    person = new_repo(tmp_path / "project")
    person.git("commit", "--allow-empty", "-m", "dated", GIT_COMMITTER_DATE="@1234567890 +0000")
    assert person.git("log", "-1", "--format=%ct") == "1234567890"
