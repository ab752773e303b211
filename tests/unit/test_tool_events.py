"""Tool calls and their outcome for every agent: typed, bounded, and never a turn."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilld.agents import ADAPTERS
from skilld.agents.tools import MAX_TEXT, bounded, command_of, record_reader, tool_counts, tools_of
from skilld.daemon.engine import Engine
from skilld.ingest.discover import Host
from skilld.ingest.inspect import inspect
from skilld.settings import Settings
from skilld.types import How, RawLine, Span, ToolCall, ToolEvent, ToolOutcome, ToolResult, Turn
from support.claude_lines import prompt_line, write_transcript
from support.ground_truth import SHARED
from support.new_store import new_store
from support.rows import for_each

HERE = Span(0, 1)
OK, FAILED, REJECTED, INTERRUPTED, UNKNOWN = ToolOutcome
REFUSAL = "The user doesn't want to proceed with this tool use. The tool use was rejected"
Record = dict[str, Any]


def claude(said: str | None = None, **beside: Any) -> list[Record]:
    """Return a call and its result; `said` is what the result says where it is an error."""
    error = {"is_error": True, "content": said} if said is not None else {"content": "fine"}
    return [
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}]}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t1"} | error]}} | beside,
    ]


def codex(output: object, *mirrors: Record, kind: str = "function_call", **call: Any) -> list[Record]:
    """Return a call, the events and items that mirror it, and its output."""
    body = {"type": kind, "name": "exec_command", "call_id": "c1"} | (call or {"arguments": "{}"})
    answer = {"type": f"{kind}_output", "call_id": "c1", "output": output}
    return [
        {"type": "response_item", "payload": body},
        *({"type": "event_msg", "payload": mirror} for mirror in mirrors),
        {"type": "response_item", "payload": answer},
    ]


def gemini(status: str, name: str = "edit", **response: str) -> list[Record]:
    result = [{"functionResponse": {"response": response}}]
    return [
        {"type": "gemini", "toolCalls": [{"id": "g1", "name": name, "args": {}, "status": status, "result": result}]}
    ]


def qwen(status: str, name: str = "edit", **response: str) -> list[Record]:
    call = {"functionCall": {"id": "q1", "name": name, "args": {}}}
    answer = {"functionResponse": {"id": "q1", "name": name, "response": response}}
    return [
        {"type": "assistant", "message": {"parts": [call]}},
        {"type": "tool_result", "message": {"parts": [answer]}, "toolCallResult": {"status": status}},
    ]


def copilot(**end: Any) -> list[Record]:
    return [
        {"type": "tool.execution_start", "data": {"toolCallId": "p1", "toolName": "bash", "arguments": {}}},
        {"type": "tool.execution_complete", "data": {"toolCallId": "p1"} | end},
    ]


def pi(text: str, *, error: bool) -> list[Record]:
    call = {"type": "toolCall", "id": "i1", "name": "bash", "arguments": {}}
    answer = {"role": "toolResult", "toolCallId": "i1", "content": [{"type": "text", "text": text}], "isError": error}
    return [{"type": "message", "message": one} for one in ({"role": "assistant", "content": [call]}, answer)]


def opencode(status: str, **more: Any) -> list[Record]:
    part = {"type": "tool", "id": "o1", "tool": "bash", "input": "{}", "status": status} | more
    return [{"message": [{"session": "s"}], "parts": [part]}]


CASES: list[tuple[str, list[Record], ToolOutcome]] = [
    ("claude-code", claude(), OK),
    ("claude-code", claude("Exit code 1\nmake: no rule"), FAILED),
    ("claude-code", claude("<tool_use_error>File does not exist."), FAILED),
    ("claude-code", claude(REFUSAL, toolUseResult=f"Error: {REFUSAL}"), REJECTED),
    ("claude-code", claude(REFUSAL, toolUseResult="User rejected tool use"), REJECTED),
    ("claude-code", claude(REFUSAL), REJECTED),
    ("claude-code", claude("no", toolDenialKind="user-rejected"), REJECTED),
    ("claude-code", claude("Permission to use Bash with command rm has been denied."), REJECTED),
    ("claude-code", claude(f"Exit code 3\n{REFUSAL}", toolUseResult=f"Error: Exit code 3\n{REFUSAL}"), FAILED),
    ("claude-code", claude(REFUSAL, toolUseResult="Error: Exit code 3"), FAILED),
    ("claude-code", claude("[Request interrupted by user for tool use]"), INTERRUPTED),
    ("claude-code", claude("<tool_use_error>Sibling tool call errored</tool_use_error>"), INTERRUPTED),
    ("claude-code", claude(toolUseResult={"interrupted": True}), INTERRUPTED),
    ("claude-code", claude()[:1], UNKNOWN),
    ("codex", codex("Chunk ID: 7a\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nx"), OK),
    ("codex", codex("Chunk ID: 7a\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nx"), FAILED),
    ("codex", codex("Exit code: 0\nWall time: 1 seconds\nOutput:\nProcess exited with code 1"), OK),
    ("codex", codex("Chunk ID: 7a\nWall time: 5 seconds\nProcess running with session ID 3\nOutput:\n"), UNKNOWN),
    ("codex", codex('{"output":"x","metadata":{"exit_code":1,"duration_seconds":0.1}}'), FAILED),
    ("codex", codex('{"output":"x","metadata":{"exit_code":0}}'), OK),
    ("codex", codex("exec command rejected by user"), REJECTED),
    ("codex", codex("This action was rejected due to unacceptable risk.\nReason: x"), REJECTED),
    ("codex", codex('exec_command failed for `x`: CreateProcess { message: "Rejected(\\"no\\")" }'), REJECTED),
    ("codex", codex("Wall time: 2.1 seconds\naborted by user"), INTERRUPTED),
    ("codex", codex("apply_patch verification failed: no such line", kind="custom_tool_call"), FAILED),
    ("codex", codex([{"type": "input_text", "text": "Script failed\nOutput:\n"}]), FAILED),
    ("codex", codex("x", {"type": "exec_command_end", "call_id": "c1", "exit_code": 1}), FAILED),
    (
        "codex",
        codex("Process running with session ID 3", {"type": "exec_command_end", "call_id": "c1", "exit_code": 1}),
        FAILED,
    ),
    (
        "codex",
        [
            {"type": "response_item", "payload": {"type": "function_call", "name": "shell", "call_id": "c1"}},
            {"type": "event_msg", "payload": {"type": "item_completed", "item": {"id": "c1", "status": "declined"}}},
        ],
        REJECTED,
    ),
    ("codex", [{"type": "local_shell_call", "call_id": "c1", "action": {"command": ["ls"]}}], UNKNOWN),
    ("codex", [{"type": "web_search_call", "status": "completed", "action": {"query": "x"}}], OK),
    ("codex", [{"type": "web_search_call", "id": "w1", "status": "completed", "action": {"query": "x"}}], OK),
    ("gemini-cli", gemini("success"), OK),
    ("gemini-cli", gemini("success", "run_shell_command", output="Output: x\nExit Code: 0"), OK),
    ("gemini-cli", gemini("success", "run_shell_command", output="Output: x\nExit Code: 1"), FAILED),
    ("gemini-cli", gemini("success", "run_shell_command", output="Exit Code: 1\nProcess Group PGID: 7"), OK),
    (
        "gemini-cli",
        gemini("success", "run_shell_command", output="Output: x\nExit Code: 1\nSignal: 0\nProcess Group PGID: 7"),
        FAILED,
    ),
    ("gemini-cli", gemini("success", "run_shell_command", output="Output: \nExit Code: 1\nall well"), OK),
    ("gemini-cli", gemini("error", error="File not found"), FAILED),
    ("gemini-cli", gemini("cancelled", error="[Operation Cancelled] Reason: User did not allow tool call"), REJECTED),
    ("gemini-cli", gemini("cancelled", error="[Operation Cancelled] Reason: User cancelled"), INTERRUPTED),
    ("gemini-cli", gemini("executing"), UNKNOWN),
    ("qwen-code", qwen("success", output="x"), OK),
    ("qwen-code", qwen("", error="gone"), FAILED),
    ("qwen-code", qwen("success", "run_shell_command", output="Output: x\nExit Code: 7\nSignal: 0"), FAILED),
    ("qwen-code", qwen("cancelled", error="User did not allow tool call"), REJECTED),
    ("copilot-cli", copilot(success=True, result={"content": "x"}), OK),
    ("copilot-cli", copilot(success=True, result={"content": "x\n<exited with exit code 1>"}), FAILED),
    ("copilot-cli", copilot(success=True, result={"content": "<exited with exit code 1>\nx"}), OK),
    ("copilot-cli", copilot(success=False, error={"code": "failure"}), FAILED),
    ("copilot-cli", copilot(success=False, error={"code": "rejected"}), REJECTED),
    ("pi", pi("x", error=False), OK),
    ("pi", pi("x\n\nCommand exited with code 2", error=True), FAILED),
    ("pi", pi("x\n\nCommand aborted", error=True), INTERRUPTED),
    ("opencode", opencode("completed", metadata='{"exit": 0}'), OK),
    ("opencode", opencode("completed", metadata='{"exit": 1}'), FAILED),
    ("opencode", opencode("error", error="File not found"), FAILED),
    ("opencode", opencode("error", error="The user rejected permission to use this specific tool call."), REJECTED),
    ("opencode", opencode("error", error="Tool execution aborted"), INTERRUPTED),
    ("opencode", opencode("running"), UNKNOWN),
    (
        "cursor",
        [{"role": "assistant", "message": {"content": [{"type": "tool_use", "name": "Shell", "input": {}}]}}],
        UNKNOWN,
    ),
]


def events(agent: str, records: list[Record]) -> Iterator[ToolEvent]:
    tool_reader = tools_of(ADAPTERS[agent])
    for record in records:
        yield from tool_reader(json.loads(json.dumps(record)), "s", HERE)


# One call of each agent that a table describes, as its client wrote it with the texts cut short; those of Goose and
# Kiro as their source has it.
_TABLES = json.loads((Path(__file__).parents[1] / "fixtures" / "tool_calls.json").read_text(encoding="utf-8"))
CASES += [(agent, case["records"], ToolOutcome(case["outcome"])) for agent, case in _TABLES.items()]


@for_each(("agent", "records", "outcome"), CASES)
def test_a_call_is_read_with_its_outcome(agent: str, records: list[Record], outcome: ToolOutcome) -> None:
    found = list(events(agent, records))
    ((name, counts),) = tool_counts(found).items()
    assert name
    assert counts == {"calls": 1} | {how.value: how is outcome for how in (FAILED, REJECTED, INTERRUPTED, UNKNOWN)}
    assert {event.session_id for event in found} == {"s"}


@for_each(("agent", "records", "outcome"), CASES)
def test_a_line_with_a_call_has_its_agents_marker(agent: str, records: list[Record], outcome: ToolOutcome) -> None:
    del outcome
    adapter = ADAPTERS[agent]
    calls = [
        record
        for record in records
        if any(isinstance(event, ToolCall) for event in tools_of(adapter)(record, "s", HERE))
    ]
    assert calls
    assert [record for record in calls if adapter.INFO.call_mark not in json.dumps(record).encode()] == []


def test_every_agent_reports_what_its_log_has_about_tools() -> None:
    without = {name for name, adapter in ADAPTERS.items() if not hasattr(adapter, "tool_events")}
    assert without == {"aider"}  # docs/agents.md says of each what tells of tool calls
    assert {agent for agent, _, _ in CASES} | {"traex"} == ADAPTERS.keys() - without


def test_following_creates_no_tool_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> Iterator[ToolEvent]:
        raise AssertionError("the daemon asked for tool events")

    store = new_store(tmp_path / "skilld.db")
    engine = Engine(store, Settings(), Host(tmp_path, {}), 1.0)
    lines = prompt_line("t1") + b"".join(json.dumps(record).encode() + b"\n" for record in claude())
    path = write_transcript(tmp_path / ".claude/projects/-w/s.jsonl", lines)
    with monkeypatch.context() as patched:
        patched.setattr(ADAPTERS["claude-code"], "tool_events", never)
        assert engine.follower.sweep() == 1
    assert inspect(path, ADAPTERS["claude-code"]).as_json()["tools"]["Bash"]["calls"] == 1
    store.close()


def test_calls_made_by_a_program_are_reported_without_their_outcome() -> None:
    code = """
    // tools.exec_command({cmd: "not this"})
    const r = await tools.exec_command({cmd:"git status", workdir:'/w/api'});
    text("tools.exec_command({cmd:1})");
    await tools.exec_command({"cmd": "make \\"all\\"", "yield_time_ms": 5});
    await tools.apply_patch(patch);
    """
    call = {"type": "custom_tool_call", "name": "exec", "call_id": "c1", "input": code}
    found = list(
        events("codex", [call, {"type": "custom_tool_call_output", "call_id": "c1", "output": "Script completed\n"}])
    )
    calls = [event for event in found if isinstance(event, ToolCall)]
    assert [call.input["cmd"] for call in calls if call.name == "exec_command"] == ["git status", 'make "all"']
    assert [call.name for call in calls] == ["exec", "exec_command", "exec_command", "apply_patch"]
    assert {name: each["unknown"] for name, each in tool_counts(found).items()} == {
        "exec": 0,
        "exec_command": 2,
        "apply_patch": 1,
    }


def test_calls_in_an_older_document_and_in_a_two_record_line_are_read(tmp_path: Path) -> None:
    document = tmp_path / "session-1.json"
    document.write_text(json.dumps({"sessionId": "s", "messages": gemini("error")}, indent=2))
    assert inspect(document, ADAPTERS["gemini-cli"]).as_json()["tools"]["edit"]["failed"] == 1
    spliced = b"".join(json.dumps(record).encode() for record in claude("Exit code 1"))
    read = record_reader(ADAPTERS["claude-code"])
    found = [record for record, _ in read(RawLine(0, 1, spliced))]
    assert tool_counts(events("claude-code", [dict(record) for record in found]))["Bash"]["failed"] == 1


def expected_calls(number: int, name: str, outcome: ToolOutcome = OK, **arguments: Any) -> list[ToolEvent]:
    call = ToolCall("s", str(number), name, bounded(arguments), None, HERE)
    return [call, ToolResult("s", str(number), outcome, None, HERE)]


def turn(key: str) -> Turn:
    return Turn(key, "pi", "s", "go on", None, How.TYPED, HERE)


@for_each(
    ("name", "arguments", "command"),
    [
        ("Bash", {"command": "make test"}, "make test"),
        ("shell", {"command": ["bash", "-lc", "ls"]}, "bash -lc ls"),
        ("str_replace_editor", {"command": "view"}, ""),
    ],
)
def test_the_command_of_a_call_is_reported_if_it_runs_one(name: str, arguments: dict[str, Any], command: str) -> None:
    assert command_of(ToolCall("s", "1", name, arguments, None, HERE)) == command


def test_a_repeated_call_counts_once_and_one_without_an_id_each_time() -> None:
    again = [
        *expected_calls(1, "edit", UNKNOWN),
        *expected_calls(1, "edit", FAILED),
        *expected_calls(1, "edit", UNKNOWN),
    ]
    assert tool_counts(again) == {"edit": {"calls": 1, "failed": 1, "rejected": 0, "interrupted": 0, "unknown": 0}}
    bare = ToolCall("s", "", "edit", {}, None, HERE)
    assert tool_counts([bare, bare])["edit"]["calls"] == 2


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def size(value: object) -> int:
    if isinstance(value, dict):
        return sum(len(key) + size(one) for key, one in value.items())
    return sum(map(size, value)) if isinstance(value, list) else len(value) if isinstance(value, str) else 8


@given(JSON)
def test_any_object_can_be_read(value: object) -> None:
    for agent in ADAPTERS:
        list(events(agent, [{"type": "assistant", "message": value, "payload": value, "data": value}]))


@given(st.data())
def test_a_record_with_any_value_can_be_read(data: st.DataObject) -> None:
    agent, records, _ = data.draw(st.sampled_from(CASES))
    found = list(events(agent, [{key: damage(one, data) for key, one in record.items()} for record in records]))
    tool_counts(found)


def damage(value: Any, data: st.DataObject) -> Any:
    if data.draw(st.integers(0, 9)) == 0:
        return data.draw(JSON)
    if isinstance(value, dict):
        return {key: damage(one, data) for key, one in value.items()}
    return [damage(one, data) for one in value] if isinstance(value, list) else value


def test_the_size_of_a_call_is_bounded() -> None:
    huge = {"content": "x" * (1 << 20), "file_path": "/w/a.py", "many": [{"path": "y" * 2000}] * 10_000}
    cut = bounded(huge | {"n": 10**5000, "k" * 100_000: 1})
    assert size(cut) < 6 * MAX_TEXT
    assert cut["file_path"] == "/w/a.py"
    deep: Any = {}
    for _ in range(10_000):
        deep = {"path": deep}
    assert len(str(bounded(deep))) < 200


# What the sessions of the real clients hold, counted by other means: by the shape of any object in a record.

LIVE = [
    (agent, path)
    for agent, pattern in {
        "claude-code": "claude-*/home/.claude/projects/*/*.jsonl",
        "codex": "codex-*/home/.codex/sessions/*/*/*/*.jsonl",
        "opencode": "opencode-*/home/.local/share/opencode/opencode.db",
        "gemini-cli": "gemini-*/home/.gemini/tmp/*/chats/*.jsonl",
        "qwen-code": "qwen-*/home/.qwen/projects/*/chats/*.jsonl",
        "copilot-cli": "copilot-*/home/.copilot/session-state/*/events.jsonl",
        "pi": "pi-*/home/.pi/agent/sessions/*/*.jsonl",
    }.items()
    for path in sorted((SHARED / "live").glob(pattern))
] + [
    (agent, path)
    for agent in ("claude-code", "codex", "pi")
    for path in sorted((SHARED / "transcripts" / agent).rglob("*.jsonl"))
    if "agent-" not in path.name
]
CALLS = {"tool_use", "toolCall", "function_call", "custom_tool_call", "web_search_call", "tool.execution_start"}
NOT_CALLED = {"input", "arguments", "args", "toolUseResult"}  # what a call or a result holds is no call


def objects_in(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for key, one in value.items():
            if key not in NOT_CALLED:
                yield from objects_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from objects_in(one)


def calls_in(one: dict[str, Any]) -> Iterator[tuple[object, str]]:
    """Yield id and name of the calls that an object of a record is or lists."""
    for call in [*one.get("toolCalls", ()), *([one["functionCall"]] if "functionCall" in one else ())]:
        yield call["id"], call["name"]
    if str(one.get("type")) in CALLS:
        body = one["data"] if isinstance(one.get("data"), dict) else one
        own = body.get("toolCallId") or body.get("call_id") or body.get("id") or id(one)
        name = body.get("toolName") or body.get("name") or one["type"].removesuffix("_call")
        yield own, name
        if name == "exec" and one["type"] == "custom_tool_call":
            for place in re.finditer(r"\btools\.(\w+)\s*\(", body["input"]):
                yield (own, place.start()), place[1]


def count_calls(path: Path) -> Counter[str]:
    """Count the calls of a transcript by name, each id once."""
    if path.suffix == ".db":
        with sqlite3.connect(f"file:{path}?immutable=1", uri=True) as db:
            parts = [json.loads(data) for (data,) in db.execute("SELECT data FROM part")]
        return Counter(part["tool"] for part in parts if part["type"] == "tool")
    found: list[tuple[object, str]] = []
    for line in path.read_bytes().split(b"\n")[:-1]:  # the last has no end yet
        with contextlib.suppress(ValueError):
            record = json.loads(line)
            whole = isinstance(record, dict) and record.get("type") != "progress"
            found += [call for one in objects_in(record) for call in calls_in(one)] if whole else []
    return Counter(dict(found).values())


def count_marked(path: Path) -> int:
    """Count the results of a transcript that the client marks as errors, each call once."""
    lines = path.read_bytes().split(b"\n")[:-1]
    errors = (line for line in lines if b'rror":true' in line.replace(b": ", b":") and b'"progress"' not in line[:2000])
    found = (one for line in errors for one in objects_in(json.loads(line)))
    return len(
        {
            one.get("tool_use_id", one.get("toolCallId"))
            for one in found
            if True in (one.get("is_error"), one.get("isError"))
        }
    )


@pytest.mark.skipif(not LIVE, reason="no sessions of the real clients beside the repository")
def test_all_calls_of_real_sessions_are_found() -> None:
    total = 0
    for agent, path in LIVE:
        shown = inspect(path, ADAPTERS[agent]).as_json()["tools"]
        assert {name: counts["calls"] for name, counts in shown.items()} == count_calls(path), path
        if agent in {"claude-code", "pi"}:
            unwell = sum(counts[how] for counts in shown.values() for how in ("failed", "rejected", "interrupted"))
            assert unwell == count_marked(path), path
        total += sum(counts["calls"] for counts in shown.values())
    assert total > 100
