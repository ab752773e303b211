"""`skilld mine --interactive` on real transcripts: on a screen, by questions, and left."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.widgets import TextArea

from skilld.mining.proposing import CandidateResult
from skilld.mining.questions import Estimate
from skilld.review.generation import Generation, KeptCandidate
from skilld.store.connection import StoreError
from support.generation_pilot import generation_steps, run_generation
from support.live_project import Project
from support.mining_model import answer_request
from support.program import Program
from support.review_pilot import Screen, review, review_session
from support.session import SQUASHING, TAGGING, Session
from support.stub_model import StubModel
from support.terminal import Terminal
from support.waiting import LIMIT, wait_for

SQUASH = ("rebase onto main and squash the fixup commits", "please rebase onto main, then squash the fixup commits")
TAG = ("tag the release and push the tag", "tag the release, then push that tag")
NEWEST_FIRST = "Always mention breaking changes first in the notes."
HOSTILE = "explain \x1b]0;owned\x07 the [bold]parser[/bold] \u202etxt"


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLD_NOTIFY__ENABLED", "false")
    monkeypatch.setenv("SKILLD_MODEL", "offline")


@pytest.fixture
def program(home: Path, project: Project) -> Program:
    """Return skilld over past sessions: two requests that came twice, a skill to extend, and hostile bytes."""
    for texts, commands in ((SQUASH, SQUASHING), (TAG, TAGGING)):
        for text in texts:
            Session(home, project).work(text, *commands)
    Session(home, project).type(HOSTILE)
    used = Session(home, project)
    used.use_skill()
    used.type("Write the release notes for 2.4.0", NEWEST_FIRST)
    return Program(home, {"SKILLD_NOTIFY__ENABLED": "false", "SKILLD_MODEL": "offline"})


def _ids(home: Path, *words: str) -> list[str]:
    return [p.stem for p in home.glob(".claude/projects/*/*.jsonl") if any(word in p.read_text() for word in words)]


async def _choose_all(screen: Screen) -> None:
    await screen.shows("6 sessions, none selected")
    await screen.press("a")
    await screen.shows("6 selected; the built-in rules alone may find 3 patterns")


async def _to_the_names(screen: Screen) -> None:
    """Choose what asks for squashing, and keep the one skill that it comes to."""
    await screen.shows("6 sessions, none selected")
    await screen.press("slash", *"squash", "enter", "a", "enter")
    await screen.shows("2 of 3")
    await screen.press("enter")
    await screen.shows("3 of 3")


def test_sessions_are_listed_escaped_filtered_and_counted(program: Program) -> None:
    async def story(screen: Screen) -> None:
        await screen.shows("1 of 3", "first request", SQUASH[1], "claude-code", "project", HOSTILE[:8])
        assert "\\x1b]0;owned\\x07 the [bold]parser[/bold] \\u202etxt" in screen.text
        assert "\x1b" not in screen.text
        await screen.press("enter")
        await screen.shows("Select sessions with Space first.")
        await screen.press("slash", *"rebase")
        await screen.until("the others to be gone", lambda: TAG[0] not in screen.text)
        await screen.press("enter", "space")
        await screen.shows("1 selected; the built-in rules alone may find 0 patterns")
        await screen.press("a")
        await screen.shows("2 selected; the built-in rules alone may find 1 pattern")
        await screen.press("ctrl+c")
        await screen.shows("To leave, press esc")
        assert "ctrl" not in screen.text.lower()
        await screen.press("escape")

    assert run_generation(story) == []
    assert program.json("proposals", "--state", "all") == []


def test_a_session_that_went_on_after_a_fork_is_listed_once(program: Program, project: Project) -> None:
    """Two files have turns of it, as the newer one begins with a copy of the older."""
    first = Session(program.home, project)
    first.type("Write the notes of the third release")
    fork = Session(program.home, project)
    fork.raw(first.path.read_bytes())
    fork.type("Now write the notes of the fourth release")
    first.type("And then tag the third release")
    os.utime(first.path, (time.time() - 60,) * 2)

    async def story(screen: Screen) -> None:
        await screen.shows("8 sessions, none selected", "notes of the third", "notes of the fourth")
        await screen.press("a")
        await screen.shows("8 selected; the built-in rules alone may find")
        await screen.press("escape")

    assert run_generation(story) == []


def test_what_the_database_refuses_can_be_proposed_again(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Iterator[CandidateResult]:
        raise StoreError("Could not use the database", "it is locked")

    async def story(screen: Screen) -> None:
        await _to_the_names(screen)
        with monkeypatch.context() as broken:
            broken.setattr(Generation, "save", fail)
            await screen.press("enter")
            await screen.shows("Could not use the database: it is locked")
        await screen.press("enter")
        await screen.until("it to be proposed", lambda: not screen.app.is_running)

    (made,) = run_generation(story) or []
    assert (made.candidate.name, made.why_not) == ("rebase-main-squash-fixup", "")
    assert [one["id"] for one in program.json("proposals")] == [made.proposal]


def test_the_three_steps_propose_what_was_kept_named_and_edited(program: Program, project: Project) -> None:
    before = project.fingerprint()

    async def story(screen: Screen) -> None:
        await _choose_all(screen)
        await screen.press("enter")
        await screen.shows("2 of 3", "extend", "release-notes", f"+ {NEWEST_FIRST}", "you, in ")
        await screen.press("b")
        await screen.shows("1 of 3", "6 selected; the built-in rules")
        await screen.press("enter")
        await screen.shows("2 of 3", "extend", "release-notes", f"+ {NEWEST_FIRST}", "you, in ")
        await screen.press("down")
        await screen.shows("rebase-main-squash-fixup", 'skilld-origin: "mined"')
        await screen.press("e")
        await screen.until("the text", lambda: screen.app.screen.query(TextArea))
        area = screen.app.screen.query_one(TextArea)
        area.text = f"{area.text}\nLook twice.\n"
        await screen.press("ctrl+s")
        await screen.until("the editor to be gone", lambda: not screen.app.screen.query(TextArea))
        await screen.press("down", "space", "enter")
        await screen.shows("3 of 3")
        assert "tag-release-push" not in screen.text
        await screen.press("down", "n", *["backspace"] * 40, *"No Name", "enter")
        await screen.shows("it may contain only lowercase letters, digits and single hyphens")
        await screen.press(*["backspace"] * 40, *"squash", "enter")
        await screen.shows("create  squash\n")
        await screen.press("enter")
        await screen.until("it to be proposed", lambda: not screen.app.is_running)

    became = run_generation(story) or []
    assert [(one.candidate.name, bool(one.proposal), one.why_not) for one in became] == [
        ("release-notes", True, ""),
        ("squash", True, ""),
    ]
    assert {proposal["id"] for proposal in program.json("proposals")} == {one.proposal for one in became}
    written = project.git("show", "skilld/staging:.claude/skills/squash/SKILL.md")
    assert "\nname: squash\n" in written
    assert written.endswith("\nLook twice.")
    assert NEWEST_FIRST in project.git("show", "skilld/staging:.claude/skills/release-notes/SKILL.md")
    assert project.fingerprint() == before


def test_the_same_choice_gives_the_same_proposals_as_the_command_line(home: Path, program: Program) -> None:
    dry = program.json("mine", "--dry-run", "--from", *_ids(home, "squash the fixup"))

    async def story(screen: Screen) -> None:
        await _to_the_names(screen)
        await screen.press("enter")
        await screen.until("it to be proposed", lambda: not screen.app.is_running)

    (mine,) = run_generation(story) or []
    program.run("reject", mine.proposal)
    assert [(candidate["name"], candidate["text"]) for candidate in dry["candidates"]] == [
        (mine.candidate.name, mine.text)
    ]


def test_a_refused_candidate_can_be_renamed_and_retried(program: Program) -> None:
    async def story(screen: Screen) -> None:
        await _to_the_names(screen)
        await screen.press("n", *["backspace"] * 40, *"release-notes", "enter", "enter")
        await screen.shows("create  release-notes", "there is already a skill called release-notes")
        await screen.press("n", *["backspace"] * 40, *"squash", "enter")
        await screen.until("the trouble to be gone", lambda: "there is already a skill called" not in screen.text)
        await screen.press("enter")
        await screen.until("it to be proposed", lambda: not screen.app.is_running)

    (made,) = run_generation(story) or []
    assert (made.candidate.name, made.why_not) == ("squash", "")
    assert [proposal["skill"] for proposal in program.json("proposals")] == ["squash"]


def test_refused_candidates_are_reported_when_leaving(program: Program) -> None:
    async def story(screen: Screen) -> None:
        await _to_the_names(screen)
        await screen.press("n", *["backspace"] * 40, *"release-notes", "enter", "enter")
        await screen.shows("there is already a skill called release-notes")
        await screen.press("escape")

    (missed,) = run_generation(story) or []
    assert (missed.proposal, missed.candidate.name) == ("", "release-notes")
    assert "there is already a skill called release-notes" in missed.why_not
    assert program.json("proposals") == []


def test_the_skills_tab_starts_the_same_steps(home: Path, program: Program) -> None:
    assert program.json("proposals") == []

    async def story(screen: Screen) -> None:
        await screen.press("2", "n")
        await screen.shows("1 of 3", "6 sessions, none selected")
        await screen.press("slash", *"squash", "enter", "a", "enter")
        for step in ("2 of 3", "3 of 3"):
            await screen.shows(step)
            await screen.press("enter")
        await screen.shows("2 Skills", "rebase-main-squash-fixup: proposed")
        await screen.until("it in the list", lambda: len(screen.open) == 1)

    review(review_session(home), story)
    assert [proposal["skill"] for proposal in program.json("proposals")] == ["rebase-main-squash-fixup"]


def test_a_model_is_asked_only_after_confirmation(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(screen: Screen) -> None:
        await _choose_all(screen)
        for key, shown in (("escape", "No questions were asked"), ("n", "2 of 3"), ("y", "2 of 3")):
            await screen.press("enter")
            await screen.shows("Ask openai/stub?", "at most", "tokens, price unknown, for 6 sessions.")
            assert model.bodies == []
            await screen.press(key)
            await screen.shows(shown)
            await screen.press(*("b" if key == "n" else ""))
        await screen.press("escape")

    with StubModel(answer_request) as model:
        monkeypatch.setenv("SKILLD_MODEL", "openai/stub")
        monkeypatch.setenv("SKILLD_MODEL_BASE_URL", model.base_url)
        assert run_generation(story) == []
        assert model.bodies
    assert program.json("proposals") == []


def test_the_edit_is_the_first_question_where_every_answer_is_stored(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Estimate] = []

    def agree(expected: Estimate, _: object) -> bool:
        asked.append(expected)
        return True

    with StubModel(answer_request) as model:
        monkeypatch.setenv("SKILLD_MODEL", "openai/stub")
        monkeypatch.setenv("SKILLD_MODEL_BASE_URL", model.base_url)
        for times in (1, 0):
            asked.clear()
            steps = generation_steps()
            result = steps.find(steps.choices(lambda *_: None), agree, lambda *_: None)
            assert len(asked) == times
        kept = [KeptCandidate(one.candidate, one.candidate.name) for one in result.previews if not one.text]
        (made,) = steps.save(kept, result, lambda *_: None)
    assert (made.candidate.name, made.why_not, len(asked)) == ("release-notes", "", 1)
    assert [proposal["id"] for proposal in program.json("proposals")] == [made.proposal]


def _answer(program: Program, *answers: str, **variables: str) -> str:
    return program.run_dialog(["mine", "--interactive"], *answers, **variables)


def test_it_works_with_questions_and_answers(program: Program, project: Project) -> None:
    output = _answer(
        program, "/no such", "/rebase", "all", "y", "e", "k", "Bad Name", "squash", "y", EDITOR="sed -i s/fixup/small/"
    )
    assert output.count("No session contains these words.\n") == 1
    assert len(re.findall(r"^\d\. \d{4}-\d\d-\d\d, claude-code, project, 1 turn: .*rebase", output, re.MULTILINE)) == 4
    assert "2 selected; the built-in rules alone may find 1 pattern" in output
    assert f": {SQUASH[0]}" in output
    assert "Bad Name cannot be used: it may contain only lowercase letters" in output
    assert "create squash\n  proposed as " in output
    assert output.endswith("Nothing is live yet. To review: skilld review\n")
    written = project.git("show", "skilld/staging:.claude/skills/squash/SKILL.md")
    assert "small commits" in written
    (proposal,) = program.json("proposals")
    assert proposal["skill"] == "squash"
    again = _answer(program, "/rebase", "all", "y")
    assert f"  “{SQUASH[1]}”: the open proposal {proposal['id']} already says this\n" in again
    assert program.run("reject", proposal["id"]).returncode == 0
    assert "Nothing new: you have already turned down what these sessions show." in _answer(
        program, "/rebase", "all", "y"
    )


def test_a_name_that_was_given_in_the_text_stays_unless_another_one_is_asked_for(program: Program) -> None:
    output = _answer(program, "/rebase", "all", "y", "e", "k", "", "y", EDITOR="sed -i s/^name:.*/name:\\ squash/")
    (proposal,) = program.json("proposals")
    assert proposal["skill"] == "squash", output


def test_with_questions_a_taken_name_is_asked_for_again(program: Program) -> None:
    asked = ("/rebase", "all", "y", "k", "release-notes", "y")
    output = _answer(program, *asked, "release-notes", "squash")
    assert "release-notes was not proposed: Cannot create the new skill: there is already a skill called" in output
    assert "release-notes cannot be used: another skill has that name." in output
    assert "create squash\n  proposed as " in output
    (proposal,) = program.json("proposals")
    assert program.run("reject", proposal["id"]).returncode == 0


def test_with_questions_a_candidate_without_a_name_is_skipped(program: Program) -> None:
    output = _answer(program, "/rebase", "all", "y", "k", "release-notes", "y", "")
    assert "create release-notes\n  not proposed: " in output
    assert program.json("proposals") == []


def _open_terminal(program: Program, term: str, columns: int, rows: int) -> Terminal:
    environment = program.environment | {"TERM": term}
    command = [sys.executable, "-m", "skilld", "mine", "--interactive"]
    return Terminal(command, cwd=program.home, environment=environment, size=(columns, rows))


def _wait_for(terminal: Terminal, *shown: str) -> str:
    return terminal.wait_until_still(" and ".join(shown), lambda screen: all(one in screen for one in shown), LIMIT)


@pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux on this machine")
def test_it_works_in_a_small_terminal(program: Program) -> None:
    with _open_terminal(program, "xterm-256color", 50, 14) as terminal:
        terminal.wait_until_still("the sessions", lambda text: "6 sessions, none selected" in text, LIMIT)
        terminal.press("a")
        terminal.wait("what the rules find", lambda text: "rules alone may find 3" in text, LIMIT)
        terminal.press("Enter")
        for step, key in (("2 of 3", "Continue"), ("3 of 3", "Propose")):
            screen = _wait_for(terminal, step, key)
            lines = screen.rstrip("\n").split("\n")
            assert (len(lines), max(map(len, lines)) <= 50) == (14, True)
            assert key in lines[-1]
            terminal.press("Enter")
        wait_for("the end", terminal.ended, LIMIT, context=terminal.screen)
    assert len(program.json("proposals")) == 3


@pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux on this machine")
def test_it_asks_questions_in_a_terminal_without_cursor_control(program: Program) -> None:
    with _open_terminal(program, "dumb", 80, 24) as terminal:
        for question, given in (("which sessions", "all"), ("continue?", "q")):
            _wait_for(terminal, question)
            terminal.enter(given)
        wait_for("the end", terminal.ended, LIMIT, context=terminal.screen)
        assert "You quit; nothing was proposed." in terminal.screen()


@pytest.mark.parametrize(
    "answers",
    [("q",), ("all", "q"), ("all", "y", "q"), ("all", "y", "k", "k", "k", "", "", "n"), ("all", "y", "k"), ()],
)
def test_leaving_the_questions_changes_nothing(program: Program, project: Project, answers: tuple[str, ...]) -> None:
    before = project.git("for-each-ref")
    assert _answer(program, *answers).endswith("You quit; nothing was proposed.\n")
    assert program.json("proposals", "--state", "all") == []
    assert project.git("for-each-ref") == before


def test_interactive_mode_refuses_json(program: Program) -> None:
    assert program.run("mine", "--interactive", "--json").returncode == 2
