"""When turns become a batch, and when a session is due."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from skilld.batching.closing import Deadlines, batch_id, close_batches
from skilld.types import ClosedBy


@dataclass(frozen=True)
class FakeTurn:
    key: str
    lasting: bool = True


def _turns(*marks: str) -> list[FakeTurn]:
    return [FakeTurn(f"t{i}", mark == "x") for i, mark in enumerate(marks)]


def _close(waiting: list[FakeTurn], *, idle: float = 0, ended: bool = False) -> list[tuple[int, ClosedBy, bool]]:
    closings = close_batches(waiting, size=5, idle_seconds=idle, idle_limit=600, ended=ended)
    return [(len(c.turns), c.closed_by, c.chatter) for c in closings]


def test_a_batch_closes_at_the_fifth_turn() -> None:
    assert _close(_turns(*"xxxx")) == []
    assert _close(_turns(*"xxxxx")) == [(5, ClosedBy.FULL, False)]


def test_five_chatter_turns_close_as_a_chatter_batch() -> None:
    assert _close(_turns(*".....")) == [(5, ClosedBy.FULL, True)]


def test_the_remainder_closes_when_the_session_is_idle_or_ended() -> None:
    assert _close(_turns(*"..x"), idle=599) == []
    assert _close(_turns(*"..x"), idle=600) == [(3, ClosedBy.IDLE, False)]
    assert _close(_turns(*"..x"), ended=True) == [(3, ClosedBy.ENDED, False)]


def test_a_chatter_remainder_keeps_waiting() -> None:
    assert _close(_turns(*"..."), idle=9999, ended=True) == []


def test_many_turns_become_batches_of_five_and_a_remainder() -> None:
    assert _close(_turns(*"xxxxx.....xx"), idle=600) == [
        (5, ClosedBy.FULL, False),
        (5, ClosedBy.FULL, True),
        (2, ClosedBy.IDLE, False),
    ]


def test_the_batch_id_depends_only_on_the_turns_and_their_order() -> None:
    assert batch_id(["a", "b"]) == batch_id(["a", "b"])
    assert len({batch_id(["a", "b"]), batch_id(["b", "a"]), batch_id(["a"]), batch_id(["ab"])}) == 4


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 9), st.booleans())
def test_every_turn_is_in_at_most_one_batch_and_in_order(
    marks: list[bool],
    size: int,
    over: bool,  # noqa: FBT001 - hypothesis gives it by position
) -> None:
    waiting = [FakeTurn(str(i), mark) for i, mark in enumerate(marks)]
    closings = close_batches(waiting, size=size, idle_seconds=0, idle_limit=1, ended=over)
    taken = [turn for closing in closings for turn in closing.turns]
    assert taken == waiting[: len(taken)]
    assert len(waiting) - len(taken) < size


ONE, TWO = ("a", "1"), ("a", "2")


def test_a_due_deadline_is_returned_once() -> None:
    deadlines = Deadlines()
    deadlines.set(ONE, 10.0)
    deadlines.set(TWO, 20.0)
    assert deadlines.take(9.0) == []
    assert deadlines.take(10.0) == [ONE]
    assert deadlines.take(30.0) == [TWO]
    assert deadlines.take(1e9) == []


def test_a_later_deadline_replaces_the_earlier_one() -> None:
    deadlines = Deadlines()
    deadlines.set(ONE, 10.0)
    deadlines.set(ONE, 30.0)
    deadlines.set(TWO, 10.0)
    deadlines.drop(TWO)
    assert deadlines.take(29.0) == []
    assert deadlines.take(30.0) == [ONE]
