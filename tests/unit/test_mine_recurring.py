"""Recurring tasks: which sessions belong together, and what a skill keeps of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from skilld.library.clusters import Ask
from skilld.mining import requests as mining_requests
from skilld.mining.actions import Action
from skilld.mining.evidence import Known
from skilld.mining.new_skill import build_skill
from skilld.mining.requests import group_by_words, requests_with_actions
from skilld.mining.selection import judge
from skilld.mining.session_summary import Feedback, Row, Task
from skilld.mining.similarity import ActionRun, common_words
from skilld.mining.values import Candidate, Grouping, Judgement, PartKind, ToldTask
from skilld.skills import Skill, Source
from skilld.skills.spec import FrontMatter
from skilld.types import ToolOutcome
from support.rows import for_each
from support.session_rows import NOW, lines_of, session_row


def _row(number: int, request: str, *commands: str, said: Sequence[str] = ()) -> Row:
    return session_row(number, (request, commands), said=said)


def _judge(*rows: Row, skills: tuple[tuple[Skill, str], ...] = (), chosen: bool = False) -> Judgement:
    texts = {skill.path: text for skill, text in skills}
    return judge(rows, [skill for skill, _ in skills], texts, now=NOW, chosen=chosen)


def test_what_loaded_instructions_say_is_left_out_and_still_rules_out_steps() -> None:
    rows = [
        _gen(1, "sales", "npm run lint", said=("Never use npm here.", "Never round the totals.")),
        _gen(2, "stock", "npm run lint", said=("Never round the totals.",)),
        _gen(3, "tax", "npm run lint"),
    ]

    def standing(ask: Ask, _path: str, _agents: Collection[str]) -> str | None:
        return "CLAUDE.md already says this" if "npm" in ask.text else None

    judged = judge(rows, [], {}, Known(standing=standing), now=NOW)
    (candidate,) = judged.candidates
    assert lines_of(candidate, PartKind.PITFALL) == ["Never round the totals."]
    assert "npm run lint" not in lines_of(candidate, PartKind.COMMAND)
    assert [(one.topic, one.missed) for one in judged.rejected] == [
        ("Never use npm here.", "CLAUDE.md already says this")
    ]


def test_what_goes_to_a_skill_in_use_is_not_in_a_new_skill_of_the_same_run() -> None:
    said = ("Never round the totals.", "Always sort the columns.")
    rows = [_gen(1, "sales", said=said), _gen(2, "stock", said=said), _gen(3, "tax")]
    front = FrontMatter("totals", "Computes the totals of a table.")
    skill = Skill("totals", Path("/shop/.claude/skills/totals/SKILL.md"), Source.PROJECT, Path("/shop"), (), front)
    for used, of_task in (((), 2), (("totals",), 1)):
        judged = _judge(*(replace(row, skills_used=used) for row in rows), skills=((skill, "# Totals\n"),))
        by_action = {one.action: one for one in judged.candidates}
        assert len(lines_of(by_action["create"], PartKind.PITFALL)) == of_task
    assert by_action["extend"].changes == ("Never round the totals.",)
    assert lines_of(by_action["create"], PartKind.PITFALL) == ["Always sort the columns."]


def test_a_title_names_no_file_that_only_one_session_was_about() -> None:
    steps = ("!make check", "make check ALL=1", "make figs")
    rows = [
        _row(1, "fix the legend in docs/style.md figures/fig2.R, it overlaps", *steps),
        _row(2, "fix the legend by docs/style.md, it overlaps in `fig5.R`.", *steps, "~figures/fig5.R"),
        _row(3, "fix the overlapping legend, see docs/style.md", *steps),
    ]
    (candidate,) = _judge(*rows).candidates
    made = build_skill(candidate, day="2026-01-06", with_sessions=True)
    assert made.body.splitlines()[0] == "# Fix the overlapping legend, see docs/style.md"
    assert made.description.endswith("“Fix the legend by docs/style.md, it overlaps in `FILE`”.")
    (candidate,) = _judge(*rows[:2]).candidates
    made = build_skill(candidate, day="2026-01-06", with_sessions=True)
    assert made.body.splitlines()[0] == "# Fix the legend by docs/style.md, it overlaps in `FILE`"
    assert made.name == "fix-legend-overlaps"


@for_each(
    ("known", "stays"),
    [("/shop/SKILL.md", False), ("", True)],  # asked about a skill there, and about no file
)
def test_what_is_proposed_for_a_loaded_file_is_left_out_of_a_new_skill(known: str, *, stays: bool) -> None:
    rows = [_gen(1, "sales", said=("Never round the totals.",)), _gen(2, "stock"), _gen(3, "tax")]

    def proposed(ask: Ask, path: str, _agents: Collection[str]) -> str | None:
        return "the open proposal abc already says this" if path == known and "round" in ask.text else None

    (candidate,) = judge(rows, [], {}, Known(proposed=proposed), now=NOW).candidates
    assert (lines_of(candidate, PartKind.PITFALL) == ["Never round the totals."]) is stays


GEN = ("!make gen", "make gen NAME={0}", "~src/{0}.py", "make verify")


def _gen(number: int, name: str, *more: str, said: tuple[str, ...] = ()) -> Row:
    commands = [one.format(name) for one in (*GEN, *more)]
    return _row(number, f"add the report {name}", *commands, said=said)


def test_steps_pitfalls_and_corrections_name_the_sessions_they_came_from() -> None:
    (candidate,) = _judge(
        _gen(1, "sales"), _gen(2, "stock", said=("Never round the totals.",)), _gen(3, "tax")
    ).candidates
    assert lines_of(candidate, PartKind.COMMAND, PartKind.EDIT) == [
        "make gen NAME={{name}}",
        "src/{{name}}.py",
        "make verify",
    ]
    assert lines_of(candidate, PartKind.TRAP) == ["`make gen` failed; `make gen NAME={{name}}` worked."]
    assert lines_of(candidate, PartKind.PITFALL) == ["Never round the totals."]
    assert {proof.session for part in candidate.parts[1:] for proof in part.proofs if proof.observed} == {
        "s1",
        "s2",
        "s3",
    }
    assert {(evidence.session, evidence.quote) for evidence in candidate.evidence} == {
        ("s1", "add the report sales"), ("s2", "add the report stock"), ("s3", "add the report tax"),
        ("s2", "Never round the totals."),
    }  # fmt: skip
    assert candidate.saved.why == "done in 3 sessions, with 1 correction and 3 failed calls"


def test_a_pitfall_names_every_step_that_may_have_helped() -> None:
    commands = "!make ship", "make login AS=ci", "make image", "make ship", "make smoke"
    rows = [_row(number, "ship the staging image", *commands) for number in (1, 2)]
    (candidate,) = _judge(*rows).candidates
    assert lines_of(candidate, PartKind.TRAP) == [
        "`make ship` failed until `make login AS=ci` and `make image` had run."
    ]
    swapped = "make image", "!make ship", "make login AS=ci", "make ship", "make smoke"
    (candidate,) = _judge(*rows, _row(3, "ship the staging image", *swapped)).candidates
    assert lines_of(candidate, PartKind.TRAP) == ["`make ship` failed until `make login AS=ci` had run."]


@for_each("left_out", ["sudo service registry start", "{0} up", "~src/ship_{0}.py"])
def test_no_step_is_credited_if_something_else_may_have_helped(left_out: str) -> None:
    """What the draft leaves out, because a skill must not run it or only one session did, may have been the way."""
    commands = "make image", "!make ship", left_out, "make login AS=ci", "make ship", "make smoke"
    rows = [
        _row(number, "ship the staging image", *(one.format(name) for one in commands))
        for number, name in ((1, "redis"), (2, "docker"), (3, "vault"))
    ]
    (candidate,) = _judge(*rows).candidates
    assert "make login AS=ci" in lines_of(candidate, PartKind.COMMAND)
    assert lines_of(candidate, PartKind.TRAP) == []
    known = "make image", "!make ship", "make login AS=ci", "make ship", "make smoke"
    (candidate,) = _judge(*rows, _row(4, "ship the staging image", *known)).candidates
    assert lines_of(candidate, PartKind.TRAP) == ["`make ship` failed until `make login AS=ci` had run."]


def test_sessions_named_by_the_person_are_a_task_even_if_they_only_ran_tests() -> None:
    ran = "!pytest tests/test_{0}.py", "uv run pytest tests/test_{0}.py -x", "~src/{0}.py", "uv run ruff check src"
    rows = [
        _row(number, f"debug the flaky test tests/test_{name}.py", *(one.format(name) for one in ran))
        for number, name in ((1, "cart"), (2, "stock"))
    ]
    (left_out,) = _judge(*rows).rejected
    assert left_out.missed == "these sessions share too few steps for a skill"
    (candidate,) = _judge(*rows, chosen=True).candidates
    tested = "uv run pytest tests/test_{{name}}.py -x"
    assert lines_of(candidate, PartKind.COMMAND, PartKind.EDIT) == [
        tested,
        "src/{{name}}.py",
        "uv run ruff check src",
    ]
    assert lines_of(candidate, PartKind.TRAP) == [f"`pytest tests/test_{{{{name}}}}.py` failed; `{tested}` worked."]


def test_requests_without_common_words_are_two_tasks_if_only_make_targets_match() -> None:
    rows = [
        _row(number, "publish the nightly build", "!make nightly", "make token AS=ci", "make nightly", "make smoke")
        for number in (1, 2)
    ]
    other = _row(3, "regenerate the licence report", "!make licence", "make deps-json", "make licence")
    (proposal,) = _judge(*rows, replace(other, asked=other.asked + " deps-json")).candidates
    assert {proof.session for proof in proposal.evidence} == {"s1", "s2"}


def test_a_correction_any_model_knows_makes_no_skill() -> None:
    def rows(said: str) -> list[Row]:
        return [_row(n, "export the parser tables", "make parse-all", "make tables", said=(said,)) for n in (1, 2)]

    assert _judge(*rows("Always write clean code.")).candidates == ()
    (candidate,) = _judge(*rows("Never round the totals.")).candidates
    assert candidate.saved.corrections == 2


def test_failed_read_only_and_single_commands_are_no_steps() -> None:
    rows = [_gen(1, "sales", "make once"), _gen(2, "stock", "!make flaky"), _gen(3, "tax", "!make flaky", "git status")]
    (candidate,) = _judge(*rows).candidates
    assert not {"make once", "make flaky", "git status"} & set(lines_of(candidate, PartKind.COMMAND))


def test_forbidden_commands_are_no_steps_and_the_draft_says_one_is_missing() -> None:
    rows = [_gen(number, name, "sudo make install") for number, name in ((1, "sales"), (2, "stock"), (3, "tax"))]
    (candidate,) = _judge(*rows).candidates
    assert all("sudo" not in text for text in candidate.changes)
    assert candidate.recurrence is not None
    assert len(candidate.recurrence.left_out) == 1


def test_a_command_the_person_rejected_is_no_step_though_it_always_ran() -> None:
    rows = [_gen(number, name, "npm install") for number, name in ((1, "sales"), (2, "stock"))]
    rows.append(_gen(3, "tax", "npm install", "pnpm install", said=("Use pnpm, not npm.",)))
    (candidate,) = _judge(*rows).candidates
    assert "npm install" not in lines_of(candidate, PartKind.COMMAND)
    assert "Use pnpm, not npm." in candidate.changes


def test_the_same_work_in_other_words_is_one_task() -> None:
    done = ("make clean-cache", "make warm REGION=eu", "!make probe", "make probe RETRY=3")
    rows = [_row(1, "the eu cache is stale", *done), _row(2, "warm up europe again", *done)]
    rows.append(_row(3, "slow start in europe, fix the cache", *done))
    assert len(_judge(*rows).candidates) == 1


def test_other_work_with_the_same_tests_and_commits_is_another_task() -> None:
    usual = ("!npm test", "npm test", "git add -A", "git commit -m x", "git push")
    rows = [_row(1, "rename the cart module", *usual), _row(2, "fix the rounding of totals", *usual)]
    rows.append(_row(3, "make the footer darker", *usual))
    assert _judge(*rows).candidates == ()


def test_a_second_request_in_a_session_joins_the_other_sessions_task() -> None:
    def session(number: int) -> Row:
        row = _gen(number, ("sales", "stock", "tax")[number - 1])
        again = tuple((replace(one, text=one.text.replace("make gen", "make gen -f")), "x") for one, _ in row.actions)
        return replace(
            row,
            tasks=(*row.tasks, Task("x", "add one more report")),
            turns=(*row.turns, "x"),
            actions=row.actions + again,
        )

    (candidate,) = _judge(*(session(number) for number in (1, 2, 3))).candidates
    assert len(candidate.parts[0].proofs) == 6


def test_a_request_that_is_no_separate_task_does_not_end_one() -> None:
    def session(number: int) -> Row:
        row = _gen(number, ("sales", "stock", "tax")[number - 1])
        last = tuple((one, "x" if one.text == "make verify" else turn) for one, turn in row.actions)
        return replace(row, tasks=(*row.tasks, Task("x", "try again")), turns=(*row.turns, "x"), actions=last)

    (candidate,) = _judge(*(session(number) for number in (1, 2, 3))).candidates
    assert lines_of(candidate, PartKind.COMMAND)[-1] == "make verify"


def test_m1_a_version_is_one_variable_and_no_title_contains_one() -> None:
    rows = [
        _row(number, f"cut the release {said}", f"npm version {given}", "!npm pack", "npm run docs", "npm pack")
        for number, said, given in ((1, "2.9.1", "2.9.1"), (2, "2.10", "2.10.0"), (3, "3.0.0", "3.0.0"))
    ]
    (candidate,) = _judge(*rows).candidates
    assert lines_of(candidate, PartKind.COMMAND)[0] == "npm version {{version}}"
    assert candidate.recurrence is not None
    assert candidate.recurrence.request == "cut the release {{version}}"


def test_m2_a_failed_call_is_never_described_as_successful() -> None:
    """What no skill may repeat is no pitfall, but it failed all the same."""
    rows = [
        _row(number, "refresh the price list", "make pull", "!scp /tmp/x /tmp/y", "make load") for number in (1, 2, 3)
    ]
    (missed,) = [candidate.missed for candidate in _judge(*rows).rejected]
    assert missed == (
        "it went well without a skill: a skill could not have prevented the failures, and skilld found no corrections"
        "; left out: `scp /tmp/x /tmp/y`: it contains a path specific to this machine"
    )


def test_two_sessions_need_a_failure_or_a_correction() -> None:
    smooth = [_row(number, "refresh the price list", "make pull", "make load") for number in (1, 2)]
    judged = _judge(*smooth)
    assert judged.candidates == ()
    why = "it came up in only 2 sessions; nothing failed, and skilld found no corrections"
    assert [candidate.missed for candidate in judged.rejected] == [why]
    rough = [
        _row(number, "refresh the price list", "make pull", "!make load", "make load FORCE=1") for number in (1, 2)
    ]
    assert len(_judge(*rough).candidates) == 1


def test_a_task_whose_steps_another_one_of_more_sessions_has_is_no_skill() -> None:
    release = ("make login AS=ci", "make image", "!make ship", "make migrate", "make ship", "make smoke", "make tag")
    rows = [_row(n, f"release the {name} service", *release) for n, name in enumerate(("sales", "stock", "tax"), 1)]
    part = "make login AS=ci", "make image", "make smoke"
    fewer = [_row(n, f"try the build on the {name} board", *part) for n, name in enumerate(("one", "two", "six"), 4)]
    found = _judge(*rows, _row(7, "release the cart service", *release), *fewer)
    assert [one.name for one in found.candidates] == ["release-service"]
    assert [(one.topic, one.missed) for one in found.rejected] == [
        ("try the build on the six board", "another skill of this run has all of its steps")
    ]
    assert [one.name for one in _judge(*fewer).candidates] == ["try-build-board"]


def test_three_sessions_with_three_steps_are_a_skill_without_any_failure() -> None:
    done = ("make pull", "npm test", "git push")
    assert len(_judge(*(_row(number, "refresh the price list", *done) for number in (1, 2, 3))).candidates) == 1
    assert _judge(*(_row(number, "refresh the price list", *done) for number in (1, 2))).candidates == ()


def test_statements_about_later_work_in_a_session_are_not_rules_of_the_task() -> None:
    def row(*said: str) -> Row:
        first = _gen(3, "tax")
        feedback = tuple(Feedback(f"y{number}", text, text, "correction", 0.9) for number, text in enumerate(said))
        return replace(
            first,
            tasks=(*first.tasks, Task("x", "darken the footer")),
            turns=(*first.turns, "x", *(one.turn for one in feedback)),
            actions=(*first.actions, (Action("footer.css", ToolOutcome.OK, 9, edits=True), "x")),
            user_feedback=feedback,
        )

    (candidate,) = _judge(
        _gen(1, "sales"), _gen(2, "stock"), row("Keep the contrast high.", "No report without a date.")
    ).candidates
    assert lines_of(candidate, PartKind.PITFALL) == ["No report without a date."]


def test_a_step_that_failed_for_another_value_is_no_pitfall() -> None:
    rows = [
        _row(
            number, "look up the order", f"!make find ID={number}1", f"make find ID={number}2", "make show", "make pdf"
        )
        for number in (1, 2, 3)
    ]
    (candidate,) = _judge(*rows).candidates
    assert lines_of(candidate, PartKind.COMMAND)[0] == "make find ID={{number}}"
    assert lines_of(candidate, PartKind.TRAP) == []


def test_an_existing_skill_for_the_task_is_named_with_its_line() -> None:
    path = Path("/shop/.claude/skills/reports/SKILL.md")
    skill = Skill(
        "reports", path, Source.PROJECT, Path("/shop"), ("claude-code",), FrontMatter("reports", "Adds reports.")
    )
    text = "---\nname: reports\n---\n\n# Reports\n\n1. Run `make gen NAME=...`.\n2. Run `make verify`.\n"
    judged = _judge(_gen(1, "sales"), _gen(2, "stock"), _gen(3, "tax"), skills=((skill, text),))
    assert judged.candidates == ()
    (candidate,) = judged.rejected
    assert candidate.missed == "reports already does this in line 7: 1. Run `make gen NAME=...`."


@pytest.mark.parametrize("title", ["description: Notes for each report of a shop.", "# Report notes for the shop"])
def test_a_title_with_most_words_of_a_task_does_not_do_it(title: str) -> None:
    path = Path("/shop/.claude/skills/notes/SKILL.md")
    skill = Skill("notes", path, Source.PROJECT, Path("/shop"), ("claude-code",), FrontMatter("notes", "Notes."))
    judged = _judge(_gen(1, "sales"), _gen(2, "stock"), _gen(3, "tax"), skills=((skill, f"---\n{title}\n---\n"),))
    assert len(judged.candidates) == 1, [one.missed for one in judged.rejected]


def test_m2_a_skill_sharing_only_words_with_the_task_is_not_a_match() -> None:
    path = Path("/shop/.claude/skills/deploy/SKILL.md")
    skill = Skill("deploy", path, Source.PROJECT, Path("/shop"), ("claude-code",), FrontMatter("deploy", "Deploys."))
    done = ("make fetch TABLE={0}", "!make restore TABLE={0}", "make unlock", "make restore TABLE={0}")
    rows = [
        _row(number, f"restore the {name} table into staging", *(one.format(name) for one in done))
        for number, name in ((1, "orders"), (2, "users"), (3, "carts"))
    ]
    other = "---\nname: deploy\n---\n\n# Deploy\n\n- Check that the tables in staging were restored.\n"
    assert len(_judge(*rows, skills=((skill, other),)).candidates) == 1
    same = other.replace("- Check", "- Restore the orders, users and carts table into staging; check")
    assert _judge(*rows, skills=((skill, same),)).candidates == ()


def test_candidates_that_would_have_saved_most_come_first() -> None:
    cheap = [
        _row(number, f"refresh the price list {number}", "make pull", "make load", "make tidy") for number in (1, 2, 3)
    ]
    dear = [
        replace(_gen(number, name), session_id=f"d{number}")
        for number, name in ((1, "sales"), (2, "stock"), (3, "tax"))
    ]
    dear = [
        replace(row, tasks=(Task(f"d{row.tasks[0].turn}", row.tasks[0].text),), turns=(f"d{row.turns[0]}",),
                actions=tuple((one, f"d{turn}") for one, turn in row.actions))
        for row in dear
    ]  # fmt: skip
    judged = _judge(*cheap, *dear)
    assert [candidate.parts[0].text.split()[0] for candidate in judged.candidates] == ["add", "refresh"]


@for_each(
    ("commands", "session", "values"),
    [
        (("make docs", "make site"), 2, ["document", "sit"]),
        (("make docs", "make all"), 2, []),  # the command tells only one of them
        (("make all", "make all"), 2, []),
        (("make docs", "make site"), 1, []),  # both were asked for in one session
    ],
)
def test_a_value_is_a_word_in_which_requests_and_their_commands_differ(
    commands: tuple[str, str], session: int, values: list[str]
) -> None:
    rows = [
        _row(1, "build the docs with care", commands[0]),
        replace(_row(2, "build the site with care", commands[1]), session_id=f"s{session}"),
    ]
    groups = group_by_words([*requests_with_actions(rows)])
    assert sorted(value for group in groups for one in group for value in one.values) == values


def test_actions_are_only_compared_where_they_can_make_requests_one_task(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def listen(name: str) -> None:
        function = getattr(mining_requests, name)

        def compare(one: ActionRun, other: ActionRun) -> object:
            compared.append(name)
            return function(one, other)

        monkeypatch.setattr(mining_requests, name, compare)

    listen("step_similarity")
    listen("differs_in_target")
    apart = [
        _row(1, "build the docs", "make docs", "make links", "npm run spell"),
        _row(2, "fix every typo", "make typos --all", "make words --all", "cargo fix --allow-dirty"),
    ]
    assert len(group_by_words([*requests_with_actions(apart)])) == 2
    assert compared == []
    near = [_row(1, "build the docs", "make docs --all"), _row(2, "print the docs", "make paper")]
    assert len(group_by_words([*requests_with_actions(near)])) == 2
    assert {*compared} == {"step_similarity"}


def test_each_two_requests_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[frozenset[str]] = []

    def compare(one: ActionRun, other: ActionRun) -> int:
        compared.append(frozenset((one.session, other.session)))
        return 0

    monkeypatch.setattr(mining_requests, "step_similarity", compare)
    texts = "build the docs", "build one site", "build two images", "build three maps", "build four plans"
    rows = [_row(number, f"{text} for {text}", "make -B all", "make -B more") for number, text in enumerate(texts, 1)]
    groups = group_by_words([*requests_with_actions(rows)])
    assert len(groups) == 5
    assert len({*compared}) == 10
    assert len(compared) <= 10 * 2 * 2  # two commands of one with two of the other


def test_a_command_repeated_in_one_session_is_one_step_of_another() -> None:
    once = "write a changelog entry of the parser", ("make docs/a.html",)
    often = "print the pages for a parser and its users", ("make docs/b.html", "make docs/c.html", "make docs/d.html")
    for (first, some), (second, others) in (once, often), (often, once):
        rows = [_row(1, first, *some), _row(2, second, *others)]
        assert len(group_by_words([*requests_with_actions(rows)])) == 2


TENANTS = ("alpha", "beta", "gamma")


@for_each("families", [2, 3, 4])
def test_tasks_with_the_same_verbs_and_values_are_not_one(families: int) -> None:
    """The names of the tenants are no words of either task, though all requests and commands have them."""
    asked = (
        "onboard the tenant {}",
        "set up the voucher campaign {}",
        "print the coupon sheet {}",
        "issue a badge to {}",
    )
    things = ("tenant", "voucher", "coupon", "badge")
    rows = []
    for number, name in enumerate(TENANTS):
        for place, (request, thing) in enumerate(zip(asked[:families], things[:families], strict=True)):
            done = (f"shop {thing} create {name}", f"!shop {thing} import {name}", f"shop {thing} init {name}")
            key = f"{thing}-{name}"
            row = _row(1, request.format(name), *done, f"shop {thing} import {name}", f"pytest -q tests/{thing}")
            rows.append(
                replace(row, session_id=key, tasks=(Task(key, row.tasks[0].text),), turns=(key,),
                        datetime=f"2026-01-0{number + 1}T1{place}:00:00Z",
                        actions=tuple((one, key) for one, _ in row.actions))
            )  # fmt: skip
    found = [{proof.session for proof in one.evidence} for one in _judge(*rows).candidates]
    assert sorted(map(sorted, found)) == sorted(
        sorted(f"{thing}-{name}" for name in TENANTS) for thing in things[:families]
    )


def test_at_most_five_are_named_and_the_rest_is_deferred() -> None:
    words = ["kettles", "gardens", "bicycles", "windows", "ladders", "carpets", "bottles"]
    rows = []
    for word in words:
        for number in (1, 2, 3):
            row = _row(number, f"polish {word} {word}-{number}", f"!do-{word}", f"do-{word} --slow", f"see-{word}")
            key = f"{word}{number}"
            rows.append(
                replace(row, session_id=key, tasks=(Task(key, row.tasks[0].text),), turns=(key,),
                        actions=tuple((one, key) for one, _ in row.actions))
            )  # fmt: skip
    judged = _judge(*rows)
    assert len(judged.candidates) == 5
    assert sum(candidate.missed.startswith("left for a later run") for candidate in judged.rejected) == 2


def test_a_models_task_needs_no_shared_words_and_ends_where_other_work_begins() -> None:
    asked = ("open a draft PR", "get this reviewed", "time for the others to look", "ship it to review")
    rows = []
    for number, request in enumerate(asked, 1):
        row = _row(
            number, request, f"git push -u origin {'fix' if number % 2 else 'docs'}/{number}", "gh pr create --draft"
        )
        other = tuple((Action(f"make part{n}", ToolOutcome.OK, 9 + n), "x") for n in range(2))
        rows.append(
            replace(
                row, tasks=(*row.tasks, Task("x", "paint it")), turns=(*row.turns, "x"), actions=(*row.actions, *other)
            )
        )
    assert _judge(*rows).candidates == ()
    requests = frozenset((row.session_id, one.turn) for row in rows for one in row.tasks)
    task = ToldTask(frozenset((row.session_id, row.tasks[0].turn) for row in rows))
    (candidate,) = judge(rows, [], {}, now=NOW, grouping=Grouping([task], requests)).candidates
    assert lines_of(candidate, PartKind.COMMAND) == ["git push -u origin {{branch}}", "gh pr create --draft"]
    continued = replace(task, continued=frozenset((row.session_id, "x") for row in rows))
    (longer,) = judge(rows, [], {}, now=NOW, grouping=Grouping([continued], requests)).candidates
    assert lines_of(longer, PartKind.COMMAND)[2:] == ["make part0", "make part1"]


def test_chosen_sessions_whose_steps_are_all_generic_end_no_other_task() -> None:
    tested = [
        _row(n, "polish the basket form", "git pull", "npm test", said=("Never round the totals.",)) for n in (1, 2, 3)
    ]
    made = _judge(*tested, *(replace(_gen(n, "sales"), session_id=f"g{n}") for n in (1, 2)), chosen=True).candidates
    assert [one.parts[0].text for one in made] == ["polish the basket form", "add the report sales"]


def test_what_a_model_will_review_may_share_a_part_of_a_command_only_and_a_habit_of_several_projects() -> None:
    builds = ("docker build --no-cache -t shop:v1 .", "docker build --no-cache -f Dockerfile -t shop:v2 web/ --pull")
    rows = [
        replace(
            _row(
                number, f"{word} the shop window", "make dist", build, "docker service update --image shop:now shop_web"
            ),
            project=f"/{word}",
        )
        for number, word, build in zip(
            (1, 2, 3),
            ("deploy", "publish", "launch"),
            (*builds, "docker build --no-cache --pull -t shop:v3 ."),
            strict=True,
        )
    ]
    task = ToldTask(frozenset((row.session_id, row.tasks[0].turn) for row in rows))
    (candidate,) = judge(rows, [], {}, now=NOW, grouping=Grouping([task], task.requests)).candidates
    assert lines_of(candidate, PartKind.COMMAND) == [
        "make dist", "docker build --no-cache … -t shop:… …", "docker service update --image shop:now shop_web",
    ]  # fmt: skip
    assert "- `…`: differs each time." in build_skill(candidate, day="2026-01-06", with_sessions=False).body
    assert common_words(["curl", "-s", "http://a/b"], ["curl", "-s", "http://a/c"]) == common_words([], ["curl"]) == []


def _continued(number: int, *turns: tuple[str, str, str]) -> Row:
    """Return a session of turns: key, text, and the command that the agent ran for it."""
    row = _row(number, turns[0][1])
    return replace(
        row,
        tasks=tuple(Task(key, text) for key, text, _ in turns),
        turns=tuple(key for key, _, _ in turns),
        actions=tuple((Action(command, ToolOutcome.OK, at), key) for at, (key, _, command) in enumerate(turns)),
    )


def _reviewed(rows: Sequence[Row], *keys: str, continued: Collection[str] = ()) -> tuple[Candidate, ...]:
    places = frozenset((row.session_id, one.turn) for row in rows for one in row.tasks)
    task = ToldTask(
        frozenset(place for place in places if place[1] in keys),
        frozenset(place for place in places if place[1] in continued),
    )
    return judge(rows, [], {}, now=NOW, grouping=Grouping([task], places)).candidates


def test_a_task_goes_on_behind_other_work_with_what_a_model_says_continues_it() -> None:
    rows = [
        _continued(
            number,
            ("a", f"write the proposal for part {number}", "spec new change"),
            ("b", "paint the shed", "paint shed --colour red"),
            ("c", "go on with the design", "spec new design"),
            ("d", "clean the garden", "garden clean --all"),
        )
        for number in (1, 2, 3)
    ]
    (candidate,) = _reviewed(rows, "a", continued="c")
    assert lines_of(candidate, PartKind.COMMAND) == ["spec new change", "spec new design"]


DEPLOY = "make image", "make push", "make smoke"


def test_for_a_review_a_draft_has_what_was_said_and_read_on_the_way() -> None:
    rows = [
        _row(1, "deploy the shop. Tell the others in the channel.", *DEPLOY),
        _row(2, "ship the shop. Put the version in the title.", *DEPLOY),
        _row(3, "deploy the shop, please", *DEPLOY),
    ]
    read = (Action("docs/deploy.md", ToolOutcome.OK, 0, read_only=True, reads=True),)
    rows = [replace(row, actions=tuple((one, row.turns[0]) for one in (*read, *dict(row.actions)))) for row in rows]
    (candidate,) = _reviewed(rows, "t1", "t2", "t3")
    assert lines_of(candidate, PartKind.READ, PartKind.COMMAND) == ["docs/deploy.md", *DEPLOY]
    said = lines_of(candidate, PartKind.SAID)
    assert {"Tell the others in the channel", "Put the version in the title"} <= set(said)
    body = build_skill(candidate, day="2026-01-06", with_sessions=False).body
    assert "1. Read `docs/deploy.md`." in body
    assert "- Tell the others in the channel" in body
    assert lines_of(_judge(*rows).candidates[0], PartKind.SAID, PartKind.READ) == []  # rules show only what repeats


def test_what_one_session_of_a_task_said_is_named_as_left_out() -> None:
    def going_on(row: Row, *said: str) -> Row:
        later = tuple(Task(f"{row.turns[0]}-{number}", text) for number, text in enumerate(said))
        return replace(row, tasks=(*row.tasks, *later), turns=(*row.turns, *(one.turn for one in later)))

    often, once = "Wrap the totals in a table", "Put the version in the title"
    judged = _judge(
        going_on(_gen(1, "sales"), often, once), going_on(_gen(2, "stock"), often), going_on(_gen(3, "tax"), "thanks")
    )
    assert lines_of(judged.candidates[0], PartKind.SAID) == [f"{often}."]
    assert (once, "only one session of this task said it like this") in [
        (one.topic, one.missed) for one in judged.rejected
    ]
    assert not any(often in one.topic for one in judged.rejected)


def test_what_was_decided_against_or_taken_back_is_no_line() -> None:
    rows = [
        _row(1, "deploy the shop. Tell the others in the channel.", *DEPLOY),
        _row(2, "ship the shop. Build everything with npm.", *DEPLOY, said=("Always use pnpm, never npm.",)),
        _row(3, "deploy the shop, please", *DEPLOY),
    ]
    places = frozenset((row.session_id, row.tasks[0].turn) for row in rows)
    (before,) = judge(rows, [], {}, now=NOW, grouping=Grouping([ToldTask(places)], places)).candidates
    assert "Tell the others in the channel" in lines_of(before, PartKind.SAID)
    assert not any("with npm" in line for line in lines_of(before, PartKind.SAID))

    def known(ask: Ask, _: str, _agents: object) -> str | None:
        return "you rejected it (abc123)" if "channel" in ask.text and "deploy" not in ask.text else None

    grouping = Grouping([ToldTask(places)], places)
    (after,) = judge(rows, [], {}, Known(proposed=known), now=NOW, grouping=grouping).candidates
    assert not any("channel" in line for line in lines_of(after, PartKind.SAID))


def test_a_date_that_the_paths_of_all_sessions_begin_with_is_part_of_the_variable() -> None:
    rows = [
        _row(number, "close the oldest entry of the list", f"mv todo/2026-02-{number:02}-{name}.md done/", "make lists")
        for number, name in ((1, "paint"), (2, "garden"), (3, "roof"))
    ]
    (candidate,) = _reviewed(rows, "t1", "t2", "t3")
    assert lines_of(candidate, PartKind.COMMAND) == ["mv todo/{{name}}.md done/", "make lists"]


def test_what_is_contradicted_later_in_the_tasks_sessions_is_no_rule() -> None:
    said, later = "Use pnpm for the build, not npm.", Task("t", "use npm for the build, not pnpm")
    first, second, third = _gen(1, "alpha", said=(said,)), _gen(2, "beta"), _gen(3, "gamma")
    for row, stays in ((first, True), (third, False)):
        turns = (f"{row.turns[0]}-", *row.turns) if stays else (*row.turns, "later")
        other = replace(row, turns=turns, tasks=(*row.tasks, replace(later, turn=turns[0] if stays else "later")))
        rows = [other if one is row else one for one in (first, second, third)]
        assert (said in lines_of(_judge(*rows).candidates[0], PartKind.PITFALL)) is stays


def test_steps_come_in_the_order_that_every_session_with_both_kept() -> None:
    rows = [
        _row(1, "release the shop", "make a", "make b", "make c", "make d", "make bump", "make dist"),
        _row(2, "release the shop", "make a", "make b", "make c", "make d", "make bump", "make sign"),
        *(_row(n, "release the shop", "make dist", "make sign", "make mail", "make wave") for n in (3, 4)),
    ]
    (candidate,) = _judge(*rows).candidates
    steps = lines_of(candidate, PartKind.COMMAND)
    assert steps == [
        "make a",
        "make b",
        "make c",
        "make d",
        "make bump",
        "make dist",
        "make sign",
        "make mail",
        "make wave",
    ]


def test_of_what_was_done_again_the_last_time_counts() -> None:
    rows = [_row(n, "release the shop", "make check", "make dist", "make sign", "make check") for n in (1, 2, 3)]
    (candidate,) = _judge(*rows).candidates
    assert lines_of(candidate, PartKind.COMMAND) == ["make dist", "make sign", "make check"]
    assert candidate.recurrence is not None
    assert candidate.recurrence.check == "make check"


def test_what_is_done_undone_and_done_again_is_all_in_the_steps() -> None:
    ran = "bin/new {0}", "bin/db up", "bin/db down -1", "bin/db up", "bin/note"
    rows = [_row(n, "add a migration to the shop", *(one.format(n) for one in ran)) for n in (1, 2, 3)]
    (candidate,) = _judge(*rows).candidates
    steps = ["bin/new {{number}}", "bin/db up", "bin/db down -1", "bin/db up", "bin/note"]
    assert lines_of(candidate, PartKind.COMMAND) == steps


def test_what_a_failure_needed_is_no_step_if_it_does_not_always_fail() -> None:
    def steps(*last: str) -> list[str]:
        failed = "bin/new", "!bin/db up", "bin/db merge", "bin/db up", "bin/note"
        rows = [_row(n, "add a migration to the shop", *(last if n == 3 else failed)) for n in (1, 2, 3)]
        (candidate,) = _judge(*rows).candidates
        assert lines_of(candidate, PartKind.TRAP) == ["`bin/db up` failed until `bin/db merge` had run."]
        return lines_of(candidate, PartKind.COMMAND)

    assert steps("bin/new", "bin/db up", "bin/note") == ["bin/new", "bin/db up", "bin/note"]
    assert steps("bin/new", "bin/db merge", "bin/db up", "bin/note") == [
        "bin/new", "bin/db merge", "bin/db up", "bin/note"
    ]  # fmt: skip


def test_a_step_with_a_secret_or_a_path_of_this_machine_keeps_the_rest() -> None:
    load = "PGPASSWORD=[REDACTED:password:1] pg_restore -d shop /home/ada/{0}.dump"
    ran = f"!{load}", "bin/api stop", load, "bin/api start"
    rows = [_row(n, "load the shop dump", *(one.format(n) for one in ran)) for n in (1, 2, 3)]
    (candidate,) = _judge(*rows).candidates
    kept = "PGPASSWORD=\u2026 pg_restore -d shop \u2026"
    assert lines_of(candidate, PartKind.COMMAND) == ["bin/api stop", kept, "bin/api start"]
    assert lines_of(candidate, PartKind.TRAP) == [f"`{kept}` failed until `bin/api stop` had run."]
    assert candidate.recurrence is not None
    assert candidate.recurrence.left_out == ()


def test_the_name_of_the_file_that_each_session_changed_is_a_variable_of_its_commands() -> None:
    def steps(file: str) -> list[str]:
        ran = "git bisect run bin/bench {0}", file, "bin/bench {0}", "make note"
        rows = [
            _row(n, "find out why it got slow", *(one.format(name) for one in ran))
            for n, name in ((1, "invoices"), (2, "postings"), (3, "accounts"))
        ]
        return [line for one in _judge(*rows).candidates for line in lines_of(one, PartKind.COMMAND, PartKind.EDIT)]

    assert steps("~shop/queries/{0}.py") == [
        "git bisect run bin/bench {{name}}", "shop/queries/{{name}}.py", "bin/bench {{name}}", "make note"
    ]  # fmt: skip
    assert steps("~shop/all.py") == []  # as `bin/bench build` and `bin/bench clean` are


@for_each(
    ("failed", "worked", "pitfall"),
    [
        ("gh pr checks 94", "gh pr ready 94", False),  # another thing
        ("gh pr merge 94", "gh pr merge 94 --squash", True),
        ("pnpm build shop", "pnpm build shop --force", True),
    ],
)
def test_another_verb_is_no_other_way_to_do_it(failed: str, worked: str, *, pitfall: bool) -> None:
    rows = [_row(number, "release the shop", f"!{failed}", worked, "make dist", "make sign") for number in (1, 2, 3)]
    traps = lines_of(_judge(*rows).candidates[0], PartKind.TRAP)
    assert bool(traps) is pitfall


def test_a_test_that_another_one_passed_after_code_was_changed_is_no_pitfall() -> None:
    def sessions(*between: str) -> list[Row]:
        ran = ("!go test ./shop -run A", *between, "go test ./shop -run B", "make dist", "make sign")
        return [_row(number, "release the shop", *ran) for number in (1, 2, 3)]

    assert lines_of(_judge(*sessions()).candidates[0], PartKind.TRAP)
    assert not lines_of(_judge(*sessions("~shop/cart.go")).candidates[0], PartKind.TRAP)


def test_a_request_that_was_only_answered_may_be_part_of_a_task_and_ends_none() -> None:
    rows = [
        _continued(
            number, ("a", f"write the proposal for part {number}", "spec new change"), ("b", "go on", "spec new design")
        )
        for number in (1, 2, 3)
    ]
    rows = [
        replace(row, tasks=(row.tasks[0], Task("q", "explain me the blocking change again"), row.tasks[1]),
                turns=("a", "q", "b"))
        for row in rows
    ]  # fmt: skip
    (candidate,) = _reviewed(rows, "a", continued="b")
    assert lines_of(candidate, PartKind.COMMAND) == ["spec new change", "spec new design"]
    asked = [one.task.text for one in requests_with_actions(rows, looks=True)]
    assert "explain me the blocking change again" in asked
    assert "go on" in asked
    assert len([*requests_with_actions(rows)]) == 6
    assert _reviewed(rows, "q") == ()  # nothing was done for it in any session


@for_each(
    ("ends", "check"),
    [
        (("bin/drain {0}",), ""),
        (("echo keep=7d >> log",), ""),
        (("echo build=7 >> log",), ""),
        (("bin/settle {0}",), "bin/settle {{name}}"),
        (("bin/drain {0}", "bin/smoke {0}"), "bin/smoke {{name}}"),
    ],
)
def test_an_action_is_not_a_check_even_if_all_sessions_stopped_there(ends: Sequence[str], check: str) -> None:
    names = "alpha", "beta", "gamma"
    steps = "bin/new {0}", "bin/label {0}", "bin/mark {0}", *ends
    rows = [
        _row(number, f"register the node {name}", *(one.format(name) for one in steps))
        for number, name in enumerate(names, 1)
    ]
    (candidate,) = _judge(*rows).candidates
    assert candidate.recurrence is not None
    assert candidate.recurrence.check == check


def test_what_was_asked_for_later_is_not_a_check() -> None:
    rows = [
        session_row(
            number,
            (f"register the node {name}", [f"bin/new {name}", f"bin/label {name}"]),
            ("you forgot the backup", ["bin/backup"]),
        )
        for number, name in enumerate(("alpha", "beta", "gamma"), 1)
    ]
    (candidate,) = _judge(*rows).candidates
    assert lines_of(candidate, PartKind.COMMAND) == ["bin/new {{name}}", "bin/label {{name}}", "bin/backup"]
    assert candidate.recurrence is not None
    assert candidate.recurrence.check == ""
