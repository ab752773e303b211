"""A table in one test: every row is tried, and all that fail are told."""

from __future__ import annotations

import pytest

from support.rows import for_each


def test_all_rows_are_tried_and_all_that_fail_are_told() -> None:
    tried = list[tuple[str, int]]()

    @for_each("name", ["a", "b"])
    @for_each(("one", "two"), [(1, 1), (1, 2), (3, 4), (5, 5)])
    def check(name: str, one: int, two: int) -> None:
        tried.append((name, one))
        if one == 5:
            pytest.skip("not this one")
        assert one == two

    with pytest.raises(ExceptionGroup) as caught:
        check()
    assert tried == [(name, one) for name in "ab" for one in (1, 1, 3, 5)]
    told = [(outer.__notes__, [inner.__notes__ for inner in outer.exceptions]) for outer in caught.value.exceptions]
    assert told == [([f"row: '{name}'"], [["row: (1, 2)"], ["row: (3, 4)"]]) for name in "ab"]


def test_where_every_row_is_skipped_the_test_is() -> None:
    @for_each("name", ["a", "b"])
    def check(name: str) -> None:
        pytest.skip(name)

    with pytest.raises(pytest.skip.Exception):
        check()


def test_the_names_are_those_the_test_takes() -> None:
    with pytest.raises(AssertionError, match="does not take one"):

        @for_each("one", [1])
        def check(two: int) -> None: ...
