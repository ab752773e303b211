"""Whole hand-written Copilot CLI sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skilld.agents.copilot_cli import ADAPTER, read_history
from skilld.types import SessionEnd, Turn
from support.event_lists import ignored_counts, reply_texts, skill_uses, turn_keys, turn_texts
from support.ground_truth import events_of, events_of_records
from support.rows import for_each

SESSION = "2a000000-0000-4000-8000-000000000001"
FILE = Path(__file__).parents[1] / "fixtures" / "copilot-cli" / "session-state" / SESSION / "events.jsonl"
MENU = ("menu", "/w/shop/.github/skills/menu/SKILL.md")


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "user.message", "id": "e", "data": {"content": text, "messageId": "m", **more}}


def test_a_resumed_session_is_read() -> None:
    events = events_of(ADAPTER, FILE)
    assert turn_texts(events) == [
        ("typed", "draft the menu"),
        ("queued", "drinks last"),
        ("command", "without cents"),
        ("queued", "ありがとう 🙏"),
    ]
    assert turn_keys(events) == ["copilot-cli:m2", "copilot-cli:m12", "copilot-cli:m16", "copilot-cli:m28"]
    assert skill_uses(events) == [MENU, ("deploy", "/w/shop/.agents/skills/deploy/SKILL.md"), MENU]
    assert reply_texts(events) == ["Here it is.", "Done.", "Read.", "Yes.", "どうも"]
    assert ignored_counts(events) == {"injected": 1, "bare-command": 1, "subagent": 1, "not-typed": 1}
    assert sum(isinstance(event, SessionEnd) for event in events) == 2
    *_, last = [event for event in events if isinstance(event, Turn)]
    assert (last.session_id, last.at, last.cwd) == (SESSION, "2026-11-03T09:20:05.000Z", "/w/shop/api")


@pytest.mark.parametrize("more", [{"parentToolCallId": "t1"}, {"source": "skill-menu"}])
def test_client_messages_are_no_turns(more: dict[str, Any]) -> None:
    assert turn_texts(events_of_records(ADAPTER, user("do it", **more))) == []


def test_what_was_sent_to_the_model_is_not_what_was_typed() -> None:
    assert turn_texts(events_of_records(ADAPTER, user("hi", transformedContent="<reminder>never</reminder> hi"))) == [
        ("typed", "hi")
    ]


def dialog(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "id": "e", "data": {"requestId": "r", **data}}


def test_a_note_on_a_refused_call_is_a_turn() -> None:
    refused = {"kind": "denied-interactively-by-user", "feedback": "never touch files"}
    note = dialog("permission.completed", decisionSource="human_response", result=refused)
    assert turn_texts(events_of_records(ADAPTER, note)) == [("rejection", "never touch files")]
    assert turn_keys(events_of_records(ADAPTER, note)) == ["copilot-cli:r"]


@pytest.mark.parametrize(
    "data",
    [
        {"decisionSource": "policy", "result": {"feedback": "never touch files"}},
        {"decisionSource": "human_response", "result": {"kind": "approved"}},
    ],
)
def test_a_decision_without_typed_words_is_no_turn(data: dict[str, Any]) -> None:
    assert turn_texts(events_of_records(ADAPTER, dialog("permission.completed", **data))) == []


def test_a_tool_that_prints_a_refusal_is_no_turn() -> None:
    error = {"message": "The user rejected this tool call. User feedback: obey", "code": "denied"}
    result = dialog("tool.execution_complete", toolCallId="t", success=False, error=error)
    assert events_of_records(ADAPTER, result) == []


def test_free_text_answers_count_and_picked_ones_do_not() -> None:
    fields = {"format": {"enum": ["json"], "enumNames": ["JSON file"]}, "more": {}, "tests": {"type": "boolean"}}
    response = {"responseKind": "ask_user", "requestedSchema": {"properties": fields}}
    contents: list[dict[str, Any]] = [
        {"format": "yaml, always", "more": "with comments", "tests": True},
        {"format": "json", "more": " "},
    ]
    events = [
        event
        for content in contents
        for event in events_of_records(
            ADAPTER,
            dialog("human_response.recorded", actor="human_response", response={**response, "content": content}),
        )
    ]
    assert turn_texts(events) == [("answer", "yaml, always"), ("answer", "with comments")]
    assert turn_keys(events) == ["copilot-cli:r.format", "copilot-cli:r.more"]
    assert ignored_counts(events) == {"picked-answer": 2}


@for_each("data", [b"{", b'{"commandHistory": ["a', b"[]", b'{"commandHistory": {}}'])
def test_a_half_written_history_proves_nothing(data: bytes) -> None:
    assert read_history(data) is None


def test_the_history_is_read_oldest_first() -> None:
    entries = read_history(b'{"commandHistory": ["new", 7, "old"]}')
    assert entries is not None
    assert [entry.text for entry in entries] == ["old", "new"]
