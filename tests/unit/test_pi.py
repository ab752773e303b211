"""Whole hand-written Pi sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skilld.agents.pi import ADAPTER, Presence
from skilld.types import Turn
from support.event_lists import ignored_counts, reply_texts, skill_uses, turn_keys, turn_texts
from support.ground_truth import events_of, events_of_records
from support.rows import for_each

FIXTURES = Path(__file__).parents[1] / "fixtures" / "pi"
TYPED = FIXTURES / "2026-11-03T09-00-00-000Z_0f000000-0000-7000-8000-000000000001.jsonl"
HEADLESS = FIXTURES / "2026-11-03T10-00-00-000Z_0f000000-0000-7000-8000-000000000002.jsonl"
START = 1_793_696_400_000  # milliseconds; 2026-11-03T09:00:00Z
MENU = ("menu", "/w/shop/.pi/skills/menu/SKILL.md")


def header(**more: Any) -> dict[str, Any]:
    return {"type": "session", "version": 3, "id": "s", "timestamp": "2026-11-03T09:00:00.000Z", "cwd": "/w", **more}


def user(text: str, after: float, *, taken: float | None = None, number: str = "a1") -> dict[str, Any]:
    """Write a prompt typed `after` seconds from the header and taken when it was typed, or at `taken`."""
    moment = 9 * 3600 + (after if taken is None else taken)
    at = f"2026-11-03T{int(moment // 3600):02}:{int(moment // 60 % 60):02}:{moment % 60:06.3f}Z"
    message = {"role": "user", "content": text, "timestamp": START + round(after * 1000)}
    return {"type": "message", "id": number, "timestamp": at, "message": message}


def test_a_terminal_session_is_read() -> None:
    events = events_of(ADAPTER, TYPED)
    assert turn_texts(events) == [
        ("typed", "draft the menu"),
        ("command", "prices without cents"),
        ("queued", "and no allergens"),
        ("typed", "日本語で 🙏"),
    ]
    assert skill_uses(events) == [MENU, MENU, ("deploy", "/w/shop/.agents/skills/deploy/SKILL.md"), MENU]
    assert reply_texts(events) == ["Here it is.", "Done.", "Read it.", "はい。"]
    assert ignored_counts(events) == {"bare-command": 1}


def test_a_turn_records_its_session_time_place_and_origin() -> None:
    first = next(event for event in events_of(ADAPTER, TYPED) if isinstance(event, Turn))
    assert first.key == "pi:00000003.1793696404000"
    assert first.session_id == "0f000000-0000-7000-8000-000000000001"
    assert first.at == "2026-11-03T09:00:04.002Z"
    assert first.cwd == "/w/shop"
    assert b"draft the menu" in TYPED.read_bytes()[first.span.start : first.span.end]


def test_a_session_started_with_a_prompt_has_no_turns_until_someone_uses_its_terminal() -> None:
    events = events_of(ADAPTER, HEADLESS)
    assert turn_texts(events) == [("typed", "taken up by a person")]
    assert ignored_counts(events) == {"headless": 2}


@for_each(("after", "turns"), [(0.05, 0), (0.9, 0), (1.5, 1), (-60, 1)])
def test_the_delay_of_the_first_prompt_tells_who_typed_it(after: float, turns: int) -> None:
    assert len(turn_texts(events_of_records(ADAPTER, header(), user("hello", after)))) == turns


def test_a_session_a_person_started_with_an_argument_loses_only_that_prompt() -> None:
    assert turn_texts(events_of_records(ADAPTER, header(), user("one", 0.36), user("two", 60))) == [("typed", "two")]
    assert turn_texts(events_of_records(ADAPTER, header(), user("one", 0.05), user("two", 60))) == []


@for_each(
    ("first", "answered", "second", "typed"),
    [
        (0.26, 1.396, 1.397, []),
        (0.26, 1.396, 1.396, []),
        (0.26, 1.396, 2.5, ["two", "three"]),
        (0.26, 1.396, 1.2, ["two", "three"]),
        (5.0, 6.0, 6.001, ["one", "two", "three"]),
    ],
)
def test_several_prompts_of_a_command_line_are_not_typed_even_on_a_busy_machine(
    first: float, answered: float, second: float, typed: list[str]
) -> None:
    """There the first came as late as with a terminal, and the next at once when the answer was there."""
    answer = {
        **user("Done.", answered),
        "message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    }
    records = [header(), user("one", first), answer, user("two", second), user("three", 60)]
    assert [text for _, text in turn_texts(events_of_records(ADAPTER, *records))] == typed


@for_each(
    "entry",
    [
        {"type": "message", "message": {"role": "bashExecution", "command": "ls"}},
        {"type": "model_change", "modelId": "m"},
        {"type": "label", "label": "here"},
    ],
)
def test_records_only_a_terminal_writes_settle_it(entry: dict[str, Any]) -> None:
    events = events_of_records(ADAPTER, header(), user("one", 0.05), entry, user("two", 60))
    assert turn_texts(events) == [("typed", "two")]


@for_each(
    ("started", "first", "typed"),
    [(0.89, 0.94, []), (1.6, 1.7, []), (0.6, 1.1, ["two"]), (0.6, 1.9, ["one", "two"])],
)
def test_the_delay_counts_from_the_entry_that_the_client_writes_once_it_has_started(
    started: float, first: float, typed: list[str]
) -> None:
    """A client of many modules takes a second until then (1.6.0)."""
    begun = {"type": "model_change", "timestamp": f"2026-11-03T09:00:0{started:.3f}Z", "modelId": "m"}
    chosen = {**begun, "timestamp": "2026-11-03T09:00:01.800Z"}  # by the person, who then presses Enter
    records = [header(), begun, *([chosen] if first > 1.8 else []), user("one", first), user("two", first + 0.5)]
    assert [text for _, text in turn_texts(events_of_records(ADAPTER, *records))] == typed


def test_a_prompt_that_had_to_wait_was_typed() -> None:
    events = events_of_records(ADAPTER, header(), user("one", 0.05), user("two", 20, taken=25), user("three", 60))
    assert turn_texts(events) == [("queued", "two"), ("typed", "three")]


def test_initial_settings_records_prove_nothing() -> None:
    change = {"type": "model_change", "modelId": "m"}
    assert turn_texts(events_of_records(ADAPTER, header(), change, user("one", 0.05), user("two", 60))) == []


@for_each(
    ("name", "typed"),
    [
        ("subagent-scout-238936d2-1", ["one"]),
        ("subagent-code.reviewer-7063d38c-12", ["one"]),
        ("subagent-work", ["one", "two", "three"]),
        ("the scout", ["one", "two", "three"]),
    ],
)
def test_in_a_session_of_a_subagent_nobody_types_until_a_person_renames_it(name: str, typed: list[str]) -> None:
    named = {"type": "session_info", "name": name}
    change = {"type": "model_change", "modelId": "m"}
    records = [header(), user("one", 5), named, change, user("two", 60), user("three", 90, taken=95)]
    assert [text for _, text in turn_texts(events_of_records(ADAPTER, *records))] == typed
    renamed = {"type": "session_info", "name": "mine now"}
    assert ("typed", "four") in turn_texts(events_of_records(ADAPTER, *records, renamed, user("four", 120)))


def test_a_session_of_a_subagent_is_one_after_a_restart_too() -> None:
    state = Presence({})
    state.update({"type": "session_info", "name": "subagent-scout-238936d2-1"})
    assert Presence(state.state()).ignored_reason(user("two", 60)) == "subagent"


def test_a_turn_copied_into_a_fork_keeps_its_key() -> None:
    prompt = user("hello", 5)
    fork = header(id="other", timestamp="2026-11-03T12:00:00.000Z", parentSession="/x/s.jsonl")
    assert turn_keys(events_of_records(ADAPTER, header(), prompt)) == turn_keys(
        events_of_records(ADAPTER, fork, prompt)
    )


def test_entries_without_ids_are_keyed_by_time_and_words() -> None:
    prompts = [user("same", 5), user("same", 50), user("other", 50)]
    events = events_of_records(ADAPTER, header(), *({k: v for k, v in p.items() if k != "id"} for p in prompts))
    assert len(set(turn_keys(events))) == 3


def test_a_skill_block_not_at_the_start_of_the_prompt_is_text() -> None:
    text = 'see <skill name="a" location="/x/a/SKILL.md">\nbody\n</skill>'
    events = events_of_records(ADAPTER, header(), user(text, 5))
    assert turn_texts(events) == [("typed", text)]
    assert skill_uses(events) == []
