"""How differently endpoints answer: what is read, and what is requested again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skilld.classify.backends import Spec
from skilld.classify.backends.completion import context_options
from skilld.classify.backends.model import Model
from skilld.classify.json_answer import BadReplyError
from skilld.errors import RetryError, SkilldError
from skilld.types import How, Kind, Message, SkillDoc, Update
from support.stub_model import Body, Reply, StubModel, request_text

UPDATES = json.dumps(
    [{"skill": 1, "section": "Style", "change": "Be brief.", "kind": "preference", "turn": 1, "quote": "be brief"}]
)
NOTHING = "<updates>[]</updates>"


def _model(stub: StubModel) -> Model:
    return Model(Spec("openai/stub", stub.base_url, "key"))


def _detect(model: Model) -> list[Update]:
    messages = [Message("always be brief", turn=1, turn_key="t1", how=How.TYPED)]
    return model.detect(messages, [SkillDoc(1, "notes", "/p", "# Notes")])[0]


def _message(finish: str = "stop", **message: Any) -> Reply:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": None, **message}}
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    whole = {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
    return Reply(raw=json.dumps(whole).encode())


def _tool_call(arguments: str) -> dict[str, Any]:
    return {"id": "call_1", "type": "function", "function": {"name": "updates", "arguments": arguments}}


@pytest.mark.parametrize(
    "reply",
    [
        _message(content=f"<think>They say always.</think>\n\n<updates>{UPDATES}</updates>"),
        _message(content=f"They say always.</think><updates>{UPDATES}</updates>"),
        _message(content=f"<updates>{UPDATES}</updates>", reasoning_content="They say always."),
        _message(content="", reasoning_content=f"They say always.\n<updates>{UPDATES}</updates>"),
        _message("tool_calls", tool_calls=[_tool_call(json.dumps({"updates": json.loads(UPDATES)}))]),
        _message("length", content=f"<updates>{UPDATES}</updates> And furthermore"),
        _message(content=f"Found one:\n\n```json\n{UPDATES}\n```\nIt is lasting."),
    ],
)
def test_an_answer_is_found_wherever_an_endpoint_puts_it(stub: StubModel, reply: Reply) -> None:
    stub.queue(reply)
    assert [update.change for update in _detect(_model(stub))] == ["Be brief."]
    assert len(stub.bodies) == 1


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_a_multi_part_answer_litellm_cannot_read_is_retried_later(stub: StubModel) -> None:
    stub.queue(_message(content=[{"type": "text", "text": f"<updates>{UPDATES}</updates>"}]))
    with pytest.raises(RetryError):
        _detect(_model(stub))


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (_message(content="I would remember that they like it brief."), "it is not valid JSON"),
        (_message(content=""), "it is empty"),
        (_message(content=UPDATES.replace('"turn": 1', '"turn": 7')), "an update refers to a turn that does not exist"),
        (_message(content=f"<updates>{UPDATES}</updates><updates>[]</updates>"), "it has 2 <updates> blocks"),
    ],
)
def test_an_unreadable_answer_is_requested_once_more_with_the_reason(stub: StubModel, bad: Reply, fault: str) -> None:
    stub.queue(bad, f"<updates>{UPDATES}</updates>")
    assert len(_detect(_model(stub))) == 1
    first, second = (request_text(body) for body in stub.bodies)
    assert fault in second
    assert second[:400] == first[:400], "the beginning is what a provider's cache serves"


PLAIN = json.loads(UPDATES)[0]
SIGNED = PLAIN | {"change": "Always sign.", "quote": "always sign", "turn": 2}


def _detect_both(model: Model) -> list[str]:
    said = [Message(text, turn=n, turn_key=f"t{n}") for n, text in enumerate(("always be brief", "always sign"), 1)]
    return [update.change for update in model.detect(said, [SkillDoc(1, "notes", "/p", "# Notes")])[0]]


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (SIGNED | {"quote": "please sign"}, "do not appear, letter for letter, in the person's message"),
        (SIGNED | {"kind": "whim"}, "an update has an unknown kind"),
    ],
)
def test_an_unusable_part_is_requested_once_more_and_the_rest_is_kept(
    stub: StubModel, bad: dict[str, object], fault: str
) -> None:
    stub.queue(json.dumps([PLAIN, bad]), json.dumps([SIGNED]))
    assert sorted(_detect_both(_model(stub))) == ["Always sign.", "Be brief."]
    assert fault in request_text(stub.bodies[1])
    stub.queue(json.dumps([PLAIN, bad]), Reply(status=503))
    assert "Be brief." in _detect_both(_model(stub))
    stub.queue("prose", json.dumps([PLAIN, bad]))
    assert "Be brief." in _detect_both(_model(stub))
    assert len(stub.bodies) == 6, "no question is asked three times"


def test_a_closed_question_tells_the_same_from_the_opposite(stub: StubModel) -> None:
    stub.queue('<verdicts>["same", "Opposite", "unclear"]</verdicts>')
    update = Update(1, "", "Never push.", "", Kind.PREFERENCE, 1, "pushing is mine")
    assert _model(stub).polarity([update] * 3, ["pushing is mine"] * 3) == [True, False, None]
    assert "doubtful_changes" in request_text(stub.bodies[0])


def test_there_is_no_third_request_and_a_later_error_changes_nothing(stub: StubModel) -> None:
    for second in ("still prose", Reply(status=503), Reply(status=401)):
        stub.queue("prose", second)
        with pytest.raises(BadReplyError, match="not valid JSON"):
            _detect(_model(stub))
    assert len(stub.bodies) == 6


def test_a_one_megabyte_answer_is_not_requested_again(stub: StubModel) -> None:
    stub.queue("x" * 1_100_000)
    with pytest.raises(BadReplyError, match="far too long"):
        _detect(_model(stub))
    assert len(stub.bodies) == 1


def test_a_model_that_used_up_its_limit_thinking_gets_a_higher_one(stub: StubModel) -> None:
    stub.queue(_message("length", content="", reasoning_content="Let me think."), NOTHING)
    assert _detect(_model(stub)) == []
    assert [body["max_tokens"] for body in stub.bodies] == [8000, 32_000]


@pytest.mark.parametrize("taken", ["temperature", "max_tokens", "system"])
def test_an_endpoint_rejecting_our_parameters_is_asked_plainly_from_then_on(stub: StubModel, taken: str) -> None:
    def answer(body: Body) -> Reply | str:
        refused = taken in body or taken in {message["role"] for message in body["messages"]}
        return Reply(f"Unsupported value: '{taken}'", status=400) if refused else NOTHING

    stub.decide = answer
    model = _model(stub)
    assert _detect(model) == []
    assert _detect(model) == []
    assert len(stub.bodies) == 3, "what was refused once is not sent again"
    assert [message["role"] for message in stub.bodies[-1]["messages"]] == ["user"]
    assert request_text(stub.bodies[-1]) == request_text(stub.bodies[0]) or "recent_messages" in request_text(
        stub.bodies[-1]
    )


def test_a_token_limit_too_large_for_a_small_context_is_dropped(stub: StubModel) -> None:
    why = "This model's maximum context length is 8192 tokens. However, you requested 11000 tokens."
    stub.queue(Reply(why, status=400), NOTHING)
    assert _detect(_model(stub)) == []
    assert "max_tokens" not in stub.bodies[1]


def test_an_endpoint_rejecting_everything_is_given_up_with_a_remedy(stub: StubModel) -> None:
    with pytest.raises(SkilldError) as error:
        _detect(_model(stub))
    assert error.value.remedy
    assert len(stub.bodies) == 2


def test_a_local_model_gets_a_context_for_the_whole_request() -> None:
    assert context_options("ollama_chat/qwen3", 6_000, 8000) == {"num_ctx": 16384}
    assert context_options("ollama/qwen3", 200_000, 8000) == {"num_ctx": 32768}
    assert context_options("openai/stub", 200_000, 8000) == {}
