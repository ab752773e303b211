"""A proposed new skill through the commands: listed, shown, accepted, explained, reverted."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from skilld.paths import places, private_dir
from skilld.proposals.staging import stage
from skilld.proposals.staging_result import StagingResult
from skilld.store import Store
from skilld.types import Proposal, State
from support.live_project import Project
from support.new_skills import NEW_SKILL, NEW_TEXT, new_proposal
from support.program import Program
from support.repos import Person
from support.session import Session

pytestmark = pytest.mark.usefixtures("scrubbed")


def _stage(root: Path, name: str = "n1") -> Proposal:
    """Stage a new skill beside what is open, and keep it as the daemon does."""
    private_dir(places().state)
    with closing(Store.open(places().database)) as store:
        staged = StagingResult()
        assert stage(new_proposal(Person(root), name), store.proposals.in_states([State.OPEN]), staged)
        (made,) = staged.made
        store.proposals.add(made)
    return made


def test_a_new_skill_is_handled_by_every_command(project: Project, program: Program) -> None:
    root = project.root
    proposal = _stage(root)
    listed = {item["id"]: item for item in program.json("proposals")}
    assert listed["n1"]["summary"] == "new skill: say n1"
    assert "new skill: say n1" in program.run("proposals").stdout
    output = program.run("show", "n1").stdout
    assert "+++ b/.claude/skills/deploy/SKILL.md" in output
    assert "+- Ask before a deploy." in output
    assert f"git cherry-pick {proposal.commit[:10]}" in output

    (root / NEW_SKILL).parent.mkdir(parents=True)
    (root / NEW_SKILL).write_text("mine\n")
    result = program.run("accept", "n1")
    assert (result.returncode, (root / NEW_SKILL).read_text()) == (5, "mine\n")
    assert "exists, but git does not track it" in result.stderr
    assert program.run("accept", "--worktree", "n1").returncode == 5
    (root / NEW_SKILL).unlink()
    (root / NEW_SKILL).parent.rmdir()

    done = program.run("accept", "n1")
    assert done.returncode == 0, done.stderr
    assert (root / NEW_SKILL).read_text() == NEW_TEXT
    assert program.json("proposals") == []
    (why,) = program.json("why", f"{root / NEW_SKILL}:8")["proposals"]
    assert (why["id"], why["evidence"][0]["quote"]) == ("n1", "always b")
    assert program.run("revert", "n1").returncode == 0
    assert not (root / NEW_SKILL).parent.exists()
    (item,) = program.json("proposals", "--state", "all")
    assert item["state"] == "reverted"


def test_it_is_recovered_after_the_database_was_lost(home: Path, project: Project, program: Program) -> None:
    """No skill was ever used there: the folder of a session leads to the repository."""
    Session(home, project).type("Good morning", "ok", "thanks")
    assert program.run("run", "--once", "--backfill", "1").returncode == 0
    made = _stage(project.root)
    database = places().database
    for path in database.parent.glob(f"{database.name}*"):
        path.unlink()
    database.write_bytes(b"no database " * 1000)
    database.chmod(0o600)
    assert program.run("run", "--once", "--backfill", "1").returncode == 0
    (proposal,) = program.json("proposals")
    same = ("id", "path", "relpath", "repo", "commit", "summary", "skill")
    assert {name: proposal[name] for name in same} == {name: getattr(made, name) for name in same}
    assert program.run("accept", "n1").returncode == 0
    assert (project.root / NEW_SKILL).read_text() == NEW_TEXT
