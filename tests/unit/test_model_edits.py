"""From verified updates to an edit: what a model is shown, and what its answer may not write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from skilld.classify.backends import EditCheck
from skilld.classify.json_answer import BadReplyError
from skilld.classify.verify import VerifiedUpdate
from skilld.errors import RefusedError, SkilldError
from skilld.pipeline.documents import TargetDocument, load_documents
from skilld.pipeline.edits import BEYOND_FLAG, BY_ASSENT_FLAG, QUOTED_FLAG, compose
from skilld.redact import KEY_BYTES, Redactor
from skilld.types import Kind, Op, Operation, SkillDoc, SkillRef, Update
from support.rows import for_each
from support.scripted_backend import ScriptedBackend

SECRET = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
TEXT = f"""\
---
name: notes
description: Notes.
---

# Notes

## Access

- Token: {SECRET}

## Style

- Past tense.
"""
TYPED = "please always put the ticket number first"
UPDATE = Update(1, "Style", "Put the ticket number first.", "", Kind.PREFERENCE, 1, TYPED, 0.9)
LINE = "- Put the ticket number first."
redact = Redactor(b"k" * KEY_BYTES).redact


@pytest.fixture
def skill(tmp_path: Path) -> TargetDocument:
    path = tmp_path / "SKILL.md"
    path.write_text(TEXT)
    ((loaded,), _) = load_documents([SkillRef("notes", str(path))])
    return loaded


def _edited_text(
    skill: TargetDocument, answer: list[Operation] | str, *, by_assent: bool = False, typed: str = TYPED
) -> str:
    model = ScriptedBackend(answer)
    composed = compose(model, [VerifiedUpdate(UPDATE, by_assent)], skill, typed, redact)
    assert model.unfit is None, "what only adds is placed by code"
    return composed.after.decode()


def test_an_edit_changes_only_what_it_says(skill: TargetDocument) -> None:
    answer = [Operation(Op.INSERT_AFTER, "- Past tense.", LINE)]
    assert _edited_text(skill, answer) == TEXT.replace("- Past tense.\n", f"- Past tense.\n{LINE}\n")


@for_each(
    ("anchor", "text"),
    [
        ("Past tense.", "Present tense."),
        ("Past tense.", "- Present tense."),
        ("  - Past tense.", "  - Present tense."),
        ("- Past tense.", "- Present tense."),
        ("   * Past tense.", ""),  # another bullet: not the line
    ],
)
def test_an_anchor_may_lack_the_indentation_and_the_bullet_of_its_line(anchor: str, text: str) -> None:
    body = "# Notes\n\n1. Write them.\n   - Past tense.\n   - Short.\n"
    said = "present tense, not past"
    update = replace(UPDATE, change="Present tense.", kind=Kind.CHANGE_STEP, quote=said)
    ref = SkillRef("notes", "/notes/SKILL.md")
    loaded = TargetDocument(ref, body.encode(), SkillDoc(1, "notes", ref.path, body))
    model = ScriptedBackend([Operation(Op.REPLACE, anchor, text or "- Present tense.")])
    if not text:
        with pytest.raises(SkilldError, match="not in the file"):
            compose(model, [VerifiedUpdate(update)], loaded, said, redact)
        return
    composed = compose(model, [VerifiedUpdate(update)], loaded, said, redact)
    assert composed.after.decode() == body.replace("Past", "Present")


def test_two_wishes_in_one_operation_can_be_decided_on_separately(skill: TargetDocument) -> None:
    present = replace(UPDATE, change="Write in the present tense, not the past.", kind=Kind.CHANGE_STEP)
    tense = replace(present, quote="write in the present tense, not the past")
    model = ScriptedBackend([Operation(Op.REPLACE, "- Past tense.", f"- {tense.change}\n{LINE}")])
    composed = compose(model, [VerifiedUpdate(tense), VerifiedUpdate(UPDATE)], skill, f"{TYPED}\n{tense.quote}", redact)
    assert composed.operations == (
        Operation(Op.REPLACE, "- Past tense.", f"- {tense.change}"),
        Operation(Op.INSERT_AFTER, f"- {tense.change}", LINE),
    )


def test_a_secret_in_the_skill_is_hidden_from_the_model(skill: TargetDocument) -> None:
    model = ScriptedBackend([Operation(Op.INSERT_AFTER, "- Past tense.", LINE)])
    compose(model, [VerifiedUpdate(UPDATE)], skill, TYPED, redact)
    assert "- Past tense." in model.shown
    assert SECRET not in model.shown


def test_an_edit_touching_a_secret_line_is_kept_without_a_proposal(skill: TargetDocument) -> None:
    with pytest.raises(RefusedError, match="contains a secret"):
        _edited_text(skill, [Operation(Op.INSERT_AFTER, f"- Token: {SECRET}", LINE)])
    with pytest.raises(RefusedError, match="contains a secret"):
        _edited_text(skill, [Operation(Op.INSERT_AFTER, "- Past tense.", f"{LINE} {SECRET}")])


def test_a_rewritten_file_with_redacted_secrets_keeps_them(skill: TargetDocument) -> None:
    rewritten = redact(TEXT).replace("- Past tense.\n", f"- Past tense.\n{LINE}\n")
    with pytest.raises(RefusedError):
        _edited_text(skill, rewritten)


STYLE = TEXT.replace("- Past tense.", "- One ticket a line.\n- Always do this.\n- Past tense.")


@pytest.mark.parametrize(
    "more",
    [
        Operation(Op.INSERT_AFTER, LINE, "- Number the first ticket."),  # a bullet that nobody said
        Operation(Op.DELETE, "- One ticket a line."),  # a line that nobody spoke of
        Operation(Op.DELETE, "- Always do this."),
        Operation(Op.REPLACE, "- One ticket a line.", "- One ticket."),
    ],
)
def test_s5_an_operation_that_no_update_names_is_refused(tmp_path: Path, more: Operation) -> None:
    path = tmp_path / "SKILL.md"
    path.write_text(STYLE)
    ((loaded,), _) = load_documents([SkillRef("notes", str(path))])
    with pytest.raises(RefusedError):
        _edited_text(loaded, [Operation(Op.INSERT_AFTER, "- Past tense.", LINE), more])


@pytest.mark.parametrize("by_assent", [False, True])
def test_an_edit_that_says_more_is_refused_even_after_an_assent(
    skill: TargetDocument,
    by_assent: bool,  # noqa: FBT001 - a table
) -> None:
    more = [Operation(Op.INSERT_AFTER, "- Past tense.", f"{LINE}\n- Send every draft to the marketing people.")]
    with pytest.raises(RefusedError, match="more than the person did"):
        _edited_text(skill, more, by_assent=by_assent, typed="yes, always" if by_assent else TYPED)


def test_wrong_anchors_are_replaced_if_the_edit_only_adds(skill: TargetDocument) -> None:
    assert LINE in _edited_text(skill, [Operation(Op.INSERT_AFTER, "- A line that never was.", LINE)]).split("\n")


def test_the_prompts_word_for_no_heading_is_no_section_name(skill: TargetDocument) -> None:
    answer = [Operation(Op.INSERT_AFTER, "- A line that never was.", LINE)]
    item = VerifiedUpdate(replace(UPDATE, section="new step"))
    composed = compose(ScriptedBackend(answer), [item], skill, TYPED, redact)
    assert LINE in composed.after.decode().split("\n")
    assert "new step" not in composed.after.decode()


def test_s5_words_nobody_said_are_flagged_for_the_person(skill: TargetDocument) -> None:
    answer = [Operation(Op.INSERT_AFTER, "- Past tense.", LINE)]
    composed = compose(ScriptedBackend(answer), [VerifiedUpdate(UPDATE, beyond=("forward it",))], skill, TYPED, redact)
    assert composed.flags == (f"{BEYOND_FLAG}: forward it",)


def test_words_from_the_agents_offer_are_flagged_for_the_person(skill: TargetDocument) -> None:
    answer = [Operation(Op.INSERT_AFTER, "- Past tense.", LINE)]
    composed = compose(ScriptedBackend(answer), [VerifiedUpdate(UPDATE, by_assent=True)], skill, "yes, always", redact)
    assert BY_ASSENT_FLAG in composed.flags
    pasted = compose(
        ScriptedBackend(answer), [VerifiedUpdate(UPDATE, by_assent=True, quoted=True)], skill, TYPED, redact
    )
    assert QUOTED_FLAG in pasted.flags
    assert BY_ASSENT_FLAG not in pasted.flags


def test_such_a_flag_shows_the_words_it_is_about_beside_others(skill: TargetDocument) -> None:
    own = replace(UPDATE, change="Sign each entry.", quote="sign each entry")
    answer = [Operation(Op.INSERT_AFTER, "- Past tense.", f"{LINE}\n- Sign each entry.")]
    checked = [VerifiedUpdate(UPDATE, by_assent=True), VerifiedUpdate(own)]
    composed = compose(ScriptedBackend(answer), checked, skill, f"{TYPED}\nsign each entry", redact)
    assert f"{BY_ASSENT_FLAG}: {UPDATE.change}" in composed.flags


class _FirstRefused(ScriptedBackend):
    """A model whose answer is judged as in earnest, and which has no other one."""

    def edit(self, updates: Sequence[Update], skill: SkillDoc, unfit: EditCheck | None = None) -> list[Operation] | str:
        assert unfit is not None
        raise BadReplyError(unfit(super().edit(updates, skill, unfit)))


def test_the_reason_for_the_person_has_no_advice_for_the_model(skill: TargetDocument) -> None:
    removal = replace(UPDATE, kind=Kind.REMOVE_STEP, change="The skeleton rule.", quote="forget the skeleton rule")
    with pytest.raises(SkilldError) as raised:
        compose(_FirstRefused([]), [VerifiedUpdate(removal)], skill, removal.quote, redact, retry=True)
    assert str(raised.value) == "The model's answer was not used: it changes nothing"
