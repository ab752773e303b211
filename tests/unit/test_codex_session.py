"""Who may be speaking in a Codex rollout: session source, turn trigger, client id of the prompt."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any

import pytest

from skilld.agents import codex
from skilld.types import Event, Ignored, RawLine, Reply, SkillUse, Turn
from support.rows import for_each

TERMINAL = {"id": "t", "source": "cli", "originator": "codex-tui", "thread_source": "user"}


def read(*records: dict[str, Any]) -> list[Event]:
    parser = codex.parser(PurePath("rollout-x.jsonl"))
    lines = [json.dumps(record).encode() for record in records]
    return [event for at, line in enumerate(lines) for event in parser.feed(RawLine(at, at + 1, line))] + parser.flush()


def meta(**fields: Any) -> dict[str, Any]:
    return {"type": "session_meta", "payload": fields}


def start(turn: str, **attribution: Any) -> dict[str, Any]:
    return {
        "type": "event_msg",
        "payload": {"type": "task_started", "turn_id": turn, "turn_attribution": {"turn_id": turn, **attribution}},
    }


def prompt(turn: str, text: str, **item: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {
        "type": "event_msg",
        "payload": {
            "type": "item_completed",
            "turn_id": turn,
            "item": {"type": "UserMessage", "id": f"i-{text}", "content": content, **item},
        },
    }


def legacy(text: str, **fields: Any) -> dict[str, Any]:
    return {"type": "event_msg", "payload": {"type": "user_message", "message": text, **fields}}


def verdicts(events: list[Event]) -> list[str]:
    return [
        event.text if isinstance(event, Turn) else f"({event.reason})"
        for event in events
        if isinstance(event, Turn | Ignored)
    ]


@for_each(
    ("fields", "verdict"),
    [
        (TERMINAL, "hi"),
        ({"source": "vscode", "originator": "codex_vscode"}, "hi"),
        ({"source": "vscode", "originator": "Codex Desktop", "thread_source": "user"}, "hi"),
        ({}, "hi"),
        ({"source": "exec", "thread_source": "user"}, "(headless)"),
        ({"source": "exec", "originator": "codex_vscode"}, "(headless)"),
        ({"source": "mcp"}, "(headless)"),
        ({"originator": "codex_exec"}, "(headless)"),
        ({"originator": "codex_sdk_ts", "source": "vscode"}, "(headless)"),
        ({"source": {"subagent": "review"}}, "(subagent)"),
        ({"source": {"subagent": {"thread_spawn": {"depth": 1}}}}, "(subagent)"),
        ({"source": "cli", "thread_source": "subagent"}, "(subagent)"),
        ({"source": "cli", "thread_source": "guardian_review"}, "(subagent)"),
        ({"source": "cli", "thread_source": "memory_consolidation"}, "(subagent)"),
    ],
)
def test_the_session_source_can_exclude_all_prompts(fields: dict[str, Any], verdict: str) -> None:
    assert verdicts(read(meta(**{"id": "s"} | fields), legacy("hi"))) == [verdict]
    assert verdicts(read(meta(**{"id": "s"} | fields), prompt("", "hi"))) == [verdict]


@for_each(
    ("attribution", "client_id", "verdict"),
    [
        ({"turn_trigger": "user"}, "c", "hi"),
        ({"turn_trigger": "user"}, None, "hi"),
        ({"turn_trigger": "composer"}, None, "hi"),
        ({}, None, "hi"),
        ({"turn_trigger": "exec"}, None, "(headless)"),
        ({"turn_trigger": "goal"}, None, "(headless)"),
        ({"turn_trigger": "goal"}, "c", "hi"),
        ({"turn_trigger": "app_tool_send_message"}, "c", "(headless)"),
        ({"turn_trigger": "user", "parent_turn_id": "p"}, None, "(subagent)"),
        ({"turn_trigger": "user", "parent_turn_id": "p"}, "c", "(subagent)"),
    ],
)
def test_each_turn_is_judged_by_its_own_trigger(
    attribution: dict[str, Any], client_id: str | None, verdict: str
) -> None:
    item = {"client_id": client_id} if client_id else {}
    assert verdicts(read(meta(**TERMINAL), start("1", **attribution), prompt("1", "hi", **item))) == [verdict]


def test_a_headless_turn_does_not_affect_the_next() -> None:
    records = [
        meta(**TERMINAL),
        start("1", turn_trigger="exec"),
        prompt("1", "from a script"),
        start("2", turn_trigger="user"),
        prompt("2", "from a person", client_id="c"),
    ]
    assert verdicts(read(*records)) == ["(headless)", "from a person"]


def test_a_headless_session_resumed_in_a_terminal_has_turns_from_then_on() -> None:
    block = {
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"text": "<skill>\n<name>menu</name>\n<path>/w/menu/SKILL.md</path>\nx</skill>"}],
        },
    }
    answer = {"type": "event_msg", "payload": {"type": "agent_message", "message": "Done."}}
    events = read(
        meta(id="s", source="exec"),
        start("1", turn_trigger="exec"),
        prompt("1", "from a script"),
        block,
        answer,
        start("2", turn_trigger="user"),
        prompt("2", "from a person", client_id="c"),
        block,
        answer,
    )
    assert verdicts(events) == ["(headless)", "(skill-body)", "from a person", "(skill-body)"]
    assert [event.name for event in events if isinstance(event, SkillUse)] == ["menu"]
    assert [event.text for event in events if isinstance(event, Reply)] == ["Done."]


def test_the_first_session_meta_wins() -> None:
    events = read(meta(id="child", source={"subagent": "x"}), meta(id="parent", source="cli"), legacy("hi"))
    assert verdicts(events) == ["(subagent)"]


def test_a_repeated_session_meta_starts_no_new_session() -> None:
    events = read(meta(**TERMINAL), legacy("one"), meta(**TERMINAL), legacy("two"))
    assert {event.session_id for event in events if isinstance(event, Turn)} == {"t"}
    assert verdicts(events) == ["one", "two"]


def test_injected_parts_of_a_message_are_dropped() -> None:
    parts = [
        {"type": "text", "text": "<environment_context>x</environment_context>"},
        {"type": "text", "text": "fix it"},
    ]
    assert verdicts(read(meta(**TERMINAL), prompt("", "", content=parts))) == ["fix it"]


def test_old_user_message_kinds_mark_injected_text() -> None:
    assert verdicts(read(meta(**TERMINAL), legacy("x", kind="user_instructions"), legacy("hi", kind="plain"))) == [
        "(injected)",
        "hi",
    ]


def test_an_item_without_a_mirror_is_context_where_prompts_have_mirrors() -> None:
    item = {
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "from some hook"}]},
    }
    assert verdicts(read(meta(**TERMINAL), legacy("hi"), item)) == ["hi", "(injected)"]


def test_a_review_that_never_ends_does_not_silence_the_session() -> None:
    item = {
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "never mind"}]},
    }
    entered = {
        "type": "event_msg",
        "payload": {"type": "entered_review_mode", "target": {"type": "uncommittedChanges"}},
    }
    events = read(meta(**TERMINAL), entered, legacy("Review it"), item, legacy("never mind"))
    assert verdicts(events) == ["(review)", "never mind"]


@pytest.mark.parametrize(("reply", "verdict"), [([], "(duplicate)"), (["Half done."], "use tabs")])
def test_a_prompt_resent_after_esc_is_the_same_turn_unless_answered(reply: list[str], verdict: str) -> None:
    answers = [{"type": "event_msg", "payload": {"type": "agent_message", "message": text}} for text in reply]
    aborted = {"type": "event_msg", "payload": {"type": "turn_aborted", "turn_id": "1"}}
    records = [start("1"), legacy("use tabs"), *answers, aborted, start("2"), legacy("use tabs")]
    assert verdicts(read(meta(**TERMINAL), *records)) == ["use tabs", verdict]


def test_a_repeat_without_a_mirror_is_a_separate_turn() -> None:
    item = {
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "go on"}],
            "internal_chat_message_metadata_passthrough": {"content_item_kinds": ["user.text"]},
        },
    }
    assert verdicts(read(meta(**TERMINAL), start("1"), item, prompt("1", "go on"), item)) == ["go on", "go on"]


def test_a_prompt_after_a_turn_ended_is_not_steering() -> None:
    end = {"type": "event_msg", "payload": {"type": "task_complete", "turn_id": "1"}}
    events = read(meta(**TERMINAL), start("1"), legacy("one"), legacy("two"), end, legacy("three"))
    assert [(event.how.value, event.text) for event in events if isinstance(event, Turn)] == [
        ("typed", "one"),
        ("queued", "two"),
        ("typed", "three"),
    ]


def test_the_same_answer_in_two_turns_is_two_replies_in_either_format() -> None:
    event = {"type": "event_msg", "payload": {"type": "agent_message", "message": "Done."}}
    response = {
        "type": "response_item",
        "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
    }
    events = read(meta(**TERMINAL), start("1"), event, start("2"), response)
    assert [reply.text for reply in events if isinstance(reply, Reply)] == ["Done.", "Done."]
