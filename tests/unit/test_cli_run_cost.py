"""What `run` says about the cost of judging, and `status` about today's cost."""

from __future__ import annotations

import argparse
import time
from contextlib import closing
from pathlib import Path

import pytest

from skilld.cli import common, pause, status
from skilld.cli.run import _describe_cost
from skilld.cli.status import _describe_today, format_price
from skilld.clock import local_day
from skilld.health import checks
from skilld.mining.questions import budget_left
from skilld.settings import Settings
from skilld.store.budget import spent_limit
from skilld.types import Usage


@pytest.mark.parametrize(("calls", "said"), [(60, "at most 60 model calls a day"), (0, "no limit on model calls")])
def test_a_disabled_limit_is_not_shown_as_zero(calls: int, said: str) -> None:
    settings = Settings()
    settings = settings.model_copy(update={"budget": settings.budget.model_copy(update={"calls": calls})})
    assert said in _describe_cost("litellm/any", settings)


@pytest.mark.parametrize(
    ("used", "why", "setting"),
    [
        (Usage(60, 10, 10, 0.1), "60 of 60 model calls used", "budget.calls"),
        (Usage(5, 400_000, 1200, 0.1), "401,200 of 400,000 tokens used", "budget.tokens"),
        (Usage(5, 10, 10, 1.234), "$1.23 of $1.00 spent", "budget.usd"),
    ],
)
def test_a_spent_budget_names_the_setting_that_raises_it(
    home: Path, capsys: pytest.CaptureFixture[str], used: Usage, why: str, setting: str
) -> None:
    (home / ".local/state/skilld").mkdir(parents=True, mode=0o700)
    with closing(common.store()) as store:
        store.usage.add(local_day(time.time()), "openai/gpt-5-mini", "", used)
    remedy = f"the rest is on hold until tomorrow. To raise it: skilld config set {setting} NUMBER\n"
    status.run(argparse.Namespace(check=False, json=False))
    assert f"\nbudget    spent: {why}; {remedy}" in capsys.readouterr().out
    status.run_cost(argparse.Namespace(json=False))
    told = capsys.readouterr().out
    assert f" Today it is spent: {why}; {remedy}" in told
    assert "  (no skill)  " in told
    assert checks.budget(spent_limit(used, Settings().budget)).remedy == f"skilld config set {setting} NUMBER"


def test_an_agents_login_is_billed_by_its_plan() -> None:
    assert "uses your plan or credits for claude;" in _describe_cost("cli:claude:haiku", Settings())


def test_test_questions_are_listed_apart_and_no_price_is_invented() -> None:
    assert _describe_today(3, 30, 0.0001, 3) == "3 model calls (all of them to test the judge), 30 tokens, $0.0001"
    assert _describe_today(9, 3000, 0.0, 1) == "9 model calls (1 of them to test the judge), 3,000 tokens"
    assert _describe_today(0, 0, 0.0, 0) == "0 model calls, 0 tokens, $0.00"
    assert format_price("openai/own", 30, 0.0) == "price unknown"
    assert (format_price("ollama_chat/a", 30, 0.0), format_price("openai/gpt-5-mini", 30, 0.2)) == (
        "$0.00",
        "$0.20",
    )


@pytest.mark.parametrize(
    ("model", "settings", "own"),
    [
        ("openai/own", 'model_base_url = "http://127.0.0.1:9"', True),
        ("openai/own", "", False),
        ("cli:claude", 'model_base_url = "http://127.0.0.1:9"', False),
    ],
)
def test_list_prices_are_marked_as_such_for_the_persons_own_server(
    home: Path, capsys: pytest.CaptureFixture[str], model: str, settings: str, *, own: bool
) -> None:
    (home / ".local/state/skilld").mkdir(parents=True, mode=0o700)
    (home / ".config/skilld").mkdir(parents=True)
    (home / ".config/skilld/config.toml").write_text(settings)
    with closing(common.store()) as store:
        store.usage.add(local_day(time.time()), model, "", Usage(1, 100, 10, 0.25))
    status.run_cost(argparse.Namespace(json=False))
    assert ("\nDollars are list prices of the models" in capsys.readouterr().out) is own


def test_a_retry_without_failed_batches_says_so(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".local/state/skilld").mkdir(parents=True, mode=0o700)
    pause.retry(argparse.Namespace())
    assert capsys.readouterr().out == "No batch has failed or been delayed; 0 batches waiting to be judged.\n"


def test_a_limit_in_dollars_is_only_named_where_calls_have_a_price() -> None:
    limits = Settings().budget
    assert budget_left(Usage(), limits) == "60 calls, 400,000 tokens, $1.00"
    assert budget_left(Usage(1, 100, 10, 0.25), limits) == "59 calls, 399,890 tokens, $0.75"
    assert budget_left(Usage(1, 100, 10), limits) == "59 calls, 399,890 tokens"


def test_an_own_server_has_its_own_price() -> None:
    told = _describe_cost("openai/own", Settings(model_base_url="http://127.0.0.1:9"))
    assert "at the price of that server; at most 60 model calls a day (budget.calls)" in told
