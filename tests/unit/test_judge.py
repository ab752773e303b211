"""Checking an edit: the person's own words where the model's do not say it, and nothing that says more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from skilld.classify.verify import VerifiedUpdate
from skilld.errors import RefusedError
from skilld.pipeline.documents import TargetDocument
from skilld.pipeline.edits import CheckedEdit, LintError, summarize
from skilld.pipeline.judge import Judge
from skilld.types import Kind, Message, Op, Operation, SkillDoc, SkillRef, TargetKind, Update
from support.rows import for_each
from support.scripted_backend import ScriptedBackend

TEXT = "# Notes\n\n## Style\n\n- Past tense.\n"
TYPED = "always put the ticket number first"
CHANGE = "Put the ticket number first."
LOADED = TargetDocument(SkillRef("notes", "/p/SKILL.md"), TEXT.encode(), SkillDoc(1, "notes", "/p/SKILL.md", TEXT))
UPDATE = Update(1, "Style", CHANGE, "Asked for.", Kind.PREFERENCE, 1, TYPED, 0.9)
STILL = replace(UPDATE, change="Put the ticket number at the beginning.")
STRAY = Operation(Op.INSERT_AFTER, "- Past tense.", f"- {CHANGE} Then notify everybody on the mailing list at once.")
VAGUE = Operation(Op.INSERT_AFTER, "- Past tense.", "- Put the ticket number.")
GOOD = Operation(Op.INSERT_AFTER, "- Past tense.", f"- {CHANGE}")


def _make_judge(model: ScriptedBackend, typed: str = TYPED, *documents: TargetDocument, **own: Any) -> Judge:
    """Return a judge of one turn."""
    messages = [Message(typed, turn=1, turn_key="t1")]
    return Judge(model, messages, [*documents] or [LOADED], "", lambda text: text, **own)


def _edited_text(model: ScriptedBackend) -> str:
    judge = _make_judge(model)
    return judge.edit(LOADED, [VerifiedUpdate(UPDATE)]).after.decode()


def test_an_edit_that_says_the_change_is_accepted() -> None:
    assert _edited_text(ScriptedBackend(GOOD, [])) == f"{TEXT}- {CHANGE}\n"


def test_an_edit_that_does_not_say_it_is_replaced_by_the_persons_words() -> None:
    assert _edited_text(ScriptedBackend(VAGUE, [STILL], [])) == f"{TEXT}- {CHANGE}\n"
    with pytest.raises(RefusedError, match="the judge still finds that notes does not say this"):
        _edited_text(ScriptedBackend(VAGUE, [STILL], [STILL]))


def test_an_edit_that_says_more_is_refused() -> None:
    with pytest.raises(RefusedError, match="more than the person did"):
        _edited_text(ScriptedBackend(STRAY))


def test_a_line_that_the_person_names_in_other_words_is_removed() -> None:
    line = "`make check` comes before the tag step: the tests have to be green before any tag exists."
    said = "the make check rule: not needed any more, CI does it before the tag job"
    text = f"# Notes\n\n- Past tense.\n- {line}\n"
    file = TargetDocument(LOADED.ref, text.encode(), replace(LOADED.doc, text=text))
    asked = Update(1, "Notes", line, "CI does it", Kind.REMOVE_STEP, 1, said, 0.95)
    judge = _make_judge(ScriptedBackend(Operation(Op.DELETE, f"- {line}"), [asked], []), said, file)
    (checked,) = judge.verdict().proposed
    assert judge.edit(file, [checked]).after.decode() == "# Notes\n\n- Past tense.\n"


def _update(turn: int, typed: str, change: str, kind: Kind = Kind.PREFERENCE) -> Update:
    return Update(1, "Style", change, "Asked for.", kind, turn, typed, 0.9)


def _judge_both(model: ScriptedBackend, *updates: Update) -> tuple[str, list[str], list[str]]:
    messages = [Message(update.quote, turn=update.turn, turn_key=f"t{update.turn}") for update in updates]
    judge = Judge(model, messages, [LOADED], "", lambda text: text)
    composed = judge.edit(LOADED, [VerifiedUpdate(update) for update in updates])
    made, left = ([item.update.change for item in part] for part in (composed.checked, composed.left_out))
    return composed.after.decode(), made, left


TESTS = _update(2, "never skip the tests", "Never skip the tests.")
PAST = _update(2, "write it in the present tense from now on", "Write it in the present tense.", Kind.CHANGE_STEP)


def test_one_refused_edit_does_not_affect_the_others() -> None:
    after, made, left = _judge_both(ScriptedBackend(STRAY, []), UPDATE, TESTS)
    assert after == f"{TEXT}- {CHANGE}\n- {TESTS.change}\n"
    assert (made, left) == ([CHANGE, TESTS.change], [])
    after, made, left = _judge_both(ScriptedBackend(STRAY, []), UPDATE, PAST)
    assert after == f"{TEXT}- {CHANGE}\n"
    assert (made, left) == ([CHANGE], [PAST.change]), "what would take a line's place is not just put beside it"


def test_a_change_still_missing_is_left_out_and_the_rest_is_made() -> None:
    again = replace(PAST, change="The present tense is to be used.")
    edit = Operation(Op.REPLACE, "- Past tense.", f"- Present tense.\n- {CHANGE}")
    after, made, left = _judge_both(ScriptedBackend(edit, [again], []), UPDATE, PAST)
    assert after == f"{TEXT}- {CHANGE}\n"
    assert (made, left) == ([CHANGE], [PAST.change])


def test_a_change_found_again_in_nearly_the_same_words_is_done() -> None:
    update = _update(1, "write release entries in plain present tense now", "Write release entries in present tense.")
    update = replace(update, kind=Kind.CHANGE_STEP)
    again = replace(update, change="Write release entries in plain present tense.")
    edit = Operation(Op.REPLACE, "- Past tense.", "- Write release entries in present tense.")
    after, made, left = _judge_both(ScriptedBackend(edit, [again]), update)
    assert after == TEXT.replace("- Past tense.", "- Write release entries in present tense.")
    assert (made, left) == ([update.change], [])


def test_words_refused_by_the_linter_are_not_kept_either() -> None:
    hidden = _update(1, "always run !`whoami` first", "Always run !`whoami` first.")
    after, made, left = _judge_both(ScriptedBackend(STRAY, []), hidden, TESTS)
    assert after == f"{TEXT}- {TESTS.change}\n"
    assert (made, left) == ([TESTS.change], [])


@for_each(
    ("typed", "change", "reworded", "proposed"),
    [
        ("we are on arch", "The machine runs Arch.", "we are on arch", ["we are on arch"]),
        ("hands off the lock file, it is mine", "Never touch a lock.", "off the lock file", ["off the lock file"]),
        ("ok do that", "Always deploy twice a day.", "do that", []),
        ("ok go on then", "The machine runs Arch.", "go on", []),
    ],
)
def test_a_models_own_wording_gets_one_more_try_unless_it_is_an_assent(
    typed: str, change: str, reworded: str, proposed: list[str]
) -> None:
    model = ScriptedBackend(GOOD, [_update(1, typed, change)], reworded=[reworded])
    judge = _make_judge(model, typed)
    assert [item.update.change for item in judge.verdict().proposed] == proposed


def _judge_answer(typed: str, found: list[Update], reworded: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
    judge = _make_judge(ScriptedBackend(GOOD, found, reworded=reworded), typed)
    verdict = judge.keep_own_words(judge.verdict())
    return [item.update.change for item in verdict.proposed], [(one.change, why) for one, why in verdict.learned]


STAGES = "progress.md is to be kept up at every stage of the work"
PORT = "the gateway for the cameras listens on its own port"
KEPT = "the suggested wording could not be used: "


def test_a_change_already_covered_by_a_line_is_not_kept_verbatim_too() -> None:
    typed = "stop using npm"
    found = replace(UPDATE, change="Do not use npm.", quote=typed)
    text = "# Notes\n\n- Use pnpm, never npm.\n"
    doc = replace(LOADED, data=text.encode(), doc=replace(LOADED.doc, text=text))
    judge = _make_judge(ScriptedBackend(GOOD, [found]), typed, doc)
    verdict = judge.keep_own_words(judge.verdict())
    assert ([line for _, line in verdict.already_said], verdict.learned) == (["Use pnpm, never npm."], ())


def test_updates_in_foreign_words_are_judged_one_by_one() -> None:
    typed = f"{STAGES}. and {PORT}"
    stages = _update(1, STAGES, "Document milestones continuously.")
    port = _update(1, PORT, "Use KUBERNETES ingress.", Kind.FACT)
    proposed, kept = _judge_answer(typed, [stages, port], [STAGES, ""])
    assert proposed == [STAGES]
    assert kept == [(PORT, f"{KEPT}you did not say 'kubernetes'")], "in the words that were typed, with the reason"
    proposed, kept = _judge_answer(typed, [stages, port], ["", PORT])
    assert (proposed, [change for change, _ in kept]) == ([PORT], [STAGES])
    proposed, kept = _judge_answer(typed, [stages, port], [])
    assert (proposed, [change for change, _ in kept]) == ([], [STAGES, PORT])


def test_a_supported_sentence_survives_an_unsupported_one() -> None:
    typed = "the readmes are written in british english, please keep that up"
    two = _update(1, typed, "Write readmes in British English. Run them through VALE.")
    assert _judge_answer(typed, [two], [""]) == (["Write readmes in British English."], [])
    reason = "a page size of 50 kills the mobile app, 20 it is"
    one = _update(1, reason, "In the API, the page size is 20; 50 kills the mobile app.")
    assert _judge_answer(reason, [one], [""]) == ([], [(reason, f"{KEPT}you did not say 'api'")]), "no rule alone"
    narrowed = replace(two, change="Write readmes in British English. Except in API.md.")
    proposed, kept = _judge_answer(typed, [narrowed], [""])
    assert (proposed, [change for change, _ in kept]) == ([], [typed]), "without the exception it would say too much"


@for_each(
    ("typed", "quote", "change"),
    [
        ("ok go on then", "ok go on then", "The machine runs Arch."),
        ("fix the header now", "the header is always blue here", "The header is always blue here."),
        ("put that into the rules", "put that into the rules", "Add it to the rules of KUBERNETES."),
    ],
)
def test_assents_untyped_text_and_wordless_orders_are_not_kept(typed: str, quote: str, change: str) -> None:
    assert _judge_answer(typed, [replace(_update(1, quote, change))], [""]) == ([], [])


def test_a_change_covered_by_another_update_is_not_kept_twice() -> None:
    typed = "always write the readmes in british english"
    right = _update(1, typed, "Write the readmes in British English.")
    wrong = replace(right, change="Run VALE over readmes.")
    assert _judge_answer(typed, [right, wrong], [""]) == (["Write the readmes in British English."], [])


def test_a_change_asked_for_twice_in_vain_is_left_out_alone() -> None:
    again = replace(TESTS, change="Skipping tests is not allowed, ever.")
    after, made, left = _judge_both(ScriptedBackend(GOOD, [again], [again], []), UPDATE, TESTS)
    assert after == f"{TEXT}- {CHANGE}\n"
    assert (made, left) == ([CHANGE], [TESTS.change])


def test_each_part_of_a_new_file_is_judged_alone() -> None:
    absent = replace(LOADED, data=b"", ref=replace(LOADED.ref, absent=True, kind=TargetKind.INSTRUCTIONS))
    absent = replace(absent, doc=replace(absent.doc, text=""))
    hidden = _update(1, "always run !`whoami` first", "Always run !`whoami` first.")
    updates = [replace(UPDATE, turn=2), hidden, replace(TESTS, turn=3)]
    messages = [Message(update.quote, turn=update.turn, turn_key=f"t{update.turn}") for update in updates]
    judge = Judge(ScriptedBackend(GOOD, []), messages, [absent], "", lambda text: text)
    composed = judge.edit(absent, [VerifiedUpdate(update) for update in updates])
    assert [item.update.change for item in composed.checked] == [CHANGE, TESTS.change]
    assert composed.after.decode() == f"# Preferences\n\n- {CHANGE}\n- {TESTS.change}\n"


def test_s5_only_the_linters_own_findings_keep_words_from_being_kept() -> None:
    judge = _make_judge(ScriptedBackend(STRAY))
    refusal = LintError("The edit was not made", "for a reason")
    hidden = _update(1, TYPED, "Always run !`whoami` first.")
    assert judge.is_harmful(LOADED, VerifiedUpdate(hidden), refusal)
    assert not judge.is_harmful(LOADED, VerifiedUpdate(UPDATE), refusal), (
        "what a model wrote around them is not the person's"
    )
    assert judge.is_harmful(LOADED, VerifiedUpdate(replace(UPDATE, kind=Kind.REMOVE_STEP)), refusal)


@pytest.mark.parametrize(("kind", "least"), [(TargetKind.SKILL, 0.5), (TargetKind.INSTRUCTIONS, 0.65)])
def test_a_change_loaded_in_every_session_needs_more_confidence(kind: TargetKind, least: float) -> None:
    file = replace(LOADED, ref=replace(LOADED.ref, kind=kind))
    for confidence, proposed in ((least, True), (least - 0.05, False)):
        model = ScriptedBackend(GOOD, [replace(UPDATE, confidence=confidence)])
        verdict = _make_judge(model, TYPED, file).verdict()
        assert bool(verdict.proposed) is proposed
        assert bool(verdict.learned) is not proposed


SPOKEN = "from now on use tabs. And be brief with me."
TALK = replace(UPDATE, change="Use tabs. Be brief with the user.", quote=SPOKEN)
MINE = TargetDocument(
    SkillRef("~/.claude/CLAUDE.md", "/h/.claude/CLAUDE.md", kind=TargetKind.PERSONAL),
    b"",
    SkillDoc(2, "CLAUDE.md", "/h/.claude/CLAUDE.md", "# Me\n"),
)


@pytest.mark.parametrize("own", [MINE, None])
def test_wishes_about_how_the_agent_talks_go_to_the_users_file_whatever_the_model_says(
    own: TargetDocument | None,
) -> None:
    files = [LOADED]

    def find_own(named: TargetDocument, kind: TargetKind) -> TargetDocument | None:
        assert (named, kind) == (LOADED, TargetKind.PERSONAL)
        files.extend([own] if own and own not in files else [])
        return own

    judge = Judge(ScriptedBackend(GOOD, [TALK]), [Message(SPOKEN, turn=1)], files, "", lambda text: text, own=find_own)
    found = judge.verdict()
    proposed = [(item.update.skill, item.update.change) for item in found.proposed]
    kept = [(update.skill, update.change) for update, _ in found.learned]
    about_me = "Be brief with the user."
    assert proposed == [(1, "Use tabs."), *([(2, about_me)] if own else [])]
    assert kept == ([] if own else [(None, about_me)]), "the team's file never gets it"


@for_each(
    ("said", "number"),
    [
        ("in this repo, always sign your commits", 2),
        ("in this repo, always put the ticket number first in the notes", 1),
        ("add to the skill: always sign your commits in this repo", 1),
        ("always put the ticket number first", 1),
    ],
)
def test_a_project_rule_outside_the_skills_subject_goes_to_the_projects_file(said: str, number: int) -> None:
    update = replace(UPDATE, change=f"{said[0].upper()}{said[1:]}.", quote=said)
    project = replace(MINE, ref=replace(MINE.ref, kind=TargetKind.INSTRUCTIONS))
    judge = _make_judge(ScriptedBackend(GOOD, [update]), said, LOADED, project, own=lambda *_: project)
    assert [item.update.skill for item in judge.verdict().proposed] == [number]


@pytest.mark.parametrize(
    ("confidence", "before", "number"),
    [
        (0.45, True, 2),  # no skill is about it
        (0.45, False, None),
        (0.5, True, 1),
        (0.4, True, None),  # nothing that can be proposed in its words
    ],
)
def test_what_is_too_uncertain_is_proposed_once_it_was_said_in_an_earlier_session(
    confidence: float, *, before: bool, number: int | None
) -> None:
    """Issue 16, 3: the second time it goes where it would go if no skill were in use."""
    said = "lambdas are hard to read, name the function"
    update = replace(UPDATE, change="Name the function.", quote=said, confidence=confidence)
    project = replace(MINE, ref=replace(MINE.ref, kind=TargetKind.INSTRUCTIONS))
    judge = _make_judge(
        ScriptedBackend(GOOD, [update]), said, LOADED, project, own=lambda *_: project, said_before=lambda _: before
    )
    found = judge.verdict().proposed
    assert [item.update.skill for item in found] == ([] if number is None else [number])
    assert all(item.update.reason.endswith("You said it in an earlier session too.") for item in found)


@for_each(
    "said",
    ["we use vitest here, not jest", "ask me before you install anything", "stop adding emojis to the code"],
)
def test_what_no_skill_is_about_is_proposed_as_without_one(said: str) -> None:
    update = replace(UPDATE, change=f"{said[0].upper()}{said[1:]}.", quote=said, confidence=0.45)
    project = replace(MINE, ref=replace(MINE.ref, kind=TargetKind.INSTRUCTIONS))
    found = _make_judge(ScriptedBackend(GOOD, [update]), said, LOADED, project, own=lambda *_: project).verdict()
    assert [item.update.skill for item in found.proposed] == [2]


def test_a_model_as_unsure_as_the_rules_is_not_asked_twice() -> None:
    unsure = replace(UPDATE, quote="always use tabs in C files", change="Use tabs in C files.", confidence=0.45)
    model = ScriptedBackend(GOOD, [unsure])
    _make_judge(model, unsure.quote).verdict()
    assert not model._found


def test_a_rule_the_users_file_already_has_is_not_proposed_for_it() -> None:
    mine = replace(MINE, doc=replace(MINE.doc, text="# Me\n\n- Be brief with the user.\n"))
    found = _make_judge(ScriptedBackend(GOOD, [TALK]), SPOKEN, LOADED, mine, own=lambda *_: mine).verdict()
    assert [item.update.change for item in found.proposed] == ["Use tabs."]
    assert [line for _, line in found.already_said] == ["Be brief with the user."]


def _named_skills(**uses: int) -> list[TargetDocument]:
    """Return skills by name, each used after this turn."""
    found = []
    for number, (name, turn) in enumerate(uses.items(), 1):
        text = f"---\nname: {name}\ndescription: For {name}.\n---\n{TEXT}"
        doc = SkillDoc(number, name, f"/p/{name}/SKILL.md", text, (turn,))
        found.append(TargetDocument(SkillRef(name, doc.path), text.encode(), doc))
    return found


@for_each(
    ("typed", "sure", "kind", "kept"),
    [
        ("always put the ticket number first", {}, Kind.PREFERENCE, ["emails"]),  # used last
        ("always put the ticket number first", {2: 0.95}, Kind.PREFERENCE, ["reports"]),
        ("always put the ticket number first in a report", {3: 0.95}, Kind.PREFERENCE, ["reports"]),
        ("in notes and emails always put the ticket number first", {}, Kind.PREFERENCE, ["notes", "emails"]),
        ("always put the ticket number first", {}, Kind.CHANGE_STEP, ["notes", "reports", "emails"]),
    ],
)
def test_what_was_said_once_goes_to_one_of_several_skills(
    typed: str, sure: dict[int, float], kind: Kind, kept: list[str]
) -> None:
    skills = _named_skills(notes=0, reports=0, emails=1)
    changes = CHANGE, "Put the ticket number first.", "The ticket number goes first."
    updates = [
        replace(UPDATE, skill=number, quote=typed, kind=kind, change=change, confidence=sure.get(number, 0.9))
        for number, change in enumerate(changes, 1)
    ]
    other = replace(UPDATE, skill=1, quote="never skip the tests", change="Never skip the tests.")
    messages = [Message("ok", turn=1, turn_key="t1"), Message(f"{typed}, never skip the tests", turn=2, turn_key="t2")]
    found = [replace(update, turn=2) for update in (*updates, other)]
    judge = Judge(ScriptedBackend(GOOD, found), messages, skills, "", lambda text: text)
    made = [(skills[(item.update.skill or 0) - 1].ref.name, item.update.change) for item in judge.verdict().proposed]
    assert [name for name, change in made if change != other.change] == kept
    assert ("notes", other.change) in made


RULES = (
    "# Team\n\n## Tests\n\n1. [ ] Add a snapshot test - no. 2. - for each page.\n"
    "2. Mock the clock. Ask ops for token x1.\n"
)


@for_each(
    ("said", "kinds", "after", "summary"),
    [
        (
            ["never mind about the snapshot tests"],
            [Kind.REMOVE_STEP],
            "# Team\n\n## Tests\n\n1. Mock the clock. Ask ops for token x1.\n",
            "Remove the rule: Add a snapshot test - no. 2. - for each page.",
        ),
        (
            ["ops no longer hands out tokens"],
            [Kind.REMOVE_STEP],
            "# Team\n\n## Tests\n\n1. [ ] Add a snapshot test - no. 2. - for each page.\n2. Mock the clock.\n",
            "Remove the rule: Ask ops for token [hidden].",
        ),
        (
            ["drop the mocked clock again", "Freeze the time zone.", "and no snapshots any more"],
            [Kind.REMOVE_STEP, Kind.PREFERENCE, Kind.REMOVE_STEP],
            "# Team\n\n## Tests\n\n1. Freeze the time zone.\n",
            (
                "Freeze the time zone. Remove the rule: Mock the clock. Ask ops for token [hidden]. "
                "Remove the rule: Add a snapshot test - no. 2. - for each page."
            ),
        ),
        (["Freeze the time zone."], [Kind.PREFERENCE], f"{RULES}3. Freeze the time zone.\n", "Freeze the time zone."),
    ],
)
def test_a_summary_says_what_the_edit_does_to_the_file(
    said: list[str], kinds: list[Kind], after: str, summary: str
) -> None:
    updates = [replace(UPDATE, change=one, quote=one, kind=kind) for one, kind in zip(said, kinds, strict=True)]
    edit = CheckedEdit((), after.encode(), (), tuple(VerifiedUpdate(one) for one in updates))
    before = replace(LOADED, data=RULES.encode())
    assert summarize(edit, before, lambda text: text.replace("x1", "[hidden]")) == summary
