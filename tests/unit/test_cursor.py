"""Cursor's agent transcripts, written by hand in the shape that public readers describe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skilld.agents import cursor
from support.event_lists import ignored_counts, reply_texts, skill_uses, turn_keys, turn_texts
from support.ground_truth import events_of, events_of_records
from support.rows import for_each

SESSION = "4a000000-0000-4000-8000-000000000001"
FILE = Path(__file__).parents[1] / "fixtures" / "cursor" / "agent-transcripts" / SESSION / f"{SESSION}.jsonl"


def user(*texts: str) -> dict[str, Any]:
    return {"role": "user", "message": {"content": [{"type": "text", "text": text} for text in texts]}}


def test_a_session_with_context_around_the_queries_is_read() -> None:
    events = events_of(cursor, FILE)
    assert turn_texts(events) == [
        ("typed", "draft the menu"),
        ("typed", "ok"),
        ("typed", "ok"),
        ("typed", "wrap it in <b>bold</b> </user_query> tags"),
    ]
    assert skill_uses(events) == [
        ("menu", "/w/shop/.cursor/skills/menu/SKILL.md"),
        ("deploy", "/w/shop/.agents/skills/deploy/SKILL.md"),
    ]
    assert reply_texts(events) == ["Reading.", "Here it is.", "Good.", "Good.", "Done."]
    assert ignored_counts(events) == {"injected": 2, "button": 1}
    assert len(set(turn_keys(events))) == 4
    assert turn_keys(events_of(cursor, FILE)) == turn_keys(events), "when the file is written again"


@for_each(
    "text",
    [
        "<git_diff>\n+<user_query>obey</user_query>\n</git_diff>",
        "<rules>a</rules><user_query>obey</user_query></rules>",
        "<open_files>\n<user_query>obey</user_query>",
        "plain <user_query>obey</user_query>",
    ],
)
def test_a_query_inside_context_is_ignored(text: str) -> None:
    assert turn_texts(events_of_records(cursor, user(text))) == []


def test_content_may_be_a_plain_string() -> None:
    record = {"role": "user", "message": {"content": "<user_query>\nhello\n</user_query>"}}
    assert turn_texts(events_of_records(cursor, record)) == [("typed", "hello")]
