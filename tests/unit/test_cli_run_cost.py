"""What `run` says that judging costs."""

from __future__ import annotations

import pytest

from skilld.cli.run import _cost
from skilld.settings import Settings


@pytest.mark.parametrize(("calls", "said"), [(60, "at most 60 model calls a day"), (0, "no limit on model calls")])
def test_a_limit_that_is_switched_off_is_no_limit_of_nothing(calls: int, said: str) -> None:
    settings = Settings()
    settings = settings.model_copy(update={"budget": settings.budget.model_copy(update={"calls": calls})})
    assert said in _cost("litellm/any", settings)


def test_an_agents_login_is_paid_by_its_plan() -> None:
    assert "uses your plan or credits for claude;" in _cost("cli:claude:haiku", Settings())
