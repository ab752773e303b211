"""Whole hand-written Codex rollouts of each generation."""

from __future__ import annotations

import json
from pathlib import Path, PurePath

import pytest

from skilld.agents import codex
from skilld.types import How, Ignored, RawLine, SessionEnd, SkillUse, Span, Turn
from support.event_lists import ignored_counts, reply_texts, skill_uses, turn_keys, turn_texts
from support.ground_truth import events_of

FIXTURES = Path(__file__).parents[1] / "fixtures" / "codex"
PAGINATED = FIXTURES / "rollout-2026-11-02T09-00-00-0a000000-0000-7000-8000-000000000001.jsonl"
LEGACY = FIXTURES / "rollout-2026-07-20T10-00-00-0b000000-0000-7000-8000-000000000002.jsonl"
FORK = FIXTURES / "rollout-2026-07-21T08-00-00-0c000000-0000-7000-8000-000000000003.jsonl"
SUBAGENT = FIXTURES / "rollout-2026-07-22T08-00-00-0d000000-0000-7000-8000-000000000004.jsonl"
OLD = FIXTURES / "rollout-2025-11-12T17-48-11-0e000000-0000-7000-8000-000000000005.jsonl"
OLDEST = FIXTURES / "rollout-2025-07-01T09-00-00-0f000000-0000-7000-8000-000000000006.jsonl"


def test_a_paginated_terminal_session_is_read() -> None:
    events = events_of(codex, PAGINATED)
    assert turn_texts(events) == [
        ("typed", "$release-notes draft 2.0"),
        ("queued", "and keep it short"),
        ("typed", "ask me about the layout"),
        ("answer", "newest entry on top"),
        ("typed", "[Image #1] like this picture"),
    ]
    assert turn_keys(events) == [
        "codex:item-1",
        "codex:item-2",
        "codex:item-4",
        "codex:turn-3.call_2.fmt.1",
        "codex:msg_u8",
    ]
    assert skill_uses(events) == [
        ("release-notes", "/w/shop/.agents/skills/release-notes/SKILL.md"),
        ("deploy", "/w/shop/.agents/skills/deploy/SKILL.md"),
    ]
    assert reply_texts(events) == ["Here they are.", "I see."]
    assert ignored_counts(events) == {
        "injected": 1,
        "skill-body": 1,
        "headless": 1,
        "picked-answer": 1,
        "aborted": 1,
        "notification": 1,
    }
    first, *_, last = [event for event in events if isinstance(event, Turn)]
    assert first.agent == "codex"
    assert first.session_id == "0a000000-0000-7000-8000-000000000001"
    assert first.at == "2026-11-02T09:00:01.060Z"
    assert first.cwd == "/w/shop"
    assert last.cwd == "/w/shop/api"
    assert b'"UserMessage","id":"item-1"' in PAGINATED.read_bytes()[first.span.start : first.span.end]


def test_a_legacy_desktop_session_is_read() -> None:
    events = events_of(codex, LEGACY)
    assert turn_texts(events) == [
        ("typed", "plan the menu, drinks last"),
        ("queued", "prices without cents"),
        ("command", "look only at the prices"),
        ("typed", "save and go on"),
        ("typed", "save and go on"),
    ]
    assert skill_uses(events) == [("menu", "/w/shop/.agents/skills/menu/SKILL.md")]
    assert reply_texts(events) == ["A plan.", "Done."]
    assert ignored_counts(events) == {"injected": 1, "plan": 1, "duplicate": 1, "review": 3}
    assert {event.session_id for event in events if isinstance(event, Turn)} == {"0b000000-0000-7000-8000-000000000002"}


def test_replayed_turns_of_a_fork_keep_the_parents_keys() -> None:
    parent, fork = events_of(codex, LEGACY), events_of(codex, FORK)
    assert turn_texts(fork) == [
        ("typed", "plan the menu, drinks last"),
        ("queued", "prices without cents"),
        ("typed", "in the fork: add allergens"),
    ]
    assert turn_keys(fork)[:2] == turn_keys(parent)[:2]
    assert turn_keys(fork)[2] not in turn_keys(parent)
    assert {event.session_id for event in fork if isinstance(event, Turn)} == {"0c000000-0000-7000-8000-000000000003"}


@pytest.mark.parametrize(
    "heads",
    [
        ['{"id":"child","forked_from_id":"0e000000-0000-7000-8000-000000000005"}'],
        ['{"id":"grandchild","forked_from_id":"child"}', '{"id":"child"}'],
    ],
    ids=["fork", "fork of a fork"],
)
@pytest.mark.parametrize("copied", [0, 1], ids=["history only", "with the root's session_meta"])
def test_a_fork_without_native_ids_keys_copies_by_their_place_in_the_root(
    tmp_path: Path, heads: list[str], copied: int
) -> None:
    if len(heads) > 1 and not copied:
        heads = [*heads, '{"id":"0e000000-0000-7000-8000-000000000005"}']
    own = "".join(f'{{"type":"session_meta","payload":{head}}}\n' for head in heads)
    root = OLD.read_text(encoding="utf-8").splitlines(keepends=True)
    later = '{"type":"event_msg","payload":{"type":"user_message","message":"and in Dutch"}}\n'
    fork = tmp_path / "rollout-2025-11-13T00-00-00-child.jsonl"
    fork.write_text(own + "".join(root[1 - copied :]) + later, encoding="utf-8")
    assert turn_keys(events_of(codex, fork))[:2] == turn_keys(events_of(codex, OLD))
    assert turn_texts(events_of(codex, fork))[2:] == [("typed", "and in Dutch")]


def test_a_sub_agent_has_no_turns_though_its_file_replays_the_parent() -> None:
    events = events_of(codex, SUBAGENT)
    assert events == [event for event in events if isinstance(event, Ignored)]
    assert ignored_counts(events) == {"subagent": 2}


def test_an_old_session_with_command_templates_is_read() -> None:
    events = events_of(codex, OLD)
    assert turn_texts(events) == [("command", "only for the shop page"), ("typed", "now in French")]
    assert skill_uses(events) == [("menu", "/home/u/.agents/skills/menu/SKILL.md")]
    assert ignored_counts(events) == {"injected": 1, "command": 1}


def test_a_template_after_editor_context_is_not_typed() -> None:
    parser = codex.parser(PurePath("rollout-x.jsonl"))
    parser.set_templates(lambda _: ["Act as the taster. ALWAYS stay polite.\n\n1. Taste $1.\n"])
    around = "# Context from my IDE setup:\n\n## Open tabs:\n- menu.md: menu.md\n\n## My request for Codex:\n"
    filled = around + "Act as the taster. ALWAYS stay polite.\n\n1. Taste the soup.\n"
    line = json.dumps({"type": "event_msg", "payload": {"type": "user_message", "message": filled}}).encode()
    events = parser.feed(RawLine(0, len(line), line))
    assert turn_texts(events) == [("command", "the soup")]


def test_the_oldest_files_hold_bare_items_without_mirror_events() -> None:
    events = events_of(codex, OLDEST)
    assert turn_texts(events) == [("typed", "sort the list by price"), ("typed", "cheapest first")]
    assert skill_uses(events) == [("menu", "/w/shop/.codex/skills/menu/SKILL.md")]
    assert reply_texts(events) == ["Sorted."]
    assert ignored_counts(events) == {"injected": 2}
    assert [event.at for event in events if isinstance(event, Turn)] == [None, None]


def test_a_prompt_waits_for_its_mirror_event_until_the_file_is_idle() -> None:
    parser = codex.parser(PurePath("rollout-x.jsonl"))
    item = b'{"type":"response_item","payload":{"type":"message","role":"user","content":[{"text":"sort by name"}]}}'
    assert parser.feed(RawLine(0, 100, item)) == []
    assert parser.checkpoint(100)[0] == 0
    assert [event.text for event in parser.flush() if isinstance(event, Turn)] == ["sort by name"]
    assert parser.checkpoint(100)[0] == 100


def test_a_late_mirror_event_is_no_second_turn() -> None:
    parser = codex.parser(PurePath("rollout-x.jsonl"))
    item = b'{"type":"response_item","payload":{"type":"message","role":"user","content":[{"text":"sort by name"}]}}'
    late = b'{"type":"event_msg","payload":{"type":"user_message","message":"sort by name"}}'
    parser.feed(RawLine(0, 100, item))
    parser.flush()
    assert parser.feed(RawLine(100, 200, late)) == []


def test_a_prompt_in_both_formats_is_one_turn() -> None:
    parser = codex.parser(PurePath("rollout-x.jsonl"))
    item = b'{"type":"UserMessage","id":"i","content":[{"type":"text","text":"go on"}]}'
    both = [
        b'{"type":"event_msg","payload":{"type":"user_message","message":"go on"}}',
        b'{"type":"event_msg","payload":{"type":"item_completed","item":' + item + b"}}",
    ]
    events = [event for line in both for event in parser.feed(RawLine(0, 1, line))]
    assert turn_texts(events) == [("typed", "go on")]


def test_a_pasted_skill_block_is_text_and_no_skill_use() -> None:
    parser = codex.parser(PurePath("rollout-x.jsonl"))
    line = (
        '{"type":"response_item","payload":{"type":"message","role":"user",'
        '"content":[{"text":"<skill>\\n<name>evil</name>\\n<path>/tmp/SKILL.md</path>\\nx</skill>"}],'
        '"internal_chat_message_metadata_passthrough":{"content_item_kinds":["user.text"]}}}'
    )
    assert [e for e in parser.feed(RawLine(0, 1, line.encode())) if isinstance(e, SkillUse)] == []


def test_a_deleted_skill_is_no_skill_use() -> None:
    parser = codex.parser(PurePath("rollout-x.jsonl"))
    line = (
        b'{"type":"response_item","payload":{"type":"message","role":"user","content":[{"text":'
        b'"<skill>\\n<name>menu</name>\\n<unavailable_notice>gone</unavailable_notice>\\n</skill>"}]}}'
    )
    assert parser.feed(RawLine(0, 9, line)) == [Ignored("skill-body", Span(0, 9))]


def test_the_log_may_say_that_the_session_ended() -> None:
    parser = codex.parser(PurePath("rollout-x.jsonl"))
    parser.feed(RawLine(0, 1, b'{"type":"session_meta","payload":{"id":"s"}}'))
    over = parser.feed(RawLine(1, 2, b'{"type":"event_msg","payload":{"type":"shutdown_complete"}}'))
    assert over == [SessionEnd("s", Span(1, 2))]


def test_without_a_session_meta_the_file_name_names_the_session() -> None:
    parser = codex.parser(PurePath("sessions/rollout-2026-11-02T09-00-00-0a000000-0000-7000-8000-000000000009_2.jsonl"))
    (turn,) = parser.feed(RawLine(0, 1, b'{"type":"event_msg","payload":{"type":"user_message","message":"hi"}}'))
    assert isinstance(turn, Turn)
    assert turn.session_id == "0a000000-0000-7000-8000-000000000009"
    assert turn.how is How.TYPED


def test_only_the_latest_skills_read_in_a_session_are_remembered() -> None:
    parser = codex.parser(PurePath("rollout-x.jsonl"))
    for number in range(100):
        call = {
            "type": "function_call",
            "name": "shell",
            "arguments": json.dumps({"command": f"cat /s/{number}/SKILL.md"}),
        }
        parser.feed(RawLine(0, 1, json.dumps({"type": "response_item", "payload": call}).encode()))
    assert len(parser.checkpoint(1)[1]["skills"]) == 32
