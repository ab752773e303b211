"""A candidate as a SKILL.md: sound whatever was said, and in the words that were said."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilld.mining.new_skill import name_of, new_skill, short, telling_words, template
from skilld.mining.values import Candidate, Part, Proof, Sort
from skilld.skills import draft
from skilld.skills.draft import SkillKind
from skilld.skills.spec import NAME, faults, front

DAY = "2026-11-20"
ANYTHING = st.text(st.characters(), min_size=1, max_size=200)


def _candidate(kind: SkillKind, *parts: Part, name: str = "shop-testing", work: str = "") -> Candidate:
    return Candidate(name, "create", "/work/shop", kind, ("repeatable",), parts, work)


def _part(sort: Sort, text: str, *others: str) -> Part:
    quotes = (text, *others)
    return Part(sort, text, tuple(Proof(f"s{n}", f"k{n}", quote) for n, quote in enumerate(quotes)))


def test_rules_pitfalls_and_facts_stand_under_their_headings() -> None:
    parts = (
        _part(Sort.RULE, "Always run the suite with --fast."),
        _part(Sort.PITFALL, "Never mock the gateway."),
        _part(Sort.FACT, "Fixtures live in /work/shop/tests/data."),
    )
    made = new_skill(_candidate(SkillKind.KNOWLEDGE, *parts, work="testing"), day=DAY, with_sessions=True)
    assert made.description == (
        "Rules and facts for writing, changing or running tests in shop: Always run the suite with --fast; Never mock"
        " the gateway; Fixtures live in tests/data. Use when writing, changing or running tests in shop."
    )
    expected = """\
---
name: shop-testing
description: "{description}"
metadata:
  skilld-origin: "mined"
  skilld-evolving: "true"
  skilld-kind: "domain-knowledge"
  skilld-date: "2026-11-20"
  skilld-sessions: "s0"
---

# shop: testing

For writing, changing or running tests.

## Facts

- Fixtures live in tests/data.

## Rules

- Always run the suite with --fast.

## Pitfalls

- Never mock the gateway.
"""
    assert made.text == expected.replace("{description}", made.description)


def test_what_differs_between_wordings_becomes_a_variable() -> None:
    part = _part(Sort.REQUEST, "review https://x.org/pr/10 with me, please", "review https://x.org/pr/7 with me")
    made = new_skill(_candidate(SkillKind.PROMPT, part), day=DAY, with_sessions=False)
    assert made.body == "# review some link with me, please\n\nreview {{link}} with me, please"
    assert made.description.startswith("Does a request that keeps coming up: review some link with me, please. Use")
    assert front(made.text).metadata["skilld-variables"] == '[{"name": "link", "type": "string"}]'
    assert "https" not in made.text
    assert "skilld-sessions" not in made.text
    own = front(new_skill(_candidate(SkillKind.PROMPT, part), day=DAY, with_sessions=True).text).metadata
    assert own["skilld-sessions"] == "s0, s1"
    assert json.loads(own["skilld-variables"])[0]["description"] == "as in https://x.org/pr/10"


@pytest.mark.parametrize("kind", [SkillKind.PROMPT, SkillKind.WORKFLOW, SkillKind.TOOL])
def test_a_request_is_what_its_kind_says(kind: SkillKind) -> None:
    part = _part(Sort.REQUEST, "review https://x.org/pr/10 with me", "review https://x.org/pr/7 with me")
    made = new_skill(_candidate(kind, part), day=DAY, with_sessions=True)
    assert draft.faults(draft.read(made.text)) == ()


def test_a_request_can_be_a_tool_that_takes_its_variables() -> None:
    part = _part(Sort.REQUEST, "review https://x.org/pr/10 with me", "review https://x.org/pr/7 with me")
    said = front(new_skill(_candidate(SkillKind.TOOL, part), day=DAY, with_sessions=False).text).metadata
    assert said["skilld-kind"] == "mcp-tool"
    assert json.loads(said["skilld-input-schema"]) == {
        "type": "object",
        "properties": {"link": {"type": "string"}},
        "required": ["link"],
    }


def test_what_is_too_long_is_cut_between_words() -> None:
    link = "https://example.org/" + "a" * 60
    assert short(f"see {link} and {link}", 100) == f"see {link} and\u2026"
    assert len(short("a" * 300, 50)) == 50


def test_the_person_edits_description_and_body_and_the_rest_stays() -> None:
    made = new_skill(_candidate(SkillKind.KNOWLEDGE, _part(Sort.RULE, "Run --fast.")), day=DAY, with_sessions=False)
    text = made.text.replace("name: shop-testing", "name: other").replace("Run --fast.", "Run --slow.")
    edited = made.edited(text)
    assert edited.name == "shop-testing"
    assert edited.metadata == made.metadata
    assert ("Run --slow." in edited.body, edited.description) == (True, made.description.replace("--fast", "--slow"))
    assert made.edited("only a body").body == "only a body"


def test_a_template_takes_only_exact_words_for_variables() -> None:
    newest = "bump app/core.py to 1.4 for #12 and then 1.4 again"
    text, variables = template(newest, ["bump app/gate.py to 1.5 for #13"])
    assert text == "bump {{path}} to {{number}} for {{number2}} and then {{number}} again"
    assert [(one.name, one.description) for one in variables] == [
        ("path", "as in app/core.py"),
        ("number", "as in 1.4"),
        ("number2", "as in #12"),
    ]
    assert template("paint the shed", ["paint the door"]) == ("paint the shed", ())
    assert template(newest, []) == (newest, ())


def test_steps_are_numbered_in_their_order() -> None:
    parts = (_part(Sort.STEP, "update the changelog"), _part(Sort.STEP, "tag the release"))
    made = new_skill(_candidate(SkillKind.WORKFLOW, *parts), day=DAY, with_sessions=False)
    assert made.body.endswith("## Steps\n\n1. update the changelog\n2. tag the release")
    assert made.description.startswith(
        "Steps that follow each other: update the changelog; then tag the release. Use when"
    )


@given(
    st.lists(st.tuples(st.sampled_from(Sort), ANYTHING), min_size=1, max_size=6), st.sampled_from(SkillKind), ANYTHING
)
def test_whatever_was_said_the_file_is_sound(said: list[tuple[Sort, str]], kind: SkillKind, project: str) -> None:
    parts = [_part(sort, text, text[::-1]) for sort, text in said]
    name = name_of(telling_words(said[0][1]))
    candidate = Candidate(name, "create", f"/{project}", kind, ("repeatable",), tuple(parts), "testing")
    made = new_skill(candidate, day=DAY, with_sessions=True)
    assert faults(made.text, name) == ()
    assert draft.read(made.text).kind is kind
    assert "Use when" in front(made.text).description


@given(st.lists(ANYTHING, max_size=4), st.sets(st.sampled_from(["a", "asked-for-again", "x-2"])))
def test_every_name_is_one_that_a_skill_can_have(words: list[str], taken: set[str]) -> None:
    name = name_of(words, taken)
    assert NAME.fullmatch(name)
    assert len(name) <= 64
    assert name not in taken
