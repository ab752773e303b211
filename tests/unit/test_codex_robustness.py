"""No input makes the Codex adapter raise, grow without bound or keep anyone's words."""

from __future__ import annotations

import json
import os
from pathlib import Path, PurePath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilld.agents import codex
from skilld.agents.codex.user_messages import read_prompt
from skilld.agents.skill_reads import skills_read
from skilld.types import Malformed, RawLine, Reply, SkillUse, Span, Turn
from support.truth import SHARED, events_of, events_with_restarts, raw_lines

EXAMPLES = int(os.environ.get("HYPOTHESIS_EXAMPLES", "40"))  # of each property; `make soak` sets more
some = settings(max_examples=EXAMPLES)
FIXTURES = Path(__file__).parents[1] / "fixtures" / "codex"
PATH = PurePath("rollout-x.jsonl")
REAL = [
    path
    for places in ("transcripts/codex*/**/*.jsonl", "live/codex-*/home/**/*.jsonl")
    for path in sorted(SHARED.glob(places))
    if path.name != "history.jsonl"  # what was typed, and no transcript
]

_NAMES = """session_meta turn_context retained_context event_msg response_item item_completed user_message agent_message
    message function_call function_call_output custom_tool_call local_shell_call task_started task_complete turn_aborted
    entered_review_mode exited_review_mode exec_command_end UserMessage AgentMessage CommandExecution verified_answer
    request_user_input request_user_input_async exec exec_command shell user assistant text skill user.text"""
_KEYS = """type payload item role content text name path id client_id turn_id message arguments input output answers cmd
    command cwd workdir call_id questions question options label answer source thread_source originator kind
    turn_attribution turn_trigger parent_turn_id internal_chat_message_metadata_passthrough content_item_kinds target
    instructions collaboration_mode_kind timestamp forked_from_id namespace isSecret action"""
NAMES = st.sampled_from(_NAMES.split())
KEYS = st.sampled_from(_KEYS.split())
TEXTS = st.sampled_from(
    [
        "cat a/SKILL.md > '",
        "tools.exec_command({cmd: 'cat x/SKILL.md",
        "\ud800 lone",
        "<skill>\n<name>a</name>\n<path>b</path>",
        "<send_user_message_question_reply>\n[{}]",
        "## User Input\n\n```text\n",
        "user_note: x",
        '{"questions":[{"id":"q","options":["a"]}]}',
        '{"answers":{"q":{"answers":["a"]}}}',
    ]
)
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), NAMES, TEXTS, st.text(max_size=9)
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.one_of(KEYS, NAMES), inner, max_size=5)),
    max_leaves=12,
)
RECORDS = st.fixed_dictionaries(
    {
        "type": NAMES,
        "payload": st.fixed_dictionaries(
            {"type": NAMES},
            optional={
                "item": st.dictionaries(KEYS, JSON, max_size=5),
                "role": NAMES,
                "content": JSON,
                "arguments": TEXTS,
            },
        ),
    },
    optional={"timestamp": st.one_of(st.text(max_size=25), st.just("2026-11-02T09:00:00+01:00"))},
)


def feed_all(lines: list[bytes]) -> None:
    parser = codex.parser(PATH)
    for number, line in enumerate(lines):
        for event in parser.feed(RawLine(number, number + 1, line)):
            assert event.span.start <= number
            if isinstance(event, Turn | Reply):
                event.text.encode()
            if isinstance(event, SkillUse):
                f"{event.name}{event.path}".encode()
        offset, state = parser.checkpoint(number + 1)
        assert offset <= number + 1
        parser = codex.parser(PATH, json.loads(json.dumps(state)))
    parser.flush()


@given(st.lists(st.one_of(RECORDS, st.dictionaries(KEYS, JSON, max_size=6), JSON), max_size=8))
@some
def test_no_record_raises(records: list[Any]) -> None:
    feed_all([json.dumps(record).encode() for record in records])


@given(st.lists(st.binary(max_size=60), max_size=6))
@some
def test_no_bytes_raise(lines: list[bytes]) -> None:
    feed_all(lines)


@given(st.data())
@some
def test_no_damage_to_a_real_shape_raises(data: st.DataObject) -> None:
    lines = (
        (FIXTURES / "rollout-2026-11-02T09-00-00-0a000000-0000-7000-8000-000000000001.jsonl").read_bytes().split(b"\n")
    )
    line = data.draw(st.sampled_from(lines))
    at = data.draw(st.integers(0, len(line)))
    feed_all([*lines[:6], line[:at] + data.draw(st.binary(max_size=4)) + line[at + data.draw(st.integers(0, 9)) :]])


@given(JSON)
@some
def test_no_state_raises(state: Any) -> None:
    broken = dict.fromkeys(("session", "speech", "replies", "skills"), state)
    parser = codex.parser(PATH, broken)
    parser.feed(RawLine(0, 1, b'{"type":"event_msg","payload":{"type":"user_message","message":"hi"}}'))
    parser.checkpoint(1)


@given(st.text(max_size=200))
@some
def test_no_text_raises(text: str) -> None:
    read_prompt(text)
    list(skills_read(text + " SKILL.md", "/w"))


@pytest.mark.parametrize(
    "line",
    [b"{", b"[1]", b"null", b'"x"', b"\xff\xfe", b"\0" * 8, b"[" * 100_000, b'{"type":"session_meta"' + b"}" * 3],
)
def test_bad_lines_are_counted(line: bytes) -> None:
    assert codex.parser(PATH).feed(RawLine(3, 9, line)) == [Malformed(Span(3, 9))]


@pytest.mark.parametrize("line", [b"", b"  ", b"\r"])
def test_blank_lines_are_nothing(line: bytes) -> None:
    assert codex.parser(PATH).feed(RawLine(0, 1, line)) == []


def test_long_commands_and_texts_take_no_long_time() -> None:
    hostile = [
        "cat SKILL.md " + "<<a " * 20_000,
        "cat 'SKILL.md " + "\\'" * 50_000,
        "## User Input\n\n```text\n" * 5_000,
        "<a>" * 50_000 + "</a>" * 50_000,
        "/*" * 50_000 + "`" + "\\`" * 50_000,
        "<send_user_message_question_reply>" + " \n" * 50_000,
        "## My request for Codex:" * 10_000,
    ]
    for text in hostile:
        list(skills_read(text, "/w"))
        read_prompt(text)
        code = {"type": "custom_tool_call", "name": "exec", "input": "exec_command SKILL.md" + text * 3}
        feed_all([json.dumps({"type": "response_item", "payload": code}).encode()])


def test_the_state_holds_no_words_and_stays_small() -> None:
    parser = codex.parser(PATH)
    for number in range(2000):
        for record in (
            {
                "type": "response_item",
                "payload": {"type": "message", "role": "assistant", "content": [{"text": "yes!"}]},
            },
            {"type": "event_msg", "payload": {"type": "user_message", "message": f"private words {number}"}},
            {
                "type": "response_item",
                "payload": {
                    "type": "function_call",
                    "name": "shell",
                    "arguments": json.dumps({"command": f"cat /s/{number}/SKILL.md", "id": "x" * 9999}),
                },
            },
            {"type": "event_msg", "payload": {"type": "task_started", "turn_id": "t" * 9999}},
        ):
            parser.feed(RawLine(number, number + 1, json.dumps(record).encode()))
    state = json.dumps(parser.checkpoint(1)[1])
    assert "private" not in state
    assert "yes!" not in state
    assert len(state) < 20_000


@pytest.mark.skipif(not REAL, reason="no real transcripts beside the repository")
def test_real_transcripts_parse() -> None:
    for path in REAL:
        events = events_of(codex, path)
        assert events, path.name
        assert all(0 <= event.span.start <= event.span.end <= path.stat().st_size for event in events)


@pytest.mark.skipif(not REAL, reason="no real transcripts beside the repository")
def test_real_transcripts_read_the_same_after_restarts() -> None:
    for path in REAL:
        if path.stat().st_size < 300_000 and sum(1 for _ in raw_lines(path.read_bytes())) < 300:
            whole = [event for event in events_of(codex, path) if isinstance(event, Turn | SkillUse | Reply)]
            resumed = [
                event for event in events_with_restarts(codex, path, 2) if isinstance(event, Turn | SkillUse | Reply)
            ]
            assert list(dict.fromkeys(resumed)) == whole
