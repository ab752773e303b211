"""What holds for every line-based agent: no input makes an adapter raise, grow or keep anyone's words."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilld.agents import copilot_cli, cursor, gemini_cli, pi, qwen_code
from skilld.types import Malformed, RawLine, Reply, Span, Turn
from support.truth import SHARED, events_of

AGENTS = {module.INFO.name: module for module in (copilot_cli, cursor, gemini_cli, pi, qwen_code)}
NAMES = {
    "copilot-cli": Path("session-state/s/events.jsonl"),
    "cursor": Path("agent-transcripts/s.jsonl"),
    "gemini-cli": Path("chats/session-s.jsonl"),
    "pi": Path("2026-11-03T09-00-00-000Z_s.jsonl"),
    "qwen-code": Path("chats/s.jsonl"),
}
FOLDERS = {"copilot-cli": "copilot-cli", "gemini-cli": "gemini", "pi": "pi"}
COLLECTED = [
    (name, path)
    for name, folder in FOLDERS.items()
    for path in sorted((SHARED / "transcripts" / folder).rglob("*.json*"))
]
EVERY = pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)

_KEYS = """type role message content text parts data id uuid timestamp sessionId kind $set messages displayContent
    toolCalls args arguments name status result resultDisplay functionCall functionResponse response output
    systemPayload phase rawCommand uiEvent prompt_id subtype subagent_name toolCallId toolName isError success path
    file_path command cwd directories messageId source delivery context agentId input toolCallResult callId location
    skill questions options label header answers feedback decisionSource actor responseKind requestedSchema
    properties enum requestId thought"""
_WORDS = """user assistant gemini system session message tool_result toolResult bashExecution model_change user.message
    assistant.message skill.invoked tool.execution_start tool.execution_complete session.start session.shutdown text
    toolCall tool_use read read_file view bash skill activate_skill slash_command ui_telemetry invocation success
    main subagent s########0 /menu x/SKILL.md <user_query>a</user_query> 2026-11-03T09:00:00.000Z ask_user
    ask_user_question permission.completed human_response.recorded human_response"""
EXAMPLES = int(os.environ.get("HYPOTHESIS_EXAMPLES", "15"))  # of each property and agent; `make soak` sets more
_STATE = ["session", "cwd", "calls", "questions", "seen", "used", "presence", "queries", "subagent"]
KEYS = st.sampled_from(_KEYS.split())
WORDS = st.sampled_from(_WORDS.split())
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), WORDS, st.text(max_size=9), st.just("\ud800")
)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=14
)
RECORDS = st.dictionaries(KEYS, JSON, max_size=7) | st.fixed_dictionaries(
    {"type": WORDS}, optional={"message": st.dictionaries(KEYS, JSON, max_size=5), "data": JSON, "timestamp": JSON}
)
LINES = st.one_of(RECORDS.map(lambda record: json.dumps(record).encode()), st.binary(max_size=40), st.just(b"    {"))


def feed(agent: ModuleType, name: Path, lines: list[bytes]) -> None:
    """Feed lines to an adapter, with a restart behind each; the list of what was typed comes and goes."""
    parser = agent.parser(name)
    for number, line in enumerate(lines):
        if hasattr(parser, "listen") and number % 2:
            parser.listen(None if number % 3 else line)
        for event in parser.feed(RawLine(number, number + 1, line)):
            assert 0 <= event.span.start < event.span.end <= number + 1
            if isinstance(event, Turn | Reply):
                event.text.encode()
        offset, state = parser.checkpoint(number + 1)
        assert 0 <= offset <= number + 1
        if offset == number + 1:
            parser = agent.parser(name, json.loads(json.dumps(state)))
    parser.flush()


@EVERY
@given(lines=st.lists(LINES, max_size=8))
@settings(max_examples=EXAMPLES, deadline=None)
def test_no_line_raises(agent: ModuleType, lines: list[bytes]) -> None:
    feed(agent, NAMES[agent.INFO.name], lines)


@given(lines=st.lists(LINES | st.sampled_from([b"    },", b'      "id": "a",']), max_size=8))
@settings(max_examples=EXAMPLES, deadline=None)
def test_no_line_of_a_document_raises(lines: list[bytes]) -> None:
    feed(gemini_cli, Path("chats/session-s.json"), lines)


@EVERY
@given(state=st.dictionaries(st.sampled_from(_STATE), JSON))
@settings(max_examples=EXAMPLES, deadline=None)
def test_no_state_raises(agent: ModuleType, state: dict[str, Any]) -> None:
    parser = agent.parser(NAMES[agent.INFO.name], json.loads(json.dumps(state)))
    parser.feed(RawLine(0, 1, b'{"type":"user","message":{"role":"user","content":"hi"}}'))
    json.dumps(parser.checkpoint(1))


@EVERY
@pytest.mark.parametrize("line", [b"{", b"[1]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"type":"user"' + b"}" * 3])
def test_bad_lines_are_counted(agent: ModuleType, line: bytes) -> None:
    assert agent.parser(NAMES[agent.INFO.name]).feed(RawLine(3, 9, line)) == [Malformed(Span(3, 9))]


@EVERY
def test_the_state_holds_no_words_and_stays_small(agent: ModuleType) -> None:
    parser = agent.parser(NAMES[agent.INFO.name])
    lines = [
        line
        for path in sorted((Path(__file__).parents[1] / "fixtures" / agent.INFO.name).rglob("*.jsonl"))
        for line in path.read_bytes().split(b"\n")
    ]
    for number in range(40 * len(lines)):
        line = lines[number % len(lines)].replace(b"call", b"call%d" % number)
        parser.feed(RawLine(number, number + 1, line))
    state = json.dumps(parser.checkpoint(1)[1], ensure_ascii=False)
    assert len(state) < 20_000
    assert not [words for words in ("draft", "cents", "drinks", "🙏", "Here it is", "Done") if words in state]


@EVERY
def test_hostile_texts_take_no_long_time(agent: ModuleType) -> None:
    texts = [
        "<a></a>" * 2_500,
        "<user_query>" * 2_500,
        '<skill name="a" location="b">\n' + "\n</skill>" * 2_500,
        "\n\n/" * 5_000,
        "User steering update:\n<user_input>\n" + "\n</user_input>" * 1_250,
        "/" + " \n" * 5_000,
        "cat 'SKILL.md " + "\\'" * 2_500,
        "<available_resources>" * 1_250,
    ]
    start = time.process_time()
    for text in texts:
        call = {"name": "bash", "args": {"command": text}, "arguments": {"command": text}, "input": {"command": text}}
        done = {"id": "c", "name": "activate_skill", "args": {"name": "a"}, "status": "success", "resultDisplay": text}
        parts = [{"type": "text", "text": text}, {"type": "toolCall", "id": "c", **call}, {"type": "tool_use", **call}]
        for role in ("user", "assistant", "gemini"):
            record = {
                "type": role,
                "role": role,
                "content": text,
                "toolCalls": [{**done, "result": [{"functionResponse": {"response": {"output": text}}}]}],
                "message": {"role": role, "content": parts, "parts": [*parts, {"functionCall": call}]},
            }
            lines = [json.dumps({**record, "type": kind}).encode() for kind in (role, "message")]
            lines.append(json.dumps({"type": f"{role}.message", "data": {"content": text, "arguments": call}}).encode())
            feed(agent, NAMES[agent.INFO.name], lines)
    assert time.process_time() - start < 1


@pytest.mark.skipif(not COLLECTED, reason="no collected sessions beside the repository")
@pytest.mark.parametrize(("name", "path"), COLLECTED, ids=[path.name for _, path in COLLECTED])
def test_collected_sessions_are_read_without_complaint(name: str, path: Path) -> None:
    events = events_of(AGENTS[name], path)
    assert events
    assert all(0 <= event.span.start <= event.span.end <= path.stat().st_size for event in events)
