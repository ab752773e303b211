"""For every agent: no input makes an adapter raise, grow or keep anyone's words.

Damaged bytes are tried in tests/security/test_fuzz.py, long hostile texts in tests/security/test_linear_time.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from skilld.agents import ADAPTERS
from skilld.ingest.inspect import guess_agent, inspect
from skilld.types import Ignored, Malformed, RawLine, Reply, SkillUse, Span, Turn
from support.ground_truth import SHARED, events_of, events_with_restarts, raw_lines
from tools.fuzz_targets import FIXTURES, transcripts

LINES = {
    agent: [line.data for path in transcripts(agent) for line in raw_lines(path.read_bytes())]
    for agent in ADAPTERS
    if transcripts(agent)
}
EVERY = pytest.mark.parametrize("agent", LINES)

# What may stand in the place of any value: of another kind, empty, or not text at all.
WRONG: list[Any] = [None, 7, "x\ud800", [], {}, [7, "x", {"text": 7}], {"type": ["x"], "text": {}, "content": [[]]}]


def mutations(data: bytes) -> Iterator[bytes]:
    """Yield a JSON text with each wrong value in the place of each that stands in it."""
    whole = json.loads(data)

    def nested_texts(value: Any) -> Iterator[bytes]:
        for key in [*value] if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            right = value[key]
            for wrong in WRONG:
                value[key] = wrong
                yield json.dumps(whole).encode()
            value[key] = right
            yield from nested_texts(right)

    yield from nested_texts(whole)


def feed(agent: str, lines: Iterable[bytes], state: dict[str, Any] | None = None) -> dict[str, Any]:
    """Feed lines to an adapter, with restarts between; the list of what was typed comes and goes. Return its state."""
    name = transcripts(agent)[0]
    parser: Any = ADAPTERS[agent].parser(name, state)
    kept: dict[str, Any] = {}
    for number, line in enumerate(lines):
        if hasattr(parser, "set_typed_list") and number % 2:
            parser.set_typed_list(None if number % 3 else line)
        for event in parser.feed(RawLine(number, number + 1, line)):
            assert 0 <= event.span.start < event.span.end <= number + 1
            if isinstance(event, Turn | Reply):
                event.text.encode()
            if isinstance(event, SkillUse):
                f"{event.name}{event.path}".encode()
        if number % 5 == 0:
            offset, kept = parser.checkpoint(number + 1)
            assert 0 <= offset <= number + 1
            kept = json.loads(json.dumps(kept))
            if offset == number + 1:
                parser = ADAPTERS[agent].parser(name, kept)
    parser.flush()
    return kept


@EVERY
def test_no_mutated_record_or_state_breaks_an_adapter(agent: str) -> None:
    records = [line for line in LINES[agent] if line.startswith(b"{")]
    feed(agent, (each for record in records for line in mutations(record) for each in (line, record)))
    for state in mutations(json.dumps(feed(agent, LINES[agent])).encode()):
        feed(agent, LINES[agent][:6], json.loads(state))


@EVERY
@pytest.mark.parametrize("line", [b"{", b"[1]", b"null", b"\xff\xfe", b"[" * 100_000])
def test_bad_lines_are_counted(agent: str, line: bytes) -> None:
    assert ADAPTERS[agent].parser(transcripts(agent)[0]).feed(RawLine(3, 9, line)) == [Malformed(Span(3, 9))]


def test_blank_lines_are_ignored() -> None:
    for agent in LINES.keys() - {"opencode", "kilo"}:  # whose records are rows of a database
        parser = ADAPTERS[agent].parser(transcripts(agent)[0])
        assert [parser.feed(RawLine(0, 1, line)) for line in (b"", b"  ", b"\r")] == [[], [], []], agent


@EVERY
def test_the_state_holds_no_words_and_stays_small(agent: str) -> None:
    parser = ADAPTERS[agent].parser(transcripts(agent)[0])
    words = set()
    for number in range(300):
        line = LINES[agent][number % len(LINES[agent])]
        line = re.sub(
            rb'(?<=[iI]d": ")|(?<=[iI]d":")|(?<=[iI]D":")|(?<="skill":")', b"%d-" % number, line
        )  # calls without end
        events = parser.feed(RawLine(number, number + 1, line))
        words |= {event.text for event in events if isinstance(event, Turn | Reply)}
    state = json.dumps(parser.checkpoint(300)[1], ensure_ascii=False)
    assert len(state) < 40_000
    assert [text for text in words if len(text) > 8 and text in state] == []


@pytest.mark.parametrize("every", [1, 3])
@EVERY
def test_a_reader_killed_anywhere_loses_nothing(agent: str, every: int) -> None:
    for path in [path for path in sorted((FIXTURES / agent).rglob("*")) if ADAPTERS[agent].is_transcript(path)]:
        kinds = Turn | SkillUse | Reply | Ignored
        whole = [event for event in events_of(ADAPTERS[agent], path) if isinstance(event, kinds)]
        again = [event for event in events_with_restarts(ADAPTERS[agent], path, every) if isinstance(event, kinds)]
        assert list(dict.fromkeys(again)) == list(dict.fromkeys(whole))


TALKS = SHARED / "transcripts"
COLLECTED = [path for path in sorted(TALKS.glob("*/**/*")) if path.is_file()]


@pytest.mark.skipif(not COLLECTED, reason="no collected transcripts beside the repository")
def test_collected_sessions_are_read_without_errors() -> None:
    for path in COLLECTED:
        size, folder = path.stat().st_size, path.relative_to(TALKS).parts[0]
        if size < 200_000 and (found := guess_agent(path)) is not None:
            json.dumps(inspect(path, ADAPTERS[found]).as_json())
        agent = {"gemini": "gemini-cli", "codex-traex": "traex"}.get(folder, folder)
        if agent not in LINES or path.suffix != ".jsonl" or path.name == "history.jsonl":
            continue
        events = events_of(ADAPTERS[agent], path)
        assert events, path
        assert all(0 <= event.span.start <= event.span.end <= size for event in events), path
        malformed = sum(isinstance(event, Malformed) for event in events)
        assert malformed <= max(1, path.read_bytes().count(b"\n") / 4), path
        keys = [event.key for event in events if isinstance(event, Turn)]
        assert len(keys) == len(set(keys)), path
        assert not keys or "subagents" not in path.parts, path
