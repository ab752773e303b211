"""A transcript that changes all the time is looked at now and then, and once more at the end."""

from __future__ import annotations

import queue
from pathlib import Path

from skilld.daemon.rests import Rests

A, B = Path("/a"), Path("/b")


def test_a_hint_too_soon_comes_again_once() -> None:
    again: queue.SimpleQueue[Path] = queue.SimpleQueue()
    rests = Rests(again.put, seconds=0.2)
    assert rests.is_over(A)
    assert not rests.is_over(A)
    assert not rests.is_over(A)
    assert rests.is_over(B)
    assert again.get(timeout=5) == A
    assert rests.is_over(A)
    assert again.empty()
