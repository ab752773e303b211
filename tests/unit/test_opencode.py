"""opencode's records: who said what, skills in use, waiting prompts, and the list of typed prompts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skilld.agents import opencode
from skilld.agents.opencode import TypedList
from skilld.types import Event, How, Ignored, Malformed, RawLine, Reply, SkillUse, Turn
from support.ground_truth import events_of_records, raw_lines
from support.rows import for_each

RECORDS = Path(__file__).parents[1] / "fixtures" / "opencode" / "records.jsonl"
NOTES = "/w/app/.opencode/skills/release-notes/SKILL.md"
DEPLOY = "/w/app/.agents/skills/deploy/SKILL.md"


def events() -> list[Event]:
    parser = opencode.parser(RECORDS)
    return [event for line in raw_lines(RECORDS.read_bytes()) for event in parser.feed(line)]


def history(*prompts: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(prompt).encode() + b"\n" for prompt in prompts)


def prompt(text: str, **more: object) -> dict[str, Any]:
    return {"input": text, "parts": [], "mode": "normal", **more}


def test_only_what_a_person_said_is_a_turn() -> None:
    turns = [event for event in events() if isinstance(event, Turn)]
    assert [(turn.text, turn.how) for turn in turns] == [
        ("Write the notes for 2.4", How.TYPED),
        ("no, the ticket number first", How.TYPED),
        ("for 2.5, past tense", How.COMMAND),
        ("plain, with dates", How.ANSWER),
        ("日本語で 🙏", How.TYPED),
    ]
    assert {(turn.session_id, turn.cwd, turn.agent) for turn in turns} == {("ses_1", "/w/app", "opencode")}
    assert turns[0].at == "2026-11-18T11:06:41Z"
    ignored = [event.reason for event in events() if isinstance(event, Ignored)]
    assert ignored == ["added by the client", "not typed", "headless"]


def test_a_skill_use_is_seen_by_tool_call_file_read_or_injected_body() -> None:
    uses = [event for event in events() if isinstance(event, SkillUse)]
    assert [(use.name, use.path) for use in uses] == [
        ("release-notes", NOTES),
        ("release-notes", NOTES),
        ("deploy", DEPLOY),
    ]


def test_the_agents_text_is_a_reply() -> None:
    assert [event.text for event in events() if isinstance(event, Reply)] == ["Here they are."]


def test_reading_resumes_at_the_first_waiting_record_and_repeats_nothing() -> None:
    parser = opencode.parser(RECORDS)
    lines = list(raw_lines(RECORDS.read_bytes()))
    for line in lines:
        parser.feed(line)
    offset, state = parser.checkpoint(lines[-1].end)
    assert offset == lines[10].start  # an answer that goes on; the prompt without parts comes later
    again = opencode.parser(RECORDS, json.loads(json.dumps(state)))
    assert not [event for line in lines for event in again.feed(line) if isinstance(event, SkillUse)]


def test_an_answer_of_a_killed_client_does_not_wait_forever() -> None:
    parser = opencode.parser(RECORDS)
    hour = 3_600_000
    for at, role in ((1000, "assistant"), (1000 + hour, "user")):
        message = {"id": f"m{at}", "session": "s", "directory": "/w", "created": at, "data": json.dumps({"role": role})}
        part = {"id": f"p{at}", "type": "text", "text": "hm"}
        parser.feed(RawLine(at, at + 1, json.dumps({"message": [message], "parts": [part]}).encode()))
    assert parser.checkpoint(1001 + hour)[0] == 1001 + hour


@for_each("record", [b"[]", b"{}", b"\xff", {"message": []}, {"message": [{"data": "[1]"}]}])
def test_a_malformed_record_is_counted(record: bytes | dict[str, Any]) -> None:
    assert [type(event) for event in events_of_records(opencode, record)] == [Malformed]


def test_a_fork_has_the_same_keys_under_other_ids() -> None:
    def turn(session: str, key: str) -> Turn:
        data = json.dumps({"role": "user"})
        message = {"id": key, "session": session, "directory": "/w", "created": 7000, "data": data}
        record = {"message": [message], "parts": [{"id": f"p{key}", "type": "text", "text": "use tabs"}]}
        (event,) = events_of_records(opencode, record)
        assert isinstance(event, Turn)
        return event

    assert turn("ses_1", "msg_1").key == turn("ses_2", "msg_9").key


class TestTypedList:
    def test_a_listed_prompt_counts_as_typed(self) -> None:
        typed = TypedList(history(prompt("use tabs"), prompt('"in quotes, really"')))
        assert typed.find_typed("use tabs ") == ("use tabs ", False)
        assert typed.find_typed('"in quotes, really"') == ('"in quotes, really"', False)

    def test_an_unlisted_prompt_does_not(self) -> None:
        assert TypedList(history(prompt("use tabs"))).find_typed("word") is None
        assert TypedList(b"").find_typed("word") is None

    def test_a_shell_command_is_no_prompt(self) -> None:
        assert TypedList(history(prompt("make", mode="shell"))).find_typed("make") is None

    def test_only_the_arguments_of_a_command_were_typed(self) -> None:
        typed = TypedList(history(prompt("/triage the login bug, quickly"), prompt("/triage bug")))
        assert typed.find_typed("Always label first.\nIssue: the login bug, quickly\nThen stop.") == (
            "the login bug, quickly",
            True,
        )
        assert typed.find_typed("Always label first.\nIssue: the logins") is None

    def test_only_the_arguments_of_a_skill_called_by_name_were_typed(self) -> None:
        body = "# X\n\nBase directory for this skill: /w/s/x\nRelative paths in this skill are so.\n\n"
        typed = TypedList(history(prompt("/x for 2.5")))
        assert typed.find_typed(f"{body}for 2.5") == ("for 2.5", True)
        assert typed.find_typed(f"{body}for 2.6") is None
        assert typed.find_typed(body) == ("", True)

    def test_a_paste_is_put_back_in_its_place(self) -> None:
        pasted = {"type": "text", "text": "a\nb\nc", "source": {"text": {"value": "[Pasted ~3 lines]"}}}
        entry = prompt("look at [Pasted ~3 lines] now", parts=[pasted])
        assert TypedList(history(entry)).find_typed("look at a\nb\nc now ") == ("look at a\nb\nc now ", False)

    @pytest.mark.parametrize("text", ['"one two"', '"say \\"hi\\" to me"', '"two\nlines"'])
    def test_without_a_list_only_a_quoted_argument_is_recognized(self, text: str) -> None:
        assert TypedList(None).find_typed(text) is None
        assert TypedList(None).find_typed("one two") == ("one two", False)
        assert TypedList(None).find_typed('"a" and "b c"') == ('"a" and "b c"', False)

    @pytest.mark.parametrize("data", [b"\xff\n{}\n[]\n", b'{"input": 5, "parts": 7}\n', b'{"parts": [{"source": 1}]}'])
    def test_an_invalid_entry_is_skipped(self, data: bytes) -> None:
        assert TypedList(data).find_typed("x") is None


def _prompt_message(text: str, *, headless: bool = False, title: str | None = None) -> dict[str, Any]:
    rules = [{"permission": name, "action": "deny"} for name in ("question", "plan_enter", "plan_exit")]
    message = {"id": "m", "session": "s", "directory": "/w", "created": 1, "data": json.dumps({"role": "user"})}
    parts = [{"id": "p", "type": "text", "text": text, "title": title}]
    return {"message": [{**message, "permission": json.dumps(rules) if headless else None}], "parts": parts}


@for_each(
    ("record", "expected"),
    [
        (_prompt_message("no, keep it short", headless=True), ["no, keep it short"]),
        (_prompt_message('"no, keep it short"', headless=True), []),  # as the client writes a run's argument
        (_prompt_message("continue", headless=True), []),
        (_prompt_message("always use tabs", headless=True), []),
        (
            _prompt_message("# Notes for 1.3, past tense\nBe brief.", title="/notes:skill for 1.3, past tense"),
            ["for 1.3, past tense"],
        ),
        (_prompt_message("# Notes", title="/notes:skill for 1.4"), []),
    ],
)
def test_the_list_shows_what_was_typed_in_a_headless_session_and_to_a_skill(
    record: dict[str, Any], expected: list[str]
) -> None:
    parser = opencode.parser(RECORDS)
    inputs = ("no, keep it short", '"no, keep it short"', "continue", "/notes:skill for 1.3, past tense")
    parser.set_typed_list(history(*map(prompt, inputs)))
    (line,) = raw_lines(json.dumps(record).encode())
    assert [event.text for event in parser.feed(line) if isinstance(event, Turn)] == expected
