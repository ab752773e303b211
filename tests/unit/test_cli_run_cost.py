"""What `run` says about the cost of judging, and `status` about today's cost."""

from __future__ import annotations

import pytest

from skilld.cli.run import _describe_cost
from skilld.cli.status import _describe_today, _format_price
from skilld.settings import Settings


@pytest.mark.parametrize(("calls", "said"), [(60, "at most 60 model calls a day"), (0, "no limit on model calls")])
def test_a_disabled_limit_is_not_shown_as_zero(calls: int, said: str) -> None:
    settings = Settings()
    settings = settings.model_copy(update={"budget": settings.budget.model_copy(update={"calls": calls})})
    assert said in _describe_cost("litellm/any", settings)


def test_an_agents_login_is_billed_by_its_plan() -> None:
    assert "uses your plan or credits for claude;" in _describe_cost("cli:claude:haiku", Settings())


def test_test_questions_are_listed_apart_and_no_price_is_invented() -> None:
    assert _describe_today(3, 30, 0.0001, 3) == "3 model calls (all of them to test the judge), 30 tokens, $0.0001"
    assert _describe_today(9, 3000, 0.0, 1) == "9 model calls (1 of them to test the judge), 3,000 tokens"
    assert _describe_today(0, 0, 0.0, 0) == "0 model calls, 0 tokens, $0.00"
    assert _format_price("openai/own", 30, 0.0) == "price unknown"
    assert (_format_price("ollama_chat/a", 30, 0.0), _format_price("openai/gpt-5-mini", 30, 0.2)) == (
        "$0.00",
        "$0.2000",
    )
