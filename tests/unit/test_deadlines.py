"""Each session comes up at the time that was said last, once."""

from __future__ import annotations

from skilld.batching.closing import Deadlines

ONE, TWO = ("a", "1"), ("a", "2")


def test_what_is_due_comes_up_once() -> None:
    deadlines = Deadlines()
    deadlines.set(ONE, 10.0)
    deadlines.set(TWO, 20.0)
    assert deadlines.take(9.0) == []
    assert deadlines.take(10.0) == [ONE]
    assert deadlines.take(30.0) == [TWO]
    assert deadlines.take(1e9) == []


def test_a_later_word_holds() -> None:
    deadlines = Deadlines()
    deadlines.set(ONE, 10.0)
    deadlines.set(ONE, 30.0)
    deadlines.set(TWO, 10.0)
    deadlines.drop(TWO)
    assert deadlines.take(29.0) == []
    assert deadlines.take(30.0) == [ONE]
