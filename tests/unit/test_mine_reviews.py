"""Whose comment it is, what it asks for, and what recurs."""

from __future__ import annotations

import json
import mmap
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from skilld.mining.review_requests import (
    RecurringRequest,
    StoredRequest,
    comments_by_agents,
    find_requests,
    recurring_requests,
)
from skilld.mining.reviews import AuthorKind, github_comment, gitlab_comment, is_generated
from skilld.mining.sessions import Transcript
from support.review_comments import PEOPLE, comment_row, make_comments
from support.rows import for_each

START = datetime(2026, 3, 1, tzinfo=UTC)


def plain(text: str) -> str:
    return text


def recurring(*texts: str) -> list[RecurringRequest]:
    """Return what comes again where each text was said in a pull request and on a day of its own."""
    rows = [
        comment_row(at, START + timedelta(days=at), body=text, who=PEOPLE[at % 3], pull=at)
        for at, text in enumerate(texts)
    ]
    return find_in(rows)


def find_in(rows: Sequence[dict[str, Any]]) -> list[RecurringRequest]:
    read = [one for row in rows if (one := github_comment(row, row["stream"], ""))]
    return recurring_requests(
        StoredRequest(one.id, one.url, one.pull, one.author, one.role, one.at, request.change, request.quote)
        for one in read
        if one.sort is AuthorKind.PERSON
        for request in find_requests(one.text, plain)
    )


@for_each("written", ["third", "fourth", "fifth"])
def test_recurring_requests_of_people_are_found(written: str) -> None:
    rows = make_comments(written, number=300)
    rules = {f"{row['stream']}/{row['id']}": row["rule"] for row in rows}
    found = find_in(rows)
    right: list[Any] = []
    wrong: list[Any] = []
    for one in found:
        rule, most = Counter(rules[asked.comment] for asked in one.asked).most_common(1)[0]
        (right if rule and most > len(one.asked) / 2 else wrong).append(one.change)
    assert len(right) >= 0.9 * len(found), wrong
    assert len(right) >= 8


@for_each(
    ("changes", "sort"),
    [
        ({}, AuthorKind.PERSON),
        ({"user": {"login": "x[bot]", "type": "Bot"}}, AuthorKind.BOT),
        ({"user": {"login": "acme-ci-bot", "type": "User"}}, AuthorKind.BOT),
        ({"user": {"login": "abbott", "type": "User"}}, AuthorKind.PERSON),
        ({"user": None}, AuthorKind.BOT),
        ({"performed_via_github_app": {"id": 1}}, AuthorKind.BOT),
        ({"author_association": "NONE"}, AuthorKind.OUTSIDER),
        ({"author_association": "CONTRIBUTOR"}, AuthorKind.OUTSIDER),
        ({"body": "| a | b |\r\n|---|---|\r\n| 1 | 2 |"}, AuthorKind.GENERATED),
        ({"body": "**Issue:** x\n\n**Fix:** y"}, AuthorKind.GENERATED),
    ],
)
def test_the_author_of_a_comment_is_recognized(changes: dict[str, Any], sort: AuthorKind) -> None:
    one = github_comment(comment_row(1, START, body="Use tabs.", who=PEOPLE[0], pull=3) | changes, "pulls", "ADA")
    assert one is not None
    assert (one.sort, one.pull) == (sort, "3")
    assert one.own is (changes.get("user", 0) == 0)
    assert "ada" not in one.author


@for_each("made", [None, [], "x", {}, {"user": []}, {"html_url": "https://x.example/a/b/issues/3#i"}])
def test_other_comments_are_ignored(made: object) -> None:
    assert github_comment(made, "issues", "") is None
    assert gitlab_comment(made, "https://x.example/a", {}, "") is None


@for_each("url", ["javascript:/pull/1#x", "https://x.example/pull/1#\x1b[31m", "https://x y/pull/1#a"])
def test_an_invalid_url_is_not_shown(url: str) -> None:
    one = github_comment(
        comment_row(1, START, body="Use tabs.", who=PEOPLE[0], pull=3) | {"html_url": url}, "pulls", ""
    )
    assert one is not None
    assert one.url == ""


@for_each(
    "text",
    [
        "Please use tabs. ⚠️",
        "**nit:** use tabs",
        "# why?",
        "- a\n- b",
        "See ![shot](https://x.example/a.png)",
        "1. use tabs",
    ],
)
def test_wording_people_use_too_is_not_called_generated(text: str) -> None:
    assert not is_generated(text)


@for_each(
    ("text", "asked"),
    [
        ("nit: please use the logger here instead of print", ["Use the logger instead of print."]),
        ("Could we use a dataclass instead of a dict?", ["Use a dataclass instead of a dict."]),
        ("@ben again, tests must not hit the network.", ["Tests must not hit the network."]),
        ("> Never use tabs.\n\nI agree.", []),
        ("```suggestion\nAlways use tabs.\n```", []),
        ("Why do we use tabs here?", []),
        ("This must always be set.", []),
        ("Drop the cast.", []),
        ("`load_user` is never reached.", []),
        ("Must be sorted.", []),
        ("Please rebase and always squash.", []),
        ("We must release before Friday.", []),
        ("Use `load_user`.", []),
        ("You always find the odd ones :)", []),
        ("Always use tabs. " + "x" * 1000, []),
    ],
)
def test_the_request_in_a_comment_is_extracted(text: str, asked: list[str]) -> None:
    assert [request.change for request in find_requests(text, plain)] == asked


def test_a_request_with_a_secret_is_dropped() -> None:
    text = "Always use the key AKIA1234 for uploads."
    assert find_requests(text, plain) != []
    assert find_requests(text, lambda given: given.replace("AKIA1234", "[secret]")) == []


UTC_RULE = "Always store timestamps in UTC."


def test_three_pull_requests_on_two_days_are_enough() -> None:
    assert recurring(UTC_RULE, UTC_RULE) == []
    (one,) = recurring(UTC_RULE, "please always store timestamps in UTC", UTC_RULE)
    assert (one.change, one.pulls, one.people, one.roles) == (
        UTC_RULE,
        3,
        3,
        {"collaborator": 1, "member": 1, "owner": 1},
    )
    same_day = [comment_row(at, START, body=UTC_RULE, who=PEOPLE[0], pull=at) for at in range(3)]
    assert find_in(same_day) == []
    same_pull = [comment_row(at, START + timedelta(days=at), body=UTC_RULE, who=PEOPLE[0], pull=1) for at in range(3)]
    assert find_in(same_pull) == []


def test_the_order_of_comments_does_not_matter() -> None:
    rows = [comment_row(at, START + timedelta(days=at), body=UTC_RULE, who=PEOPLE[at % 3], pull=at) for at in range(5)]
    assert find_in(rows) == find_in(rows[::-1]) == find_in([*rows, *rows])


def test_a_bare_command_and_other_names_are_no_rule() -> None:
    assert recurring(*["Format every file."] * 3) != []
    assert recurring(*["Sort imports alphabetically."] * 3) == []
    assert recurring(*(f"Never call `{name}_user` twice in loops." for name in ("load", "save", "drop"))) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Always use tabs for indentation.", "Never use tabs for indentation."),
        ("Use pnpm, not npm, for scripts.", "Use npm, not pnpm, for scripts."),
    ],
)
def test_requests_reviewers_disagree_on_are_disputed(one: str, other: str) -> None:
    assert [found.disputed for found in recurring(one, other, one, other, one)] == [True]


def test_a_transcript_is_searched_once_for_all_comments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []
    mapped = mmap.mmap

    def counted(*arguments: Any, **options: Any) -> mmap.mmap:
        searched.append(arguments[0])
        return mapped(*arguments, **options)

    quotes = [f"please rename every handler number {number}" for number in range(5)]
    ran = {"command": f"gh pr comment --body '{quotes[3]}'"}
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": ran}
    record = {"type": "assistant", "uuid": "a", "sessionId": "s", "message": {"role": "assistant", "content": [call]}}
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(record) + "\n" + json.dumps({"type": "user", "read": quotes[1]}) + "\n")
    asked = [StoredRequest(f"c{n}", "", "1", "a", "owner", "2026-03-01", one, one) for n, one in enumerate(quotes)]
    monkeypatch.setattr(mmap, "mmap", counted)
    assert comments_by_agents(asked, [Transcript("claude-code", path, 2e9)]) == {"c3"}
    assert len(searched) == 1
