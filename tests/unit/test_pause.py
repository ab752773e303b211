"""`skilld pause` and the like while another program keeps the database locked."""

from __future__ import annotations

import sqlite3
import time
from argparse import Namespace
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from skilld.cli import common, pause
from skilld.store.connection import StoreError
from support.new_store import new_store

HOUR, OFF = Namespace(duration="1h"), Namespace(duration="off")
COMMANDS = {
    "pause": partial(pause.pause, HOUR),
    "resume": partial(pause.resume, Namespace()),
    "snooze": partial(pause.snooze, HOUR),
    "snooze off": partial(pause.snooze, OFF),
    "retry": partial(pause.retry, Namespace()),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_it_does_not_wait_for_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    path = tmp_path / "skilld.db"
    new_store(path).close()
    monkeypatch.setattr(common, "store", partial(new_store, path))
    assert pause._WAIT_SECONDS <= 5
    monkeypatch.setattr(pause, "_WAIT_SECONDS", 0.1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        begun = time.monotonic()
        with pytest.raises(StoreError, match="database is locked") as refused:
            COMMANDS[name]()
        assert time.monotonic() - begun < 30
        assert refused.value.remedy.startswith("Another program is using the database.")
