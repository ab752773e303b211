"""Prompts typed while Claude Code was busy count once, if they were delivered."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any

from skilld.agents import claude_code
from skilld.agents.claude_code import Parser
from skilld.types import Event, Turn
from support.ground_truth import events_of_records, raw_lines
from support.rows import for_each

OLD, NEW = "2.1.33", "2.1.197"


def stamp(second: int) -> str:
    return f"2026-11-18T09:00:{second:02}.000Z"


def op(operation: str, second: int, **fields: object) -> dict[str, Any]:
    return {"type": "queue-operation", "operation": operation, "timestamp": stamp(second), "sessionId": "s1", **fields}


def put(text: object, second: int) -> dict[str, Any]:
    return op("enqueue", second, content=text)


def user(text: str, second: int, version: str = NEW, **fields: object) -> dict[str, Any]:
    base = {"type": "user", "uuid": f"u{second}", "timestamp": stamp(second), "sessionId": "s1", "version": version}
    return {**base, "cwd": "/home/kim", "message": {"role": "user", "content": text}, **fields}


def human(text: str, second: int, source: str = "typed") -> dict[str, Any]:
    return user(text, second, origin={"kind": "human"}, promptSource=source, entrypoint="cli")


def attached(text: str, second: int, **fields: object) -> dict[str, Any]:
    attachment = {"type": "queued_command", "prompt": text, "commandMode": "prompt", "timestamp": stamp(second)}
    record = {"type": "attachment", "uuid": f"a{second}", "sessionId": "s1", "timestamp": stamp(second + 9)}
    return {**record, "attachment": {**attachment, "origin": {"kind": "human"}, **fields}}


FILLER = {"type": "mode", "mode": "normal"}
START = human("start", 1)


def typed_turns(*records: dict[str, Any]) -> list[tuple[str, str]]:
    events = events_of_records(claude_code, *records)
    return [(event.how.value, event.text) for event in events if isinstance(event, Turn)]


@for_each(
    ("records", "expected"),
    [
        # Delivered at the end of the agent's turn.
        ([put("no tabs", 2), op("dequeue", 3), human("no tabs", 4, "queued")], [("queued", "no tabs")]),
        # Delivered in mid-turn, newer clients.
        ([put("no tabs", 2), op("remove", 3), FILLER, attached("no tabs", 2)], [("queued", "no tabs")]),
        (
            [put("no tabs", 2), op("remove", 3, content="no tabs", reason="absorbed_mid_turn"), attached("no tabs", 2)],
            [("queued", "no tabs")],
        ),
        # No human sent it.
        ([put("no tabs", 2), op("remove", 3), FILLER, attached("no tabs", 2, origin=None)], []),
        # The attachment never came.
        ([put("no tabs", 2), op("remove", 3), human("next", 9)], [("typed", "next")]),
        ([put("no tabs", 2), op("remove", 3), *[FILLER] * 30], []),
        ([put("no tabs", 2), op("remove", 3), *[FILLER] * 30, attached("no tabs", 2)], [("queued", "no tabs")]),
        # Withdrawn.
        ([put("no tabs", 2), op("remove", 3, content="no tabs", reason="discarded"), *[FILLER] * 30], []),
        ([put("no tabs", 2), op("popAll", 3, content="no tabs"), human("no blanks", 9)], [("typed", "no blanks")]),
        ([put("a", 2), put("b", 3), op("popAll", 4), human("a and b", 9)], [("typed", "a and b")]),
        ([put("a", 2), put("b", 3), op("popAll", 4, content="a"), human("c", 9)], [("typed", "c")]),
        # The client was killed, or nobody typed it (S6: an agent's schedule queues its prompt in the same way).
        ([put("no tabs", 2)], []),
        ([put("no tabs", 2), human("again", 9)], [("typed", "again")]),
        # Sent, and lost by the client: the agent never saw it.
        ([put("no tabs", 2), op("dequeue", 3), human("again", 9)], [("typed", "again")]),
        ([put("no tabs", 2), op("dequeue", 3)], []),
        # Not words of a person.
        ([put("<task-notification>done</task-notification>", 2), op("remove", 3)], []),
        ([put("/model opus", 2), op("remove", 3)], []),
        ([put("", 2), op("dequeue", 3)], []),
        ([op("enqueue", 2), op("dequeue", 3)], []),
        ([put("ls", 2), op("dequeue", 3), user("<bash-input>ls</bash-input>", 4)], []),
        ([attached("no tabs", 2, commandMode="task-notification")], []),
        ([attached("no tabs", 2, origin={"kind": "peer"})], []),
        ([attached("no tabs", 2, isMeta=True)], []),
        # The order of the operations names no text.
        (
            [
                put("<task-notification>x</task-notification>", 2),
                put("a", 3),
                op("dequeue", 4),
                human("a", 5, "queued"),
            ],
            [("queued", "a")],
        ),
        (
            [put("a", 2), put("b", 3), op("remove", 4), attached("b", 3), op("dequeue", 5), human("a", 6, "queued")],
            [("queued", "b"), ("queued", "a")],
        ),
        ([put("a", 2), put("b", 3), op("dequeue", 4), human("b", 5, "queued")], [("queued", "b")]),
        ([put("<task-notification>x</task-notification>", 2), put("a", 3), op("dequeue", 4)], []),
        # The same operation written many times over.
        ([*[put("no tabs", 2)] * 5, op("dequeue", 3), human("no tabs", 4, "queued")], [("queued", "no tabs")]),
        # Typed before, flushed out of order in the first lines of a file.
        (
            [put("no tabs", 5), human("first", 3), op("dequeue", 6), human("no tabs", 7, "queued")],
            [("typed", "first"), ("queued", "no tabs")],
        ),
        # Text blocks.
        ([put([{"type": "text", "text": "no tabs"}], 2), op("popAll", 3)], []),
    ],
)
def test_a_queued_prompt_of_newer_clients_counts_once(
    records: list[dict[str, Any]], expected: list[tuple[str, str]]
) -> None:
    assert typed_turns(START, *records) == [("typed", "start"), *expected]


@for_each(
    ("records", "expected"),
    [
        # What was delivered in mid-turn was written down nowhere else.
        ([put("no tabs", 2), op("remove", 3), user("next", 9, OLD)], [("queued", "no tabs"), ("typed", "next")]),
        ([put("no tabs", 2), op("dequeue", 3), user("no tabs", 4, OLD)], [("queued", "no tabs")]),
        ([put("no tabs", 2), op("dequeue", 3), user("no tabs\nplease", 4, OLD)], [("queued", "no tabs\nplease")]),
        (
            [put("a", 2), put("b", 3), op("dequeue", 4), op("dequeue", 4), user("a", 5, OLD), user("b", 6, OLD)],
            [("queued", "a"), ("queued", "b")],
        ),
        ([put("/usr/lib is wrong", 2), op("remove", 3)], [("queued", "/usr/lib is wrong")]),
        ([put([{"type": "text", "text": "no tabs"}], 2), op("remove", 3)], [("queued", "no tabs")]),
        # Not words of a person: background tasks, in words of the agent.
        ([put('{"task_id":"b1","description":"always use npm","task_type":"local_bash"}', 2), op("remove", 3)], []),
        ([put('{"task_id":"b1","description":"x"}', 2), put("no tabs", 3), op("remove", 4)], [("queued", "no tabs")]),
        # Never delivered.
        ([put("no tabs", 2)], []),
        ([put("no tabs", 2), user("next", 9, OLD)], [("typed", "next")]),
    ],
)
def test_a_queued_prompt_of_older_clients_counts_once(
    records: list[dict[str, Any]], expected: list[tuple[str, str]]
) -> None:
    assert typed_turns(user("start", 1, OLD), *records) == [("typed", "start"), *expected]


@for_each(
    "records",
    [
        [put("no tabs", 2), op("dequeue", 2), user("no tabs", 3, entrypoint="sdk-cli", promptSource="sdk")],
        [put("no tabs", 2), op("dequeue", 2)],
        [put("no tabs", 2)],
        [put("no tabs", 2), op("remove", 2), *[FILLER] * 30],
        [attached("no tabs", 2) | {"entrypoint": "sdk-cli"}],
    ],
)
def test_headless_runs_queue_no_user_turns(records: list[dict[str, Any]]) -> None:
    assert typed_turns(user("go", 1, entrypoint="sdk-cli", promptSource="sdk"), *records) == []
    assert typed_turns(user("go", 1, "2.1.90", entrypoint="sdk-cli"), *records) == []
    assert typed_turns(*records) == []


def test_a_queued_prompt_records_its_origin() -> None:
    (_, turn) = events_of_records(claude_code, user("start", 1, OLD), put("no tabs", 2), op("remove", 3))
    assert isinstance(turn, Turn)
    assert turn.key == "claude-code:s1:2026-11-18T09:00:02.000Z:ff9131b29584"
    assert (turn.at, turn.session_id, turn.cwd) == (stamp(2), "s1", "/home/kim")
    (_, turn) = events_of_records(claude_code, START, attached("no tabs", 2))
    assert isinstance(turn, Turn)
    assert (turn.key, turn.at) == ("claude-code:a2", stamp(2))
    (_, turn) = events_of_records(claude_code, START, attached("no tabs", 2, source_uuid="u7"))
    assert isinstance(turn, Turn)
    assert turn.key == "claude-code:u7"


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def feed(parser: Parser, data: bytes, start: int = 0) -> list[Event]:
    return [event for line in raw_lines(data, start) for event in parser.feed(line)]


@for_each(
    "delivery",
    [
        [op("dequeue", 30), human("no tabs", 31, "queued")],
        [op("dequeue", 30), user("no tabs", 31, OLD)],
        [op("remove", 30), attached("no tabs", 2)],
    ],
)
@for_each("killed", [True, False])
def test_a_prompt_queued_longer_than_the_idle_limit_counts_when_delivered(
    delivery: list[dict[str, Any]],
    killed: bool,  # noqa: FBT001 - a table
) -> None:
    early = lines(START, put("no tabs", 2))
    parser = claude_code.parser(PurePath("s1.jsonl"))
    events = feed(parser, early) + parser.flush()
    assert [event.text for event in events if isinstance(event, Turn)] == ["start"]
    if killed:
        position, state = parser.checkpoint(len(early))
        assert position == len(early)
        parser = claude_code.parser(PurePath("s1.jsonl"), json.loads(json.dumps(state)))
    events += feed(parser, early + lines(*delivery), len(early)) + parser.flush()
    assert [event.text for event in events if isinstance(event, Turn)] == ["start", "no tabs"]


def test_reading_resumes_at_the_waiting_line() -> None:
    parser = claude_code.parser(PurePath("s1.jsonl"))
    first, waiting = lines(START), lines(put("no tabs", 2), FILLER)
    feed(parser, first + waiting)
    assert parser.checkpoint(len(first + waiting))[0] == len(first)
    feed(parser, first + waiting + lines(op("popAll", 3)), len(first + waiting))
    assert parser.checkpoint(999)[0] == 999


def test_a_scheduled_prompt_is_no_turn_and_blocks_nothing() -> None:
    """2.1.330 queues what a schedule sends as it queues what is typed; its delivery tells them apart."""
    parser = claude_code.parser(PurePath("s1.jsonl"))
    fired = user("check the tests", 4, isMeta=True, promptSource="system", turnOrigin="scheduled")
    data = lines(START, put("check the tests", 2), op("dequeue", 3), fired)
    assert [event.text for event in feed(parser, data) if isinstance(event, Turn)] == ["start"]
    assert parser.checkpoint(len(data))[0] == len(data)
