"""Review comments as a git host returns them, made of sentences written for the tests.

`tests/data/review_comments.json` has four sets; each was written before what reads them first ran on it. A row knows,
beside what the API tells, which recurring rule a person asked for in it (`rule`), if any. A third is from bots, or
pasted from agents under a person's name.
"""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

PEOPLE = (("ada", "OWNER"), ("ben", "MEMBER"), ("cleo", "COLLABORATOR"), ("dov", "MEMBER"), ("eve", "MEMBER"))
STRANGERS = (("passer-by", "NONE"), ("first-timer", "FIRST_TIME_CONTRIBUTOR"), ("drive-by", "CONTRIBUTOR"))
WRITTEN: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data/review_comments.json").read_text("utf-8"))
REPOSITORY = "https://github.localhost/acme/widgets"

_THINGS = "user order cart price token cache queue retry page filter index batch event store parser writer session"
_VERBS = "get set load save build check merge split parse render update delete compute resolve"
_START = datetime(2026, 8, 1, tzinfo=UTC)


def make_comments(
    of: str = "first", *, seed: int = 20, number: int = 4000, start: datetime = _START
) -> list[dict[str, Any]]:
    """Return this many comments, the oldest first: a third by tools, and each rule asked for 6 to 12 times."""
    chance, written = random.Random(seed), WRITTEN[of]
    rows: list[dict[str, Any]] = [
        {"body": chance.choice(wordings), "rule": rule, "who": chance.choice(PEOPLE)}
        for rule, wordings in written["rules"].items()
        for _ in range(chance.randint(6, 12))
    ]
    tools = number // 3
    while len(rows) < number - tools:
        who = chance.choice(PEOPLE if chance.random() < 0.9 else STRANGERS)
        rows.append({"body": _filled(chance.choice(written["once"]), chance), "who": who})
    for at in range(tools):
        who = chance.choice(PEOPLE) if at % 4 == 0 else (chance.choice(written["bots"]), "NONE")
        rows.append({"body": _filled(chance.choice(written["tool"]), chance), "who": who, "tool": True})
    chance.shuffle(rows)
    return [
        comment_row(at, start + timedelta(minutes=20 * at), pull=chance.randint(1, 400), **one)
        for at, one in enumerate(rows)
    ]


def comment_row(
    at: int, when: datetime, *, body: str, who: tuple[str, str], pull: int, rule: str = "", tool: bool = False
) -> dict[str, Any]:
    """Return one comment as GitHub has it."""
    stamp, in_code = when.strftime("%Y-%m-%dT%H:%M:%SZ"), at % 2 == 0
    return {
        "id": at,
        "stream": "pulls" if in_code else "issues",
        "user": {"login": who[0], "type": "Bot" if who[0].endswith("[bot]") else "User"},
        "body": body,
        "author_association": who[1],
        "html_url": f"{REPOSITORY}/pull/{pull}#{'discussion_r' if in_code else 'issuecomment-'}{at}",
        "created_at": stamp,
        "updated_at": stamp,
        "performed_via_github_app": None,
        "rule": rule,
        "tool": tool,
    }


def _filled(text: str, chance: random.Random) -> str:
    names = [f"{chance.choice(_VERBS.split())}_{chance.choice(_THINGS.split())}" for _ in range(2)]
    return text.replace("{a}", names[0]).replace("{b}", names[1]).replace("{n}", str(chance.randint(1, 9)))
