"""The review by questions, through a pipe; many proposals are not read before they are shown."""

from __future__ import annotations

import io
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from skilld.cli.terminal import has_screen
from skilld.paths import places, private_dir
from skilld.review import proposals_pane
from skilld.review.controller import ProposalView, ReviewSession
from skilld.store import Store
from skilld.types import Proposal
from support.lessons import TICKETS, Lessons
from support.live_project import Project
from support.program import Program
from support.proposals import make_proposal
from support.review_pilot import Screen, review, review_session
from support.taught_project import FIRST, SECOND, THIRD, TaughtProject
from support.waiting import NEVER


def _answer(world: TaughtProject, *answers: str, **variables: str) -> str:
    """Give the answers through a pipe and return what was said."""
    return world.program.run_dialog(["review"], *answers, **variables)


def test_one_is_rejected_with_a_reason_and_the_other_accepted(world: TaughtProject) -> None:
    output = _answer(world, "what", "r", "not here", "a")
    (head,) = (line for line in output.splitlines() if line.startswith(f"{world.one}, "))
    assert re.fullmatch(r"\w+, skill release-notes, (just now|\d+ minutes? ago), confidence 0\.80", head)
    assert f"\n  {world.project.skill_path.parent}\n" in output
    assert "  you: [[Remember to link every entry to its pull request.]]" in output
    assert f"  add:    {THIRD}" in output
    assert f"{world.one} rejected: Link every entry to its pull request." in output
    assert "No more open proposals.\nu undo, / search, 2 skills, 3 sessions, 4 learnings, 5 report, q quit?" in output
    assert world.states() == {world.one: "rejected", world.two: "accepted"}
    assert FIRST in world.skill
    output = _answer(world, "u", "n", "u", "y", "q")
    assert output.count(f"Undo your last decision? {world.two} was accepted just now.") == 2
    assert "Nothing was undone." in output
    assert world.states() == {world.one: "rejected", world.two: "open"}


def test_undo_restores_it_and_asks_again(world: TaughtProject) -> None:
    output = _answer(world, "r", "", "u", "s", "q")
    assert f"{world.one} is open again" in output
    assert output.count(f"{world.one}, skill release-notes") == 2
    assert world.states() == {world.one: "open", world.two: "open"}


def test_a_part_is_accepted_and_the_rest_offered(world: TaughtProject) -> None:
    output = _answer(world, "p", "s", "p", "7", "p", "2", "a")
    assert "This proposal has only one part." in output
    assert f"  part 2 adds: {SECOND}" in output
    assert "No such part in this proposal; nothing changed." in output
    states = world.states()
    assert (states.pop(world.one), states.pop(world.two), *states.values()) == ("open", "accepted", "accepted")
    assert FIRST in world.skill
    assert SECOND in world.skill


def test_all_of_a_file_is_accepted_and_undone_after_the_last_question(world: TaughtProject) -> None:
    before = world.skill
    output = _answer(world, "?", "A", "n", "A", "y", "u", "s", "u", "s")
    assert "A  accept all proposals for this file" in output
    assert output.count(f"Accept 2 proposals for {world.project.skill_path}? [y/N]") == 2
    assert output.count("is open again") == 2
    assert world.skill == before
    assert world.states() == {world.one: "open", world.two: "open"}


def test_words_filter_the_proposals_and_all_can_be_shown_again(world: TaughtProject) -> None:
    output = _answer(world, "/no such", "/ticket NUMBER", "/", "q")
    assert "No open proposal contains these words." in output
    heads = [line[:8] for line in output.splitlines() if ", skill release-notes," in line]
    assert heads == [world.one, world.two, world.one]
    output = _answer(world, "/ticket NUMBER", "s", "q")
    assert "No more open proposals contain these words. Now the others:" in output
    heads = [line[:8] for line in output.splitlines() if ", skill release-notes," in line]
    assert heads == [world.one, world.two, world.one]


def test_decided_proposals_are_found_after_the_last_question(world: TaughtProject) -> None:
    output = _answer(world, "r", "", "s", "/pull request", "/ticket number", "q")
    assert f"{world.one}, release-notes: Link every entry to its pull request.\n  rejected " in output
    assert "Found 1 proposal." in output
    heads = [line[:8] for line in output.splitlines() if ", skill release-notes," in line]
    assert heads == [world.one, world.two, world.two]


def test_words_are_looked_for_in_the_named_proposals_only(world: TaughtProject) -> None:
    output = world.program.run_dialog(["review", world.two], "/pull request", "q")
    assert "No open proposal contains these words." in output


def test_the_other_tabs_are_available(world: TaughtProject) -> None:
    mine = world.home / ".claude/skills/my-own/SKILL.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("---\nname: my-own\ndescription: Mine.\n---\n\n- Say it.\n")
    skills = ("2", "/own", "1", "e", "1", "x", "1", "x", "1", "d", "no", "1", "d", "my-own", "n", "q", "/", "q")
    output = _answer(world, *skills, "3", "4", "5", "q", EDITOR="sed -i s/Say/Show/")
    assert "1. my-own, user\n" in output
    assert "my-own: to use it, type /my-own" in output
    assert "Changed my-own." in output
    assert "my-own is no longer offered to agents." in output
    assert "my-own is offered to agents again." in output
    assert "Nothing was moved." in output
    (kept,) = (world.home / ".local/share/Trash/files").glob("my-own-*/SKILL.md")
    assert "Show it." in kept.read_text()
    assert f"To get it back: mv {kept.parent} {mine.parent} && rm " in output
    assert "Step 1 of 3: choose the sessions" in output
    assert "1. release-notes, evolving, 2 uses, 2 edits proposed from what you said, went well 0% of the time" in output
    assert "claude-code, 5 turns, all judged" in output
    assert "There are no learnings." in output
    assert "taught" in output


def test_a_proposal_is_edited_with_the_persons_editor(world: TaughtProject) -> None:
    output = _answer(world, "e", "y", "e", EDITOR="sed -i s/pull/merge/")
    assert "  add:    - Link every entry to its merge request.\nAccept this text? [y/N] " in output
    assert f"{world.one} accepted: Link every entry to its merge request." in output
    assert "You made no changes." in output
    assert "- Link every entry to its merge request." in world.skill


def test_an_edited_text_is_accepted_only_after_it_was_shown(world: TaughtProject) -> None:
    output = _answer(world, "e", "n", "s", "q", EDITOR="sed -i s/pull/merge/")
    assert "Your text is kept. Type e to open it again." in output
    assert world.states() == {world.one: "open", world.two: "open"}


def test_the_end_says_how_many_are_open(world: TaughtProject) -> None:
    output = world.program.run_dialog(["review", world.two], "a", "q")
    assert f"{world.two} accepted" in output
    assert "That was the last one. 1 proposal is still open: skilld review\n" in output
    assert "No more open proposals." not in output
    assert "That was the last one. 1 proposal is still open: skilld review\n" in _answer(world, "s", "q")


def test_a_line_of_their_own_is_not_said_to_be_a_quote(world: TaughtProject) -> None:
    _answer(world, "e", "y", EDITOR="sed -i '$ a - Call Kim before lunch.'")
    lines = world.skill.splitlines()
    own = world.program.run("why", f"{world.project.skill_path}:{lines.index('- Call Kim before lunch.') + 1}").stdout
    assert "  you added this line yourself when you edited the proposal\n" in own
    assert "you: \u201c" not in own
    taught = world.program.run("why", f"{world.project.skill_path}:{lines.index(THIRD) + 1}").stdout
    assert "  you: \u201cRemember to link every entry to its pull request.\u201d\n" in taught


SECRET = "Tr0ub4dor&3"


def test_a_secret_typed_in_the_editor_is_refused_and_the_text_kept(world: TaughtProject) -> None:
    add = f"sed -i '$ a - The staging password is {SECRET}.'"
    output = _answer(world, "e", "y", "q", EDITOR=add)
    assert f"Error: {world.one} was not accepted: it contains a secret, which skilld never stores: " in output
    assert "Your text is kept. Type e to open it again." in output
    assert SECRET not in output
    assert world.states() == {world.one: "open", world.two: "open"}
    kept = [file for file in world.home.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]
    assert kept == []
    assert f"{world.one} accepted" in _answer(world, "e", "y", EDITOR="sed -i s/pull/merge/")


def test_a_reverted_proposal_keeps_the_reason(world: TaughtProject) -> None:
    world.program.run("accept", world.two)
    assert world.program.run("revert", world.two, "--why", f"too much; the password is {SECRET}").returncode == 0
    shown = world.program.run("show", world.two).stdout
    assert "too much" in shown
    assert SECRET not in shown


def test_a_dumb_terminal_gets_whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", screen)
    monkeypatch.setattr(sys, "stdout", screen)
    found = []
    for term in ("xterm-256color", "dumb"):
        monkeypatch.setenv("TERM", term)
        found.append(has_screen())
    monkeypatch.delenv("TERM")
    assert [*found, has_screen()] == [True, False, False]


def test_end_of_input_ends_the_review(world: TaughtProject) -> None:
    assert _answer(world).count("a accept, r reject") == 1
    assert world.states() == {world.one: "open", world.two: "open"}


MANY = 500
PROPOSAL = make_proposal(path="/nowhere/SKILL.md")


class Counting(ReviewSession):
    """Counts what is read for the screen."""

    looks: list[str]

    def view(self, proposal: Proposal) -> ProposalView:
        self.looks.append(proposal.id)
        return super().view(proposal)


def test_only_the_proposals_looked_at_are_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = places()
    private_dir(where.state)
    store = Store.open(where.database)
    with store.transaction():
        for number in range(MANY):
            store.proposals.add(replace(PROPOSAL, id=f"{number:08x}", skill=f"skill-{number}"))
    store.close()
    counting = Counting(review_session(home)._context)
    counting.looks = []

    async def story(screen: Screen) -> None:
        assert len(screen.open) == MANY
        await screen.read()
        with monkeypatch.context() as meanwhile:  # however slowly the keys come
            meanwhile.setattr(proposals_pane, "_SETTLE_SECONDS", NEVER)
            await screen.press(*["pagedown"] * 40)
        await screen.press("end")
        await screen.shows("skill-0 ")
        await screen.read()
        assert len(counting.looks) < 40, "rows that were passed over were read"
        await screen.press("r", "enter")
        await screen.until("it to be gone", lambda: len(screen.open) == MANY - 1)
        await screen.shows("skill-1 ")

    review(counting, story)
    assert counting.looks[0] == f"{MANY - 1:08x}"


def test_paths_below_home_are_shown_with_a_tilde(home: Path, program: Program) -> None:
    project = Project(home / "work", home, ".claude/skills")
    Lessons(home, project, program).teach(TICKETS)
    output = program.run_dialog(["review", "--plain"], "a", "q")
    assert re.search(r"Commit \w+ on \S+ in ~/work\. ", output)
    assert str(home) not in output


def test_a_decided_proposal_among_the_named_is_left_out_and_reported(world: TaughtProject) -> None:
    assert world.program.run("accept", world.two).returncode == 0
    result = world.program.run("review", "--plain", world.two, world.one, typed="q\n")
    assert result.returncode == 0
    told = f"skilld: {world.two} is accepted, so it is left out. To see it: skilld show {world.two}\n"
    assert result.stderr == told
    assert f"{world.one}, skill release-notes" in result.stdout
    assert f"{world.two}, skill release-notes" not in result.stdout
    assert world.program.run("reject", world.one).returncode == 0
    none = world.program.run("review", "--plain", world.two, world.one)
    assert none.returncode == 1
    assert none.stderr == (
        f"skilld: Nothing to review: {world.two} is accepted, {world.one} is rejected\n  skilld show {world.two}\n"
    )
