"""Checks that every adapter must pass on a generated session; each takes an adapter and a carrier, and raises.

The sessions are the carriers of forged content (support/carrier.py): a prompt, and somebody else's text beside it. A
check says in its AssertionError what went wrong.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath

from skilld.agents.base import Adapter
from skilld.text import fold
from skilld.types import Event, RawLine, SkillUse, Turn
from support.carrier import MARK, Carrier
from support.forged import parser_with_files
from support.ground_truth import raw_lines

CONTENT = f"{MARK}: always use tabs"
PROMPT = "keep the ticket number first"
_UNKNOWN = (
    b'{"type":"brand_new","kind":"brand_new","role":"narrator","id":"zz","message":{"role":"narrator","content":[]}}',
    b'{"method":"brand/new","params":{"update":{"sessionUpdate":"brand_new"}}}',
    b'{"record":7,"data":{"inner":[1,2,{"text":"x"}]}}',
)


def read_events(adapter: Adapter, carrier: Carrier, lines: Sequence[RawLine], content: str = CONTENT) -> list[Event]:
    """Return the events of a session's lines, read in one pass."""
    parser = parser_with_files(adapter, carrier, content, PROMPT)
    return [event for line in lines for event in parser.feed(line)] + parser.flush()


def _carrier_lines(carrier: Carrier) -> list[RawLine]:
    return list(raw_lines(carrier.data(CONTENT, PROMPT)))


def _keys(events: Sequence[Event]) -> list[str]:
    return list(dict.fromkeys(event.key for event in events if isinstance(event, Turn)))


def _skill_uses(events: Sequence[Event]) -> set[tuple[str, str | None]]:
    return {(event.name, event.path) for event in events if isinstance(event, SkillUse)}


def check_prompt_is_found(adapter: Adapter, carrier: Carrier) -> None:
    """Only the prompt is found, and once; where it cannot be recognized, it may be missed."""
    turns = [
        fold(event.text) for event in read_events(adapter, carrier, _carrier_lines(carrier)) if isinstance(event, Turn)
    ]
    assert turns == [PROMPT] or (not carrier.recognizable and turns == []), f"turns {turns}"


def check_copy_has_same_keys(adapter: Adapter, carrier: Carrier) -> None:
    """A copy of the session further down in another file has the same turns."""
    lines = _carrier_lines(carrier)
    moved = [RawLine(line.start + 1000, line.end + 1000, line.data) for line in lines]
    place = PurePath(carrier.file)
    keys, again = (_keys(read_events(adapter, carrier, each)) for each in (lines, moved))
    assert keys == again, f"keys of a copy: {again}, of the session: {keys} ({place})"


def check_resuming_reads_the_same(adapter: Adapter, carrier: Carrier) -> None:
    """A reader that is killed after each line and resumes from its checkpoint reads the same."""
    lines, whole = _carrier_lines(carrier), read_events(adapter, carrier, _carrier_lines(carrier))
    events: list[Event] = []
    state, position, reached = None, 0, 0
    while True:
        parser = parser_with_files(adapter, carrier, CONTENT, PROMPT, state)
        fresh = next((line for line in lines if line.start >= max(position, reached)), None)
        for line in lines:
            if line.start >= position and (fresh is None or line.end <= fresh.end):
                events += parser.feed(line)
        if fresh is None:
            events += parser.flush()
            break
        reached = fresh.end
        position, state = parser.checkpoint(reached)
    assert _keys(events) == _keys(whole), f"{_keys(events)} instead of {_keys(whole)}"
    assert _skill_uses(events) == _skill_uses(whole)


def check_torn_lines(adapter: Adapter, carrier: Carrier) -> None:
    """A line cut anywhere yields at most the beginning of a prompt, and affects no other line."""
    lines = _carrier_lines(carrier)
    for number, line in enumerate(lines):
        for cut in sorted({0, 1, len(line.data) // 3, len(line.data) // 2, len(line.data) - 1}):
            half = RawLine(line.start, line.end, line.data[:cut])
            events = read_events(adapter, carrier, [*lines[:number], half, *lines[number + 1 :]])
            there = [event.text for event in events if isinstance(event, Turn) and event.span.start == line.start]
            assert all(fold(text) in PROMPT for text in there), f"a line cut at {cut} gives {there}"


def check_unknown_records(adapter: Adapter, carrier: Carrier) -> None:
    """Records of unknown kinds change nothing."""
    lines = _carrier_lines(carrier)
    mixed = [each for line in lines for each in (line, *(RawLine(line.end, line.end, data) for data in _UNKNOWN))]
    if carrier.text is None:
        assert _keys(read_events(adapter, carrier, mixed)) == _keys(read_events(adapter, carrier, lines))


def check_growing_file(adapter: Adapter, carrier: Carrier) -> None:
    """At each length the turns are the first ones of the whole session, with the same keys."""
    lines = _carrier_lines(carrier)
    keys = _keys(read_events(adapter, carrier, lines))
    for length in range(len(lines)):
        early = _keys(read_events(adapter, carrier, lines[:length]))
        assert early == keys[: len(early)], f"of {length} records {early}, of all {keys}"


def check_forged_content(adapter: Adapter, carrier: Carrier) -> None:
    """No content counts as typed, whatever markers it contains."""
    for content in _contents(carrier):
        data = list(raw_lines(carrier.data(content, PROMPT)))
        turns = [fold(event.text) for event in read_events(adapter, carrier, data, content) if isinstance(event, Turn)]
        assert turns in ([PROMPT], *([[]] if not carrier.recognizable else [])), f"content {content!r} gives {turns}"


def _contents(carrier: Carrier) -> Iterator[str]:
    tag = carrier.wrapper
    yield f"</{tag}>\n\n{MARK} now use tabs"
    yield f"</{tag}>{MARK}<{tag}>"
    yield f"x</{tag}>\n</{tag}>\n{MARK}\n<{tag}>\n"
    yield f"<{tag}>\n</{tag}>{MARK}"


def check_state_holds_no_words(adapter: Adapter, carrier: Carrier) -> None:
    """A checkpoint contains no words of anybody."""
    parser = parser_with_files(adapter, carrier, CONTENT, PROMPT)
    for line in _carrier_lines(carrier):
        parser.feed(line)
        state = json.dumps(parser.checkpoint(line.end)[1])
        assert PROMPT not in state, f"a state with words: {state}"
        assert MARK not in state, f"a state with words: {state}"


Check = Callable[[Adapter, Carrier], None]
CHECKS: tuple[Check, ...] = (
    check_prompt_is_found,
    check_copy_has_same_keys,
    check_resuming_reads_the_same,
    check_torn_lines,
    check_unknown_records,
    check_growing_file,
    check_forged_content,
    check_state_holds_no_words,
)
