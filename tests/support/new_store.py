"""Opens new databases that are copies of one: migrating takes four times as long as opening."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from skilld.store import Store


def new_store(path: Path) -> Store:
    """Open the database at `path`; where there is none, it is made as `Store.open` makes it."""
    if not path.exists():
        path.touch(0o600)
        path.write_bytes(_migrated())
    return Store.open(path)


@cache
def _migrated() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "skilld.db"
        Store.open(path).close()
        assert [one.name for one in path.parent.iterdir()] == [path.name], "the rest would have to be copied, too"
        return path.read_bytes()
