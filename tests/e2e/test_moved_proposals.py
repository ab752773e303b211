"""A proposal that was accepted into another file, taken out there, and accepted into its own one after all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from skilld.types import State
from support.in_process_daemon import InProcessDaemon
from support.live_project import Project, project_without_skill
from support.program import Program
from support.session import Session

GUIDE = "# Guide\n\n- Be brief.\n"
PNPM, LINTER = "- Always use pnpm in this repository.", "- Always run the linter before a commit."


@dataclass
class Moved:
    """The program, the project with the right file and the wrong one, and the IDs before and after the move."""

    program: Program
    project: Project
    daemon: InProcessDaemon
    old: str
    new: str

    def text(self, name: str) -> str:
        return (self.project.root / name).read_text()

    def state(self, name: str) -> str:
        states = {one["id"]: one["state"] for one in self.program.json("proposals", "--state", "all")}
        return str(states[name])

    def does(self, *command: str) -> str:
        """Run a verb that must succeed."""
        result = self.program.run(*command)
        assert result.returncode == 0, result.stderr
        return result.stdout


def move(daemon: InProcessDaemon, home: Path, root: Path, *part: str) -> Moved:
    """Accept a proposal for CLAUDE.md, or a part of it, into another file by mistake."""
    project = project_without_skill(root, home, {"CLAUDE.md": GUIDE, "docs/wrong.md": "# Wrong\n\n- Nothing.\n"})
    said = ["From now on, always use pnpm in this repository."]
    said += ["Always run the linter before a commit."] if part else []
    Session(home, project).type(*said, "thanks", "ok go on", "yes please", "looks good")
    (whole,) = daemon.run()
    program = Program(home)
    result = program.run("accept", whole.id, *part, "--to", str(project.root / "docs/wrong.md"))
    assert result.returncode == 0, result.stderr
    (new,) = daemon.store.proposals.in_states([State.ACCEPTED])
    assert "pnpm" in (project.root / "docs/wrong.md").read_text()
    return Moved(program, project, daemon, whole.id, new.id)


@pytest.mark.parametrize(("part", "way"), [(("--part", "1"), "revert"), ((), "plain git"), (("--part", "1"), "reset")])
def test_it_is_accepted_into_its_own_file_after_a_revert(
    daemon: InProcessDaemon, home: Path, tmp_path: Path, part: tuple[str, ...], way: str
) -> None:
    world = move(daemon, home, tmp_path / "plain", *part)
    if way == "revert":
        said = world.does("revert", world.new)
        assert f"To accept it for CLAUDE.md instead: skilld accept {world.old}\n" in said
    elif way == "plain git":
        world.project.git("revert", "--no-edit", "HEAD")
    else:
        world.project.git("reset", "--quiet", "--hard", "HEAD~1")
    assert world.text("docs/wrong.md") == "# Wrong\n\n- Nothing.\n"
    assert world.state(world.old) == "superseded"
    assert f"to accept it for CLAUDE.md: skilld accept {world.old}" in world.does("show", world.old)
    failed = world.program.run("restore", world.old)
    assert f"To accept it for CLAUDE.md: skilld accept {world.old}" in failed.stderr
    world.does("accept", world.old)
    assert world.text("CLAUDE.md") == f"{GUIDE}{PNPM}\n"
    assert (world.state(world.old), world.state(world.new) in {"reverted", "dropped"}) == ("accepted", True)
    assert "moved to" not in world.does("show", world.old)
    if part:
        (rest,) = world.program.json("proposals")
        world.does("accept", rest["id"])
        assert sorted(world.text("CLAUDE.md").splitlines()[-2:]) == [LINTER, PNPM]
    world.does("revert", world.old)
    assert PNPM not in world.text("CLAUDE.md")
    assert world.state(world.old) == "reverted"


def test_while_it_is_in_the_other_file_it_is_not_accepted_twice(
    daemon: InProcessDaemon, home: Path, tmp_path: Path
) -> None:
    world = move(daemon, home, tmp_path / "plain")
    failed = world.program.run("accept", world.old)
    assert failed.returncode == 1
    assert f"To undo it: skilld revert {world.new}" in failed.stderr
    assert world.text("CLAUDE.md") == GUIDE


def test_naming_its_own_file_for_the_copy_says_what_to_accept(
    daemon: InProcessDaemon, home: Path, tmp_path: Path
) -> None:
    world = move(daemon, home, tmp_path / "plain")
    world.does("revert", world.new)
    failed = world.program.run("accept", world.new, "--to", str(world.project.root / "CLAUDE.md"))
    assert f"To accept it for CLAUDE.md: skilld accept {world.old}" in failed.stderr
    world.does("accept", world.new)
    assert "pnpm" in world.text("docs/wrong.md"), "the other file is still possible"
    failed = world.program.run("accept", world.old)
    assert f"To undo it: skilld revert {world.new}" in failed.stderr


def test_undo_in_the_review_opens_it_for_its_own_file(daemon: InProcessDaemon, home: Path, tmp_path: Path) -> None:
    world = move(daemon, home, tmp_path / "plain")
    world.program.run("review", "--plain", typed="u\ny\nq\n")
    assert world.text("docs/wrong.md") == "# Wrong\n\n- Nothing.\n"
    (proposal,) = world.program.json("proposals")
    assert (proposal["id"], proposal["relpath"]) == (world.old, "CLAUDE.md")
    assert world.state(world.new) == "reverted"
    assert PNPM in world.project.git("show", "skilld/staging:CLAUDE.md")


@pytest.mark.parametrize(
    ("before", "done"), [("", "Removed the new file"), ("# Mine\n\n- Be brief.\n", "Removed from")]
)
def test_revert_by_either_id_says_which_file_was_changed_back(
    daemon: InProcessDaemon, home: Path, tmp_path: Path, before: str, done: str
) -> None:
    project = project_without_skill(tmp_path / "plain", home, {"CLAUDE.md": GUIDE})
    program, own = Program(home), home / ".claude/CLAUDE.md"
    own.parent.mkdir(exist_ok=True)
    if before:
        own.write_text(before)
    Session(home, project).type("From now on, always use pnpm in this repository.", "thanks", "ok", "yes", "go on")
    (whole,) = daemon.run()
    told = program.run("accept", whole.id, "--to", str(own)).stdout
    (new,) = daemon.store.proposals.in_states([State.ACCEPTED])
    assert f"Written to ~/.claude/CLAUDE.md (commit {new.landed[:10]} in the repository that skilld keeps for" in told
    told = program.run("revert", whole.id).stdout
    assert told.startswith(f"{whole.id} was moved to ~/.claude/CLAUDE.md, as {new.id}.\n{new.id} reverted: ")
    assert f"\n{done} ~/.claude/CLAUDE.md (commit " in told
    assert f"To undo it: skilld accept {new.id}\nTo accept it for CLAUDE.md instead: skilld accept {whole.id}\n" in told
    assert (own.read_text() if own.exists() else "") == before
    assert program.run("revert", new.id).stdout.startswith(f"{new.id} was already reverted.")


@pytest.mark.parametrize("by_hand", [True, False])
def test_the_line_that_it_would_have_replaced_is_named_with_how_to_remove_it(
    daemon: InProcessDaemon, home: Path, tmp_path: Path, *, by_hand: bool
) -> None:
    project = project_without_skill(tmp_path / "plain", home, {"CLAUDE.md": GUIDE})
    program, own = Program(home), home / ".claude/CLAUDE.md"
    own.parent.mkdir(exist_ok=True)
    own.write_text("# Mine\n\n- Be brief.\n")
    way = "delete it if it no longer holds"
    if by_hand:
        project.commit("Use npm", {"CLAUDE.md": f"{GUIDE}- Always use npm.\n"})
    else:
        Session(home, project).type("From now on, always use npm.", "thanks", "ok", "yes", "go on")
        (old,) = daemon.run()
        assert program.run("accept", old.id).returncode == 0
        way = f"to remove it: skilld revert {old.id}"
    Session(home, project).type("From now on, always use pnpm, never npm.", "thanks", "ok", "yes", "go on")
    (one,) = daemon.run()
    assert [step.anchor for step in one.operations] == ["- Always use npm."]
    done = program.run("accept", one.id, "--to", str(own))
    assert (done.returncode, own.read_text()) == (0, "# Mine\n\n- Be brief.\n- Always use pnpm, never npm.\n")
    said = f"CLAUDE.md:4 still says \u201c- Always use npm.\u201d; {way}"
    assert done.stderr == f"skilld: {project.root}/{said}\n"
