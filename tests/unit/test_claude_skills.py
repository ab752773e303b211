"""Which skills a Claude Code log shows in use, and which it merely names."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any

from skilld.agents import claude_code
from skilld.types import Ignored, SkillUse, Turn
from support.ground_truth import events_of_records, raw_lines
from support.rows import for_each

FOLDER = "/home/kim/shop/.claude/skills/price-list"
FILE = f"{FOLDER}/SKILL.md"
BODY = f"Base directory for this skill: {FOLDER}\n\n# Price list\n"


def record(kind: str, uuid: str, content: object = None, **fields: object) -> dict[str, Any]:
    base = {"type": kind, "uuid": uuid, "sessionId": "s1", "timestamp": "2026-11-18T09:00:00Z", "cwd": "/home/kim/shop"}
    return {**base, "version": "2.1.197", "message": {"content": content}, **fields}


def call(call_id: str, tool: str = "Skill", **arguments: object) -> dict[str, Any]:
    block = {"type": "tool_use", "id": call_id, "name": tool, "input": arguments}
    return record("assistant", f"a-{call_id}", [block])


def launched(call_id: str, text: str = "Launching skill: x", result: object = None, **fields: object) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": text, **fields}
    return record("user", f"r-{call_id}", [block], toolUseResult=result)


def body(text: str = BODY, **fields: object) -> dict[str, Any]:
    return record("user", "b1", [{"type": "text", "text": text}], isMeta=True, **fields)


def typed(name: str, arguments: str = "", uuid: str = "c1", **fields: object) -> dict[str, Any]:
    text = f"<command-message>{name}</command-message>\n<command-name>/{name}</command-name>"
    return record("user", uuid, text + (f"\n<command-args>{arguments}</command-args>" if arguments else ""), **fields)


def prompt(text: str) -> dict[str, Any]:
    return record("user", "u9", text, origin={"kind": "human"}, promptSource="typed")


def uses_in(*records: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [(e.name, e.path) for e in events_of_records(claude_code, *records) if isinstance(e, SkillUse)]


CALL = call("t1", skill="price-list")
FORKED = (
    '<local-command-stdout>Running</local-command-stdout>\n<forked-skill-launch>{"agentId":"a1"}</forked-skill-launch>'
)
FILLER = {"type": "mode", "mode": "normal"}


@for_each(
    "records",
    [
        [CALL, launched("t1"), body(sourceToolUseID="t1")],
        # The body may be written before the result of the call.
        [CALL, body(sourceToolUseID="t1"), launched("t1")],
        # Clients before 2.0.76 do not name the call.
        [CALL, launched("t1"), body(parentUuid="r-t1")],
        # Two calls at once.
        [CALL, call("t2", "Read"), launched("t2", "text"), launched("t1"), FILLER, body(sourceToolUseID="t1")],
        [call("t1", command="price-list"), launched("t1"), body(sourceToolUseID="t1")],
        [call("t1", skill="/price-list", args="June"), launched("t1"), body(sourceToolUseID="t1")],
        [typed("price-list", "June"), body(parentUuid="c1")],
        [typed("price-list"), body(parentUuid="c1", turnCompanion=True)],
        # In the first lines of a file the body may stand before its command.
        [body(parentUuid="c1"), typed("price-list", "June")],
        [body(parentUuid="c1"), FILLER, typed("price-list")],
        [body(parentUuid="gone"), *[FILLER] * 30],
        [body(parentUuid="gone")],
    ],
)
def test_the_skill_body_names_the_file(records: list[dict[str, Any]]) -> None:
    assert uses_in(*records) == [("price-list", FILE)]


def test_the_full_name_comes_from_the_call_or_the_command() -> None:
    plugin = {"success": True, "commandName": "shop:price-list"}
    assert uses_in(CALL, launched("t1", result=plugin), body(sourceToolUseID="t1")) == [("shop:price-list", FILE)]
    assert uses_in(body(parentUuid="c1"), typed("shop:price-list")) == [("shop:price-list", FILE)]


def test_a_windows_path_keeps_its_separators() -> None:
    there = body("Base directory for this skill: C:\\shop\\skills\\price-list\n\n#", parentUuid="c1")
    assert uses_in(typed("price-list"), there) == [("price-list", "C:\\shop\\skills\\price-list\\SKILL.md")]


@for_each(
    "records",
    [
        # A skill that runs in a sub-agent, called by the agent or typed.
        [CALL, launched("t1", 'Skill "price-list" completed (forked execution).', {"status": "forked"})],
        [
            record("user", "c1", "/price-list June"),
            record("user", "o1", "<local-command-stdout>\nlist\n</local-command-stdout>", parentUuid="c1"),
        ],
        [
            record("user", "c1", "/price-list June", origin={"kind": "human"}),
            {**record("system", "o1", parentUuid="c1"), "subtype": "local_command", "content": FORKED},
        ],
        # A skill kept as a command file has no base directory.
        [CALL, launched("t1"), body("Write the list.", sourceToolUseID="t1"), prompt("next")],
        [CALL, launched("t1"), prompt("next")],
        [CALL, launched("t1"), *[FILLER] * 30],
    ],
)
def test_without_a_body_only_the_name_is_known(records: list[dict[str, Any]]) -> None:
    assert uses_in(*records) == [("price-list", None)]


def test_a_use_without_a_body_precedes_the_next_turn() -> None:
    events = events_of_records(claude_code, CALL, launched("t1"), prompt("next"))
    assert [type(event) for event in events] == [SkillUse, Turn]


def test_earlier_names_of_the_session_are_remembered() -> None:
    stub = "(Re-invocation of /price-list — the skill instructions were previously loaded in this session.)"
    again = [typed("price-list", uuid="c2"), body(stub, parentUuid="c2")]
    assert uses_in(typed("price-list"), body(parentUuid="c1"), *again) == [("price-list", FILE), ("price-list", FILE)]
    assert uses_in(*again) == [("price-list", None)]


def test_a_compaction_restores_skills() -> None:
    rows = [
        {"name": "price-list", "path": "projectSettings:price-list", "content": BODY},
        {"name": "audit", "path": "userSettings:audit", "content": "# Audit"},
        {"name": 3},
        "x",
    ]
    assert uses_in(record("attachment", "x1", attachment={"type": "invoked_skills", "skills": rows})) == [
        ("price-list", FILE),
        ("audit", None),
    ]


@for_each(
    "records",
    [
        [CALL],
        [CALL, launched("t1", "<tool_use_error>Unknown skill: price-list</tool_use_error>", is_error=True)],
        [call("t1", "Read", file_path=FILE), launched("t1", "# Price list")],
        [call("t1", "Bash", command=f"cat {FILE}"), launched("t1", "# Price list")],
        [record("attachment", "x1", attachment={"type": "skill_listing", "content": f"- price-list\n{BODY}"})],
        [record("attachment", "x1", attachment={"type": "dynamic_skill", "skillNames": ["price-list"]})],
        [prompt(BODY)],
        [record("user", "u1", BODY)],
        # A command file, not a skill.
        [typed("fix", "it"), body("Fix the bug.", parentUuid="c1")],
        [typed("price-list")],
        # Not a person's session, not the main thread.
        [CALL | {"entrypoint": "sdk-cli"}, body(sourceToolUseID="t1", entrypoint="sdk-cli")],
        [CALL | {"isSidechain": True}, body(sourceToolUseID="t1", isSidechain=True)],
    ],
)
def test_a_skill_only_named_listed_or_read_is_not_in_use(records: list[dict[str, Any]]) -> None:
    assert uses_in(*records) == []


def test_a_command_run_by_the_agent_does_not_count_as_typed() -> None:
    events = events_of_records(
        claude_code,
        call("t1", "SlashCommand", command="/fix all the tests"),
        launched("t1"),
        typed("fix", "all the tests", parentUuid="r-t1"),
        body("Fix the bug.", parentUuid="c1"),
        prompt("next"),
    )
    assert [event.text for event in events if isinstance(event, Turn)] == ["next"]
    assert [event.reason for event in events if isinstance(event, Ignored)] == ["agents-command", "meta"]
    assert not [event for event in events if isinstance(event, SkillUse)]


def test_a_command_typed_after_a_sub_agent_ran_it_counts_as_typed() -> None:
    result = launched("t1", 'Skill "price-list" completed (forked execution).', {"status": "forked"})
    events = events_of_records(claude_code, CALL, result, record("user", "c1", "/price-list June"))
    assert [event.text for event in events if isinstance(event, Turn)] == ["June"]


def test_reading_resumes_at_the_waiting_call() -> None:
    data = b"".join(json.dumps(each).encode() + b"\n" for each in [CALL, launched("t1"), body(sourceToolUseID="t1")])
    first, second, third = raw_lines(data)
    parser = claude_code.parser(PurePath("s1.jsonl"))
    assert parser.feed(first) + parser.feed(second) == []
    position, state = parser.checkpoint(second.end)
    assert position == second.start
    resumed = claude_code.parser(PurePath("s1.jsonl"), json.loads(json.dumps(state)))
    events = resumed.feed(second) + resumed.feed(third)
    assert [(e.name, e.path) for e in events if isinstance(e, SkillUse)] == [("price-list", FILE)]
    assert resumed.checkpoint(third.end)[0] == third.end


def test_only_the_latest_skill_names_of_a_session_are_remembered() -> None:
    parser = claude_code.parser(PurePath("s1.jsonl"))
    for number in range(200):
        there = body(f"Base directory for this skill: /s/name-{number}\n\n#", parentUuid="c1")
        for line in raw_lines(b"".join(json.dumps(one).encode() + b"\n" for one in (typed(f"name-{number}"), there))):
            parser.feed(line)
    kept = json.dumps(parser.checkpoint(9)[1])
    assert ("name-199" in kept, "name-99/" in kept) == (True, False)
