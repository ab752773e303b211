"""Runs a test for each row of a table within one test, because a test of its own costs more than most rows."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

Test = Callable[..., None]


def for_each(names: str | Iterable[str], rows: Iterable[Any]) -> Callable[[Test], Test]:
    """Call the test with every row, as `pytest.mark.parametrize` does, and then report all rows that fail.

    For tests that take nothing but their row: all of them share one home.
    """
    taken = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [row if len(taken) > 1 else (row,) for row in rows]

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def run_all(**others: Any) -> None:
            failures, skipped = list[Exception](), list[BaseException]()
            for row in table:
                about = f"row: {row if len(taken) > 1 else row[0]!r}"
                try:
                    test(**others, **dict(zip(taken, row, strict=True)))
                except pytest.skip.Exception as skip:
                    skipped.append(skip)
                except Exception as failure:  # noqa: BLE001 - reported with all others
                    failure.add_note(about)
                    failures.append(failure)
                except pytest.fail.Exception as failure:
                    failures.append(AssertionError(f"{failure.msg}\n{about}"))
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(table)} rows fail", failures)
            if table and len(skipped) == len(table):
                raise skipped[0]

        signature = inspect.signature(test)
        left = [one for name, one in signature.parameters.items() if name not in taken]
        assert len(left) == len(signature.parameters) - len(taken), f"{test.__name__} does not take {names}"
        run_all.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run_all

    return decorate
