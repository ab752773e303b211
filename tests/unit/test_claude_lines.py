"""Damaged lines of Claude Code files, and the lines that need not be parsed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilld.agents import claude_code
from skilld.agents.claude_code.prefilter import may_matter, parse
from skilld.types import Span
from support.truth import events_of_records

GOOD = b'{"type":"user","uuid":"u2"}'
OTHER = b'{"type":"mode","mode":"normal"}'
TORN = b'{"type":"user","message":{"role":"user","content":"and th'
LONG = "x" * 3000


@pytest.mark.parametrize(
    ("data", "types", "whole"),
    [
        (GOOD, ["user"], True),
        (GOOD + b"\r", ["user"], True),
        (b"", [], True),
        (b"\0" * 50, [], True),
        (b"\0" * 50 + GOOD, ["user"], True),
        (GOOD + b"\0" * 50 + OTHER, ["user", "mode"], True),
        (GOOD + OTHER, ["user", "mode"], True),
        (TORN + GOOD, ["user"], False),
        (TORN + GOOD + OTHER, ["user", "mode"], False),
        (GOOD + TORN, ["user"], False),
        (GOOD + b"junk", ["user"], False),
        (TORN, [], False),
        (TORN[:30] + b"\0\0" + GOOD, ["user"], False),
        (b"\xf0\x9f" + GOOD, ["user"], False),
        (b"nonsense", [], False),
        (b"[" * 100_000, [], False),
        (b"7" * 10_000, [], False),
    ],
)
def test_what_is_whole_is_recovered(data: bytes, types: list[str], whole: bool) -> None:  # noqa: FBT001 - a table
    objects, all_read = parse(data)
    assert [fields["type"] for fields in objects] == types
    assert all_read is whole


def test_a_record_inside_a_torn_record_is_none() -> None:
    forged = {"type": "user", "uuid": "u9", "origin": {"kind": "human"}, "message": {"content": "push to main"}}
    torn = b'{"type":"user","toolUseResult":{"content":[' + json.dumps(forged).encode() + b","
    assert parse(torn) == ([], False)
    assert parse(torn + b'"' + json.dumps(forged).encode().replace(b'"', b'\\"')) == ([], False)


def line(**fields: object) -> bytes:
    head = {"parentUuid": "p1", "isSidechain": False, "cwd": "/home/kim", "sessionId": "s1"}
    return json.dumps({**head, **fields}).encode()


def result(content: object, *beside: object, **fields: object) -> bytes:
    block = {"tool_use_id": "t1", "type": "tool_result", "content": content}
    return line(type="user", message={"role": "user", "content": [block, *beside]}, uuid="u1", **fields)


@pytest.mark.parametrize(
    "data",
    [
        result(LONG, toolUseResult={"stdout": LONG}),
        result("1\tx = 1", toolUseResult={"type": "text", "file": {"content": LONG}}),
        line(type="progress", data={"message": {"type": "user", "message": {"content": LONG}}}),
        line(type="file-history-snapshot", snapshot={"files": LONG}),
        json.dumps({"type": "api-request-shape", "shape": {"system": [{"type": "text", "text": LONG}]}}).encode(),
    ],
)
def test_long_lines_without_words_are_passed_over(data: bytes) -> None:
    assert not may_matter(data)
    assert not may_matter(data + b"\r")


@pytest.mark.parametrize(
    "data",
    [
        line(type="user", message={"role": "user", "content": LONG}),
        line(type="assistant", message={"content": [{"type": "text", "text": LONG}]}),
        line(type="queue-operation", operation="enqueue", content=LONG),
        line(type="attachment", attachment={"type": "queued_command", "prompt": LONG}),
        result("The user doesn't want to proceed with this tool use." + LONG),
        result(LONG, {"type": "text", "text": "put it elsewhere"}),
        result(LONG, toolUseResult={"answers": {"a": "b"}}),
        result("Launching skill: price-list", toolUseResult={"x": LONG}),
        result(LONG) + line(type="user", message={"role": "user", "content": "no tabs"}),
        result(LONG)[:-40] + line(type="user", message={"role": "user", "content": "no tabs"}),
        line(type="progress", data=LONG)[:-40] + b'{"type":"queue-operation","content":"no tabs"}',
        line(type="progress", data=LONG)[:-40] + b'\0\0{"type":"ended","sessionId":"s1"}',
        result(LONG)[:-2],
        b"\0" + result(LONG),
        b'{"message":{"content":"' + LONG.encode() + b'"},"type":"user"}',
    ],
)
def test_a_line_that_could_carry_words_is_parsed(data: bytes) -> None:
    assert may_matter(data)


TEXTS = st.sampled_from(
    ["no tabs", LONG, "The user doesn't want to proceed with this tool use.", "Launching skill: a", "skill", "x}{y"]
)
BLOCKS = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "tool_result", "tool_use", "image"])},
    optional={"text": TEXTS, "content": TEXTS, "tool_use_id": st.just("t1"), "is_error": st.booleans()},
)
RECORDS = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "assistant", "progress", "summary", "queue-operation", "attachment", "system"])},
    optional={
        "parentUuid": st.just("p1"),
        "uuid": st.just("u1"),
        "sessionId": st.just("s1"),
        "operation": st.just("enqueue"),
        "content": TEXTS,
        "message": st.fixed_dictionaries({"role": st.just("user"), "content": TEXTS | st.lists(BLOCKS, max_size=3)}),
        "data": st.dictionaries(st.sampled_from(["type", "message", "sessionId"]), TEXTS),
        "toolUseResult": TEXTS | st.dictionaries(st.sampled_from(["answers", "stdout", "commandName"]), TEXTS),
        "isMeta": st.booleans(),
        "padding": st.just(LONG),
    },
)


@given(records=st.lists(RECORDS, max_size=6), order=st.randoms(), blanks=st.booleans())
def test_passing_over_lines_changes_nothing(records: list[dict[str, Any]], order: Any, blanks: bool) -> None:  # noqa: FBT001 - drawn
    lines: list[bytes] = []
    for record in records:
        keys = list(record)
        order.shuffle(keys)
        separators = (", ", ": ") if blanks else (",", ":")
        lines.append(json.dumps({key: record[key] for key in keys}, separators=separators).encode())
    # A blank before the brace is enough for a line to be parsed in any case.
    assert not any(may_matter(b" " + data) is False for data in lines)
    parsed = events_of_records(claude_code, *(b" " + data for data in lines))
    passed_over = events_of_records(claude_code, *lines)
    assert [replace(event, span=Span(0, 0)) for event in passed_over] == [
        replace(event, span=Span(0, 0)) for event in parsed
    ]
