"""Steps that a test begins with are copied only where what they would do is certain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest

from skilld.store import Store
from skilld.store.meta import PAUSED_UNTIL, TEAMS
from support import git_clock
from support.kept_steps import KeptSteps
from support.new_store import new_store
from support.proposal_life import DRY, ProposalLife
from support.repos import TEXT


@pytest.mark.parametrize("_", ["done", "copied"])
def test_a_copy_is_what_was_done(life: ProposalLife, _: str) -> None:
    life.commit("mine", {"README.md": "more\n"})
    life.offer()
    life.accept()
    assert life.person.git("diff-files", "--name-only") == "", "the index knows the files"
    assert life.person.skill.read_text() == TEXT.replace("tests.\n", f"tests.\n{DRY}\n")
    assert life.person.log() == ["skilld(release): say p1", "mine", "first"]
    assert life.person.git("fsck", "--no-dangling") == life.person.git("status", "--porcelain") == ""
    assert git_clock.made() == 3
    assert (life.get().state, life.get().landed) == ("accepted", life.person.tip())
    assert life.observe() == ("accepted", "")
    life.revert()
    assert life.observe() == ("reverted", "")


def rewrite(folder: Path, store: Store) -> None:
    (folder / "old").unlink()
    (folder / "new").mkdir()
    (folder / "new/file").write_text("new\n")
    store.meta.set(TEAMS, {"/p": {}})


def note(done: list[str], turn: str) -> str:
    done.append(turn)
    return "noted"


def nothing(*_: object) -> None:
    pass


CHANGES: Mapping[str, Callable[[Path, Store, pytest.MonkeyPatch], object]] = {
    "a file": lambda folder, *_: (folder / "new/file").write_text("neu\n"),
    "another file": lambda folder, *_: (folder / "another").touch(),
    "a row": lambda _, store, __: store.meta.set(PAUSED_UNTIL, 1),
    "what is replaced": lambda _, __, monkeypatch: monkeypatch.setenv("ANY", "1"),
}


@pytest.mark.parametrize("changed", ["nothing", *CHANGES])
def test_a_step_is_copied_unless_anything_else_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    done, looks = list[str](), list[str]()
    for turn in ("first", "second"):
        folder = tmp_path / turn
        folder.mkdir()
        (folder / "old").write_text("old\n")
        store = new_store(folder / "skilld.db")
        steps = KeptSteps(folder, store, monkeypatch)
        steps.do("rewrite", partial(rewrite, folder, store))
        if turn == "second":
            CHANGES.get(changed, nothing)(folder, store, monkeypatch)
        assert steps.do(changed, partial(note, done, turn)) == "noted"
        assert (folder / "new/file").exists() > (folder / "old").exists()
        assert store.meta.get(TEAMS) == {"/p": {}}
        for _ in range(2):
            steps.look(partial(looks.append, turn))
        store.close()
    assert done == (["first"] if changed == "nothing" else ["first", "second"])
    assert looks == ["first", "second"], "what looks again sees nothing new"
