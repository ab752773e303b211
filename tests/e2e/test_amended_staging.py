"""What a person writes on the staging branch is what each form of `accept` takes, and a renamed file is followed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from skilld.git.staging_branch import STAGING_BRANCH
from support.in_process_daemon import InProcessDaemon
from support.live_project import Project, project_without_skill
from support.program import Program
from support.session import Session

GUIDE = "# Guide\n\n- Be brief.\n"
SAID = "From now on, never round money with float.", "Always use Decimal.quantize for money."
MINE = "- Round money with Decimal.quantize, never with float."


@dataclass
class Amended:
    """The program and a project with one open proposal of two bullets."""

    program: Program
    project: Project
    id: str

    def amend(self, *lines: str) -> None:
        """Put lines in place of all that the proposal adds, by `git commit --amend` on the staging branch."""
        git = self.project.git
        git("switch", "--quiet", STAGING_BRANCH)
        (self.project.root / "CLAUDE.md").write_text(GUIDE + "".join(f"{line}\n" for line in lines))
        git("commit", "--quiet", "--all", "--amend", "--no-edit")
        git("switch", "--quiet", "main")

    def accept(self, *options: str) -> str:
        result = self.program.run("accept", self.id, *options)
        assert result.returncode == 0, result.stderr
        return result.stdout


@pytest.fixture
def world(daemon: InProcessDaemon, home: Path, tmp_path: Path) -> Amended:
    project = project_without_skill(tmp_path / "plain", home, {"CLAUDE.md": GUIDE})
    Session(home, project).type(*SAID, "thanks", "ok go on", "yes please", "looks good")
    (made,) = daemon.run()
    assert len(made.operations) == 2
    return Amended(Program(home), project, made.id)


def test_show_has_the_persons_text(world: Amended) -> None:
    world.amend(MINE)
    said = world.program.run("show", world.id).stdout
    assert said.count(MINE.lstrip("- ")) == 2, "the title and the change"
    assert "+- Always use" not in said


def test_another_file_gets_the_persons_text(world: Amended, home: Path) -> None:
    world.amend(MINE)
    world.accept("--to", str(home / ".claude/CLAUDE.md"))
    assert (home / ".claude/CLAUDE.md").read_text().endswith(f"{MINE}\n")
    assert "Never round" not in (home / ".claude/CLAUDE.md").read_text()


def test_a_proposal_is_accepted_into_the_renamed_file(world: Amended) -> None:
    world.project.git("mv", "CLAUDE.md", "AGENTS.md")
    world.project.git("commit", "--quiet", "-m", "rename")
    failed = world.program.run("accept", world.id, "--to", str(world.project.root / "AGENTS.md"))
    assert f"it is already for AGENTS.md skilld accept {world.id}" in " ".join(failed.stderr.split())
    world.accept()
    assert "Decimal.quantize" in (world.project.root / "AGENTS.md").read_text()
