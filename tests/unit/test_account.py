"""The account that books calls of a model before they are made: its limits, its share, what a call used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skilld.classify.backends.paid_calls import BudgetSpentError, ModelCall, charged_to, paid_call
from skilld.settings import Budget
from skilld.store import Store
from skilld.store.budget import Account
from skilld.types import Usage
from support.new_store import new_store

ASKED = ModelCall("m", Usage(1, 1000))
REFUSED = "today's budget is spent: "


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = new_store(tmp_path / "skilld.db")
    yield store
    store.close()


def test_what_a_call_used_replaces_what_was_expected_on_the_day_it_began(store: Store) -> None:
    now = [1_000_000.0]
    account = Account(store, Budget(), "notes", now=lambda: now[0])
    assert account.charge(ASKED) == ""
    assert [*store.usage.rows()[0].values()][1:] == ["m", "notes", 1, 1000, 0, 0.0]
    now[0] += 86400
    account.charge(replace(ASKED, used=Usage(1, 700, 30, 0.25)))
    (row,) = store.usage.rows()
    assert [*row.values()][1:] == ["m", "notes", 1, 700, 30, 0.25]


def test_no_report_of_an_endpoint_breaks_the_books(store: Store) -> None:
    account = Account(store, Budget(tokens=0, usd=0), "")
    account.charge(ASKED)
    account.charge(replace(ASKED, used=Usage(1, 10**30, -5, -2.0)))
    (row,) = store.usage.rows()
    assert [*row.values()][1:] == ["m", "", 1, 10**9, 0, 0.0]


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (Budget(calls=2), "2 of 2 model calls used"),
        (Budget(calls=0, tokens=1500), "2,000 of 1,500 tokens used"),
        (Budget(calls=0, tokens=0, usd=0.5), "$0.60 of $0.50 spent"),
    ],
)
def test_calls_in_progress_count_for_others(store: Store, limits: Budget, why: str) -> None:
    asked = ModelCall("m", Usage(1, 1000, 0, 0.3))
    accounts = [Account(store, limits, name) for name in ("a", "b", "c")]
    assert [account.charge(asked) for account in accounts] == ["", "", REFUSED + why]


def test_half_of_the_budget_ends_before_the_other_half(store: Store) -> None:
    half, whole = (Account(store, Budget(calls=5), "", share=share) for share in (2, 1))
    assert [bool(half.charge(ASKED)) for _ in range(4)] == [False, False, False, True]
    assert [bool(whole.charge(ASKED)) for _ in range(3)] == [False, False, True]


def test_a_refused_call_is_not_made_and_a_failed_one_is_booked(store: Store) -> None:
    account = Account(store, Budget(calls=1), "notes")
    with charged_to(account.charge):
        with pytest.raises(KeyError), paid_call("m", Usage(1, 50)):
            raise KeyError
        with pytest.raises(BudgetSpentError, match="1 of 1 model calls"), paid_call("m", Usage(1, 50)):
            pytest.fail("it was made")
    assert store.usage.rows()[0]["calls"] == 1
    with paid_call("m", Usage(1, 50)):
        pass  # nobody limits it


def test_what_a_call_used_is_reported(store: Store) -> None:
    with charged_to(Account(store, Budget(), "notes").charge), paid_call("m", Usage(1)) as call:
        call.used = Usage(1, 70, 30, 0.25)
    assert [*store.usage.rows()[0].values()][3:] == [1, 70, 30, 0.25]


def test_the_limits_are_looked_at_in_the_transaction_that_books(store: Store) -> None:
    """Two programs that look at the same time cannot both book the last call."""
    booking: list[bool] = []

    class Watching(Budget):
        def __getattribute__(self, name: str) -> Any:
            if name == "calls":
                booking.append(store._db.in_transaction)
            return super().__getattribute__(name)

    assert Account(store, Watching(), "notes").charge(ASKED) == ""
    assert booking
    assert all(booking)
