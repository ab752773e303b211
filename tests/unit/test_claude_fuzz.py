"""Nothing that can stand in a Claude Code file makes the reader fail, and its state stays small and wordless."""

from __future__ import annotations

import json
import os
from pathlib import Path, PurePath
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from skilld.agents import claude_code
from skilld.types import RawLine
from support.truth import events_of_records, raw_lines

EXAMPLES = int(os.environ.get("HYPOTHESIS_EXAMPLES", "60"))  # of each property; `make soak` sets more
some = settings(max_examples=EXAMPLES)
FIXTURES = Path(__file__).parents[1] / "fixtures" / "claude-code"
REAL = [line.data for path in sorted(FIXTURES.glob("*.jsonl")) for line in raw_lines(path.read_bytes())]

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
FIELDS = st.sampled_from(
    ["type", "uuid", "parentUuid", "sessionId", "timestamp", "message", "content", "operation", "attachment", "input"]
) | st.sampled_from(
    ["toolUseResult", "origin", "entrypoint", "promptSource", "isMeta", "isSidechain", "cwd", "tool_use_id", "text"]
)
MORE_FIELDS = st.sampled_from(
    ["questions", "answers", "annotations", "skills", "prompt", "commandMode", "name", "id", "is_error", "version"]
)
WORDS = st.sampled_from(
    ["user", "assistant", "attachment", "queue-operation", "system", "ended", "text", "tool_result", "tool_use"]
) | st.sampled_from(
    ["human", "enqueue", "dequeue", "remove", "popAll", "queued_command", "invoked_skills", "Skill", "AskUserQuestion"]
)
MORE_WORDS = st.sampled_from(
    ["Bash", "informational", "Base directory for this skill: ", "sdk-cli", "2.1.197", "2026-11-18T09:00:00Z", "\ud800"]
)
JSON = st.recursive(
    SCALARS | WORDS | MORE_WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(FIELDS | MORE_FIELDS | st.text(max_size=5), inner),
    max_leaves=25,
)


@some
@given(lines=st.lists(st.binary(max_size=300) | JSON.map(lambda value: json.dumps(value).encode()), max_size=8))
def test_no_bytes_make_it_fail(lines: list[bytes]) -> None:
    events_of_records(claude_code, *lines)


@some
@given(data=st.data())
def test_no_change_of_a_real_record_makes_it_fail(data: st.DataObject) -> None:
    lines: list[bytes] = []
    for _ in range(data.draw(st.integers(1, 8))):
        record = json.loads(data.draw(st.sampled_from(REAL)))
        path = record
        while isinstance(path, dict) and path:
            key = data.draw(st.sampled_from(sorted(path)))
            if isinstance(path[key], dict) and data.draw(st.booleans()):
                path = path[key]
            else:
                path[key] = data.draw(JSON)
                break
        lines.append(json.dumps(record).encode())
    events_of_records(claude_code, *lines)


@some
@given(line=st.sampled_from(REAL), other=st.sampled_from(REAL), cut=st.integers(0, 400), nuls=st.integers(0, 3))
def test_no_damage_makes_it_fail(line: bytes, other: bytes, cut: int, nuls: int) -> None:
    events_of_records(claude_code, line[:cut] + b"\0" * nuls + other, line, other[-cut:])


@some
@given(state=st.none() | st.dictionaries(st.sampled_from(["presence", "calls", "said", "skills"]) | st.text(), JSON))
def test_no_state_makes_it_fail(state: dict[str, Any] | None) -> None:
    parser = claude_code.parser(PurePath("s.jsonl"), state)
    for number, line in enumerate(REAL[:12]):
        parser.feed(RawLine(number, number + 1, line))
    parser.flush()
    json.dumps(parser.checkpoint(12)[1])


def test_the_state_is_bounded_and_holds_no_words() -> None:
    parser = claude_code.parser(PurePath("s.jsonl"))
    records: list[dict[str, Any]] = []
    for number in range(500):
        base = {"uuid": f"u{number}", "sessionId": "s", "version": "2.1.197", "timestamp": "2026-11-18T09:00:00Z"}
        secret = f"the secret is {number}"
        tool = {"type": "tool_use", "id": f"toolu_{number:024}", "name": "Skill", "input": {"skill": f"skill-{number}"}}
        folder = f"Base directory for this skill: /home/kim/.claude/skills/skill-{number}\n\n{secret}"
        command = (
            f"<command-message>c</command-message><command-name>/c</command-name><command-args>{secret}</command-args>"
        )
        records += [
            {**base, "type": "user", "message": {"content": secret}},
            {**base, "type": "assistant", "message": {"content": [tool, {"type": "text", "text": secret}]}},
            {**base, "type": "user", "message": {"content": folder}, "isMeta": True, "sourceToolUseID": tool["id"]},
            {**base, "type": "user", "message": {"content": command}},
            {
                "type": "queue-operation",
                "operation": "enqueue",
                "content": f"{secret}!",
                "timestamp": base["timestamp"],
            },
        ]
    data = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    for line in raw_lines(data):
        parser.feed(line)
    parser.flush()
    end, state = parser.checkpoint(len(data))
    assert end == len(data)
    assert len(json.dumps(state)) < 40_000
    assert "secret" not in json.dumps(state)
