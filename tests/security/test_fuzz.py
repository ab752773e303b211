"""Bytes cut, doubled, spliced and swapped out of real shapes: no reader, parser or edit falls over.

The properties of single parts stand beside them in tests/unit (test_claude_fuzz, test_codex_robustness, test_reply,
test_edit_properties); here whole inputs are damaged. HYPOTHESIS_EXAMPLES sets how many each runs, for a long run.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilld.classify.reply import BadReplyError, parse_changes, parse_operations, parse_updates
from skilld.edit.lint import lint
from skilld.edit.operations import apply
from skilld.edit.skill_file import parse
from skilld.errors import SkilldError
from skilld.intake.agents import ADAPTERS
from skilld.types import Kind, Malformed, Op, Operation, Turn
from support.truth import raw_lines

EXAMPLES = int(os.environ.get("HYPOTHESIS_EXAMPLES", "400"))
MINUTE = 60.0 * EXAMPLES / 400  # seconds for all, on a machine that does other things besides
FIXTURES = Path(__file__).parents[1] / "fixtures"
TRANSCRIPTS = {name: sorted((FIXTURES / name).glob("*.jsonl")) for name in ADAPTERS}
LINES = {
    name: [line.data for path in paths for line in raw_lines(path.read_bytes())] for name, paths in TRANSCRIPTS.items()
}
REPLY = (
    (
        '<updates>[{"skill":1,"section":"Style","change":"Always use tabs.","reason":"said","kind":"preference",'
        '"turn":2,"quote":"always use tabs","confidence":0.9}]</updates>'
    ),
    '<operations>[{"op":"insert_after","anchor":"- a","text":"- b"},{"op":"delete","anchor":"- c"}]</operations>',
    '```json\n{"changes": ["Use tabs."]}\n```',
    "<updated_file>\n# Notes\n\n- a\n</updated_file>",
)
SKILL = b"""---
name: notes
description: |
  Writes notes. Use when asked: "notes".
metadata: {a: &x [1, 2], b: *x}
---

# Notes

- a
- b
1. one
```sh
make
```
<!-- c -->
"""
TOKENS = (
    *(
        b"---",
        b"---\n",
        b"\n",
        b"\r\n",
        b"\r",
        b"```",
        b"~~~",
        b"!`id`",
        b"<!--",
        b"-->",
        b"&a",
        b"*a",
        b"!!python/object",
    ),
    *(
        b"\\u2028",
        b"\xe2\x80\xa8",
        b"\xef\xbb\xbf",
        b"\0",
        b"\xff",
        b"\\ud800",
        b"{",
        b"[",
        b'"',
        b"\\",
        b"null",
        b"1e999",
    ),
    *(b"<updates>", b"</updates>", b"<operations>", b"<changes>", b"9" * 400, b"[" * 2000, b"true", b"-0", b"NaN"),
)


@st.composite
def damaged(draw: st.DrawFn, samples: tuple[bytes, ...]) -> bytes:
    """Return one of the samples after a few cuts, doublings, splices, inserted tokens and flipped bytes."""
    data = draw(st.sampled_from(samples))
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 60)))
        what = draw(st.integers(0, 4))
        if what == 0:
            data = data[:start] + data[end:]
        elif what == 1:
            data = data[:end] + data[start:]
        elif what == 2:
            other = draw(st.sampled_from(samples))
            data = data[:start] + other[draw(st.integers(0, len(other))) :]
        elif what == 3:
            data = data[:start] + draw(st.sampled_from(TOKENS)) + data[end:]
        else:
            data = data[:start] + draw(st.binary(max_size=8)) + data[end:]
    return data


@pytest.fixture(autouse=True)
def in_time() -> object:
    """Hold each of the tests to its share of the minute."""
    start = time.monotonic()
    yield
    assert time.monotonic() - start < MINUTE / 2


@pytest.mark.parametrize("agent", ADAPTERS)
def test_fuzz_adapters(agent: str, report: Callable[[str], None]) -> None:
    samples = tuple(LINES[agent])
    name = TRANSCRIPTS[agent][0]
    seen = {"files": 0, "lines": 0, "malformed": 0, "turns": 0}

    @settings(max_examples=EXAMPLES, database=None)
    @given(lines=st.lists(st.sampled_from(samples) | damaged(samples), min_size=1, max_size=12))
    def feed(lines: list[bytes]) -> None:
        data = b"".join(line + b"\n" for line in lines)
        parser = ADAPTERS[agent].parser(name)
        events = []
        for line in raw_lines(data):
            events += parser.feed(line)
            offset, state = parser.checkpoint(line.end)
            assert 0 <= offset <= line.end
        events += parser.flush()
        assert len(json.dumps(state)) < 100_000
        assert all(0 <= event.span.start < event.span.end <= len(data) for event in events)
        seen["files"] += 1
        seen["lines"] += len(lines)
        seen["malformed"] += sum(isinstance(event, Malformed) for event in events)
        seen["turns"] += sum(isinstance(event, Turn) for event in events)

    feed()
    report(", ".join(f"{count} {what}" for what, count in seen.items()))
    assert seen["malformed"]
    assert seen["turns"]


def test_fuzz_reply_parsers(report: Callable[[str], None]) -> None:
    samples = tuple(text.encode() for text in REPLY)
    seen = {"replies": 0, "read": 0}

    @settings(max_examples=4 * EXAMPLES, database=None)
    @given(data=damaged(samples))
    def read(data: bytes) -> None:
        text = data.decode("utf-8", "surrogateescape")
        seen["replies"] += 1
        with suppress(BadReplyError):
            updates, _ = parse_updates(text, turns=3, skills=2)
            assert all(1 <= update.turn <= 3 and update.skill in {1, 2} for update in updates)
            assert all(isinstance(update.kind, Kind) and 0 <= update.confidence <= 1 for update in updates)
            seen["read"] += 1
        with suppress(BadReplyError):
            assert all(isinstance(change, str) for change in parse_changes(text, 1))
            seen["read"] += 1
        with suppress(BadReplyError):
            found = parse_operations(text)
            assert isinstance(found, str) or all(isinstance(item.op, Op) and item.anchor for item in found)
            seen["read"] += 1

    read()
    report(", ".join(f"{count} {what}" for what, count in seen.items()))
    assert seen["read"]


def test_fuzz_front_matter(report: Callable[[str], None]) -> None:
    seen = {"files": 0, "parsed": 0, "front matters changed, all refused": 0}

    @settings(max_examples=2 * EXAMPLES, database=None)
    @given(data=damaged((SKILL, SKILL.replace(b"\n", b"\r\n"))))
    def take_apart(data: bytes) -> None:
        seen["files"] += 1
        findings = lint(SKILL, data, "- a")
        with suppress(SkilldError):
            skill = parse(data)
            assert skill.data == data
            seen["parsed"] += 1
            if skill.front.encode() != SKILL[: SKILL.index(b"\n# Notes")]:
                assert findings[0].verdict == "refuse"
                seen["front matters changed, all refused"] += 1

    take_apart()
    report(", ".join(f"{count} {what}" for what, count in seen.items()))
    assert seen["front matters changed, all refused"]


def test_fuzz_edit_operations(report: Callable[[str], None]) -> None:
    seen = {"edits": 0, "applied": 0}
    words = st.sampled_from(
        ["- a", "- b", "1. one", "make", "---", "name: notes", "# Notes", "- new", "```", "", "x\ny"]
    )
    texts = words | st.lists(words, max_size=3).map("\n".join) | st.text(max_size=30)
    anchors = st.sampled_from(["- a", "- b", "1. one", "# Notes", "- a\n- b", "make"]) | texts
    operations = st.lists(st.builds(Operation, st.sampled_from(Op), anchors, texts), min_size=1, max_size=3)

    @settings(max_examples=2 * EXAMPLES, database=None)
    @given(data=st.just(SKILL) | damaged((SKILL,)), steps=operations)
    def edit(data: bytes, steps: list[Operation]) -> None:
        seen["edits"] += 1
        with suppress(SkilldError):
            after = apply(data, steps)
            assert parse(after).front == parse(data).front
            assert after != data
            seen["applied"] += 1

    edit()
    report(", ".join(f"{count} {what}" for what, count in seen.items()))
    assert seen["applied"]
