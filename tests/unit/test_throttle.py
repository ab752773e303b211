"""A transcript that changes all the time is looked at now and then, and once more at the end."""

from __future__ import annotations

import queue
from pathlib import Path

import pytest

from skilld.ingest import watch
from skilld.ingest.watch import Throttle
from support.waiting import LIMIT

A, B = Path("/a"), Path("/b")


class Clock:
    now = 1000.0

    def monotonic(self) -> float:
        return self.now


def test_a_hint_that_comes_too_soon_is_returned_once_later(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(watch, "time", clock)
    again: queue.SimpleQueue[Path] = queue.SimpleQueue()
    looks = Throttle(again.put, seconds=0.2)
    assert looks.is_due(A)
    assert not looks.is_due(A)
    assert not looks.is_due(A)
    assert looks.is_due(B)
    assert again.get(timeout=LIMIT) == A
    clock.now += 0.2
    assert looks.is_due(A)
    assert again.empty()
