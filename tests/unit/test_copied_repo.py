"""What tests of repositories begin with is copied, and is what git would have made."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support import git_clock
from support.copied_repo import copy_repository, know_files
from support.repos import TEXT, Person, isolate_git, new_repo


def test_git_knows_the_copied_files_and_no_other(person: Person, tmp_path: Path) -> None:
    person.commit("more", {"a name that is long.md": "more\n", "ünïcode": "more\n"})
    copy_repository(person.root, tmp_path / "copy")
    copy = Person(tmp_path / "copy")
    assert copy.git("diff-files", "--name-only") == "", "what is not known is listed"
    assert copy.git("fsck", "--no-dangling") == ""
    copy.write("README.md", "a word\n")
    know_files(copy.root)
    assert copy.git("diff-files", "--name-only") == "README.md"
    assert copy.git("status", "--porcelain") == "M README.md"


@pytest.mark.skipif(git_clock.CHOSEN in os.environ, reason="holds for the usual clock of tests, and another was chosen")
def test_a_copied_first_commit_equals_one_that_git_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    isolate_git(monkeypatch, tmp_path / "home")
    first, second = (new_repo(tmp_path / name) for name in ("first", "second"))
    dates = [int(one.git("log", "-1", "--format=%ct")) for one in (first, second)]
    assert dates[1] - dates[0] == 1, "the clock goes on"
    assert first.git("log", "--walk-reflogs", "--format=%gs") == "commit (initial): first"
    assert (first.show(), first.git("status", "--porcelain")) == (TEXT.rstrip(), "")
    git_clock.repeat(-2)
    assert new_repo(tmp_path / "third").tip() == first.tip()
