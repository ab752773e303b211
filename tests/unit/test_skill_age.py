"""How old a skill is: by its first commit, whatever was edited in it since and whatever its front matter says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skilld.library.rows import written_at
from support.repos import Person, isolate_git


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    isolate_git(monkeypatch, tmp_path / "nobody")
    (tmp_path / "project").mkdir()
    person = Person(tmp_path / "project")
    person.git("init", "--quiet")
    return person


def _write(person: Person, name: str, text: str, at: int) -> Path:
    path = person.root / f".claude/skills/{name}/SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (at, at))
    return path


def test_an_edit_makes_an_old_skill_no_younger_than_a_new_one(person: Person) -> None:
    day = 86_400
    old = _write(person, "old", "one", 1_700_000_000)
    person.git("add", "-A")
    person.git("commit", "-qm", "old", GIT_COMMITTER_DATE="1700000000 +0000")
    new = _write(person, "new", 'metadata:\n  skilld-date: "2020-01-01"', 1_700_000_000 + 20 * day)
    _write(person, "old", "two", 1_700_000_000 + 30 * day)
    assert (written_at(old), written_at(new)) == (1_700_000_000, 1_700_000_000 + 20 * day)
    person.git("add", "-A")
    person.git("commit", "-qm", "both", GIT_COMMITTER_DATE=f"{1_700_000_000 + 40 * day} +0000")
    assert written_at(old) < written_at(new) == 1_700_000_000 + 20 * day
    assert written_at(person.root / "gone") == 0
