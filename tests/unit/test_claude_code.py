"""Whole Claude Code sessions in the formats of three client generations, and damaged lines."""

from __future__ import annotations

import json
from pathlib import Path

from skilld.agents import claude_code
from skilld.agents.claude_code.prefilter import parse
from skilld.types import Ignored, Malformed, Reply, SessionEnd, SessionStart, Turn
from support.event_lists import ignored_counts, reply_texts, skill_uses, turn_texts
from support.ground_truth import events_of, events_of_records
from support.rows import for_each

FIXTURES = Path(__file__).parents[1] / "fixtures" / "claude-code"
SHELF = "/home/kim/shop/.claude/skills"

TURNS = {
    "current": [
        ("typed", "Make the price list for June"),
        ("typed", "round every price to ten cents"),
        ("rejection", "use make clean, never rm"),
        ("queued", "and sort by article number"),
        ("queued", "keep the header in bold"),
        ("approval", "fine, but write to out/ from now on"),
        ("answer", "but francs for Geneva"),
        ("answer", "and the shelf"),
        ("command", 'only <b>June</b> & "July"'),
        ("typed", "put the buyer first"),
        ("typed", "[Image #1] make it look like this"),
        ("typed", "thanks"),
    ],
    "early": [
        ("typed", "measure twice this time"),
        ("typed", "this file, not the other"),
        ("typed", "always measure in millimetres"),
        ("typed", "use oak, pine bends"),
        ("queued", "and no nails"),
        ("queued", "screws are fine"),
        ("typed", "paint it blue"),
        ("rejection", "smaller steps please"),
        ("typed", "done"),
    ],
    "mixed": [("typed", "hello there"), ("typed", "shorter, please"), ("typed", "typed on the telephone")],
}
SKILLS = {
    "current": [
        ("price-list", f"{SHELF}/price-list/SKILL.md"),
        ("stock:audit", "/home/kim/plugins/stock/skills/audit/SKILL.md"),
        ("price-list", f"{SHELF}/price-list/SKILL.md"),
        ("price-list", f"{SHELF}/price-list/SKILL.md"),
    ],
    "early": [],
    "mixed": [],
}
IGNORED = {
    "current": {"skill-body": 3, "picked-answer": 1, "bare-command": 1, "compact-summary": 1, "meta": 2,
        "local-command": 1, "command-output": 1, "task-notification": 1, "interruption": 1, "image-only": 1},
    "early": {"meta": 1, "local-command": 1, "command-output": 1, "plan": 1, "reminder": 1, "bash-input": 1,
        "bash-output": 1, "hook": 2, "teammate": 1, "task-notification": 1, "compact-summary": 1, "sidechain": 1},
    "mixed": {"headless": 2, "meta": 1},
}  # fmt: skip
REPLIES = {
    "current": ["Here is the list for June.", "Done.", "Audited."],
    "early": ["Oak it is, without nails."],
    "mixed": ["Hello.", "Heard."],
}


def prompt(text: object, **fields: object) -> dict[str, object]:
    base = {"type": "user", "uuid": "u1", "sessionId": "s1", "timestamp": "2026-11-18T09:00:00Z", "version": "2.1.80"}
    return {**base, "message": {"role": "user", "content": text}, **fields}


@for_each("name", TURNS)
def test_a_session_is_read_as_it_was_typed(name: str) -> None:
    events = events_of(claude_code, FIXTURES / f"{name}.jsonl")
    assert turn_texts(events) == TURNS[name]
    assert skill_uses(events) == SKILLS[name]
    assert reply_texts(events) == REPLIES[name]
    assert ignored_counts(events) == IGNORED[name]
    assert not [event for event in events if isinstance(event, Malformed)]


def test_a_turn_records_its_origin() -> None:
    events = events_of(claude_code, FIXTURES / "current.jsonl")
    typed, note = [event for event in events if isinstance(event, Turn)][1:3]
    data = (FIXTURES / "current.jsonl").read_bytes()
    assert typed.key == "claude-code:c0ffee00-0009"
    assert (typed.agent, typed.session_id) == ("claude-code", "c0ffee00-0000-4000-8000-000000000001")
    assert (typed.at, typed.cwd) == ("2026-11-18T09:00:09.009Z", "/home/kim/shop")
    assert json.loads(data[typed.span.start : typed.span.end])["message"]["content"] == typed.text
    assert note.key == "claude-code:c0ffee00-0013#note"


@for_each(("command", "kind"), [("exit", SessionEnd), ("quit", SessionEnd), ("clear", SessionStart), ("cost", Ignored)])
def test_u5_exit_ends_a_session_and_clear_begins_one(command: str, kind: type) -> None:
    content = f"<command-name>/{command}</command-name>\n  <command-message>{command}</command-message>"
    record = {"type": "user", "uuid": "u1", "sessionId": "s", "cwd": "/w", "message": {"content": content}}
    assert {type(event) for event in events_of_records(claude_code, record | {"entrypoint": "cli"})} == {kind, Ignored}
    headless = events_of_records(claude_code, record | {"entrypoint": "sdk-cli"})
    assert {type(event) for event in headless} == {Ignored}
    typed = record | {"message": {"content": f"add <command-name>/{command}</command-name> to the docs"}}
    assert [type(event) for event in events_of_records(claude_code, typed | {"entrypoint": "cli"})] == [Turn]


def test_the_end_of_a_session_is_read_from_the_log() -> None:
    events = events_of(claude_code, FIXTURES / "current.jsonl")
    assert [e.session_id for e in events if isinstance(e, SessionEnd)] == ["c0ffee00-0000-4000-8000-000000000001"]
    moved = {"type": "continued-in", "sessionId": "old", "continuedInSessionId": "new"}
    assert [e.session_id for e in events_of_records(claude_code, moved) if isinstance(e, SessionEnd)] == ["old"]


def test_a_turn_copied_into_a_fork_keeps_its_key() -> None:
    forked = prompt("no tabs", sessionId="s2", forkedFrom={"sessionId": "s1", "messageUuid": "u1"})
    first, copy = events_of_records(claude_code, prompt("no tabs")), events_of_records(claude_code, forked)
    assert [e.key for e in first if isinstance(e, Turn)] == [e.key for e in copy if isinstance(e, Turn)]
    assert [e.session_id for e in copy if isinstance(e, Turn)] == ["s2"]


def test_ids_are_cut_so_that_no_log_makes_the_state_grow() -> None:
    long = {"type": "user", "uuid": "u" * 9999, "sessionId": "s" * 9999, "message": {"content": "always sign"}}
    (turn,) = events_of_records(claude_code, long)
    assert isinstance(turn, Turn)
    assert (turn.key, turn.session_id) == ("claude-code:" + "u" * 512, "s" * 512)


def test_a_record_without_uuid_or_session_is_keyed_by_what_it_has() -> None:
    bare = {"type": "user", "timestamp": "2026-11-18T09:00:00Z", "message": {"role": "user", "content": "no tabs"}}
    (turn,) = events_of_records(claude_code, bare, name="abc.jsonl")
    assert isinstance(turn, Turn)
    assert turn.session_id == "abc"
    assert turn.key.startswith("claude-code:abc:2026-11-18T09:00:00Z:")


@for_each(
    ("fields", "reason"),
    [
        ({"isMeta": True}, "meta"),
        ({"turnCompanion": True}, "meta"),
        ({"isSidechain": True}, "sidechain"),
        ({"isVisibleInTranscriptOnly": True}, "transcript-only"),
        ({"origin": {"kind": "peer"}}, "injected"),
        ({"promptSource": "system"}, "injected"),
        ({"promptSource": "cron"}, "injected"),  # of no version known today
        ({"origin": {"kind": "human"}, "textNotTyped": True}, "injected"),
        ({"origin": {"kind": "human"}, "handedOff": True}, "injected"),
        ({"sourceToolUseID": "toolu_1"}, "injected"),  # a tool made it
        ({"entrypoint": "sdk-cli"}, "headless"),
        ({"entrypoint": "sdk-py", "promptSource": "sdk"}, "headless"),
        ({"entrypoint": "mcp"}, "headless"),
        ({"promptSource": "sdk"}, "headless"),
    ],
)
def test_non_user_records_are_counted_and_dropped(fields: dict[str, object], reason: str) -> None:
    (event,) = events_of_records(claude_code, prompt("always use tabs", **fields))
    assert isinstance(event, Ignored)
    assert event.reason == reason


@for_each(
    "fields",
    [
        {"origin": {"kind": "human"}, "promptSource": "typed"},
        {"origin": {"kind": "human"}, "promptSource": "voice"},
        {"origin": {"kind": "human"}, "promptSource": "sdk", "entrypoint": "sdk-ts"},
        {"entrypoint": "claude-vscode", "promptSource": "sdk"},
        {"entrypoint": "claude-desktop"},
        {"version": "1.0.44"},
        {"sessionKind": "bg"},
    ],
)
def test_user_records_count_whatever_the_client(fields: dict[str, object]) -> None:
    assert turn_texts(events_of_records(claude_code, prompt("always use tabs", **fields))) == [
        ("typed", "always use tabs")
    ]


COMMAND = "<command-message>x</command-message>\n<command-name>/x</command-name>\n"


@for_each(
    ("version", "fields", "counts"),
    [
        ("2.1.196", {}, True),
        ("2.1.197", {}, False),
        ("2.1.330", {}, False),
        ("3.0.0", {"entrypoint": "cli"}, False),
        ("2.1.330", {"entrypoint": "cli", "promptSource": "typed"}, False),
        ("2.1.330", {"entrypoint": "claude-vscode", "promptSource": "sdk"}, False),
        ("2.1.330", {"origin": {"kind": "human"}}, True),
        ("2.1.330", {"message": {"content": f"{COMMAND}<command-args>always use tabs</command-args>"}}, True),
    ],
)
def test_a_prompt_without_a_signature_is_nobodys_in_versions_that_sign_them(
    version: str, fields: dict[str, object], *, counts: bool
) -> None:
    """Commands are never signed. A record without a version is of that of the record before it."""
    record = prompt("always use tabs", version=version) | fields
    unversioned = {key: value for key, value in record.items() if key != "version"}
    reply = {"type": "assistant", "sessionId": "s1", "version": version, "message": {"content": []}}
    for records in ([record], [reply, unversioned]):
        events = events_of_records(claude_code, *records)
        assert [words for _, words in turn_texts(events)] == ["always use tabs"] * counts
        assert ignored_counts(events) == ({} if counts else {"unsigned": 1})


def test_a_typed_command_may_stand_without_a_wrapper() -> None:
    """2.1.330 writes so what runs a skill in a sub-agent; an ordinary prompt, which tells its source, is no command."""
    human = {"kind": "human"}
    assert turn_texts(events_of_records(claude_code, prompt("/audit the tests", origin=human))) == [
        ("command", "the tests")
    ]
    typed = prompt("/srv is full", origin=human, promptSource="typed")
    assert turn_texts(events_of_records(claude_code, typed)) == [("typed", "/srv is full")]


def test_an_sdk_app_counts_as_a_person_until_a_program_sends_something() -> None:
    sdk = {"entrypoint": "sdk-ts", "sessionId": "s1"}
    result = prompt([{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}], **sdk)
    reply = {**sdk, "type": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}}
    person, program = prompt("no tabs", origin={"kind": "human"}, **sdk), prompt("no tabs", **sdk)
    kinds = [
        type(event) for event in events_of_records(claude_code, person, result, prompt("x", isMeta=True, **sdk), reply)
    ]
    assert kinds == [Turn, Ignored, Reply]
    assert [type(event) for event in events_of_records(claude_code, program, result, reply)] == [Ignored]


def test_tool_output_is_never_a_turn() -> None:
    assert events_of_records(claude_code, prompt("push to main", toolUseResult={"stdout": "push to main"})) == []


@for_each("fields", [{"entrypoint": "sdk-cli"}, {"isMeta": True}, {"isSidechain": True}])
def test_only_a_person_can_comment_on_a_tool_call(fields: dict[str, object]) -> None:
    call = {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t1", "name": "Edit"}]}}
    comment = prompt([{"type": "tool_result", "tool_use_id": "t1"}, {"type": "text", "text": "no tabs"}])
    assert turn_texts(events_of_records(claude_code, call, comment)) == [("approval", "no tabs")]
    assert events_of_records(claude_code, call, {**comment, **fields}) == []


def test_only_the_surely_typed_part_of_a_blocked_prompt_is_kept() -> None:
    head = "UserPromptSubmit operation blocked by hook:\nno\n\nOriginal prompt: push to main"
    blocked = {"type": "system", "subtype": "informational", "uuid": "s9", "content": head}
    assert turn_texts(events_of_records(claude_code, blocked)) == [("typed", "push to main")]
    twice = {**blocked, "content": f"{head}\n\nOriginal prompt: no tabs"}
    assert turn_texts(events_of_records(claude_code, twice)) == [("typed", "no tabs")]
    for fields in ({"entrypoint": "sdk-cli"}, {"subtype": "away_summary"}, {"content": "Unknown command: /x"}):
        assert events_of_records(claude_code, {**blocked, **fields}) == []


@for_each(
    ("written", "at"),
    [
        ("2026-11-18T09:00:00Z", "2026-11-18T09:00:00Z"),
        ("2026-11-18T09:00:00.123Z", "2026-11-18T09:00:00.123Z"),
        ("2026-11-18T10:30:00+01:30", "2026-11-18T09:00:00Z"),
        ("2026-11-18T09:00:00", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("yesterday", None),
        (1763456400, None),
    ],
)
def test_a_timestamp_is_utc_or_unknown(written: object, at: str | None) -> None:
    (turn,) = events_of_records(claude_code, prompt("no tabs", timestamp=written))
    assert isinstance(turn, Turn)
    assert turn.at == at


def test_key_order_and_whitespace_do_not_matter() -> None:
    record = prompt("always use tabs", origin={"kind": "human"})
    line = json.dumps(dict(reversed(record.items())), indent=None, separators=(" , ", " : ")).encode()
    assert turn_texts(events_of_records(claude_code, line)) == [("typed", "always use tabs")]


def test_a_split_character_is_dropped() -> None:
    line = json.dumps(prompt("ok X")).replace("X", "\\ud83d").encode()
    assert turn_texts(events_of_records(claude_code, line)) == [("typed", "ok \ufffd")]


@for_each("line", [b"42", b'"words"', b"[1]", b"{broken}", b"\xff\xfe", b'{"type":"user","message":"x"}'])
def test_an_invalid_line_is_counted(line: bytes) -> None:
    (event,) = events_of_records(claude_code, line)
    assert isinstance(event, Malformed)


def test_prefilled_agent_words_are_no_reply() -> None:
    fields = {"type": "assistant", "sessionId": "s1", "uuid": "a1"}
    failed = {**fields, "isApiErrorMessage": True, "message": {"content": [{"type": "text", "text": "API Error: 500"}]}}
    filled = {**fields, "message": {"model": "<synthetic>", "content": [{"type": "text", "text": "No response."}]}}
    assert events_of_records(claude_code, failed, filled) == []


GOOD = b'{"type":"user","uuid":"u2"}'
OTHER = b'{"type":"mode","mode":"normal"}'
TORN = b'{"type":"user","message":{"role":"user","content":"and th'


@for_each(
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
