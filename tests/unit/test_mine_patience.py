"""A model that fails is waited for a minute in a row, and said so; what was answered stays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from skilld.classify.backends import Spec
from skilld.mining.questions import QuestionRun, Terms
from skilld.protocol import Result, Window
from skilld.settings import Settings
from skilld.store import Store
from skilld.types import Message, Outcome


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(tmp_path / "skilld.db")
    yield opened
    opened.close()


def _run(store: Store, retry_after: float | None) -> tuple[list[float], list[str], str]:
    waited: list[float] = []
    told: list[str] = []
    terms = Terms(Spec("openai/stub"), Settings().budget, 1.0, 0o022, {}, wait=waited.append)
    run = QuestionRun(store, terms, lambda _, why: told.append(why))
    failing = replace(Result(outcome=Outcome.RETRY, model="stub"), detail="it is overloaded", retry_after=retry_after)
    run._work = lambda *_: failing  # type: ignore[method-assign]
    stats = run.about([Window("w", "s", (Message("Always use tabs.", turn=1, turn_key="k"),))])
    return waited, told, stats.stopped


@pytest.mark.parametrize(("retry_after", "waits"), [(None, [5.0, 10.0, 20.0]), (25.0, [25.0, 25.0]), (300.0, [])])
def test_a_failing_model_is_given_up_after_a_minute(
    store: Store, retry_after: float | None, waits: list[float]
) -> None:
    waited, told, stopped = _run(store, retry_after)
    assert waited == waits
    assert told == [f"waiting {seconds:.0f} s for the model (it is overloaded)" for seconds in waits]
    assert stopped == "the model did not answer: it is overloaded; the next run continues from here"
