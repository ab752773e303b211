"""What most unit tests of git and of the store start from; a file that needs more takes these and adds to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skilld.store import Store
from support.repos import Desk, Person, isolate, new_repo


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Give a new store in a file."""
    opened = Store.open(tmp_path / "skilld.db")
    yield opened
    opened.close()


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    """Return somebody with a repository with one skill, and with a home of their own."""
    isolate(monkeypatch, tmp_path / "home")
    return new_repo(tmp_path / "work")


@pytest.fixture
def desk(person: Person) -> Desk:
    """Return skilld on that repository, with nothing proposed."""
    return Desk(person)
