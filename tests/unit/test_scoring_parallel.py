"""Several cases at once: results are handed on in the order of the cases."""

from __future__ import annotations

import threading

import pytest

from skilld.scoring.batches import map_in_order

LIMIT = 20.0  # seconds that a test waits for another thread


@pytest.mark.parametrize("jobs", [1, 3])
def test_outcomes_keep_the_order_of_the_cases(jobs: int) -> None:
    assert list(map_in_order(range(7), lambda case: case * case, jobs)) == [0, 1, 4, 9, 16, 25, 36]
    assert list(map_in_order([], str, jobs)) == []


def test_only_the_given_number_of_cases_runs_at_once() -> None:
    meeting = threading.Barrier(3, timeout=LIMIT)
    counting = threading.Lock()
    under_way: set[int] = set()
    most = 0

    def judge(case: int) -> int:
        nonlocal most
        with counting:
            under_way.add(case)
            most = max(most, len(under_way))
        meeting.wait()  # broken after LIMIT where fewer than three come
        with counting:
            under_way.discard(case)
        return case

    assert list(map_in_order(range(6), judge, 3)) == [0, 1, 2, 3, 4, 5]
    assert most == 3


def test_a_slow_first_case_holds_the_others_back_and_loses_none() -> None:
    last_done = threading.Event()

    def judge(case: int) -> int:
        if case == 0:
            assert last_done.wait(LIMIT)
        if case == 3:
            last_done.set()
        return case

    assert list(map_in_order(range(4), judge, 2)) == [0, 1, 2, 3]


def test_an_exception_is_raised_at_its_cases_place_and_ends_the_run() -> None:
    begun: list[int] = []

    def judge(case: int) -> int:
        begun.append(case)
        if case == 2:
            raise ValueError("no answer")
        return case

    for jobs in (1, 2):
        outcomes = map_in_order(range(3), judge, jobs)
        assert [next(outcomes), next(outcomes)] == [0, 1]
        with pytest.raises(ValueError, match="no answer"):
            next(outcomes)
    assert begun.count(2) == 2


def test_no_case_starts_after_the_reader_stops() -> None:
    go_on, ended = threading.Event(), threading.Semaphore(0)
    begun: list[int] = []

    def judge(case: int) -> int:
        begun.append(case)
        if case > 0:
            assert go_on.wait(LIMIT)
            ended.release()
        return case

    outcomes = map_in_order(range(50), judge, 2)
    assert next(outcomes) == 0
    outcomes.close()  # type: ignore[attr-defined]
    go_on.set()
    assert all(ended.acquire(timeout=LIMIT) for _ in range(len(begun) - 1))
    assert len(begun) <= 4, "those under way, and no other"
