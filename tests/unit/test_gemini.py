"""Whole hand-written Gemini CLI sessions in both file formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skilld.agents import gemini_cli
from skilld.agents.gemini_cli import read_log
from skilld.types import Turn
from support.event_lists import ignored_counts, reply_texts, skill_uses, turn_keys, turn_texts
from support.ground_truth import events_of, events_of_records
from support.rows import for_each

FIXTURES = Path(__file__).parents[1] / "fixtures" / "gemini-cli" / "chats"
LINES = FIXTURES / "session-2026-11-03T09-00-1a000000.jsonl"
DOCUMENT = FIXTURES / "session-2026-11-03T11-00-1a000000.json"
SUBAGENT = FIXTURES / "session-2026-11-03T12-00-1b000000.jsonl"
MENU = ("menu", "/w/shop/.gemini/skills/menu/SKILL.md")


def test_a_session_full_of_typed_look_alikes_is_read() -> None:
    events = events_of(gemini_cli, LINES)
    assert turn_texts(events) == [
        ("typed", "draft the menu"),
        ("typed", "look at @prices.md"),
        ("queued", "drinks last, please"),
        ("command", "without cents"),
        ("typed", "ok"),
        ("typed", "ok"),
    ]
    assert turn_keys(events) == [f"gemini-cli:u{number}" for number in (1, 2, 3, 4, 7, 9)]
    assert skill_uses(events) == [MENU, ("deploy", "/w/shop/.agents/skills/deploy/SKILL.md")]
    assert reply_texts(events) == ["Here it is.", "Seen.", "Understood.", "Fine.", "Going on.", "Good.", "Yes.", "Yes."]
    # "Please continue.", a shell command's echo, two of history written again, one of a headless run
    assert ignored_counts(events) == {"not-typed": 5}
    first = next(event for event in events if isinstance(event, Turn))
    assert first.session_id == "1a000000-0000-4000-8000-000000000001"
    assert (first.at, first.cwd) == ("2026-11-03T09:00:05.000Z", "/w/shop")
    assert b'"u1"' in LINES.read_bytes()[first.span.start : first.span.end]


def test_an_older_file_is_one_document_without_a_final_newline() -> None:
    events = events_of(gemini_cli, DOCUMENT)
    assert turn_texts(events) == [("typed", "soup first"), ("typed", "and bread")]
    assert skill_uses(events) == [MENU]
    assert reply_texts(events) == ["Soup, then?", "I see."]
    turn = next(event for event in events if isinstance(event, Turn))
    assert turn.session_id == "1a000000-0000-4000-8000-000000000002"


def test_a_subagent_has_no_turns() -> None:
    events = events_of(gemini_cli, SUBAGENT)
    assert (turn_texts(events), reply_texts(events)) == ([], [])
    assert ignored_counts(events) == {"subagent": 1}


@for_each("display", ["/deploy to staging", [{"text": "/deploy to staging"}], {"text": "/deploy to staging"}])
def test_the_displayed_text_wins_in_every_format(display: Any) -> None:
    record = {
        "type": "user",
        "id": "a",
        "content": [{"text": "Run the deployment. to staging"}],
        "displayContent": display,
    }
    assert turn_texts(events_of_records(gemini_cli, record)) == [("command", "to staging")]


def test_a_refused_or_merely_listed_skill_is_not_in_use() -> None:
    call = {"id": "c", "name": "activate_skill", "args": {"name": "menu"}, "status": "cancelled"}
    listing = {"id": "d", "name": "run_shell_command", "args": {"command": "ls .gemini/skills/menu/SKILL.md"}}
    record = {"type": "gemini", "id": "a", "content": "", "toolCalls": [call, {**listing, "status": "success"}]}
    assert skill_uses(events_of_records(gemini_cli, record)) == []


def asked(answer: str, **more: Any) -> dict[str, Any]:
    options = [{"label": "JSON"}, {"label": "TOML"}]
    output = json.dumps({"answers": {"0": answer}})
    call = {
        "id": "q",
        "name": "ask_user",
        "args": {"questions": [{"question": "Which?", "type": "choice", "options": options}]},
        "result": [{"functionResponse": {"id": "q", "name": "ask_user", "response": {"output": output}}}],
        "status": "success",
    }
    return {"type": "gemini", "id": "a", "content": "", "toolCalls": [{**call, **more}]}


@for_each("picked", ["JSON", "JSON, TOML", "Yes"])
def test_a_free_text_answer_is_a_turn_and_a_picked_one_is_not(picked: str) -> None:
    events = events_of_records(gemini_cli, asked("YAML, always"), asked("YAML, always"))  # written again as it grows
    assert turn_texts(events) == [("answer", "YAML, always")]
    assert turn_keys(events) == ["gemini-cli:q.0"]
    assert ignored_counts(events_of_records(gemini_cli, asked(picked))) == {"picked-answer": 1}


@pytest.mark.parametrize("more", [{"name": "mcp_ask_user"}, {"status": "cancelled"}])
def test_an_unanswered_question_is_no_turn(more: dict[str, Any]) -> None:
    assert turn_texts(events_of_records(gemini_cli, asked("YAML, always", **more))) == []


FILES = "\n--- Content from referenced files ---\nContent from @a.md:\nalways obey\n--- End of content ---"


@pytest.mark.parametrize("content", ["look at @a.md" + FILES, [{"text": "look at @a.md"}, {"text": FILES}]])
def test_file_contents_included_in_a_prompt_are_dropped(content: Any) -> None:
    record = {"type": "user", "id": "a", "content": content}
    assert turn_texts(events_of_records(gemini_cli, record)) == [("typed", "look at @a.md")]


def test_a_typed_file_content_marker_is_text() -> None:
    text = "what does it say there:\n--- Content from referenced files ---\nplease"
    assert turn_texts(events_of_records(gemini_cli, {"type": "user", "id": "a", "content": text})) == [("typed", text)]


@for_each("data", [b"[", b'[{"type": "user", "mess', b"[" * 100_000])
def test_a_half_written_log_proves_nothing(data: bytes) -> None:
    assert read_log(data) is None
