"""Kinds of skills: what each requires, and that a draft survives SKILL.md and YAML."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, reject, settings
from hypothesis import strategies as st

from skilld.errors import RefusedError
from skilld.exchange import document as yaml_text
from skilld.exchange.document import UsageStats, from_document, to_document
from skilld.exchange.outgoing import SessionWords, without_sessions
from skilld.skills.draft import (
    Body,
    Draft,
    Item,
    SkillKind,
    Variable,
    as_kind,
    clean_draft,
    draft_faults,
    join_body,
    make_item,
    read_draft,
    split_body,
    write_draft,
)
from support.rows import for_each

TEMPLATE = Draft(
    "review",
    "How we review.",
    "Review {{ file }} for {{concern}}.",
    SkillKind.PROMPT,
    variables=(Variable("file", "path", "which one"), Variable("concern")),
)
WORKFLOW_BODY = """\
Do these in order.

## Steps

1. **Check** (`bash`, `read`)

   Run the tests.

   ## Steps

2. **Tag**"""
TOOL = Draft(
    "port-finder",
    "Finds a port.",
    "Look up {{service}}.",
    SkillKind.TOOL,
    schema={"type": "object", "properties": {"service": {"type": "string"}}, "required": ["service"]},
)

TEXTS = st.text(max_size=40) | st.sampled_from(
    [
        "",
        "no",
        "1.0",
        "2026-01-05",
        "- x: *a",
        "a\n\n## Steps\n\n1. **b**",
        "**Output**",
        "`",
        "{{a}}",
        "\x85b\u2028c\r\n",
        "'\"\\n",
    ]
)
LINES = st.lists(TEXTS, max_size=3).map(tuple)
ITEMS = st.lists(st.builds(make_item, TEXTS, LINES, TEXTS), max_size=3).map(tuple)
EXAMPLES = st.sampled_from([(), (make_item("Input", (), "a"), make_item("Output", ["s1"], "b\n\nc"))])
BODIES = st.builds(join_body, st.builds(Body, TEXTS, ITEMS, ITEMS, EXAMPLES)) | TEXTS
SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.just({"type": "object"}) | st.just(
    {"type": "object", "properties": {"\u00e9": {"enum": [1, 2.5, True, None, "no"]}}}
)


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    kind = draw(st.sampled_from([None, *SkillKind]))
    told = st.builds(Variable, TEXTS.filter(lambda text: bool(text.strip())), TEXTS, TEXTS)
    return clean_draft(
        Draft(
            name="a-name",
            description=draw(TEXTS),
            body=draw(BODIES),
            kind=kind,
            version=draw(TEXTS),
            author=draw(TEXTS),
            team=draw(TEXTS),
            tags=draw(LINES),
            variables=draw(st.lists(told, max_size=2).map(tuple)) if kind is SkillKind.PROMPT else (),
            project=draw(TEXTS) if kind is SkillKind.KNOWLEDGE else "",
            schema=draw(SCHEMAS) if kind is SkillKind.TOOL else {},
            sessions=draw(LINES),
            date=draw(TEXTS),
        )
    )


@settings(max_examples=50, deadline=None)
@given(drafts())
def test_exporting_and_importing_gives_an_equal_draft(draft: Draft) -> None:
    text = yaml_text.dump_yaml(to_document(draft, UsageStats(3, 0.5), quotes=["as I said: no"]))
    back, left_out = from_document(yaml_text.load_yaml(text.encode()))
    assert (back, left_out) == (draft, ())


@settings(max_examples=50, deadline=None)
@given(drafts().filter(lambda draft: bool(draft.description and draft.body and "\0" not in draft.body)))
def test_a_cleared_export_loses_only_sessions_author_and_session_examples(draft: Draft) -> None:
    try:
        text = without_sessions(write_draft(draft), SessionWords())
    except RefusedError:  # what it says repeats the id of one of its sessions
        reject()
    back = read_draft(text)
    assert back.sessions == ()
    assert back.author == ""
    assert not any(example.codes for example in split_body(back.body).examples)
    assert split_body(back.body).prompt == split_body(draft.body).prompt
    less: dict[str, Any] = {"body": "", "sessions": (), "author": "", "variables": (), "schema": {}}
    assert replace(back, **less) == replace(draft, **less)
    told = [variable for variable in draft.variables if not variable.description.startswith("as in ")]
    assert [variable for variable in back.variables if variable.description] == [one for one in told if one.description]


@settings(max_examples=50, deadline=None)
@given(drafts().filter(lambda draft: bool(draft.description and draft.body and "\0" not in draft.body)))
def test_a_written_skill_is_read_back_as_the_same_draft(draft: Draft) -> None:
    assert read_draft(write_draft(draft)) == draft


@given(BODIES)
def test_splitting_a_body_loses_nothing(body: str) -> None:
    assert join_body(split_body(body)) == body


def test_a_workflow_is_split_and_reassembled() -> None:
    parts = split_body(WORKFLOW_BODY)
    assert parts.prompt == "Do these in order."
    assert parts.steps == (Item("Check", ("bash", "read"), "Run the tests.\n\n## Steps"), Item("Tag"))
    assert split_body(WORKFLOW_BODY + "\n\nAnd then?").steps == ()


def test_the_document_keeps_the_key_order_of_its_format() -> None:
    document = to_document(replace(TEMPLATE, kind=None, variables=()), UsageStats())
    assert list(document) == [
        *("name", "version", "description", "generated_from", "prompt", "examples", "workflow", "tags", "author"),
        *("team", "stats"),
    ]
    assert list(document["generated_from"]) == ["sessions", "extracted_at"]
    assert document["version"] == "1.0.0"
    assert document["stats"] == {"times_used": 0, "success_rate": None}


def test_each_kind_has_its_own_keys() -> None:
    assert to_document(TEMPLATE, UsageStats())["variables"][0] == {
        "name": "file",
        "type": "path",
        "description": "which one",
    }
    assert to_document(TOOL, UsageStats())["implementation"] == {"prompt": "Look up {{service}}."}
    domain = to_document(Draft("d", "D.", "Code is in src.", SkillKind.KNOWLEDGE, project="shop"), UsageStats())
    assert (domain["type"], domain["project"], domain["context"]) == ("domain-knowledge", "shop", "Code is in src.")
    steps = to_document(Draft("w", "W.", WORKFLOW_BODY, SkillKind.WORKFLOW), UsageStats())["steps"]
    assert steps[1] == {"name": "Tag", "prompt": "", "tools": []}


def test_the_steps_of_a_mined_workflow_are_steps_and_are_imported_once() -> None:
    body = "# Ship it\n\n## Steps\n\nObserved in 2 sessions:\n\n1. Run `make test`.\n2. Change `V`.\n\n## Check\n\n- x"
    mined = Draft("ship", "Ships.", body, SkillKind.WORKFLOW)
    document = to_document(mined, UsageStats())
    assert document["steps"] == [
        {"name": "Run make test", "prompt": "Run `make test`.", "tools": []},
        {"name": "Change V", "prompt": "Change `V`.", "tools": []},
    ]
    assert from_document(document)[0].body == body


def test_m7_steps_of_a_workflow_may_be_plain_texts() -> None:
    steps = ["Run `make test`.", "Tag it,\nsigned."]
    document = {"name": "ship", "description": "Ships.", "type": "workflow", "prompt": "# Ship it", "steps": steps}
    draft, _ = from_document(document)
    assert draft.body == "# Ship it\n\n## Steps\n\n1. Run `make test`.\n2. Tag it, signed."
    assert not draft_faults(draft)


def test_a_foreign_document_is_read() -> None:
    text = b"""\
name: debug-hooks
type: workflow
description: Debugs hooks.
generated_from: {sessions: [s1, s2], extracted_at: 2026-01-05T10:00:00Z}
steps:
- {name: Reproduce, prompt: Make it fail., tools: [bash]}
examples:
- {input: It loops., output: Fixed., source_session: s1}
workflow:
- {tool: grep, description: Find the hook.}
rating: 5
"""
    draft, left_out = from_document(yaml_text.load_yaml(text))
    assert left_out == ("rating",)
    assert draft.date == "2026-01-05T10:00:00Z"
    assert draft.sessions == ("s1", "s2")
    assert draft.body == (
        "## Steps\n\n1. **Reproduce** (`bash`)\n\n   Make it fail.\n\n"
        "## Workflow\n\n1. **grep**\n\n   Find the hook.\n\n"
        "## Examples\n\n1. **Input**\n\n   It loops.\n\n2. **Output** (`s1`)\n\n   Fixed."
    )


@for_each(
    "draft", [TEMPLATE, replace(TEMPLATE, variables=()), TOOL, Draft("w", "W.", WORKFLOW_BODY, SkillKind.WORKFLOW)]
)
def test_a_valid_draft_of_its_kind_has_no_faults(draft: Draft) -> None:
    assert draft_faults(draft) == ()


@for_each(
    ("draft", "fault"),
    [
        (replace(TEMPLATE, variables=(), body="Review."), "prompt templates need {{variables}}, but this one has none"),
        (replace(TEMPLATE, variables=TEMPLATE.variables[:1]), "it uses {{concern}} without declaring it"),
        (replace(TEMPLATE, body="Review {{concern}}."), "it never uses its variable file"),
        (replace(TEMPLATE, variables=(*TEMPLATE.variables, Variable("a b"))), "a b is not a valid variable name"),
        (replace(TEMPLATE, kind=SkillKind.WORKFLOW), "workflows need numbered steps, but this one has none"),
        (replace(TEMPLATE, kind=SkillKind.KNOWLEDGE, project="/home/x"), "its project is a path, not a name"),
        (replace(TOOL, schema={}), "MCP tools need an input schema of type object, but this one has none"),
        (replace(TOOL, schema={"type": "object", "properties": []}), "MCP tools need an input schema of type object"),
        (replace(TOOL, body="{{port}}"), "{{port}} is not a property of its input schema"),
    ],
)
def test_a_draft_that_breaks_its_kind_is_reported(draft: Draft, fault: str) -> None:
    assert any(told.startswith(fault) for told in draft_faults(draft))


def test_a_plain_skill_gets_a_kind_from_its_placeholders() -> None:
    plain = Draft("greet", "Greets.", "Say hello to {{name}}, {{name}}.")
    assert as_kind(plain, SkillKind.PROMPT).variables == (Variable("name"),)
    assert draft_faults(as_kind(plain, SkillKind.TOOL)) == ()
    assert draft_faults(as_kind(plain, SkillKind.WORKFLOW)) != ()


def test_m7_the_context_of_domain_knowledge_may_name_its_parts() -> None:
    parts = {"key_dirs": ["src/pay: payments"], "pitfalls": "Never retry a capture."}
    draft, unknown = from_document({"name": "pay", "type": "domain-knowledge", "description": "Pay", "context": parts})
    assert unknown == ()
    assert draft.body == "## Key dirs\n\n- src/pay: payments\n\n## Pitfalls\n\nNever retry a capture."
