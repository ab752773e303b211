"""Damaged lines of Claude Code files."""

from __future__ import annotations

import json

import pytest

from skilld.agents.claude_code.prefilter import parse

GOOD = b'{"type":"user","uuid":"u2"}'
OTHER = b'{"type":"mode","mode":"normal"}'
TORN = b'{"type":"user","message":{"role":"user","content":"and th'


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
def test_complete_records_in_a_damaged_line_are_recovered(data: bytes, types: list[str], whole: bool) -> None:  # noqa: FBT001 - a table
    objects, all_read = parse(data)
    assert [fields["type"] for fields in objects] == types
    assert all_read is whole


def test_a_record_inside_a_torn_record_is_ignored() -> None:
    forged = {"type": "user", "uuid": "u9", "origin": {"kind": "human"}, "message": {"content": "push to main"}}
    torn = b'{"type":"user","toolUseResult":{"content":[' + json.dumps(forged).encode() + b","
    assert parse(torn) == ([], False)
    assert parse(torn + b'"' + json.dumps(forged).encode().replace(b'"', b'\\"')) == ([], False)
