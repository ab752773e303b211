"""The stand-in for a model is itself a measuring instrument: what it serves, records and refuses is held here."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from support.stub_model import GARBAGE, Reply, StubModel, said
from support.waiting import LIMIT

ASKED = {"model": "stub", "messages": [{"role": "user", "content": "hello"}]}


@pytest.fixture
def model() -> Iterator[StubModel]:
    with StubModel() as server:
        yield server


def ask(model: StubModel) -> Any:
    request = urllib.request.Request(model.base_url + "/chat/completions", json.dumps(ASKED).encode())
    with urllib.request.urlopen(request, timeout=LIMIT) as answer:
        return json.load(answer)


def test_answers_come_from_the_queue_in_order_and_requests_are_kept(model: StubModel) -> None:
    model.queue("first", Reply(text="second", tokens_in=7, tokens_out=3))
    assert ask(model)["choices"][0]["message"]["content"] == "first"
    answer = ask(model)
    assert answer["choices"][0]["message"]["content"] == "second"
    assert answer["usage"] == {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    assert model.bodies == [ASKED, ASKED]


def test_a_function_decides_when_the_queue_is_empty(model: StubModel) -> None:
    model.decide = lambda body: "you said " + said(body)
    assert ask(model)["choices"][0]["message"]["content"] == "you said hello"


def test_an_unscripted_request_is_refused(model: StubModel) -> None:
    with pytest.raises(urllib.error.HTTPError) as refusal:
        ask(model)
    assert refusal.value.code == 400


def test_rate_limit_carries_retry_after(model: StubModel) -> None:
    model.queue(Reply(status=429, retry_after=1.5))
    with pytest.raises(urllib.error.HTTPError) as refusal:
        ask(model)
    assert refusal.value.code == 429
    assert refusal.value.headers["Retry-After"] == "1.5"


def test_garbage_is_not_json(model: StubModel) -> None:
    model.queue(GARBAGE)
    with pytest.raises(ValueError, match=r"Expecting value|codec can't decode"):
        ask(model)


def test_a_delay_holds_the_answer_back_and_nothing_else(model: StubModel) -> None:
    model.queue(Reply(text="late", delay=0.3))
    begun = time.monotonic()
    assert ask(model)["choices"][0]["message"]["content"] == "late"
    assert time.monotonic() - begun >= 0.3
    model.wait_for_requests(1)
