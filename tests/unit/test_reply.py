"""Replies of models: a closed schema, strictly parsed, never a surprise."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilld.classify.closed_questions import reword, tasks
from skilld.classify.draft_lines import DraftAnswer, DraftLine, answer_of, parse_drafts
from skilld.classify.json_answer import BadReplyError
from skilld.classify.reply import parse_operations, parse_updates
from skilld.types import Kind, Op, Operation, Update
from support.rows import for_each

UPDATE: dict[str, Any] = {
    "skill": 1,
    "section": "Style",
    "change": "Put the ticket first.",
    "reason": "asked",
    "kind": "preference",
    "turn": 2,
    "quote": "ticket first",
    "confidence": 0.9,
}
READ = Update(1, "Style", "Put the ticket first.", "asked", Kind.PREFERENCE, 2, "ticket first", 0.9)


def _updates(reply: str) -> tuple[list[Update], list[str]]:
    return parse_updates(reply, turns=5, skills=2, names=["notes", "pages"])


LIST = json.dumps([UPDATE])


@for_each(
    "reply",
    [
        f"<updates>{LIST}</updates>",
        f"Here they are.\n<updates>\n{json.dumps([UPDATE], indent=1)}\n</updates>\nDone.",
        f"<updates>```json\n{LIST}\n```</updates>",
        f"```json\n{LIST}\n```",
        LIST,
        json.dumps({"updates": [UPDATE]}),
        json.dumps({"updates": UPDATE}),
        json.dumps({"reasoning": "turn 2 asks for it", "updates": [UPDATE]}),
        json.dumps({"results": [UPDATE]}),
        f"<updates>\n{json.dumps(UPDATE)},\n</updates>",
        json.dumps(UPDATE),
        f"<updates>[{json.dumps(UPDATE)[:-1]},\n}},\n]</updates>",
        f"<updates>{json.dumps({'updates': [UPDATE]})}</updates>",
        f"<think>Maybe {LIST}? Or <updates>[]</updates>?</think>\n<updates>{LIST}</updates>",
        f"Turn 2 [the second] asks for it.</think>{LIST}",
        f"<thinking>\nhm\n</thinking>```\n{LIST}\n```",
        f"Let me see. Turn [2] says {{it}}.\n\n```json\n{LIST}\n```\nThat is all.",
        f"<Updates>{LIST}</UPDATES>",
        json.dumps({"Updates": [{key.title(): value for key, value in UPDATE.items()}]}),
        *(
            json.dumps([UPDATE | change])
            for change in (
                {"turn": "2", "skill": "1"},
                {"turn": "turn 2", "skill": "skill 1"},
                {"turn": [2], "skill": 1.0},
                {"turn": 2.0, "skill": "notes"},
                {"turn": "#2", "skill": "`Notes`"},
                {"kind": "Preference"},
                {"kind": "guideline"},
                {"section": "## Style"},
                {"confidence": "high"},
                {"confidence": 90},
                {"confidence": 9},
                {"confidence": "90%"},
                {"confidence": "0.90"},
                {"confidence": "9/10"},
            )
        ),
    ],
)
def test_an_answer_is_read_in_every_form_models_give_it(reply: str) -> None:
    assert _updates(reply) == ([READ], [])


@for_each("between", ["\n", ",\n", " "])
def test_a_block_may_hold_several_objects_in_a_row(between: str) -> None:
    said = between.join([json.dumps(UPDATE), json.dumps(UPDATE | {"turn": 3})])
    assert _updates(f"<updates>\n{said}\n</updates>") == ([READ, replace(READ, turn=3)], [])


@for_each("reply", ["<updates>[]</updates>", "[]", '{"updates": []}', "```\n[]\n```", "Nothing: []"])
def test_an_empty_answer_is_valid(reply: str) -> None:
    assert _updates(reply) == ([], [])


@for_each(
    ("reply", "cause"),
    [
        ("", "it is empty"),
        ("<updates>\n</updates>", "it is empty"),
        ("<think>I find nothing", "it is empty"),
        ("<updates>[]", "it was cut off"),
        (f"<updates>{LIST}</upd", "it was cut off"),
        (LIST[:-1], "it was cut off"),
        (f"{LIST[:-1]}, {{", "it was cut off"),
        (f'{{"updates": {LIST}', "it was cut off"),
        ("nothing to report", "it is not valid JSON"),
        ("<updates>[</updates>", "it is not valid JSON"),
        ("[" * 60_000, "it is not valid JSON"),
        ("9" * 5000, "it is not valid JSON"),
        ('{"updates": [], "more": 1}', "it is not a JSON array"),
        (f'<updates>{json.dumps(UPDATE)} {{"change": </updates>', "it was cut off"),
        ('<updates>{"skill": 1} {"skill": 2}</updates>', "it is not valid JSON"),
        ('{"result": "none"}', "it is not a JSON array"),
        ("null", "it is not a JSON array"),
        ("<updates>[]</updates><updates>[]</updates>", "it has 2 <updates> blocks instead of one"),
        (f"<updates>{json.dumps([UPDATE] * 13)}</updates>", "it lists 13 updates; the limit is 12"),
        ("x" * 70_000, "it is far too long"),
        ("<think>" + "x" * 1_100_000 + "</think>[]", "it is far too long"),
        (f"First {json.dumps([UPDATE])}, or rather {json.dumps([UPDATE])}", "it has 2 answers instead of one"),
        (f"{json.dumps(UPDATE)}\n{json.dumps(UPDATE)}", "it has 2 answers instead of one"),
        ("```" + "\n" * 60_000 + "x", "it is not valid JSON"),
        ("<updates>" * 7000, "it was cut off"),
    ],
)
def test_an_invalid_answer_is_refused_as_a_whole(reply: str, cause: str) -> None:
    with pytest.raises(BadReplyError) as error:
        _updates(reply)
    assert error.value.cause == cause


@for_each(
    ("change", "cause"),
    [
        ({"surplus": 1}, "an update has 1 unknown key"),
        ({"TURN": 2}, "an update has 1 unknown key"),  # beside a turn
        ({"section": 7}, "an update's section is missing, empty or too long"),
        ({"skill": 3}, "an update refers to a skill that is not in use"),
        ({"skill": None}, "an update's skill is not a number"),
        ({"skill": True}, "an update's skill is not a number"),
        ({"turn": 0}, "an update refers to a turn that does not exist"),
        ({"turn": 6}, "an update refers to a turn that does not exist"),
        ({"turn": "9" * 5000}, "an update's turn is not a number"),
        ({"turn": 1.5}, "an update's turn is not a number"),
        ({"kind": "revolution"}, "an update has an unknown kind"),
        ({"confidence": 1.5}, "an update's confidence is not between 0 and 1"),
        ({"confidence": float("nan")}, "an update's confidence is not between 0 and 1"),
        ({"confidence": True}, "an update's confidence is not between 0 and 1"),
        ({"confidence": "certainly"}, "an update's confidence is not between 0 and 1"),
        ({"change": ""}, "an update's change is missing, empty or too long"),
        ({"change": "x" * 601}, "an update's change is missing, empty or too long"),
        ({"quote": None}, "an update's quote is missing, empty or too long"),
        ({"change": "torn \ud83d"}, "an update's change contains characters that are not allowed in a skill"),
        ({"reason": "\x1b[31m"}, "an update's reason contains characters that are not allowed in a skill"),
        ({"section": "a\0b"}, "an update's section contains characters that are not allowed in a skill"),
    ],
)
def test_an_invalid_update_is_left_out_with_the_reason(change: dict[str, Any], cause: str) -> None:
    assert _updates(json.dumps([UPDATE | change, UPDATE])) == ([READ], [cause])


def test_an_update_that_is_no_object_is_left_out() -> None:
    assert _updates(json.dumps(["always", [UPDATE], UPDATE])) == ([READ], ["an update is not an object"] * 2)


@pytest.mark.parametrize("kind", ["workflow", "Policy"])
def test_a_place_is_optional_and_a_kind_has_many_names(kind: str) -> None:
    (update,), _ = _updates(json.dumps([{key: UPDATE[key] for key in UPDATE if key != "section"} | {"kind": kind}]))
    assert (update.section, update.kind) == ("", Kind.PREFERENCE)


def test_a_section_may_be_empty_and_a_reason_missing() -> None:
    item = {key: value for key, value in UPDATE.items() if key != "reason"} | {"section": ""}
    assert _updates(json.dumps([item])) == ([replace(READ, section="", reason="")], [])


def test_a_skill_may_be_omitted_if_there_is_only_one() -> None:
    item = {key: value for key, value in UPDATE.items() if key != "skill"}
    assert parse_updates(json.dumps([item]), turns=5, skills=1) == ([READ], [])


def test_operations_are_read_and_surrounding_newlines_dropped() -> None:
    items = [
        {"op": "insert_after", "anchor": "- a\n", "text": "\n- b"},
        {"op": "replace", "anchor": "- c", "text": "- d"},
        {"op": "delete", "anchor": "  - e", "text": None},
    ]
    assert parse_operations(f"<operations>{json.dumps(items)}</operations>") == [
        Operation(Op.INSERT_AFTER, "- a", "- b"),
        Operation(Op.REPLACE, "- c", "- d"),
        Operation(Op.DELETE, "  - e"),
    ]


def test_a_single_operation_is_a_list_of_one_and_thinking_is_ignored() -> None:
    reply = '<think>a <operations> block</think>{"op": "Delete", "anchor": "- a"}'
    assert parse_operations(reply) == [Operation(Op.DELETE, "- a", "")]


def test_lines_of_an_operation_may_be_listed_and_its_name_hyphenated() -> None:
    item = {"op": "insert-after", "anchor": ["- a", "- b"], "text": ["- c, ]", "- d"]}
    reply = f"<operations>[{json.dumps(item)},]</operations>"
    assert parse_operations(reply) == [Operation(Op.INSERT_AFTER, "- a\n- b", "- c, ]\n- d")]


def test_changes_are_read_in_the_same_forms() -> None:
    assert reword([READ, READ], ["", ""]).read('Sure!\n["Put it first.", ""]') == ["Put it first.", ""]
    assert reword([READ], [""]).read('{"changes": ["Put it first."]}') == ["Put it first."]
    with pytest.raises(BadReplyError, match="exactly one change per request"):
        reword([READ], [""]).read('["a", "b"]')


def test_a_whole_file_is_an_answer_too() -> None:
    assert parse_operations("<updated_file>\n# Notes\r\n- a\n</updated_file>") == "# Notes\n- a\n"


@for_each(
    ("item", "cause"),
    [
        ({"op": "append", "anchor": "a", "text": "b"}, "an operation is of an unknown type"),
        ({"op": "replace", "anchor": " \n", "text": "b"}, "an operation has no anchor"),
        ({"op": "replace", "text": "b"}, "an operation has no anchor"),
        ({"op": "replace", "anchor": "a"}, "an operation has text it must not have, or lacks text it must have"),
        (
            {"op": "delete", "anchor": "a", "text": "b"},
            "an operation has text it must not have, or lacks text it must have",
        ),
        (
            {"op": "replace", "anchor": "a", "text": "b", "path": "/etc"},
            "an operation does not have the requested format",
        ),
        (
            {"op": "replace", "anchor": "a", "text": "\udc80"},
            "an operation contains characters that are not allowed in a skill",
        ),
        ("delete everything", "an operation does not have the requested format"),
    ],
)
def test_an_invalid_operation_invalidates_the_answer(item: object, cause: str) -> None:
    with pytest.raises(BadReplyError) as error:
        parse_operations(json.dumps([item]))
    assert error.value.cause == cause


def test_an_edit_with_hundreds_of_operations_is_refused() -> None:
    items = [{"op": "delete", "anchor": "a"}] * 41
    with pytest.raises(BadReplyError, match="41 operations"):
        parse_operations(json.dumps(items))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*UPDATE, "op", "anchor"]), inner),
    max_leaves=12,
)


@for_each(
    "reply",
    [
        '[{"requests": [1, 4], "continued": []}]',
        '[{"requests": [1, 2], "continued": []}, {"requests": [2, 3], "continued": []}]',
        '[{"requests": [1]}]',
    ],
)
def test_tasks_are_lists_of_requests_that_exist_each_in_one(reply: str) -> None:
    question = tasks(["a", "b", "c"])
    assert question.read('[{"requests": [3, 1], "continued": [1, 2]}]') == [[1, 3], [2]]
    with pytest.raises(BadReplyError):
        question.read(f"<tasks>{reply}</tasks>")


@for_each(
    "reply",
    [
        '[{"draft": 1, "lines": [1]}]',
        '[{"draft": 1, "lines": []}, {"draft": 1, "lines": []}]',
        '[{"draft": 3, "lines": []}, {"draft": 2, "lines": []}]',
        '[{"draft": 1, "lines": "none"}, {"draft": 2, "lines": []}]',
    ],
)
def test_every_draft_is_judged_once(reply: str) -> None:
    with pytest.raises(BadReplyError):
        parse_drafts(f"<drafts>{reply}</drafts>", [2, 5])


def test_a_line_has_a_kind_and_sources_that_exist_and_others_are_left_out() -> None:
    lines = [
        {"kind": "step", "text": " Read\nit. ", "from": [2, 1, 2]},
        {"kind": "rule", "text": "", "from": [1]},
        4,
        {"kind": "order", "text": "x", "from": [1]},
        {"kind": "step", "text": "x", "from": [6]},
        {"kind": "step", "text": "x", "from": [1, 6]},
        {"kind": "step", "text": 7 * "too long" * 10, "from": [1, 2]},
        {"kind": "step", "text": "x", "from": []},
        {"kind": "step", "text": "", "from": [1, 2]},
        "x",
    ]
    reply = [{"draft": 2, "titles": ["Read it.", "", 7], "when": "Use it.", "lines": lines}, {"draft": 1, "lines": []}]
    assert parse_drafts(f"<drafts>{json.dumps(reply)}</drafts>", [2, 5]) == [
        DraftAnswer(),
        DraftAnswer(
            ("Read it",),
            "Use it.",
            (DraftLine("step", "Read it", (2, 1)), DraftLine("rule", "", (1,))),
            ("x", "x", "x", "a line", "x", "a line"),  # told in the second question
        ),
    ]


def test_only_the_first_lines_and_titles_of_a_draft_are_read() -> None:
    lines = [{"kind": "step", "text": f"Step {n}", "from": [1]} for n in range(50)]
    reply = [{"draft": 1, "titles": ["One", "Two", "Three", "Four"], "when": "", "lines": lines}]
    (answer,) = parse_drafts(f"<drafts>{json.dumps(reply)}</drafts>", [2])
    assert (len(answer.lines), answer.titles) == (40, ("One", "Two", "Three"))


def test_an_answer_is_the_same_after_it_was_stored() -> None:
    answer = DraftAnswer(("One", "Two"), "Use it", (DraftLine("step", "Read it", (2, 1)),), ("x",))
    assert answer_of(json.loads(json.dumps(asdict(answer)))) == answer


@given(JSON, st.sampled_from(["updates", "operations", "updated_file", "x"]), st.booleans())
def test_any_reply_is_valid_values_or_a_refusal(
    value: object,
    tag: str,
    tagged: bool,  # noqa: FBT001 - hypothesis gives it by position
) -> None:
    reply = json.dumps(value)
    _check_any_reply(f"<{tag}>{reply}</{tag}>" if tagged else reply)


@given(st.lists(st.sampled_from([*'<>/[]{}"`\n x', "updates", "operations", "updated_file", "json"])).map("".join))
def test_any_text_is_an_answer_or_a_refusal(reply: str) -> None:
    _check_any_reply(reply)


@given(st.dictionaries(st.sampled_from([*UPDATE]), JSON))
def test_an_update_with_any_field_values_is_read_or_left_out(change: dict[str, object]) -> None:
    updates, left_out = _updates(json.dumps([UPDATE | change]))
    assert len(updates) + len(left_out) == 1
    for update in updates:
        assert 1 <= update.turn <= 5
        assert update.skill in {1, 2}
        update.change.encode()


def _check_any_reply(reply: str) -> None:
    for parse in (_updates, parse_operations):
        with suppress(BadReplyError):
            parse(reply)
