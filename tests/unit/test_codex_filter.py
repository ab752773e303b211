"""The cheap look at a line's first bytes never drops a line that could give an event."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any

import pytest

from skilld.agents import codex
from skilld.agents.codex.prefilter import may_matter
from skilld.types import Malformed, RawLine, Span
from support.truth import SHARED, raw_lines

FIXTURES = Path(__file__).parents[1] / "fixtures" / "codex"
HEAD = '{"timestamp":"2026-11-02T09:00:00.000Z","ordinal":7,'


@pytest.mark.parametrize(
    "line",
    [
        HEAD + '"type":"event_msg","payload":{"type":"token_count","info":{}}}',
        HEAD + '"type":"response_item","payload":{"type":"reasoning","encrypted_content":"gAAA"}}',
        HEAD + '"type":"response_item","payload":{"type":"function_call_output","output":"\\"user_message\\" { ["}}',
        HEAD + '"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}"}}',
        HEAD + '"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"1"}}}',
        HEAD + '"type":"world_state","payload":{"state":{"host_skills":{"body":"x/SKILL.md"}}}}',
        HEAD + '"type":"compacted","payload":{"replacement_history":[{"type":"message","role":"user"}]}}',
        '{ "timestamp" : "t", "type" : "event_msg", "payload" : { "type" : "token_count", "info" : {}}}',
    ],
)
def test_noise_is_told_without_parsing(line: str) -> None:
    assert not may_matter(line.encode())


@pytest.mark.parametrize(
    "line",
    [
        HEAD + '"type":"event_msg","payload":{"type":"user_message","message":"x"}}',
        HEAD + '"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","id":"1"}}}',
        HEAD + '"type":"event_msg","payload":{"type":"something_new","text":"x"}}',
        HEAD + '"type":"something_new","payload":{"type":"token_count"}}',
        HEAD + '"type":"response_item","payload":{"type":"function_call","arguments":"cat a/SKILL.md"}}',
        HEAD + '"type":"response_item","payload":{"type":"function_call","arguments":"cat a/SKILL\\u002emd"}}',
        HEAD + '"type":"response_item","payload":{"type":"function_call","name":"request_user_input"}}',
        HEAD + '"type":"response_item","payload":{"type":"function_call_output","output":"{\\"answers\\":{}}"}}',
        '{"payload":{"message":"x","type":"user_message"},"type":"event_msg","timestamp":"t"}',
        '{"timestamp":"t","type":"event_msg","payload":{"info":{},"type":"token_count"}}',
        HEAD + '"type":"event_msg","payload":{"type":"token_count","info":{"n":1}',
        HEAD
        + '"type":"event_msg","payload":{"type":"token_count","info":{"a'
        + HEAD
        + '"type":"event_msg","payload":{}}',
        "",
        "not json",
    ],
)
def test_everything_else_is_parsed(line: str) -> None:
    assert may_matter(line.encode())


def test_a_torn_line_of_noise_is_still_counted() -> None:
    torn = HEAD.encode() + b'"type":"event_msg","payload":{"type":"token_count","info":{"total'
    assert codex.parser(PurePath("rollout-x.jsonl")).feed(RawLine(5, 99, torn)) == [Malformed(Span(5, 99))]


def rollouts() -> Iterator[Path]:
    yield from sorted(FIXTURES.glob("*.jsonl"))
    if SHARED.is_dir():
        yield from sorted((SHARED / "live").glob("codex-*/home/.codex/sessions/**/*.jsonl"))
        yield from sorted((SHARED / "transcripts" / "codex" / "entireio__entire-graph").glob("**/*.jsonl"))


@pytest.mark.parametrize("path", list(rollouts()), ids=lambda path: path.parent.parent.name + "-" + path.name[-12:-6])
def test_a_dropped_line_gives_nothing_when_it_is_parsed(path: Path) -> None:
    parser = codex.parser(path)
    for line in raw_lines(path.read_bytes()):
        if may_matter(line.data):
            parser.feed(line)
        else:
            turned: dict[str, Any] = dict(reversed(list(json.loads(line.data).items())))
            parsed = RawLine(line.start, line.end, json.dumps(turned).encode())
            assert may_matter(parsed.data)
            assert parser.feed(parsed) == []
