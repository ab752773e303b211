"""How provider errors are handled: retried, or given up with a remedy, without prompt or key."""

from __future__ import annotations

import httpx
import pytest

from skilld.classify.backends import Spec, choose
from skilld.classify.backends.completion import to_skilld_error
from skilld.classify.backends.model import Model
from skilld.classify.json_answer import BadReplyError
from skilld.errors import RetryError, SkilldError
from skilld.types import How, Message, SkillDoc, Update
from support.stub_model import GARBAGE, Reply, StubModel

SECRET = "sk-of-the-person"


def _detect(model: Model) -> tuple[list[Update], list[str]]:
    messages = [Message("always WORDS-OF-THE-PERSON first", turn=1, turn_key="t1", how=How.TYPED)]
    return model.detect(messages, [SkillDoc(1, "notes", "/p", "# Notes")])


def _model_error(stub: StubModel, reply: Reply, *, seconds: float = 20.0, calls: int = 1) -> SkilldError:
    stub.decide = lambda _: reply
    model = Model(Spec("openai/stub", stub.base_url, SECRET, seconds))
    with pytest.raises(SkilldError) as error:
        _detect(model)
    assert model.usage.calls == calls
    assert "WORDS-OF-THE-PERSON" not in str(error.value)
    assert SECRET not in str(error.value)
    return error.value


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        (400, "the provider rejected the request"),
        (401, "the provider rejected the key"),
        (402, "the provider requires payment"),
        (403, "the provider rejected the key"),
        (404, "the provider has no such model"),
        (413, "the request was too long for the model"),
        (422, "the provider rejected the request"),
    ],
)
def test_permanent_errors_are_given_up_with_a_remedy(stub: StubModel, status: int, cause: str) -> None:
    error = _model_error(
        stub, Reply(status=status), calls=2 if status in {400, 413, 422} else 1
    )  # with options, without
    assert not isinstance(error, RetryError)
    assert (error.cause, error.remedy) == (cause, "Check the settings: skilld config show")


def test_a_request_that_the_library_repeats_with_other_messages_is_two_calls(stub: StubModel) -> None:
    error = _model_error(stub, Reply(status=400, text="Last message must have role `user`"), calls=4)
    assert error.cause == "the provider rejected the request"
    assert len(stub.bodies) == 4, "each of the two questions twice"


_UNREADABLE = "it answered, but not in the form of this provider's API"


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (Reply(status=408), "timed out"),
        (Reply(status=409), "HTTP status 409"),
        (Reply(status=429), "too many requests"),
        (Reply(status=500), "HTTP status 500"),
        (Reply(status=502), "HTTP status 502"),
        (Reply(status=503), "the provider is overloaded"),
        (GARBAGE, _UNREADABLE),
        (Reply(raw=b"{}"), _UNREADABLE),
    ],
)
def test_temporary_errors_are_retried_later(stub: StubModel, reply: Reply, cause: str) -> None:
    error = _model_error(stub, reply)
    assert isinstance(error, RetryError)
    host = stub.base_url.removeprefix("http://").partition("/")[0]
    assert error.cause == f"no usable answer from {host}; {cause}"
    assert error.after is None
    assert len(stub.bodies) == 1


def test_a_retry_delay_from_the_provider_is_respected(stub: StubModel) -> None:
    error = _model_error(stub, Reply(status=429, retry_after=90))
    assert isinstance(error, RetryError)
    assert error.after == 90.0


def test_a_provider_timeout_is_retried(stub: StubModel) -> None:
    assert isinstance(_model_error(stub, Reply(delay=30), seconds=0.5), RetryError)


def test_an_unreachable_provider_is_retried() -> None:
    with StubModel() as gone:
        pass
    with pytest.raises(RetryError, match="could not connect"):
        _detect(Model(Spec("openai/stub", gone.base_url, SECRET, 5.0)))


def test_the_address_that_was_tried_is_named_if_no_setting_has_it() -> None:
    class InternalServerError(Exception):
        status_code = 500

    with StubModel() as gone:
        pass
    with pytest.raises(httpx.ConnectError) as refused:
        httpx.post(gone.base_url)
    error = InternalServerError()
    error.__cause__ = refused.value
    host = gone.base_url.removeprefix("http://").partition("/")[0]
    found = to_skilld_error(error, "ollama_chat/x")
    assert found.cause == f"no usable answer from {host}; could not connect"
    error.__cause__ = httpx.ConnectError("no request")
    assert to_skilld_error(error, "ollama_chat/x").cause == "no usable answer from the provider; could not connect"


def test_an_address_from_the_environment_is_named_without_its_password() -> None:
    address = "https://me:hidden@gateway.test:8443/v1"
    assert choose.model_address("openai/x", None, {"OPENAI_BASE_URL": address}) == "gateway.test:8443 (OPENAI_BASE_URL)"
    assert not choose.model_address("mistral/x", None, {"OPENAI_BASE_URL": address, "MISTRAL_BASE_URL": address})
    assert choose.model_address("cli:claude", None, {"ANTHROPIC_BASE_URL": address}) == (
        "gateway.test:8443 (ANTHROPIC_BASE_URL)"
    )


@pytest.mark.parametrize("reply", [Reply(text=""), Reply(text=" \n"), Reply(raw=b'{"choices": []}')])
def test_an_empty_answer_is_invalid(stub: StubModel, reply: Reply) -> None:
    stub.queue(reply)
    with pytest.raises(BadReplyError, match="it is empty"):
        _detect(Model(Spec("openai/stub", stub.base_url, SECRET)))


def test_an_answer_is_read_with_its_cost(stub: StubModel) -> None:
    stub.queue(Reply(text="<updates>[]</updates>", tokens_in=120, tokens_out=7))
    model = Model(Spec("openai/stub", stub.base_url, SECRET))
    assert _detect(model) == ([], [])
    assert (model.usage.calls, model.usage.tokens_in, model.usage.tokens_out, model.usage.usd) == (1, 120, 7, 0.0)


@pytest.mark.parametrize("reported", [0, -5000])
def test_an_answer_without_a_cost_is_counted_by_its_length(stub: StubModel, reported: int) -> None:
    stub.queue(Reply(text="<updates>[]</updates>" + 300 * " ", tokens_in=reported, tokens_out=reported))
    model = Model(Spec("openai/stub", stub.base_url, SECRET))
    assert _detect(model) == ([], [])
    assert (model.usage.tokens_in > 1000, model.usage.tokens_out) == (True, 107)


def test_turn_numbers_hold_even_if_an_earlier_turn_is_missing(stub: StubModel) -> None:
    item = '{"section":"S","change":"c","kind":"fact","turn":3,"quote":"q"}'
    stub.queue(f"<updates>[{item}]</updates>")
    messages = [Message("later", turn=3, turn_key="t3", how=How.TYPED)]
    model = Model(Spec("openai/stub", stub.base_url, SECRET))
    (update,), left_out = model.detect(messages, [SkillDoc(1, "notes", "/p", "# Notes")])
    assert (update.turn, left_out) == (3, [])


def _authorization(stub: StubModel) -> str:
    return {name.lower(): value for name, value in stub.headers[-1].items()}["authorization"]


def test_the_configured_key_takes_precedence_over_the_providers_variable(
    stub: StubModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-variable")
    stub.queue("<updates>[]</updates>", "<updates>[]</updates>")
    _detect(Model(Spec("openai/stub", stub.base_url, SECRET)))
    assert _authorization(stub) == f"Bearer {SECRET}"
    _detect(Model(Spec("openai/stub", stub.base_url)))
    assert _authorization(stub) == "Bearer sk-of-the-variable"


def test_a_custom_endpoint_needs_no_key(stub: StubModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    stub.queue("<updates>[]</updates>")
    assert _detect(Model(Spec("openai/stub", stub.base_url))) == ([], [])


def test_a_missing_key_is_reported_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model = Model(Spec("openai/gpt-5-mini"))
    with pytest.raises(SkilldError) as error:
        _detect(model)
    assert not isinstance(error.value, RetryError)
    assert error.value.cause == "skilld was started without OPENAI_API_KEY"
    assert error.value.remedy == "Set it, or set model_api_key."
    assert model.usage.calls == 0


def test_an_unknown_model_is_given_up() -> None:
    with pytest.raises(SkilldError) as error:
        _detect(Model(Spec("nonsense/model")))
    assert not isinstance(error.value, RetryError)
    assert error.value.remedy


def test_a_schema_is_sent_to_models_that_support_it(stub: StubModel) -> None:
    stub.queue('{"updates": []}')
    assert _detect(Model(Spec("openai/gpt-5-mini", stub.base_url, SECRET))) == ([], [])
    (body,) = stub.bodies
    schema = body["response_format"]["json_schema"]["schema"]
    update = schema["properties"]["updates"]["items"]
    assert schema["required"] == ["updates"]
    assert update["additionalProperties"] is False
    assert set(update["required"]) == set(update["properties"])
    assert "tools" not in body


def test_an_endpoint_rejecting_the_schema_is_asked_without_it(stub: StubModel) -> None:
    stub.queue(Reply(status=400), "<updates>[]</updates>")
    model = Model(Spec("openai/gpt-5-mini", stub.base_url, SECRET))
    assert _detect(model) == ([], [])
    assert model.usage.calls == 2
    assert ["response_format" in body for body in stub.bodies] == [True, False]


def test_an_unknown_model_is_asked_without_a_schema(stub: StubModel) -> None:
    stub.queue("<updates>[]</updates>")
    _detect(Model(Spec("openai/stub", stub.base_url, SECRET)))
    assert "response_format" not in stub.bodies[0]
