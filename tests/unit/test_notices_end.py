"""At the end of the daemon the decisions that buttons started share the time that is left."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from skilld.daemon import notices
from skilld.daemon.notices import Notices
from skilld.settings import Notify
from skilld.store import Store


def test_running_decisions_share_one_time_limit_at_shutdown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    made = Notices(Store.open(tmp_path / "skilld.db"), Notify(), None, lambda _: None, {})
    monkeypatch.setattr(made, "_acting", [SimpleNamespace(join=waited.append) for _ in range(3)])
    clock = iter([5.0, 9.0, 12.0])
    monkeypatch.setattr(notices, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    made.wait_for_actions(10.0)
    assert waited == [5.0, 1.0, 0.0]
