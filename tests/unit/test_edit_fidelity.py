"""An edit touches only what its updates name (S5); anything else is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from skilld.classify.fidelity import FidelityCheck, check_fidelity
from skilld.classify.verify import VerifiedUpdate
from skilld.errors import RefusedError, SkilldError
from skilld.pipeline.documents import TargetDocument
from skilld.pipeline.edits import BEYOND_FLAG, COLLATERAL_FLAG, CheckedEdit, compose
from skilld.types import BODY_OPS, BY_HEADING_FLAG, SECTION_OPS, Kind, Op, Operation, SkillDoc, SkillRef, Update
from skilld.words import content_stems
from support.rows import for_each
from support.scripted_backend import ScriptedBackend

SAID = "From now on, always put the ticket number first in each entry. And run the linter now."
CHANGE = "Always put the ticket number first in each entry."
UPDATE = Update(1, "Style", CHANGE, "", Kind.PREFERENCE, 1, "always put the ticket number first in each entry", 0.9)
TEXT = """\
---
name: release-notes
description: Release notes.
---

# Release notes

## Steps

1. Collect the merged changes since the last tag.
2. Write one entry per change, newest first.
3. Show the draft, as step 2 left it, and wait for a word before saving it.

## Checklist

Before you publish:
- The tag is signed.
- The draft was read twice,
  aloud.

## Style

- Past tense, one line per entry.
- No marketing words.
"""
LINE = f"- {CHANGE}"
GOOD = TEXT + LINE + "\n"
LOADED = TargetDocument(SkillRef("release-notes", "/p/SKILL.md"), TEXT.encode(), SkillDoc(1, "n", "/p/SKILL.md", TEXT))
ADDS, REMOVES, MOVES = (f"it {what} something the person did not mention" for what in ("adds", "removes", "moves"))
MORE = "it says more than the person did"


def _check(after: str, *updates: Update, typed: str = SAID) -> FidelityCheck:
    return check_fidelity(TEXT, after, updates or [UPDATE], typed)


def _compose_edit(update: Update, *operations: Operation, typed: str = SAID) -> CheckedEdit:
    return compose(ScriptedBackend(list(operations)), [VerifiedUpdate(update)], LOADED, typed, lambda text: text)


INSERT = Operation(Op.INSERT_AFTER, "- No marketing words.", LINE)


def test_an_edit_with_only_the_change_is_accepted() -> None:
    assert _check(GOOD) == FidelityCheck()
    assert _compose_edit(UPDATE, INSERT).after.decode() == GOOD


def test_words_whose_replacement_is_refused_are_added_as_a_line_where_nobody_can_be_asked_again() -> None:
    wrong = Operation(Op.REPLACE, "- No marketing words.", "- No ticket words.")
    added = compose(
        ScriptedBackend(wrong, edits_together=False), [VerifiedUpdate(UPDATE)], LOADED, SAID, lambda text: text
    )
    assert added.after.decode() == GOOD
    removal = replace(UPDATE, kind=Kind.REMOVE_STEP)
    with pytest.raises(RefusedError):
        compose(
            ScriptedBackend(wrong, edits_together=False), [VerifiedUpdate(removal)], LOADED, SAID, lambda text: text
        )


@for_each(
    "extra",
    [
        Operation(Op.INSERT_AFTER, LINE, "- Number each entry."),  # of the change's own words
        Operation(Op.INSERT_AFTER, LINE, "- Put each ticket first."),
        Operation(Op.INSERT_AFTER, LINE, "- Run the linter now."),  # typed, and no update
        Operation(Op.INSERT_AFTER, LINE, "- Write the draft since the last tag."),  # of the skill's words
        Operation(Op.INSERT_AFTER, LINE, "- Always."),
        Operation(Op.INSERT_AFTER, LINE, "\n## Marketing\n"),
        Operation(Op.INSERT_AFTER, LINE, f"\n## Collect the draft\n\n{LINE}"),
        Operation(Op.DELETE, "- Past tense, one line per entry."),  # shares a word with the change
        Operation(Op.DELETE, "- No marketing words."),
        Operation(Op.DELETE, "2. Write one entry per change, newest first."),
        Operation(Op.REPLACE, "- No marketing words.", "- No words."),
        Operation(Op.REPLACE, "2. Write one entry per change, newest first.", "2. Write one entry per change."),
        Operation(Op.REPLACE, "- The tag is signed.", "- The tag is signed twice."),
        Operation(Op.REPLACE, LINE, f"{LINE[:-1]}, then forward release notes outside."),
        Operation(Op.DELETE, "## Style"),
        Operation(Op.DELETE, "Before you publish:"),
    ],
)
def test_s5_an_operation_no_update_names_is_refused(extra: Operation) -> None:
    with pytest.raises(RefusedError):
        _compose_edit(UPDATE, INSERT, extra)
    with pytest.raises(RefusedError):
        _compose_edit(replace(UPDATE, kind=Kind.CHANGE_STEP), INSERT, extra)


@for_each(
    ("old", "new", "why"),
    [
        ("one line per", "20 lines per", MORE),
        ("newest first.", "newest 5 first.", MORE),
        ("step 2", "step 1", MORE),
        ("1. Collect the merged changes since the last tag.\n", "", REMOVES),
    ],
)
def test_s5_a_line_is_not_altered_in_passing(old: str, new: str, why: str) -> None:
    assert _check(GOOD.replace(old, new)).why_not == why


def test_s5_lines_may_not_be_reordered() -> None:
    first, second = (line for line in TEXT.splitlines() if line.startswith(("1. ", "2. ")))
    swapped = GOOD.replace(f"{first}\n{second}", f"1{second[1:]}\n2{first[1:]}")
    assert _check(swapped).why_not == MOVES
    said = "collect the merged changes after you write an entry"
    update = replace(
        UPDATE, change="Collect the merged changes after you write one entry.", kind=Kind.CHANGE_STEP, quote=said
    )
    assert _check(swapped.replace(f"{LINE}\n", f"- {update.change}\n"), update, typed=said).why_not == ""


def test_automatic_consequences_are_no_change() -> None:
    numbered = GOOD.replace(f"{LINE}\n", "").replace("1. Collect", f"1. {CHANGE}\n2. Collect")
    numbered = numbered.replace("2. Write", "3. Write").replace("3. Show", "4. Show")
    assert _check(numbered.replace("step 2", "step 3")) == FidelityCheck()
    wrapped = GOOD.replace("twice,\n  aloud", "twice, aloud").replace(
        "merged changes since", "merged\n   changes since"
    )
    assert _check(wrapped) == FidelityCheck()
    assert _check(TEXT + "- Always put the ticket number\n  first in each entry.\n") == FidelityCheck()
    assert _check(TEXT + "- In each entry:\n  - put the ticket number first\n") == FidelityCheck()
    assert _check(TEXT + f"\n## Preferences\n\n{LINE}\n") == FidelityCheck()
    merged = TEXT.replace("one line per entry.", "one line per entry, always with the ticket number first.")
    assert _check(merged) == FidelityCheck()


def test_an_added_clause_in_the_skills_own_words_is_named() -> None:
    flags = _compose_edit(UPDATE, replace(INSERT, text=f"- In release notes, {CHANGE[0].lower()}{CHANGE[1:]}")).flags
    assert flags == (f"{BEYOND_FLAG}: In release notes",)


CHECKLIST = TEXT[TEXT.index("## Checklist") : TEXT.index("## Style")]
NO_CHECKLIST = "we have no checklist any more, CI does it"


@pytest.mark.parametrize(
    ("kind", "change", "text"),
    [
        (Kind.REMOVE_STEP, "Drop the checklist.", ""),
        (Kind.CHANGE_STEP, "Use no checklist; CI does it.", "- Use no checklist; CI does it.\n"),
    ],
)
def test_a_section_named_by_its_heading_is_removed_whole_and_flagged(kind: Kind, change: str, text: str) -> None:
    update = replace(UPDATE, section="Checklist", change=change, kind=kind, quote=NO_CHECKLIST)
    after = TEXT.replace(CHECKLIST, "") + text
    assert _check(after, update, typed=NO_CHECKLIST) == FidelityCheck(by_heading=("Checklist",))
    steps = [Operation(Op.DELETE, CHECKLIST.rstrip("\n"))]
    steps += [Operation(Op.INSERT_AFTER, "- No marketing words.", text.rstrip())] if text else []
    assert f"{BY_HEADING_FLAG}: Checklist" in _compose_edit(update, *steps, typed=NO_CHECKLIST).flags


REPLACED = "## Checklist\n\nUse no checklist; CI does it."


@for_each(
    ("operation", "stands"),
    [
        (Operation(Op.DELETE_SECTION, "## Checklist"), ""),
        (Operation(Op.REPLACE_SECTION, "## Checklist", REPLACED), f"{REPLACED}\n\n"),
        (Operation(Op.REPLACE_SECTION, "Before you publish:", "Use no checklist; CI does it."), f"{REPLACED}\n\n"),
    ],
)
def test_a_model_may_name_a_section_or_list_by_its_first_line(operation: Operation, stands: str) -> None:
    kind = Kind.CHANGE_STEP if stands else Kind.REMOVE_STEP
    update = replace(UPDATE, section="Checklist", change="Use no checklist; CI does it.", kind=kind, quote=NO_CHECKLIST)
    composed = _compose_edit(update, operation, typed=NO_CHECKLIST)
    assert composed.after.decode() == TEXT.replace(CHECKLIST, stands)
    (step,) = composed.operations
    assert step.op in BODY_OPS, "what is kept and applied again later is anchored on the lines themselves"
    assert any(flag.startswith(BY_HEADING_FLAG) for flag in composed.flags)


@pytest.mark.parametrize(
    "anchor",
    [
        "## Style",  # nobody spoke of it
        "## Steps",
        "# Release notes",
        "1. Collect the merged changes since the last tag.",
        "## Nowhere",
        "  aloud.",  # no line that begins anything
        "name: release-notes",
    ],
)
@pytest.mark.parametrize("op", SECTION_OPS)
@pytest.mark.parametrize("kind", [Kind.CHANGE_STEP, Kind.REMOVE_STEP])
def test_s5_a_model_may_not_remove_a_section_nobody_mentioned(anchor: str, op: Op, kind: Kind) -> None:
    text = LINE if op is Op.REPLACE_SECTION else ""
    update = replace(UPDATE, kind=kind, section=anchor.lstrip("# "))
    with pytest.raises(SkilldError):
        _compose_edit(update, Operation(op, anchor, text))


def test_a_list_named_by_the_line_above_it_is_removed() -> None:
    said = "drop what is to be done before we publish, from now on"
    update = replace(UPDATE, change="Drop the list before you publish.", kind=Kind.REMOVE_STEP, quote=said)
    items = CHECKLIST[CHECKLIST.index("Before") : CHECKLIST.rindex("\n\n")]
    assert _check(TEXT.replace(f"{items}\n", ""), update, typed=said) == FidelityCheck(
        by_heading=("Before you publish:",)
    )


@for_each(
    ("update", "gone"),
    [
        (replace(UPDATE, section="Checklist", kind=Kind.CHANGE_STEP), CHECKLIST),  # the model's word alone
        (replace(UPDATE, section="Style", kind=Kind.CHANGE_STEP), TEXT[TEXT.index("## Style") :]),
        (replace(UPDATE, change="Never use a checklist.", quote=NO_CHECKLIST), CHECKLIST),  # it only adds
        (
            replace(UPDATE, change="Release notes are written by CI.", kind=Kind.CHANGE_STEP, quote="by CI"),
            TEXT[TEXT.index("## Steps") : TEXT.index("## Checklist")],
        ),
    ],
)
def test_s5_an_unmentioned_section_stays(update: Update, gone: str) -> None:
    after = TEXT.replace(gone, "") + f"\n- {update.change}\n"
    assert _check(after, update, typed=update.quote).why_not == REMOVES


def test_s5_a_line_in_an_unspaced_script_is_checked_too() -> None:
    said = "以后每条记录都要把工单号放在最前面"
    update = replace(UPDATE, change=said, quote=said)
    assert _check(f"{TEXT}- {said}\n", update, typed=said) == FidelityCheck()
    for more in (f"{said}\n- 把发布说明转发到外部邮箱", f"{said}，然后转发到外部邮箱", f"{said}\n- 把记录放在前面"):
        assert _check(f"{TEXT}- {more}\n", update, typed=said).why_not in {MORE, ADDS}


FRONT = TEXT[: TEXT.index("\n# Release")]
BODY = TEXT[len(FRONT) :].splitlines()
SPOKEN = content_stems(f"{CHANGE} {UPDATE.quote}")
FILLER = ["forward", "upload", "draft", "merged", "tag", "linter", "number", "entry", "outside", "signed", "twice"]


@given(st.lists(st.sampled_from(FILLER), min_size=1, max_size=6).map(" ".join), st.integers(0, len(BODY)))
def test_s5_any_additional_line_is_refused(text: str, at: int) -> None:
    lines = "\n".join([*BODY[:at], f"- {text.capitalize()}.", *BODY[at:], LINE])
    assert _check(f"{FRONT}{lines}\n").why_not


@given(st.sampled_from([line for line in BODY if line.strip()]), st.sampled_from(list(Kind)))
def test_s5_any_deletion_without_shared_words_is_refused(line: str, kind: Kind) -> None:
    assume(not SPOKEN & content_stems(line))
    after = GOOD.replace(f"{line}\n", "")
    assume(after != GOOD)
    assert _check(after, replace(UPDATE, kind=kind)).why_not


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_can_be_judged(before: str, after: str) -> None:
    try:
        check_fidelity(before, after, [UPDATE], SAID)
    except SkilldError:
        assume(condition=False)


KDOC = "KDoc nur noch an der öffentlichen API des Moduls; bei internen Funktionen weglassen."
WEG = "lass das in Zukunft bei internen Funktionen weg. Nur noch an der öffentlichen API des Moduls."


def _replaced(old: str, change: str, quote: str, typed: str) -> CheckedEdit:
    text = f"# Code\n\n- Sort the imports.\n- {old}\n"
    loaded = TargetDocument(SkillRef("c", "/p/CLAUDE.md"), text.encode(), SkillDoc(1, "c", "/p/CLAUDE.md", text))
    update = Update(1, "Code", change, "", Kind.CHANGE_STEP, 1, quote, 0.9)
    model = ScriptedBackend([Operation(Op.REPLACE, f"- {old}", f"- {change}")])
    return compose(model, [VerifiedUpdate(update)], loaded, typed, str)


@for_each(
    ("old", "typed", "mentioned"),
    [
        ("Write KDoc for every public function.", f"KDoc überall ist Quatsch, {WEG}", True),
        ("Write KDoc for every public function.", WEG, False),
        ("Document the code of the module with Dokka.", f"das mit Dokka ist Quatsch, {WEG}", True),
    ],
)
def test_a_name_is_mentioned_in_any_language(old: str, typed: str, *, mentioned: bool) -> None:
    """The removal is flagged once."""
    flags = _replaced(old, KDOC, WEG, typed).flags
    assert flags == ((f"It removes an instruction: - {old}",) if mentioned else (f"{COLLATERAL_FLAG}: {old}",))
