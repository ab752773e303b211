"""Skipping lines changes no turn: skimmed or line by line, with the search library or without."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilld.agents import ADAPTERS, chunk, claude_code
from skilld.agents.base import Adapter, chunk_reader
from skilld.agents.chunk import Chunk
from skilld.agents.claude_code import prefilter
from skilld.types import Event, Ignored, Malformed, RawLine, Reply, Turn
from support.rows import for_each

SHARED = Path(__file__).parents[3] / "shared/data/transcripts"
HOME = {"parentUuid": "p", "isSidechain": False, "userType": "external", "cwd": "/work", "sessionId": "s1"}
BULK = "x" * 1100


def claude(kind: str, message: object, number: int = 0, **more: object) -> dict[str, Any]:
    """Return a record as the client writes it."""
    at = {"uuid": f"u{number}", "timestamp": f"2026-03-02T10:{number // 60 % 60:02}:{number % 60:02}.000Z"}
    return {**HOME, "version": "2.1.197", "gitBranch": "main", "type": kind, "message": message, **at, **more}


def result(call: str, content: object, number: int = 0, *beside: object, error: bool = False, **more: object) -> Any:
    """Return the record of a tool's result."""
    block = {"tool_use_id": call, "type": "tool_result", "content": content, "is_error": error}
    return claude("user", {"role": "user", "content": [block, *beside]}, number, **more)


def late_id(call: str, content: str, *, error: bool = False, **more: object) -> Any:
    """Return the record of a result that names its call last, as those of errors do."""
    block = {"type": "tool_result", "content": content, "is_error": error, "tool_use_id": call}
    return claude("user", {"role": "user", "content": [block]}, 30, **more)


def agent(block: object, number: int = 0, *others: object, **more: object) -> dict[str, Any]:
    """Return a record of the agent's."""
    message = {"model": "m", "id": "msg", "type": "message", "role": "assistant", "content": [block, *others]}
    return claude("assistant", message, number, **more)


def call(tool: str, ident: str, **arguments: object) -> dict[str, Any]:
    """Return the block of a tool call."""
    return {"type": "tool_use", "id": ident, "name": tool, "input": arguments}


def line(record: object) -> bytes:
    """Write a record as the clients do."""
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode()


def block_of(lines: Sequence[bytes]) -> Chunk:
    """Return a block of whole lines."""
    data = bytearray(b"".join(one + b"\n" for one in lines))
    return Chunk(data, len(data), 0)


def feed_skimmed(adapter: Adapter, blocks: Sequence[Sequence[bytes]]) -> tuple[list[Event], dict[str, Any], int]:
    """Read lines in blocks; return what matters of the events, the state, and how many lines were passed over."""
    parser, events, passed = adapter.parser(Path("s1.jsonl")), [], 0
    offset = 0
    for lines in blocks:
        block = block_of(lines)
        block.offset, offset = offset, offset + block.size
        events += chunk_reader(parser)(block)
        passed += block.passed_over
    return relevant_events([*events, *parser.flush()]), parser.checkpoint(0)[1], passed


def feed_lines(adapter: Adapter, lines: Sequence[bytes]) -> tuple[list[Event], dict[str, Any]]:
    """Read lines one by one, as the worker does."""
    parser, events, offset = adapter.parser(Path("s1.jsonl")), [], 0
    for one in lines:
        events += parser.feed(RawLine(offset, offset + len(one) + 1, one))
        offset += len(one) + 1
    return relevant_events([*events, *parser.flush()]), parser.checkpoint(0)[1]


def relevant_events(events: Sequence[Event]) -> list[Event]:
    return [event for event in events if not isinstance(event, Reply | Ignored | Malformed)]


PASTED = {"type": "text", "text": "use tabs in here, always"}
IMAGE = [{"type": "image", "source": {"type": "base64", "data": "QUJD" * 600, "media_type": "image/png"}}]
REFUSED = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse uv"
QUESTION = {"questions": [{"question": "Which?", "options": [{"label": "A"}]}], "answers": {"Which?": "neither, use C"}}
BLOCKED = "UserPromptSubmit operation blocked by hook:\nno\n\nOriginal prompt: name the ticket"
LAUNCHED = "<forked-skill-launch>{}</forked-skill-launch>"
QUEUED = {"type": "queue-operation", "operation": "enqueue", "timestamp": "t", "sessionId": "s1", "content": "use ruff"}
SAID = claude("user", {"role": "user", "content": "rename it to read_config"}, 40)
PLAIN = [
    result("t1", BULK, 1, toolUseResult={"stdout": BULK, "stderr": ""}),
    result("t2", "short", 2, toolUseResult={"type": "text", "file": {"filePath": "/a", "content": BULK}}),
    result("t3", IMAGE, 3, toolUseResult={"type": "image", "file": {"base64": "QUJD" * 600, "type": "image/png"}}),
    result("t4", '{"text":"always","type":"text"} kill', 4, toolUseResult={"type": "create", "filePath": "/a"}),
    agent({"type": "text", "text": "Done. " + BULK}, 5),
    agent({"type": "thinking", "thinking": "hm", "signature": "QUJD" * 40}, 6),
    agent(call("Bash", "t5", command="ls"), 7),
    {**HOME, "version": "2.1.20", "type": "progress", "data": {"message": BULK}, "uuid": "u", "timestamp": ""},
    {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
    {**HOME, "version": "2.1.20", "type": "system", "subtype": "turn_duration", "durationMs": 5, "uuid": "u"},
    late_id("t8", BULK),
    {"type": "api-request", "sessionId": "s1", "params": {"model": "m", "betas": []}},
    {"type": "api-request-shape", "sessionId": "s1", "shape": {"system": [{"type": "text", "text": BULK}]}},
    {"type": "api-request-blob", "sessionId": "s1", "message": {"role": "user", "content": [PASTED]}},
    {"type": "permission-mode", "permissionMode": "auto", "sessionId": "s1"},
    {**HOME, "attachment": {"type": "skill_listing", "content": BULK}, "type": "attachment", "uuid": "u"},
    {**HOME, "isSidechain": True, "attachment": {"type": "date", "date": "d"}, "type": "attachment", "uuid": "u"},
    result("t1", BULK, 1, isSidechain=True),
    agent({"type": "text", "text": "Looking. " + BULK}, 5, isSidechain=True),
    agent(call("Skill", "skill", skill="notes"), 7, isSidechain=True),
]
NOT_PLAIN = [
    result("t1", BULK, 10, PASTED),
    result("t1", REFUSED, 11, error=True, toolUseResult="Error: " + REFUSED),
    result("t1", BULK, 12, error=True, toolUseResult="x", toolDenialKind="user-rejected", userFeedback="use uv"),
    result("ask", "answered", 13, toolUseResult=QUESTION),
    result("skill", "Launching skill: notes", 14, toolUseResult={"commandName": "notes", "success": True}),
    result("t1", BULK, 15, {"type": "tool_result", "tool_use_id": "ask", "content": "x"}, toolUseResult=QUESTION),
    late_id("ask", "answered", toolUseResult=QUESTION),
    late_id("t1", REFUSED, error=True, toolUseResult="Error: " + REFUSED),
    {**HOME, "version": "2.1.20", "type": "system", "subtype": "informational", "uuid": "u9", "content": BLOCKED},
    agent(call("Skill", "skill", skill="notes"), 16),
    agent(call("Bash", "t6", command="ls"), 17, call("AskUserQuestion", "ask")),
    agent({"type": "text", "text": "and"}, 18, call("Edit", "t7")),
    SAID,
    claude("user", {"role": "user", "content": [PASTED]}, 19),
    QUEUED,
    {**HOME, "type": "attachment", "attachment": {"type": "queued_command", "prompt": "go", "commandMode": "prompt"}},
    {**HOME, "attachment": {"type": "queued_command", "prompt": "go", "commandMode": "prompt"}, "type": "attachment"},
    {**HOME, "attachment": {"type": "invoked_skills", "skills": [{"name": "notes"}]}, "type": "attachment"},
    {**HOME, "version": "2.1.330", "type": "system", "subtype": "local_command", "uuid": "u8", "content": LAUNCHED},
    {"type": "ended", "sessionId": "s1"},
    {**SAID, "isSidechain": True},
]
SPLICED = [
    line(PLAIN[0])[:900] + line(SAID),
    line(PLAIN[0])[:-40] + line(SAID),
    line(PLAIN[4])[:1500] + line(NOT_PLAIN[0]),
    line(PLAIN[4])[:1500] + line(QUEUED),
    line(PLAIN[7])[:900] + line(SAID),
    line(PLAIN[1])[:1200],
    line(PLAIN[0])[:1200] + b"\0" * 40 + line(SAID),
]


@for_each("record", PLAIN)
def test_lines_without_turns_are_skipped(record: object) -> None:
    assert feed_skimmed(claude_code, [[line(record)]])[2] == 1


@for_each("record", NOT_PLAIN)
def test_lines_that_may_hold_turns_are_read(record: object) -> None:
    # The calls are known: it is in what they ask for that a result may be an answer.
    before = [line(agent(call(tool, ident), 0)) for tool, ident in (("Bash", "t1"), ("AskUserQuestion", "ask"))]
    lines = [*before, line(agent(call("Skill", "skill", skill="notes"))), line(record)]
    assert feed_skimmed(claude_code, [lines[:3], lines[3:]])[2] == 2
    assert feed_skimmed(claude_code, [lines])[:2] == feed_lines(claude_code, lines)


def test_a_refusal_is_read_and_its_neighbours_are_not() -> None:
    refused = result("t1", "Denied.", 12, error=True, toolDenialKind="user-rejected", userFeedback="use uv")
    lines = [line(record) for record in (PLAIN[6], PLAIN[0], refused, PLAIN[1], refused, PLAIN[2])]
    assert feed_skimmed(claude_code, [lines])[2] == 4


RECORDS = st.one_of(
    st.sampled_from([line(record) for record in [*PLAIN, *NOT_PLAIN]]),
    st.sampled_from([*SPLICED, b"", b"null", b"[]"]),
    st.builds(
        lambda record, sort: line({**record, "sessionId": sort, "entrypoint": "sdk-cli" if sort == "h" else "cli"}),
        st.sampled_from([record for record in [*PLAIN, *NOT_PLAIN] if "sessionId" in record]),
        st.sampled_from(["s1", "s2", "h"]),
    ),
)


PARENTS = st.sampled_from([None, "p", "9f2c", 'q"', "b\\\\", "a" * 90])


@given(st.lists(st.builds(lambda record, parent: {**record, "parentUuid": parent}, st.sampled_from(PLAIN), PARENTS)))
def test_the_previous_line_does_not_matter(records: list[dict[str, Any]]) -> None:
    lines = [line(record) for record in records]
    assert feed_skimmed(claude_code, [lines])[2] == sum(feed_skimmed(claude_code, [[one]])[2] for one in lines)


def test_each_session_in_which_the_agent_spoke_is_noted() -> None:
    text = {"type": "text", "text": "Done. " + BULK}
    silent = [line({**PLAIN[0], "sessionId": "s3"})]
    lines = [line(agent(text)), line(SAID), line(agent(text, 1, sessionId="s2", parentUuid=None)), *silent]
    events = chunk_reader(claude_code.parser(Path("s1.jsonl")))(block_of(lines))
    assert [event.session_id for event in events if isinstance(event, Reply)] == ["s1", "s2"]


@pytest.mark.parametrize("damage", [b'"p\xb5"', b'"p\x02"'], ids=["no UTF-8", "no JSON"])
def test_damage_in_a_skipped_line_stops_nothing(damage: bytes) -> None:
    plain = line(claude("assistant", {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}))
    said = line(claude("user", {"role": "user", "content": "always use tabs"}, uuid="u1", origin={"kind": "human"}))
    (turn,), *_ = feed_skimmed(claude_code, [[plain.replace(b'"p"', damage), said]])
    assert isinstance(turn, Turn)
    assert turn.text == "always use tabs"


@for_each("sort", [{}, [], {"type": {}}, None])
def test_an_invalid_type_stops_nothing(sort: object) -> None:
    assert feed_lines(claude_code, [line({"type": sort, "message": {}, "sessionId": "s1"})])[0] == []


@given(st.lists(st.lists(RECORDS, max_size=6), max_size=6))
def test_skimming_yields_the_same_turns(blocks: list[list[bytes]]) -> None:
    lines = [one for block in blocks for one in block]
    found, state, _ = feed_skimmed(claude_code, blocks)
    turns, after = feed_lines(claude_code, lines)
    assert found == turns
    # Of a headless run the calls are noted too, which do no harm: nobody answers them.
    assert state.pop("calls").items() >= after.pop("calls").items()
    assert state == after


@pytest.mark.parametrize("name", ["claude-code"])
def test_collected_transcripts_yield_the_same_turns_in_blocks(name: str) -> None:
    files = sorted((SHARED / name).rglob("*.jsonl"))[:60]
    if not files:
        pytest.skip("no collected transcripts beside the repository")
    total = 0
    for path in files:
        lines = path.read_bytes().split(b"\n")[:-1]
        found, _, passed = feed_skimmed(ADAPTERS[name], [lines[at : at + 50] for at in range(0, len(lines), 50)])
        assert found == feed_lines(ADAPTERS[name], lines)[0]
        total += passed
    assert total > 0


PIECES = st.sampled_from([b'"type":"', b'"typ', b"\n", b"\0", b'":"', b"x" * 70, b"toolDenialKind", b"\xff\xfe"])
NEEDLES = st.sampled_from([b'"type":"', b"toolDenialKind", b'"parentUuid"', b"\n"])


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(chunk, "_fast_find", None)
    return monkeypatch


@given(st.lists(PIECES, max_size=40).map(b"".join), NEEDLES, st.integers(0, 3000), st.integers(0, 3000))
def test_the_library_finds_what_python_finds(data: bytes, needle: bytes, start: int, stop: int) -> None:
    stringzilla = pytest.importorskip("stringzilla", reason="there is no wheel for this machine")
    buffer, start, stop = bytearray(data), min(start, len(data)), min(stop, len(data))
    found = stringzilla.find(buffer, needle, start, stop) if start <= stop else -1
    assert found == buffer.find(needle, start, stop)


def test_a_few_lines_load_no_library(unloaded: pytest.MonkeyPatch) -> None:
    del unloaded
    assert chunk.finder(2000) is bytearray.find


def test_after_a_large_text_the_library_is_always_used(unloaded: pytest.MonkeyPatch) -> None:
    del unloaded
    stringzilla = pytest.importorskip("stringzilla", reason="there is no wheel for this machine")
    assert [chunk.finder(size) for size in (1 << 18, 2000)] == [stringzilla.find, stringzilla.find]


def test_without_the_library_python_searches(unloaded: pytest.MonkeyPatch) -> None:
    unloaded.setitem(sys.modules, "stringzilla", None)  # importing it fails
    data = bytearray(b"x" * (1 << 18) + b'"type":"\n')
    assert Chunk(data, len(data), 0).find(b'"type":"', 0, len(data)) == 1 << 18


def test_a_line_is_parsed_once_for_events_and_calls_and_then_forgotten() -> None:
    """A survey wants both of each line; what a daemon has read does not stay in its memory."""
    path = Path("/h/.claude/projects/p/s1.jsonl")
    parser, records = claude_code.parser(path), claude_code.records_of
    prefilter.parse.cache_clear()
    for number in range(3):
        item = RawLine(number, number + 1, line(agent(call("Bash", f"c{number}", command="ls"), number)))
        parser.feed(item)
        assert [record["uuid"] for record, _ in records(item)] == [f"u{number}"]
    assert prefilter.parse.cache_info()[:2] == (3, 3)
    parser.checkpoint(3)
    assert prefilter.parse.cache_info().currsize == 0
