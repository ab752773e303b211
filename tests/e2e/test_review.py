"""The review on a screen, with real proposals in a real repository: every decision and its result in git."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import sys
import time
from contextlib import nullcontext
from dataclasses import replace

import pytest
from textual.app import App, ComposeResult
from textual.content import Content
from textual.widgets import TextArea

from skilld.errors import SkilldError
from skilld.proposals.explain import read_versions
from skilld.review import proposals_pane
from skilld.review.app import ReviewApp
from skilld.review.dialogs import KeysApp, Rows
from skilld.review.proposals_pane import ProposalsPane
from skilld.types import Proposal
from support.review_pilot import Screen, review, review_session
from support.taught_project import FIRST, SECOND, THIRD, TaughtProject
from support.terminal import Terminal
from support.waiting import wait_for

OF_FILE = "Accept all proposals for this file"


def _decisions(world: TaughtProject) -> list[tuple[str, str, str]]:
    (database,) = world.home.rglob("skilld.db")
    with sqlite3.connect(database) as db:
        found = db.execute("SELECT proposal_id, after, why FROM decisions ORDER BY id").fetchall()
    db.close()
    return found


def test_it_shows_open_proposals_with_their_change_and_quotes_in_context(world: TaughtProject) -> None:
    async def story(screen: Screen) -> None:
        await screen.read()
        assert screen.open == [world.one, world.two]
        await screen.shows("release-notes", f"+ {THIRD}", "you:   Remember to link every entry to its pull request.")
        assert FIRST not in screen.text  # a line of the other one
        assert "agent: Done (33)." in screen.text
        assert str(world.project.skill_path)[:40] in screen.text
        assert all(len(line) <= 80 for line in screen.text.splitlines())
        await screen.press("down")
        await screen.read()
        await screen.shows(f"+ {FIRST}", f"+ {SECOND}")
        await screen.click("#list", (5, 1))
        await screen.shows(f"+ {THIRD}")

    review(review_session(world.home), story)


def test_the_ages_in_the_list_move(world: TaughtProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposals_pane, "_AGE_SECONDS", 0.05)
    began = time.time()

    async def story(screen: Screen) -> None:
        await screen.read()
        assert " 3h " not in screen.text
        monkeypatch.setattr(time, "time", lambda: began + 3.5 * 3600)
        await screen.until("both ages to move", lambda: screen.text.count(" 3h ") == len(screen.open))

    review(review_session(world.home), story)


def test_new_proposals_appear_and_the_cursor_stays(world: TaughtProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposals_pane, "_REFRESH_SECONDS", 0.05)
    other = review_session(world.home)

    async def story(screen: Screen) -> None:
        await screen.press("down")
        await screen.read()
        await screen.press("space")
        other.reject(world.one, "")
        await screen.until("one to be gone", lambda: screen.open == [world.two])
        other.undo()
        await screen.until("it to be back, on top", lambda: screen.open == [world.one, world.two])
        assert screen.pane.chosen
        assert screen.pane.chosen.id == world.two
        await screen.read()
        assert screen.app.query_one("#detail").scroll_y > 0
        await screen.press("a")
        await screen.until("that to be accepted", lambda: screen.open == [world.one])

    review(review_session(world.home), story, size=(80, 14))
    assert world.states() == {world.one: "open", world.two: "accepted"}


def test_after_parts_were_accepted_the_cursor_is_on_the_rest(world: TaughtProject) -> None:

    async def story(screen: Screen) -> None:
        await screen.press("down")
        await screen.read()
        assert screen.pane.chosen
        assert screen.pane.chosen.id == world.two
        await screen.press("p", "space", "enter")
        await screen.until("a part to be accepted", lambda: world.two not in screen.open and len(screen.open) == 2)
        await screen.until("the list to follow", lambda: getattr(screen.pane.chosen, "id", world.two) != world.two)
        assert screen.pane.chosen.id != world.one
        assert screen.text.count(f" {world.project.root.name[:9]} ") == 3, "the project of each, below a heading"

    review(review_session(world.home), story)


def test_a_proposal_changed_since_it_was_shown_is_not_decided(world: TaughtProject) -> None:
    at = review_session(world.home)
    seen = next(proposal for proposal in at.proposals() if proposal.id == world.two)
    with pytest.raises(SkilldError, match="has changed since it was shown"):
        at.accept(world.two, replace(seen, summary="Something else."))
    with pytest.raises(SkilldError, match="has changed since it was shown"):
        at.accept_elsewhere(world.two, str(world.home / "CLAUDE.md"), replace(seen, summary="Something else."))
    assert world.states()[world.two] == "open"


def test_a_decision_of_another_review_is_found_and_undone_after_a_question(world: TaughtProject) -> None:
    review_session(world.home).reject(world.one, "not here")
    assert review_session(world.home).undo().lines == ("Nothing was undone.",)

    async def story(screen: Screen) -> None:
        await screen.press("slash", *world.one, "enter")
        await screen.read()
        await screen.shows("[rejected]", f"to undo it: skilld restore {world.one}")
        await screen.press("u")
        await screen.shows(f"{world.one} was rejected just now")
        await screen.press("y", "escape")
        await screen.until("it to be open again", lambda: screen.open == [world.one, world.two])

    review(review_session(world.home), story, size=(100, 40))
    assert world.states() == {world.one: "open", world.two: "open"}


def test_the_context_of_a_quote_is_redacted_and_gone_with_its_transcript(world: TaughtProject) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    at = review_session(world.home)
    proposal = next(item for item in at.proposals() if item.id == world.one)
    transcripts = [path for path in world.home.rglob("*.jsonl") if "link every entry" in path.read_text()]
    for path in transcripts:
        path.write_text(path.read_text().replace("Done (49)", f"Done with {token}"))
    ((before, quoted, after),) = at.view(proposal).excerpts
    assert (before.by_person, quoted.quote) == (False, proposal.evidence[0].quote)
    assert after.before.startswith("Done with [REDACTED:")
    (database,) = world.home.rglob("skilld.db")
    assert b"REDACTED" not in database.read_bytes()
    for path in transcripts:
        path.unlink()
    view = at.view(proposal)
    assert view.excerpts == ((),)
    assert any("Cannot read the transcript" in note for note in view.notes)


def test_accepting_and_undoing_works(world: TaughtProject) -> None:
    before = world.skill

    async def story(screen: Screen) -> None:
        await screen.read()
        await screen.press("a")
        await screen.until("it to be accepted", lambda: screen.open == [world.two])
        assert not screen.app.query("Toast"), "nothing covers the next proposal"
        assert THIRD in world.skill
        assert world.project.git("log", "-1", "--format=%an, %cn") == "skilld, Ada Tester"
        await screen.press("u")
        await screen.until("it to be open again", lambda: screen.open == [world.one, world.two])
        chosen = screen.app.query_one(ProposalsPane).chosen
        assert chosen is not None
        assert chosen.id == world.one, "the next key is for what was reopened"

    head = world.project.git("rev-parse", "HEAD")
    review(review_session(world.home), story)
    assert (world.project.git("rev-parse", "HEAD"), world.skill) == (head, before)
    assert _decisions(world) == [(world.one, "accepted", ""), (world.one, "open", "undone")]
    assert world.states() == {world.one: "open", world.two: "open"}
    assert THIRD in world.project.git("show", "skilld/staging:" + _relpath(world))


def test_undo_reverts_a_shared_commit_and_says_why(world: TaughtProject) -> None:
    before, at = world.skill, review_session(world.home)
    at.accept(world.one)
    world.project.git("branch", "feature")
    told = at.undo()
    assert told.lines == (
        f"{world.one} is open again: Link every entry to its pull request.",
        "Its commit was reverted, not removed, because feature contains it too.",
    )
    assert world.skill == before
    assert world.project.git("log", "-1", "--format=%s").startswith('Revert "')
    assert world.states() == {world.one: "open", world.two: "open"}, "a look at git leaves it open"
    at.accept(world.one)
    assert THIRD in world.skill
    assert world.states()[world.one] == "accepted"
    world.project.git("revert", "--no-edit", "HEAD")
    assert world.states()[world.one] == "reverted", "what came after the undo counts"


@pytest.mark.parametrize("state", ["edited", "parts"])
def test_an_edited_or_partial_acceptance_can_be_undone(world: TaughtProject, state: str) -> None:
    before, at = world.skill, review_session(world.home)
    proposal = next(proposal for proposal in at.proposals() if proposal.id == world.two)
    text = at.view(proposal).text.replace(FIRST, "- My own words.")
    told = at.accept_edited(world.two, text) if state == "edited" else at.accept_parts(world.two, [0])
    assert told.lines[0].startswith(f"{world.two} accepted")
    assert world.skill != before
    open_now = {proposal.id for proposal in at.proposals([world.two])}
    assert (len(open_now), world.one in open_now) == (1 if state == "parts" else 0, False), "what came out of it"
    at.undo()
    assert world.skill == before
    assert world.states()[world.two] == "open"
    assert {proposal.id for proposal in at.proposals([world.two])} == {world.two, *open_now}
    summary = FIRST.removeprefix("- ") if state == "parts" else "My own words. " + SECOND.removeprefix("- ")
    assert at.outcomes == {world.two: (f"{world.two} is open again: {summary}",)}, "what was undone is offered no more"


def test_undoing_a_partial_acceptance_leaves_both_parts_unchanged(world: TaughtProject) -> None:
    """What was split off is of the same batch, and was taken for the part that comes back."""
    at = review_session(world.home)
    at.accept_parts(world.two, [1])
    at.undo()
    world.program.run("run", "--once")  # a look at git
    found = {item["id"]: (item["state"], item["summary"]) for item in world.program.json("proposals", "--state", "all")}
    assert found.pop(world.two) == ("open", SECOND.removeprefix("- "))
    found.pop(world.one)
    assert list(found.values()) == [("open", FIRST.removeprefix("- "))]
    staged = world.project.git("show", "skilld/staging:" + _relpath(world))
    assert all(line in staged for line in (THIRD, FIRST, SECOND))


def _whole_text(proposal: Proposal) -> str:
    """Return a file as a proposal's commit has it, with the lines of older open proposals."""
    found = read_versions(proposal)
    assert found is not None
    return found[1].decode()


def test_an_edit_below_an_open_proposals_line_is_accepted_verbatim(world: TaughtProject) -> None:
    """Its anchor is not in HEAD, so it is placed anew: by its own text, not by that of the commit it replaces."""
    at = review_session(world.home)
    proposal = next(proposal for proposal in at.proposals() if proposal.id == world.one)
    assert FIRST not in at.view(proposal).text, "a line of the other proposal, which is older"
    lines = [line for line in _whole_text(proposal).splitlines() if line != THIRD]
    below = lines.index(FIRST) + 1
    report = at.accept_edited(world.one, "\n".join([*lines[:below], "- My own words.", *lines[below:]]) + "\n")
    assert report.lines[0].startswith(f"{world.one} accepted")
    assert "- My own words.\n" in world.skill
    assert not {THIRD, FIRST, SECOND} & set(world.skill.splitlines())


def test_an_edit_is_accepted_verbatim_even_if_its_neighbours_are_gone(world: TaughtProject) -> None:
    """They were of another proposal, which was rejected while the editor was open."""
    at = review_session(world.home)
    opened = _whole_text(next(proposal for proposal in at.proposals() if proposal.id == world.one))
    assert FIRST in opened
    at.reject(world.two, "")
    at.accept_edited(world.one, opened.replace(THIRD, "- My own words."), opened)
    assert "- My own words.\n" in world.skill
    assert not {THIRD, FIRST, SECOND} & set(world.skill.splitlines())


def test_accepting_all_stops_at_a_refusal_and_says_why(world: TaughtProject) -> None:
    world.project.skill_path.write_text(world.skill + "\nMine.\n")

    async def story(screen: Screen) -> None:
        await screen.press("A", "y")
        await screen.shows(f"{world.two} was not accepted")
        assert screen.open == [world.one, world.two]

    review(review_session(world.home), story, size=(120, 40))


def test_a_refused_edit_stays_in_the_editor_and_is_accepted_verbatim(world: TaughtProject) -> None:
    before, mine = world.skill, "- Put a link to the merge request at the end of every entry."
    world.project.skill_path.write_text(before + "\nMine.\n")
    staging = "skilld/staging:" + _relpath(world)
    staged = world.project.git("show", staging)

    async def story(screen: Screen) -> None:
        await screen.read()
        await screen.press("e")
        await screen.until("the text", lambda: screen.app.screen.query(TextArea))
        area = screen.app.screen.query_one(TextArea)
        assert area.document.get_line(area.cursor_location[0]) == THIRD
        area.text = area.text.replace(THIRD, mine)
        await screen.press("ctrl+s")
        await screen.shows("The proposal was not accepted", "uncommitted", mine[:20])
        assert sorted(world.project.git("show", staging).splitlines()) == sorted(staged.splitlines())
        assert THIRD in world.show(world.one)["diff"]
        assert world.states() == {world.one: "open", world.two: "open"}
        await screen.press("escape")
        await screen.shows("Your text is kept. Press e to open it again.")
        world.project.skill_path.write_text(before)
        await screen.read()
        await screen.press("e")
        await screen.shows(mine[:20])
        await screen.press("ctrl+s")
        await screen.until("it to be accepted", lambda: screen.open == [world.two])

    review(review_session(world.home), story)
    assert mine in world.skill
    assert THIRD not in world.skill
    assert world.states() == {world.one: "accepted", world.two: "open"}
    shown = world.show(world.one)
    assert (shown["note"], shown["summary"]) == ("edited by you", mine.removeprefix("- "))
    assert f"Skilld-Proposal: {world.one}" in world.project.git("log", "-1", "--format=%B")
    assert world.program.run("revert", world.one).returncode == 0
    assert mine not in world.skill


def test_decisions_made_with_plain_git_are_noticed(world: TaughtProject) -> None:
    world.project.git("cherry-pick", world.show(world.two)["commit"])

    async def story(screen: Screen) -> None:
        await screen.until("it to be gone", lambda: screen.open == [world.one])

    review(review_session(world.home), story)


def test_skills_are_listed_copied_and_moved_to_the_trash_only_after_confirmation(world: TaughtProject) -> None:
    mine = world.home / ".claude/skills/my-own/SKILL.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("---\nname: my-own\ndescription: Mine.\n---\n\n- Say it.\n")

    async def story(screen: Screen) -> None:
        await screen.press("2")
        await screen.shows("evolving", "user", "my-own", "d Delete", "q Quit")
        line = next(line for line in screen.text.splitlines() if "release-notes" in line)
        assert line.split()[:5] == ["release-notes", "evolving", "2", "2", "0%"]
        await screen.press("slash", *"own", "enter")
        await screen.until("one row", lambda: "release-notes" not in screen.text)
        await screen.press("c")
        await screen.until("the command", lambda: screen.app.clipboard == "/my-own")
        await screen.press("y")
        await screen.until("the path", lambda: screen.app.clipboard == str(mine))
        await screen.press("x")
        await screen.shows("no longer offered", "disabled")
        await screen.press("x")
        await screen.until("it to be offered", lambda: "disabled" not in screen.text)
        await screen.press("d", *"my", "enter")
        assert mine.exists()
        await screen.press("d", *"my-own", "enter")
        await screen.until("it to be gone", lambda: not mine.exists())

    review(review_session(world.home), story)
    (kept,) = (world.home / ".local/share/Trash/files").glob("my-own-*/SKILL.md")
    assert "Say it." in kept.read_text()


def test_sessions_show_their_number_of_turns(world: TaughtProject) -> None:
    async def story(screen: Screen) -> None:
        await screen.press("3")
        await screen.shows("claude-code", "judged")
        rows = [line.split()[:4] for line in screen.text.splitlines() if "claude-code" in line]
        assert rows == [["claude-code", "project", "5", "judged"]] * 2
        folder = str(world.project.root)[-20:]  # for which a row has no room
        await screen.until("the folder of the session", lambda: folder in screen.text.replace("\n", ""))

    review(review_session(world.home), story)


def _relpath(world: TaughtProject) -> str:
    return world.project.skill_path.relative_to(world.project.root).as_posix()


def test_an_agent_may_not_open_the_review(world: TaughtProject) -> None:
    world.program.environment["CLAUDECODE"] = "1"
    result = world.program.run("review", "--plain")
    assert result.returncode == 5
    assert "Only you can decide" in result.stderr


@pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux on this machine")
def test_it_runs_in_a_real_terminal(world: TaughtProject) -> None:
    """Issue 18, 5: three sizes, and keys as a terminal sends them; every key of the review is in `test_review_keys`."""
    environment = world.program.environment | {"TERM": "xterm-256color"}
    command = [sys.executable, "-m", "skilld", "review"]
    before = world.skill

    def fills_screen(text: str) -> bool:
        lines = text.rstrip("\n").split("\n")
        return (
            (len(lines), max(map(len, lines)) <= size[0]) == (size[1], True)
            and "1 Proposals  2 Skills  3 Sessions  4 Learnings  5 Report" in lines[0]
            and f"+ {THIRD}" in text
            and lines[-1].startswith("? Keys a Accept")
            and lines[-1].endswith("q Quit")
        )

    size = (80, 24)
    with Terminal(command, cwd=world.home, environment=environment, size=size) as terminal:
        for size in ((80, 24), (60, 20), (200, 50)):
            terminal.resize(*size)
            terminal.wait_until_still(f"the review in {size}", fills_screen)
        terminal.press("?")
        terminal.wait("every key", lambda text: OF_FILE in text)
        terminal.press("Escape")
        terminal.wait("them to be gone", lambda text: OF_FILE not in text)
        terminal.press("2")
        terminal.wait("the skills", lambda text: "evolving" in text)
        terminal.press("1")
        terminal.wait("the proposals", lambda text: f"+ {THIRD}" in text and OF_FILE not in text)
        terminal.press("a")
        wait_for("it to be accepted", lambda: THIRD in world.skill, context=terminal.screen)
        terminal.wait("the next", lambda text: f"+ {FIRST[:20]}" in text)  # the rest may be below a notice
        terminal.press("u")
        wait_for("it to be undone", lambda: world.skill == before, context=terminal.screen)
        terminal.wait("it to be open again", lambda text: "is open again" in text)
        terminal.press("q")
        wait_for("the end", terminal.ended)
    assert world.states() == {world.one: "open", world.two: "open"}


def test_rejecting_an_accepted_proposal_suggests_revert(world: TaughtProject) -> None:
    assert world.program.run("accept", world.one).returncode == 0
    result = world.program.run("reject", world.one)
    assert (result.returncode, world.states()[world.one]) == (1, "accepted")
    assert f"To undo it: skilld revert {world.one}" in result.stdout + result.stderr


def test_without_colours_the_text_is_readable_and_the_choice_marked(
    world: TaughtProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the terminal's own two colours, so on a dark screen and on a light one."""
    monkeypatch.setenv("NO_COLOR", "1")

    def marked(screen: Screen) -> str:
        segments = [one for strip in screen.app.screen._compositor.render_strips() for one in strip]
        styles = [one.style for one in segments if one.style is not None]
        colours = [colour for style in styles for colour in (style.color, style.bgcolor) if colour is not None]
        assert colours
        assert all(colour.is_default for colour in colours)
        assert not any(style.conceal for style in styles)
        return "".join(one.text for one in segments if one.style and (one.style.reverse or one.style.underline))

    async def story(screen: Screen) -> None:
        await screen.read()
        assert world.one in marked(screen)
        await screen.press("down")
        await screen.read()
        assert world.two in marked(screen)
        assert world.one not in marked(screen)
        await screen.press("p")
        await screen.shows("Accept which parts?")
        assert FIRST.removeprefix("- ") in marked(screen)
        for key in ("e", "r"):  # the cursor of a text, and of a line
            await screen.press("escape", key)
            await screen.settle()
            assert marked(screen)
        for key in ("question_mark", "2", "3", "4", "5"):
            await screen.press("escape", key)
            await screen.settle()
            marked(screen)

    review(review_session(world.home), story)


def test_an_editor_that_fails_is_told_from_one_that_changed_nothing(
    world: TaughtProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setattr(App, "suspend", lambda _: nullcontext())

    async def story(screen: Screen) -> None:
        await screen.read()
        monkeypatch.setenv("EDITOR", "false")
        await screen.press("o")
        await screen.shows("Your text is unchanged: the editor false ended with status 1", "export EDITOR=COMMAND")
        assert "You made no changes" not in screen.text
        monkeypatch.setenv("EDITOR", "true")
        await screen.press("o")
        await screen.shows("You made no changes.")

    review(review_session(world.home), story)
    output = world.program.run_dialog(["review"], "e", "q", EDITOR="no-such-editor")
    assert "the editor no-such-editor cannot be started: No such file or directory" in output
    assert "You made no changes" not in output


class _List(KeysApp[None]):
    CSS = "Rows { height: 1fr; }"

    def compose(self) -> ComposeResult:
        yield Rows("list")

    def on_mount(self) -> None:
        rows = self.query_one(Rows)
        rows.set_columns([("number", 5), ("what", 5)])
        for number in range(40):
            rows.add([Content(str(number)), Content("x")], str(number))
        rows.move_cursor(row=30)


def test_the_chosen_row_stays_in_view_when_the_window_shrinks() -> None:
    async def run() -> None:
        app = _List()
        async with app.run_test(size=(80, 40)) as pilot:
            await pilot.resize_terminal(50, 15)
            await pilot.pause()
            rows = app.query_one(Rows)
            assert rows.scroll_y <= rows.cursor_row == 30 < rows.scroll_y + rows.size.height - 1

    asyncio.run(run())


def test_a_message_shortens_the_home_folder(world: TaughtProject) -> None:
    async def story(screen: Screen) -> None:
        assert isinstance(screen.app, ReviewApp)
        screen.app.show_message(f"Commit 1234 in {world.home}/src/api")
        await screen.shows("Commit 1234 in ~/src/api")

    review(review_session(world.home), story)
