"""S8: an exported skill carries nothing of any session, in any field."""

from __future__ import annotations

import json

import pytest

from skilld.exchange.outgoing import SessionWords, clear_body, clear_metadata, leak_reason
from support.rows import for_each

SAID = SessionWords(frozenset({"ses_0123456789"}), ("Deploy build 4711 to box7.example before you call Ada.",))
SKILL = """\
---
name: deploy
description: Deploys some build.
metadata:
  skilld-version: "4711"
  {key}: {value}
---

Deploy {{{{build}}}} before you call somebody.
"""


def _skill(key: str = "skilld-team", value: object = "ops") -> str:
    return SKILL.format(key=key, value=json.dumps(value))


def test_only_sessions_people_and_examples_are_cleared() -> None:
    rows = [{"name": "a", "description": "as in 4711"}, {"name": "b", "description": "the box"}]
    metadata = {"skilld-sessions": "s1", "skilld-author": "Ada", "skilld-team": "ops"}
    kept = clear_metadata(metadata | {"skilld-variables": json.dumps(rows)})
    assert kept == {
        "skilld-team": "ops",
        "skilld-variables": '[{"name": "a"}, {"name": "b", "description": "the box"}]',
    }
    assert clear_metadata({"skilld-variables": "no JSON"}) == {"skilld-variables": "no JSON"}


@pytest.mark.parametrize(
    ("origin", "left"), [("mined", {"type": "string"}), ("imported", {"type": "string", "default": "x"})]
)
def test_a_schema_keeps_values_only_if_no_session_supplied_them(origin: str, left: dict[str, str]) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "default": "x"}}}
    kept = clear_metadata({"skilld-origin": origin, "skilld-input-schema": json.dumps(schema)})
    assert json.loads(kept["skilld-input-schema"])["properties"]["a"] == left


def test_an_example_is_removed_with_its_session() -> None:
    own = "## Examples\n\n1. **Input**\n\n   a\n\n2. **Output**\n\n   b"
    from_session = own.replace("**Output**", "**Output** (`s1`)")
    assert clear_body(f"Do it.\n\n{own}") == f"Do it.\n\n{own}"
    assert clear_body(f"Do it.\n\n{from_session}") == "Do it."


@for_each(
    ("text", "why"),
    [
        (_skill(), None),
        (_skill("skilld-project", "before you call"), None),  # the body says so too
        (_skill("skilld-tags", "deploy, build"), None),
        (_skill() + "Heard in ses_0123456789.", "it contains a session ID"),
        (_skill("skilld-ses_0123456789", "x"), "it contains a session ID"),
        (_skill("skilld-team", "4711"), "its skilld-team field repeats your words from a session"),
        (_skill("skilld-project", "call ada. Deploy build 4712"), None),
        (_skill("skilld-project", "you call Ada"), "its skilld-project field repeats your words from a session"),
        (_skill("skilld-variables", json.dumps([{"name": "a", "x": ["so: box7.example"]}])),
         "its skilld-variables field repeats your words from a session"),
    ],
)  # fmt: skip
def test_session_text_in_a_skill_is_reported(text: str, why: str | None) -> None:
    assert leak_reason(text, SAID) == why
