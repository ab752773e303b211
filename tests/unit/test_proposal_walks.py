"""Random orders of decisions, observations and plain git: no line is lost or doubled, each state is true."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from support.new_store import new_store
from support.proposal_life import ProposalLife
from support.proposal_walk import walk
from support.repos import isolate_git, new_repo


def take_walks(folder: Path, seeds: range, steps: int) -> Counter[str]:
    """Take a walk for each seed, each in a repository of its own; return how often each thing was done."""
    done: Counter[str] = Counter()
    for seed in seeds:
        place = folder / str(seed)
        place.mkdir()
        store = new_store(place / "skilld.db")
        done += walk(ProposalLife(new_repo(place / "work"), store), seed, steps).done
        store.close()
    return done


def test_whatever_the_person_does_each_state_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    isolate_git(monkeypatch, tmp_path / "home")
    done = take_walks(tmp_path, range(3), 14)
    assert done["finally accept"] > 0
    assert done["finally revert"] > 0


@pytest.mark.slow
def test_whatever_the_person_does_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    isolate_git(monkeypatch, tmp_path / "home")
    done = take_walks(tmp_path, range(1000, 1040), 40)
    decisions = "accept", "accept_worktree", "accept_edited", "accept_part", "reject", "revert", "undo", "restore"
    assert done["refused"] < sum(done[name] for name in decisions)
    assert min(done[name] for name in ("accept", "accept_worktree", "revert", "undo", "pop", "pick", "rebase")) > 0
