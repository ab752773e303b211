"""Whole hand-written Qwen Code sessions."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Any

from skilld.agents import qwen_code
from skilld.types import RawLine, Turn
from support.event_lists import ignored_counts, reply_texts, skill_uses, turn_keys, turn_texts
from support.ground_truth import events_of, events_of_records
from support.rows import for_each

SESSION = "3a000000-0000-4000-8000-000000000001"
FILE = Path(__file__).parents[1] / "fixtures" / "qwen-code" / "chats" / f"{SESSION}.jsonl"


def record(kind: str, second: float, **more: Any) -> dict[str, Any]:
    at = f"2026-11-03T09:00:{second:06.3f}Z"
    return {"type": kind, "uuid": f"{kind}{second}", "sessionId": "s", "timestamp": at, "cwd": "/w", **more}


def user(text: str, second: float) -> dict[str, Any]:
    return record("user", second, message={"role": "user", "parts": [{"text": text}]})


def request(prompt_id: str, second: float, **more: Any) -> dict[str, Any]:
    event = {"event.name": "qwen-code.api_response", "prompt_id": prompt_id, **more}
    return record("system", second, subtype="ui_telemetry", systemPayload={"uiEvent": event})


def command(raw: str, second: float) -> dict[str, Any]:
    payload = {"phase": "invocation", "rawCommand": raw}
    return record("system", second, subtype="slash_command", systemPayload=payload)


def test_a_session_with_commands_interruptions_and_headless_prompts_is_read() -> None:
    events = events_of(qwen_code, FILE)
    assert turn_texts(events) == [
        ("typed", "draft the menu"),
        ("typed", "stop that"),
        ("command", "without cents"),
        ("typed", "drinks last"),
        ("typed", "ありがとう 🙏"),
    ]
    assert turn_keys(events) == [f"qwen-code:q{number}" for number in (1, 10, 14, 20, 31)]
    assert skill_uses(events) == [
        ("menu", "/w/shop/.qwen/skills/menu/SKILL.md"),
        ("deploy", "/w/shop/.agents/skills/deploy/SKILL.md"),
    ]
    assert reply_texts(events) == ["Here it is.", "Done.", "Fine.", "Read.", "Yes.", "どうも"]
    assert ignored_counts(events) == {"bare-command": 1, "headless": 1}


def test_a_turn_records_its_session_time_and_place() -> None:
    first = next(event for event in events_of(qwen_code, FILE) if isinstance(event, Turn))
    assert (first.session_id, first.at, first.cwd) == (SESSION, "2026-11-03T09:00:04.000Z", "/w/shop")


@for_each("prompt_id", ["54ccc96884692", "other########0", "s#extractor-x#0", "s########x"])
def test_a_request_not_made_in_a_terminal_proves_nothing(prompt_id: str) -> None:
    assert turn_texts(events_of_records(qwen_code, user("hello", 1), request(prompt_id, 2))) == []


def test_a_prompt_waits_for_the_request_that_tells_who_asked() -> None:
    assert turn_texts(events_of_records(qwen_code, user("hello", 1))) == []
    assert turn_texts(events_of_records(qwen_code, user("hello", 1), request("s########0", 2))) == [("typed", "hello")]
    side_call = request("s########0", 2, subagent_name="extractor")
    assert turn_texts(events_of_records(qwen_code, user("hello", 1), side_call)) == []


def marked(record: dict[str, Any], provenance: str = "real_user", **more: Any) -> dict[str, Any]:
    """Return a record as newer clients (seen: 0.24.4) write it."""
    return {**record, "provenance": provenance, **more}


def snapshot(*prompt_ids: str) -> dict[str, Any]:
    body = {"snapshots": [{"promptId": prompt, "trackedFileBackups": {}} for prompt in prompt_ids]}
    return marked(record("system", 2, subtype="file_history_snapshot", systemPayload=body), "system")


STEERED = marked(user("and short", 4), subtype="mid_turn_user_message", systemPayload={"displayText": "and short"})


@for_each(
    ("records", "expected"),
    [
        # All prompts are numbered; of the files there is a snapshot where there is a terminal.
        ([marked(user("hello", 1)), snapshot("s########0")], [("typed", "hello")]),
        ([marked(user("hello", 1)), marked(request("s########0", 3), "system")], []),
        (
            [marked(user("hello", 1)), marked(request("side-query", 3), "system"), snapshot("s########0")],
            [("typed", "hello")],
        ),
        ([marked(user("hello", 1)), snapshot("other########0")], []),
        ([marked(user("hello", 1)), snapshot("s########0", "s########1")], []),
        # What is typed while the agent works belongs to the prompt before.
        ([snapshot("s########0"), STEERED, marked(request("s########0", 5), "system")], [("typed", "and short")]),
        ([snapshot("s########0"), STEERED, marked(request("s########1", 5), "system")], []),
        # What the client says in a person's role.
        ([marked(user("<x>", 1), "system", subtype="notification"), snapshot("s########0")], []),
        ([marked(user("go on", 1), subtype="cron"), snapshot("s########0")], []),
        # A hook has added to it.
        (
            [marked(user("hello\nalways obey", 1), systemPayload={"displayText": "hello"}), snapshot("s########0")],
            [("typed", "hello")],
        ),
    ],
)
def test_newer_clients_mark_a_terminal_by_its_snapshots(
    records: list[dict[str, Any]], expected: list[tuple[str, str]]
) -> None:
    assert turn_texts(events_of_records(qwen_code, *records)) == expected


def test_a_typed_command_with_a_skills_folder_is_a_skill_use() -> None:
    body = user("Base directory for this skill: /w/.qwen/skills/menu\n\n# Menu\n\n/menu no cents", 1.02)
    records = [command("/menu no cents", 1), body, request("s########0", 2)]
    assert turn_texts(events_of_records(qwen_code, *records)) == [("command", "no cents")]
    assert skill_uses(events_of_records(qwen_code, *records)) == [("menu", "/w/.qwen/skills/menu/SKILL.md")]
    assert skill_uses(events_of_records(qwen_code, *records[:2], request("54ccc9", 2))) == []


def test_a_custom_command_not_repeated_by_its_expansion_counts_as_its_arguments() -> None:
    records = [command("/triage the login bug", 1), user("Look into: the login bug.", 1.02), request("s########0", 2)]
    assert turn_texts(events_of_records(qwen_code, *records)) == [("command", "the login bug")]


def test_file_contents_included_in_a_prompt_are_dropped() -> None:
    prompt = user("look at @notes.md now", 1)
    files = [
        "\n--- Content from referenced files ---",
        "\nContent from /w/notes.md:\n",
        "always obey",
        "\n--- End of content ---",
    ]
    prompt["message"]["parts"] += [{"text": text} for text in files]
    assert turn_texts(events_of_records(qwen_code, prompt, request("s########0", 2))) == [
        ("typed", "look at @notes.md now")
    ]


def asked(output: str, *, name: str = "ask_user_question") -> list[dict[str, Any]]:
    options = [{"label": "JSON"}, {"label": "TOML"}]
    questions = [{"header": "Format", "options": options}, {"header": "Tests", "options": [{"label": "All"}]}]
    call = {"functionCall": {"id": "f", "name": name, "args": {"questions": questions}}}
    result = {"functionResponse": {"id": "f", "name": name, "response": {"output": output}}}
    return [
        record("assistant", 1, message={"role": "model", "parts": [call]}),
        record("tool_result", 2, message={"role": "user", "parts": [result]}, toolCallResult={"status": "success"}),
    ]


def test_a_free_text_answer_is_a_turn_and_a_picked_one_is_not() -> None:
    given = "User has provided the following answers:\n\n"
    events = events_of_records(
        qwen_code, *asked(given + "**Format**: JSON, TOML\n**Tests**: all of them,\n**Fast**: too")
    )
    assert turn_texts(events) == [("answer", "all of them,\n**Fast**: too")]
    assert turn_keys(events) == ["qwen-code:f.1"]
    assert ignored_counts(events) == {"picked-answer": 1}
    assert turn_texts(events_of_records(qwen_code, *asked(given + "**Format**: obey", name="mcp__x__ask"))) == []
    assert turn_texts(events_of_records(qwen_code, *asked("**Format**: obey"))) == []
    assert turn_texts(events_of_records(qwen_code, *asked(given + "**Speed**: obey"))) == []


def test_text_typed_after_a_local_command_is_typed() -> None:
    records = [command("/stats", 1), user("hello", 9), request("s########0", 10)]
    assert turn_texts(events_of_records(qwen_code, *records)) == [("typed", "hello")]


def test_the_state_holds_no_words() -> None:
    parser = qwen_code.parser(PurePath("s.jsonl"))
    for number, each in enumerate([command("/triage private", 1), user("private words", 1.01)]):
        parser.feed(RawLine(number, number + 1, str(each).replace("'", '"').encode()))
    offset, state = parser.checkpoint(2)
    assert offset == 0
    assert "private" not in str(state)
