"""F-23: a newer skilld takes over in the middle of a batch, and is taken away again."""

from __future__ import annotations

from typing import Any

import pytest

from faults.kills import kill_before
from faults.world import DATABASE, World
from skilld.store import Store, schema
from skilld.store.schema import MIGRATIONS

NEWER = "9999_of_a_newer_one"
ADD_COLUMN = "ALTER TABLE batches ADD COLUMN extra TEXT NOT NULL DEFAULT '';"


@pytest.mark.slow
def test_f23_an_upgrade_and_downgrade_in_mid_batch(
    world: World, unharmed: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = world.home / DATABASE
    assert kill_before(world, "worker 5")  # in git, with what it was about to do kept
    with monkeypatch.context() as newer:
        newer.setattr(schema, "MIGRATIONS", (*MIGRATIONS, (NEWER, ADD_COLUMN)))
        store = Store.open(path)
        assert len(store.batches.waiting()) > 0
        store.close()
    upgraded = path.read_bytes()
    result = world.program.run("run", "--once")
    assert result.returncode == 1
    assert "written by a newer version of skilld" in result.stderr
    assert path.read_bytes() == upgraded
    path.with_name(f"{path.name}.before-{NEWER}").replace(path)
    world.later()
    world.finish()
    assert world.outcome() == unharmed
    world.check()
