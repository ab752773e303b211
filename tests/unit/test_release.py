"""What a piece of work took is given back, and nothing is lost by it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from skilld.daemon import memory_trim
from skilld.store import Store
from support.waiting import LIMIT

# Many small things, of which a few in between stay: what lies between them goes back only when it is asked for.
_TAKE = """
import ctypes, sys
from pathlib import Path
from skilld.daemon.memory_trim import release
from skilld.store import Store

def held():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

store = Store.open(Path(sys.argv[1]))
kept = [bytes(2000) for _ in range(20_000)][::500]
before = held()
release(store)
print(before - held())
"""


@pytest.mark.skipif(memory_trim._trim is None, reason="the C library gives nothing back when asked")
def test_what_was_freed_goes_back_to_the_system(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _TAKE, tmp_path / "a.db"], check=True, capture_output=True, text=True, timeout=LIMIT
    )
    assert int(done.stdout) > 10_000_000


def test_the_store_goes_on_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_trim, "_trim", None)  # as where the C library has none
    store = Store.open(tmp_path / "a.db")
    store.meta.set("color", "blue")
    memory_trim.release(store)
    assert store.meta.get("color") == "blue"
    store.close()
