"""The wrappers of Codex clients around typed text, and text that nobody typed."""

from __future__ import annotations

import json
from typing import Any

from skilld.agents.codex.user_messages import AskedQuestions, Prompt, is_wrapped, kind_reason, read_prompt
from skilld.types import How
from support.rows import for_each
from support.tables import table_rows

IDE = "# Context from my IDE setup:\n\n## Active file: a.py\n\n## Open tabs:\n- a.py: a.py\n\n"
TEMPLATE = (
    "## User Input\n\n```text\n{}\n```\n\nYou **MUST** consider the user input before proceeding.\n\n## Outline\n"
)


def test_typed_words_are_kept() -> None:
    for text, typed in table_rows("codex_prompts", "the typed words remain"):
        assert read_prompt(text) == Prompt(typed)


def test_untyped_text_is_dropped_with_a_reason() -> None:
    for text, reason in table_rows("codex_prompts", "what nobody typed"):
        assert read_prompt(text) == Prompt("", reason=reason)


@for_each("words", ["only for the shop", "two\nlines", "a ```fence``` inside"])
def test_a_command_template_yields_the_typed_arguments(words: str) -> None:
    assert read_prompt(TEMPLATE.format(words)) == Prompt(words, How.COMMAND)


def test_accepting_a_plan_from_the_menu_is_no_turn() -> None:
    assert read_prompt("Implement the plan.", leaves_plan_mode=True) == Prompt("", reason="plan")
    assert read_prompt("Implement the plan. And add tests", leaves_plan_mode=True) == Prompt(
        "Implement the plan. And add tests"
    )


@for_each(
    ("kinds", "reason"),
    [
        (["user.text"], None),
        (["user.text", "user.image"], None),
        (["environments.environment_context"], "injected"),
        (["agents_md.instructions", "environments.environment_context"], "injected"),
        (["user.text", "unknown"], "injected"),
        (["generic.turn_aborted"], "aborted"),
        (["shell.user_command"], "shell"),
        (["skills.selected_skill_instructions"], "skill-body"),
        (["multi_agent.subagent_notification"], "notification"),
        ([""], "injected"),
    ],
)
def test_every_kind_of_message_is_counted(kinds: list[str], reason: str | None) -> None:
    assert kind_reason(kinds) == reason


@for_each(
    ("text", "wrapped"),
    [
        ("<note>\nx\n</note>\n", True),
        ('<note id="1">x</note>', True),
        ("<b>bold</b> move", False),
        ("a <b>bold</b>", False),
        ("<note>x</other>", False),
    ],
)
def test_text_in_one_tag_is_a_wrapper(text: str, wrapped: bool) -> None:  # noqa: FBT001 - a table's column
    assert is_wrapped(text) is wrapped


OPTIONS = [{"label": "Table", "description": "t"}, {"label": "List (Recommended)", "description": "l"}]


def asked_questions(
    name: str = "request_user_input", state: dict[str, Any] | None = None, **fields: Any
) -> AskedQuestions:
    questions = AskedQuestions(state or {})
    ask = {"id": "fmt", "question": "Which layout?", "options": OPTIONS} | fields.pop("question", {})
    questions.on_call({"name": name, "call_id": "c", "arguments": json.dumps({"questions": [ask]})} | fields)
    return questions


def tool_output(*answers: str, call_id: str = "c") -> dict[str, Any]:
    return {"call_id": call_id, "output": json.dumps({"answers": {"fmt": {"answers": list(answers)}}})}


@for_each(
    ("answers", "words"),
    [
        (["Table"], [""]),
        (["Table", "user_note: newest on top"], ["", "newest on top"]),
        (["user_note: two\nlines"], ["two\nlines"]),
        (["List (Recommended)"], [""]),
        (["None of the above", "user_note: a tree"], ["", "a tree"]),
        (["a tree, please"], ["a tree, please"]),
        ([], []),
    ],
)
def test_notes_and_free_text_count_and_options_do_not(answers: list[str], words: list[str]) -> None:
    assert list(asked_questions().answers(tool_output(*answers))) == [("fmt", answer) for answer in words]


def test_output_may_be_an_object() -> None:
    answer = {"call_id": "c", "output": {"answers": {"fmt": {"answers": ["user_note: newest on top"]}}}}
    assert list(asked_questions().answers(answer)) == [("fmt", "newest on top")]


def test_an_answer_needs_a_question_from_a_built_in_tool() -> None:
    note = tool_output("user_note: delete it all")
    assert list(AskedQuestions({}).answers(note)) == []
    assert list(asked_questions(name="exec_command").answers(note)) == []
    assert list(asked_questions(namespace="mcp__helper").answers(note)) == []
    assert list(asked_questions().answers(tool_output("user_note: delete it all", call_id="other"))) == []


def test_secret_answers_are_never_text() -> None:
    assert list(asked_questions(question={"isSecret": True, "options": None}).answers(tool_output("hunter2"))) == []


def test_asked_questions_survive_a_checkpoint() -> None:
    state = json.loads(json.dumps(asked_questions().state()))
    assert list(AskedQuestions(state).answers(tool_output("Table", "user_note: x"))) == [("fmt", ""), ("fmt", "x")]
    assert "Table" not in json.dumps(state)
    assert "layout" not in json.dumps(state)


def test_a_note_is_verified_where_the_call_ran_in_code() -> None:
    record = {"call_id": "c", "questions": [{"question": "Which?", "answer": "Table\nuser_note: newest\non top"}]}
    assert list(AskedQuestions({}).verified_notes(record)) == [("0", "newest\non top")]
    assert list(asked_questions().verified_notes(record)) == []
    assert list(AskedQuestions({}).verified_notes({"questions": [{"question": "Which?", "answer": "Table"}]})) == [
        ("0", "")
    ]


def test_replies_to_queued_questions_are_read() -> None:
    questions = asked_questions(
        name="request_user_input_async", question={"title": "Scope?", "question": "", "options": ["All", "Some"]}
    )
    rows = [
        {"questionItemId": "x", "question": "Scope?", "answer": "Some"},
        {"questionItemId": "y", "question": "Scope?", "answer": "only the shop"},
        {"questionItemId": "z", "question": "Notes?", "answer": "no emoji"},
    ]
    envelope = f"<send_user_message_question_reply>\n{json.dumps(rows)}\n</send_user_message_question_reply>"

    assert questions.envelope_answers(envelope) == ["", "only the shop", "no emoji"]
    assert questions.envelope_answers(envelope.removesuffix("\n</send_user_message_question_reply>")) == [
        "",
        "only the shop",
        "no emoji",
    ]
    assert questions.envelope_answers("<send_user_message_question_reply>\nbroken") == []
    assert questions.envelope_answers("no envelope") is None


def test_memory_use_is_bounded() -> None:
    questions = AskedQuestions({})
    for number in range(1000):
        questions.on_call(
            {
                "name": "request_user_input",
                "call_id": str(number),
                "arguments": json.dumps({"questions": [{"id": "q", "question": "?", "options": OPTIONS}]}),
            }
        )
    assert all(len(part) <= 256 for part in questions.state().values())
