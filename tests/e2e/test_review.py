"""The review on a screen, over real proposals in a real repository: every decision, and what git has afterwards."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from contextlib import nullcontext

import pytest
from textual.widgets import TextArea

from support.reviewing import Screen, review, sitting
from support.taught import FIRST, ONE, SECOND, Taught
from support.terminal import Terminal
from support.waiting import wait_for


def _decisions(world: Taught) -> list[tuple[str, str, str]]:
    (database,) = world.home.rglob("skilld.db")
    with sqlite3.connect(database) as db:
        found = db.execute("SELECT proposal_id, after, why FROM decisions ORDER BY id").fetchall()
    db.close()
    return found


def test_it_shows_what_is_open_with_its_change_and_the_words_in_their_context(world: Taught) -> None:
    async def story(screen: Screen) -> None:
        await screen.read()
        assert screen.open == [world.one, world.two]
        await screen.shows("release-notes", f"+ {ONE}", "you:   Remember to link every entry to its pull request.")
        assert "agent: Done (33)." in screen.text
        assert str(world.project.skill_path)[:40] in screen.text
        assert all(len(line) <= 80 for line in screen.text.splitlines())
        await screen.press("down")
        await screen.read()
        await screen.shows(f"+ {FIRST}", f"+ {SECOND}")
        await screen.click("#list", (5, 1))
        await screen.shows(f"+ {ONE}")

    review(sitting(world.home), story)


def test_what_stood_around_a_quote_is_redacted_and_gone_with_its_transcript(world: Taught) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    at = sitting(world.home)
    proposal = next(item for item in at.proposals() if item.id == world.one)
    transcripts = [path for path in world.home.rglob("*.jsonl") if "link every entry" in path.read_text()]
    for path in transcripts:
        path.write_text(path.read_text().replace("Done (49)", f"Done with {token}"))
    ((before, quoted, after),) = at.look(proposal).said
    assert (before.by_person, quoted.quote) == (False, proposal.evidence[0].quote)
    assert after.before.startswith("Done with [REDACTED:")
    (database,) = world.home.rglob("skilld.db")
    assert b"REDACTED" not in database.read_bytes()
    for path in transcripts:
        path.unlink()
    look = at.look(proposal)
    assert look.said == ((),)
    assert any("The transcript cannot be read" in remark for remark in look.remarks)


def test_accept_and_undo_it(world: Taught) -> None:
    before = world.skill

    async def story(screen: Screen) -> None:
        await screen.press("a")
        await screen.until("it to be accepted", lambda: screen.open == [world.two])
        assert ONE in world.skill
        assert world.project.git("log", "-1", "--format=%an, %cn") == "skilld, Ada Tester"
        await screen.press("u")
        await screen.until("it to be reverted", lambda: world.skill == before)

    review(sitting(world.home), story)
    assert world.project.git("log", "-1", "--format=%s").startswith('Revert "')
    assert world.states() == {world.one: "reverted", world.two: "open"}


def test_reject_with_a_reason_and_undo_it(world: Taught) -> None:
    async def story(screen: Screen) -> None:
        await screen.press("r", *"not here", "enter")
        await screen.until("it to be rejected", lambda: screen.open == [world.two])
        assert ONE not in world.project.git("show", "skilld/staging:" + _relpath(world))
        await screen.press("u")
        await screen.until("it to be open again", lambda: screen.open == [world.one, world.two])

    review(sitting(world.home), story)
    assert _decisions(world) == [(world.one, "rejected", "not here"), (world.one, "open", "undone")]
    assert world.states() == {world.one: "open", world.two: "open"}
    assert ONE in world.project.git("show", "skilld/staging:" + _relpath(world))
    assert world.program.run("accept", world.one).returncode == 0
    assert ONE in world.skill


def test_escape_takes_a_question_back(world: Taught) -> None:
    async def story(screen: Screen) -> None:
        await screen.read()
        for key in ("r", "e"):
            await screen.press(key, "x", "escape")
        await screen.press("a")
        await screen.until("the other to be left", lambda: screen.open == [world.two])

    review(sitting(world.home), story)
    assert _decisions(world) == [(world.one, "accepted", "")]


def test_edit_then_accept_brings_in_the_persons_words_and_no_others(world: Taught) -> None:
    mine = "- Put a link to the merge request at the end of every entry."

    async def story(screen: Screen) -> None:
        await screen.read()
        await screen.press("e")
        await screen.until("the text", lambda: screen.app.screen.query(TextArea))
        area = screen.app.screen.query_one(TextArea)
        assert area.document.get_line(area.cursor_location[0]) == ONE
        area.text = area.text.replace(ONE, mine)
        await screen.press("ctrl+s")
        await screen.until("it to be accepted", lambda: screen.open == [world.two])

    review(sitting(world.home), story)
    assert mine in world.skill
    assert ONE not in world.skill
    assert world.states() == {world.one: "accepted", world.two: "open"}
    shown = world.shown(world.one)
    assert (shown["note"], shown["summary"]) == ("edited by you", mine.removeprefix("- "))
    message = world.project.git("log", "-1", "--format=%B")
    assert f"Skilld-Proposal: {world.one}" in message
    assert world.program.run("revert", world.one).returncode == 0
    assert mine not in world.skill


def test_an_edit_that_is_refused_leaves_the_proposal_as_it_was(world: Taught) -> None:
    world.project.skill_path.write_text(world.skill + "\nMine.\n")
    staging = "skilld/staging:" + _relpath(world)
    before = world.project.git("show", staging)

    async def story(screen: Screen) -> None:
        await screen.read()
        await screen.press("e")
        await screen.until("the text", lambda: screen.app.screen.query(TextArea))
        area = screen.app.screen.query_one(TextArea)
        area.text = area.text.replace(ONE, "- Something else.")
        await screen.press("ctrl+s")
        await screen.shows("The proposal was not accepted", "uncommitted")
        assert screen.open == [world.one, world.two]

    review(sitting(world.home), story)
    assert sorted(world.project.git("show", staging).splitlines()) == sorted(before.splitlines())
    assert ONE in world.shown(world.one)["diff"]
    assert world.states() == {world.one: "open", world.two: "open"}


def test_one_part_of_two_is_accepted_and_the_other_stays_open(world: Taught) -> None:
    async def story(screen: Screen) -> None:
        await screen.press("p")
        await screen.press("down")
        await screen.read()
        await screen.press("p")
        await screen.shows("[ ]", "Accept which parts?")
        await screen.press("down", "space")
        await screen.shows(f"[x] + {SECOND}")
        await screen.press("enter")
        await screen.until("the rest to be open", lambda: world.two not in screen.open and len(screen.open) == 2)

    review(sitting(world.home), story)
    assert SECOND in world.skill
    assert FIRST not in world.skill
    states = world.states()
    assert (states.pop(world.one), states.pop(world.two)) == ("open", "accepted")
    ((rest, state),) = states.items()
    assert state == "open"
    shown = world.shown(rest)
    assert shown["summary"] == FIRST.removeprefix("- ")
    assert f"+{FIRST}" in shown["diff"]
    assert SECOND not in "".join(line for line in shown["diff"].splitlines() if line.startswith("+"))
    assert world.program.run("accept", rest, world.one).returncode == 0
    assert all(line in world.skill for line in (FIRST, SECOND, ONE))
    assert set(world.states().values()) == {"accepted"}


def test_ones_own_editor_and_the_text_is_shown_before_it_is_accepted(
    world: Taught, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", "sed -i s/link/LINK/I")
    if sys.platform == "darwin":
        pytest.skip("this sed takes no -i without a suffix")

    async def story(screen: Screen) -> None:
        await screen.read()
        monkeypatch.setattr(screen.app, "suspend", nullcontext)
        await screen.press("o")
        await screen.until("the text", lambda: screen.app.screen.query(TextArea))
        assert "- LINK every entry" in screen.app.screen.query_one(TextArea).text
        await screen.press("ctrl+s")
        await screen.until("it to be accepted", lambda: screen.open == [world.two])

    review(sitting(world.home), story)
    assert "- LINK every entry to its pull request." in world.skill


def test_what_plain_git_did_is_taken_in(world: Taught) -> None:
    world.project.git("cherry-pick", world.shown(world.two)["commit"])

    async def story(screen: Screen) -> None:
        await screen.until("it to be gone", lambda: screen.open == [world.one])

    review(sitting(world.home), story)


def test_skills_are_found_copied_and_moved_to_the_trash_only_when_confirmed(world: Taught) -> None:
    mine = world.home / ".claude/skills/my-own/SKILL.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("---\nname: my-own\ndescription: Mine.\n---\n\n- Say it.\n")

    async def story(screen: Screen) -> None:
        await screen.press("2")
        await screen.shows("evolving", "user", "my-own", "d Delete", "q Quit")
        line = next(line for line in screen.text.splitlines() if "release-notes" in line)
        assert line.split()[:6] == ["release-notes", "evolving", "2", "2", "(1.0)", "0%"]
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

    review(sitting(world.home), story)
    (kept,) = (world.home / ".local/share/Trash/files").glob("my-own-*/SKILL.md")
    assert "Say it." in kept.read_text()


def test_sessions_show_how_many_turns_they_have(world: Taught) -> None:
    async def story(screen: Screen) -> None:
        await screen.press("3")
        await screen.shows("claude-code", "0/5")
        rows = [line.split()[:4] for line in screen.text.splitlines() if "claude-code" in line]
        assert rows == [["claude-code", "project", "5", "0/5"]] * 2

    review(sitting(world.home), story)


def _relpath(world: Taught) -> str:
    return world.project.skill_path.relative_to(world.project.root).as_posix()


def test_an_agent_is_not_let_in(world: Taught) -> None:
    world.program.environment["CLAUDECODE"] = "1"
    done = world.program.run("review", "--plain")
    assert done.returncode == 5
    assert "Only you can decide" in done.stderr


@pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux on this machine")
def test_in_a_real_terminal_of_80_by_24(world: Taught) -> None:
    environment = world.program.environment | {"TERM": "xterm-256color"}
    command = [sys.executable, "-m", "skilld", "review"]
    with Terminal(command, cwd=world.home, environment=environment, size=(80, 24)) as terminal:
        screen = terminal.wait_until_still("the review", lambda text: f"+ {ONE}" in text and "q Quit" in text)
        lines = screen.rstrip("\n").split("\n")
        assert len(lines) == 24
        assert max(map(len, lines)) <= 80
        assert "1 Proposals  2 Skills  3 Sessions" in lines[0]
        assert "a Accept" in lines[-1]
        assert "q Quit" in lines[-1]
        terminal.press("a")
        wait_for("it to be accepted", lambda: ONE in world.skill, context=terminal.screen)
        terminal.wait("the next", lambda text: f"+ {FIRST}" in text)
        terminal.press("q")
        wait_for("the end", terminal.ended)
    assert world.states() == {world.one: "accepted", world.two: "open"}
