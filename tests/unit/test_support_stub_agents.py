"""The stand-in for the agents' model APIs: which step answers which request, in both wire formats."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from support.stub_agents import Call, Rule, Say, StubAgents
from support.waiting import LIMIT

TOOLS = [{"name": "Skill"}]


@pytest.fixture
def stub() -> Iterator[StubAgents]:
    with StubAgents(Rule("notes", Call("Skill", {"skill": "notes"}), Say("Written."))) as server:
        yield server


def post(stub: StubAgents, path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    request = urllib.request.Request(stub.origin + path, json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=LIMIT) as answer:
        lines = answer.read().decode().splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def messages(stub: StubAgents, *said: Any, tools: Any = TOOLS) -> list[dict[str, Any]]:
    turns = [{"role": "user" if i % 2 == 0 else "assistant", "content": text} for i, text in enumerate(said)]
    return post(stub, "/v1/messages?beta=true", {"messages": turns, "tools": tools})


def responses(stub: StubAgents, *items: dict[str, Any], tools: Any = TOOLS) -> list[dict[str, Any]]:
    return post(stub, "/v1/responses", {"input": list(items), "tools": tools})


def user(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def test_messages_steps_follow_tool_results(stub: StubAgents) -> None:
    result = [{"type": "tool_result", "tool_use_id": "x", "content": "notes"}]
    first = messages(stub, "Write the notes")
    assert first[1]["content_block"]["name"] == "Skill"
    assert json.loads(first[2]["delta"]["partial_json"]) == {"skill": "notes"}
    assert first[4]["delta"]["stop_reason"] == "tool_use"
    second = messages(stub, "Write the notes", "", result)
    assert second[2]["delta"]["text"] == "Written."
    assert [asked.after_tool for asked in stub.main_requests()] == [False, True]


def test_messages_reminders_of_the_client_are_not_the_persons_words(stub: StubAgents) -> None:
    reminder = {"type": "text", "text": "<system-reminder>notes</system-reminder>"}
    answer = messages(stub, [reminder, {"type": "text", "text": "hello"}])
    assert answer[2]["delta"]["text"] == "Understood."
    assert stub.log[0].newest == "hello"


def test_responses_steps_follow_tool_outputs(stub: StubAgents) -> None:
    context = user("<environment_context>notes</environment_context>")
    prompt = user("$notes write the notes")
    skill = user("<skill>notes</skill>")
    first = responses(stub, context, prompt, skill)
    item = first[-2]["item"]
    assert (item["type"], item["name"], item["arguments"]) == ("function_call", "Skill", '{"skill": "notes"}')
    output = {"type": "function_call_output", "call_id": item["call_id"], "output": "fine"}
    second = responses(stub, context, prompt, skill, item, output)
    assert second[-2]["item"]["content"][0]["text"] == "Written."
    assert [asked.newest for asked in stub.log] == ["$notes write the notes", ""]


def test_side_calls_without_tools_consume_nothing(stub: StubAgents) -> None:
    result = [{"type": "tool_result", "tool_use_id": "x", "content": ""}]
    messages(stub, "Write the notes")
    messages(stub, "Write the notes", tools=[])
    assert messages(stub, "Write the notes", "", result)[2]["delta"]["text"] == "Written."
    assert len(stub.main_requests()) == 2


def test_conversations_do_not_take_each_others_steps(stub: StubAgents) -> None:
    result = [{"type": "tool_result", "tool_use_id": "x", "content": ""}]
    messages(stub, "Write the notes")
    assert messages(stub, "another thread", "", result)[2]["delta"]["text"] == "Understood."
    assert messages(stub, "Write the notes", "", result)[2]["delta"]["text"] == "Written."
