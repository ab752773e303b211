"""Which findings of past sessions make a skill: repeatable, and asked for or corrected again."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from skilld.clock import parse_time
from skilld.mining.evidence import Known
from skilld.mining.selection import judge
from skilld.mining.session_summary import Feedback, Row, Task, detect_feedback, summarize
from skilld.mining.sessions import Session
from skilld.mining.values import Judgement, PartKind
from skilld.skills import Skill, Source
from skilld.skills.draft import SkillKind
from skilld.skills.spec import FrontMatter
from skilld.types import Message, SkillUse, Span
from support.rows import for_each

AT = "2026-01-05T10:00:00Z"
LATER = "2026-01-05T12:00:00Z"
NOW = (parse_time(AT) or 0) + 86400
NOTES = Skill(
    "release-notes", Path("/shop/.claude/skills/release-notes/SKILL.md"), Source.PROJECT, Path("/shop"),
    ("claude-code",), FrontMatter("release-notes", "Writes the release notes of a version."),
)  # fmt: skip


def _make_row(
    session: str, task: str, *said: str, skills: tuple[str, ...] = (), at: str = AT, kind: str = "preference"
) -> Row:
    feedback = tuple(Feedback(f"{session}:{n}", text, text, kind, 0.8) for n, text in enumerate(said))
    topics = ("documentation",) if "notes" in task else ("other",)
    return Row(
        "claude-code", session, "/t", "/shop", at, topics, (Task(f"{session}:t", task),), skills, feedback, "/shop"
    )


def _judge_rows(*rows: Row, text: str = "# Notes") -> Judgement:
    return judge(rows, [NOTES], {NOTES.path: text}, now=NOW)


def test_a_lasting_statement_extends_the_skill_in_use() -> None:
    said = "Put the ticket number first in the notes."
    (candidate,) = _judge_rows(_make_row("s1", "write the release notes", said, skills=("release-notes",))).candidates
    assert (candidate.name, candidate.action, candidate.target, candidate.kind) == (
        "release-notes",
        "extend",
        str(NOTES.path),
        None,
    )
    assert (candidate.dimensions, candidate.changes) == (("repeatable", "room for improvement"), (said,))
    assert [(proof.session, proof.turn, proof.quote) for proof in candidate.evidence] == [("s1", "s1:0", said)]


@pytest.mark.parametrize("place", ["/shop/web/.claude/skills/release-notes", "/other/.claude/skills/release-notes"])
def test_m5_of_several_copies_the_one_in_use_is_extended(place: str) -> None:
    path = Path(place) / "SKILL.md"
    copy = replace(NOTES, path=path, project=path.parents[3])
    said = _make_row("s1", "write the release notes", "Put the ticket number first.", skills=("release-notes",))
    judged = judge([replace(said, skill_paths=(str(path),))], [NOTES, copy], {}, now=NOW)
    assert [candidate.target for candidate in judged.candidates] == [str(path)]


@for_each(
    "rule",
    ["Always use pnpm, never npm, in this repository.", "Always answer me in German.", "Sign commits in this repo."],
)
def test_m5_a_project_or_personal_rule_does_not_extend_the_skill_in_use(rule: str) -> None:
    rows = [_make_row(name, "write the release notes", rule, skills=("release-notes",)) for name in ("s1", "s2")]
    judged = _judge_rows(*rows)
    assert (judged.candidates, [doc.text for doc in judged.docs]) == ((), [rule])


def test_a_rule_the_skill_already_has_is_reported_as_such() -> None:
    said = "Put the ticket number first in the notes."
    judged = _judge_rows(
        _make_row("s1", "write the release notes", said, skills=("release-notes",)), text=f"# Notes\n\n- {said}\n"
    )
    assert judged.candidates == ()
    assert [candidate.missed for candidate in judged.rejected] == ["release-notes already says this"]


def test_a_statement_made_once_is_not_repeatable() -> None:
    judged = _judge_rows(_make_row("s1", "paint the shed", "Always use two coats."))
    assert (judged.candidates, [candidate.missed for candidate in judged.rejected]) == ((), ["repeatable"])


def test_a_statement_from_two_sessions_without_a_task_belongs_in_the_project_docs() -> None:
    rows = [_make_row(name, "paint the shed", "Always use two coats.") for name in ("s1", "s2")]
    judged = _judge_rows(*rows)
    assert [(doc.project, doc.text, len(doc.evidence)) for doc in judged.docs] == [
        ("/shop", "Always use two coats.", 2)
    ]


def test_an_old_statement_is_too_uncertain() -> None:
    old = _make_row(
        "s1", "write the release notes", "Put the ticket first.", skills=("release-notes",), at="2024-01-05T10:00:00Z"
    )
    assert [candidate.missed for candidate in _judge_rows(old).rejected] == [
        "it was not said clearly or recently enough"
    ]


def test_what_is_proposed_already_is_not_called_uncertain() -> None:
    old = _make_row(
        "s1", "write the release notes", "Put the ticket first.", skills=("release-notes",), at="2024-01-05T10:00:00Z"
    )
    known = Known(proposed=lambda _ask, _path, _agents: "the open proposal 1234abcd already says this")
    judged = judge([old], [NOTES], {NOTES.path: ""}, known, now=NOW)
    assert [candidate.missed for candidate in judged.rejected] == ["the open proposal 1234abcd already says this"]


def test_rules_belong_in_the_project_docs_unless_a_rules_skill_is_requested() -> None:
    rows = [
        replace(_make_row("s1", "add tests for the basket", "Always run the suite with --fast."), topics=("testing",)),
        replace(
            _make_row("s2", "add tests for vouchers", "Never mock the gateway.", kind="correction"), topics=("testing",)
        ),
    ]
    assert [doc.text for doc in _judge_rows(*rows).docs] == [
        "Always run the suite with --fast.",
        "Never mock the gateway.",
    ]
    (candidate,) = judge(rows, [NOTES], {NOTES.path: ""}, now=NOW, kind=SkillKind.KNOWLEDGE).candidates
    assert (candidate.name, candidate.kind, candidate.work) == ("shop-testing", SkillKind.KNOWLEDGE, "testing")
    assert [(part.sort, part.text) for part in candidate.parts] == [
        (PartKind.RULE, "Always run the suite with --fast."),
        (PartKind.PITFALL, "Never mock the gateway."),
    ]


def test_a_rule_said_once_makes_no_skill() -> None:
    rows = [
        replace(_make_row(f"s{n}", "add tests", *said), topics=("testing",))
        for n, said in ((1, ["Run --fast."]), (2, []))
    ]
    judged = judge(rows, [NOTES], {NOTES.path: ""}, now=NOW, kind=SkillKind.KNOWLEDGE)
    assert judged.candidates == ()
    assert [candidate.missed for candidate in judged.rejected] == ["it is a single rule, stated only once"]


def test_two_project_facts_make_a_skill_and_one_belongs_in_the_docs() -> None:
    facts = ["Fixtures live in tests/data.", "The staging database is shop_stage."]
    one = _judge_rows(_make_row("s1", "paint the shed", facts[0], kind="fact"), _make_row("s2", "oil the door"))
    assert [doc.text for doc in one.docs] == facts[:1]
    rows = [_make_row("s1", "paint the shed", *facts, kind="fact"), _make_row("s2", "oil the door")]
    assert sorted(doc.text for doc in _judge_rows(*rows).docs) == facts
    (both,) = judge(rows, [NOTES], {NOTES.path: ""}, now=NOW, kind=SkillKind.KNOWLEDGE).candidates
    assert (both.name, both.kind) == ("shop-knowledge", SkillKind.KNOWLEDGE)
    assert {part.sort for part in both.parts} == {PartKind.FACT}


def test_a_statement_contradicted_later_is_left_out() -> None:
    rows = [
        _make_row("s1", "write the release notes", "Keep each entry under 60 characters.", skills=("release-notes",)),
        _make_row(
            "s2", "write the release notes", "Keep each entry under 80 characters.", skills=("release-notes",), at=LATER
        ),
    ]
    judged = _judge_rows(*rows)
    assert [candidate.changes for candidate in judged.candidates] == [("Keep each entry under 80 characters.",)]
    assert "it was contradicted later" in [candidate.missed for candidate in judged.rejected]


def _testing_skill(name: str, source: Source = Source.PROJECT) -> tuple[Skill, str]:
    matter = FrontMatter(name, "Writing and running the tests of the voucher form with the fast suite.")
    text = (
        f"---\nname: {name}\ndescription: {matter.description}\n---\n\n# Tests\n\nRun the voucher suite with --fast.\n"
    )
    return Skill(name, Path(f"/shop/.claude/skills/{name}/SKILL.md"), source, Path("/shop"), ("codex",), matter), text


def test_a_candidate_for_an_existing_skill_extends_it() -> None:
    rows = [
        replace(_make_row("s1", "write tests", "Always start the voucher suite with --fast."), topics=("testing",)),
        replace(_make_row("s2", "write tests", "Write the voucher tests before the form."), topics=("testing",)),
    ]
    skill, text = _testing_skill("voucher-suite")
    texts = {NOTES.path: "# Notes", skill.path: text}
    kind = SkillKind.KNOWLEDGE
    (candidate,) = judge(rows, [NOTES, skill], texts, now=NOW).candidates
    assert (candidate.name, candidate.action, candidate.target) == ("voucher-suite", "extend", str(skill.path))
    assert len(candidate.parts) == 2
    (new,) = judge(rows, [NOTES, skill], texts, now=NOW, create_new=True, kind=kind).candidates
    assert (new.action, new.target) == ("create", "/shop")


def test_a_plugins_skill_is_not_edited() -> None:
    skill, text = _testing_skill("voucher-suite", Source.PLUGIN)
    rows = [_make_row("s1", "write voucher tests", "Start the voucher suite with --slow.", skills=("voucher-suite",))]
    judged = judge(rows, [skill], {skill.path: text}, now=NOW)
    assert judged.candidates == ()
    assert "voucher-suite belongs to a plugin, so it cannot be edited" in judged.rejected[0].missed


@for_each(
    ("text", "missed"),
    [
        ("always write the notes to /home/ada/notes/today.md", "it contains a path specific to this machine"),
        ("keep the notes below ~/notes", "it contains a path specific to this machine"),
        ("the notes need [REDACTED:aws_key:ab12] to be sent", "it contains a secret"),
        ("always write clean, readable code in good quality", "any model knows"),
    ],
)
def test_content_no_skill_should_have_is_left_out(text: str, missed: str) -> None:
    rows = [_make_row(name, "write the release notes", text, skills=("release-notes",)) for name in ("s1", "s2")]
    judged = judge(rows, [NOTES], {NOTES.path: "# Notes"}, now=NOW)
    assert judged.candidates == ()
    assert re.search(missed, judged.rejected[0].missed)


@for_each("text", ["what does this do, and why is it here?", "go on", "```\nrun the whole test suite now\n```"])
def test_questions_and_go_on_are_not_tasks(text: str) -> None:
    assert summarize(_session(text), ()).tasks == ()


def test_a_row_keeps_the_persons_own_words() -> None:
    session = _session("Write the release notes for version two.", "Always put the ticket number first.")
    row = summarize(session, detect_feedback(session))
    assert [task.text for task in row.tasks][:1] == ["Write the release notes for version two."]
    assert [(one.turn, one.quote) for one in row.user_feedback] == [("k2", "Always put the ticket number first.")]
    assert (row.work, row.skills_used, row.main_dir) == ("documentation", ("notes",), "/shop")


def _session(*texts: str) -> Session:
    messages = tuple(Message(text, turn=number, turn_key=f"k{number}") for number, text in enumerate(texts, 1))
    uses = (SkillUse("s1", "notes", None, AT, Span(0, 1)),)
    return Session("claude-code", "s1", Path("/t"), "/shop", "/shop", AT, messages, uses)
