"""Skills outside git: the same commands, and plain git through `skilld git`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skilld.demo import Transcript
from support.lessons import HOSTS, RULE_LINES, TICKETS
from support.live_project import SKILL_TEXT
from support.program import Program

RELATIVE = "release-notes/SKILL.md"


class Person:
    """Somebody whose skill is at `skill` and who talks to Claude Code in `folder`."""

    def __init__(self, program: Program, folder: Path, skill: Path) -> None:
        self.program = program
        self.folder = folder
        self.skill = skill
        self._count = 0
        folder.mkdir(parents=True, exist_ok=True)
        skill.parent.mkdir(parents=True, exist_ok=True)
        skill.write_text(SKILL_TEXT)

    def teach(self, text: str) -> list[dict[str, Any]]:
        """Say it in a session with the skill, have it judged, and return the open proposals."""
        self._count += 1
        sessions = self.program.home / ".claude/projects/-x"
        sessions.mkdir(parents=True, exist_ok=True)
        session = Transcript(sessions / f"session-{self._count}.jsonl", self.folder, self.skill.parents[1])
        session.add({"skill": "release-notes"})
        for said in ("Write the release notes for 2.4.0", text, "ok, looks good", "thanks", "go on"):
            session.add({"person": said})
            session.add({"agent": "Done."})
        result = self.program.run("run", "--once", "--backfill", "1")
        assert result.returncode == 0, result.stderr
        return list(self.program.json("proposals"))

    def states(self) -> list[str]:
        return [item["state"] for item in self.program.json("proposals", "--state", "all")]

    def git(self, *arguments: str) -> str:
        result = self.program.run("git", *arguments)
        assert result.returncode == 0, f"skilld git {arguments}: {result.stdout}{result.stderr}"
        return result.stdout.strip()


@pytest.fixture
def person(program: Program, home: Path, tmp_path: Path) -> Person:
    return Person(program, tmp_path / "work", home / ".claude/skills" / RELATIVE)


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_users_skill_is_proposed_accepted_and_reverted(person: Person, home: Path) -> None:
    before = files(home / ".claude/skills")
    (proposal,) = person.teach(TICKETS)
    assert files(home / ".claude/skills") == before
    assert Path(proposal["repo"]).parent == home / ".local/share/skilld/repos"
    assert (proposal["relpath"], proposal["branch"], proposal["rests_on"]) == (RELATIVE, "skilld/staging", "")
    output = person.program.run("show", proposal["id"]).stdout
    assert f"+{RULE_LINES[TICKETS]}" in output
    assert f"skilld git --root {home}/.claude/skills cherry-pick {proposal['commit'][:10]}" in output
    assert "git merge skilld/staging" not in person.program.run("proposals").stdout
    accepted = person.program.run("accept", proposal["id"]).stdout
    assert "in the repository that skilld keeps for ~/.claude/skills; to see it: skilld git" in accepted
    assert RULE_LINES[TICKETS] in person.skill.read_text()
    number = person.skill.read_text().splitlines().index(RULE_LINES[TICKETS]) + 1
    (why,) = person.program.json("why", f"{person.skill}:{number}")["proposals"]
    assert (why["id"], why["evidence"][0]["quote"]) == (proposal["id"], TICKETS)
    told = person.program.run("why", f"{person.skill}:{number}").stdout.splitlines()[1]
    assert told.endswith(" in the repository that skilld keeps for this folder")
    assert person.program.run("revert", proposal["id"]).returncode == 0
    assert files(home / ".claude/skills") == before
    assert person.states() == ["reverted"]
    person.teach(TICKETS)
    assert person.states() == ["reverted"]


def test_skilld_git_merges_reverts_and_shows(person: Person) -> None:
    (proposal,) = person.teach(TICKETS)
    assert person.git("log", "--topo-order", "--format=%an: %s", "--all") == (
        f"skilld: {person.git('log', '-1', '--format=%s', proposal['commit'])}\nAda Tester: Current state: {RELATIVE}"
    )
    assert "nothing to commit" in person.git("status")
    person.skill.write_text(person.skill.read_text().replace("Past tense", "Present tense"))
    person.git("merge", "--no-edit", "skilld/staging")
    assert RULE_LINES[TICKETS] in person.skill.read_text()
    assert "Present tense" in person.skill.read_text()
    assert person.git("log", "--format=%an", "--first-parent") == "Ada Tester\nAda Tester\nAda Tester"
    assert person.states() == ["accepted"]
    person.git("revert", "--no-edit", "-m", "1", "HEAD")
    assert RULE_LINES[TICKETS] not in person.skill.read_text()
    assert person.states() == ["reverted"]
    assert sorted(path.name for path in person.skill.parents[1].rglob("*")) == ["SKILL.md", "release-notes"]


def test_skilld_git_allows_only_its_listed_commands(person: Person, tmp_path: Path) -> None:
    result = person.program.run("git", "log")
    assert (result.returncode, "No repository yet" in result.stderr) == (1, True)
    person.teach(TICKETS)
    for arguments in (["clean", "-fdx"], ["push"], ["init"], ["-c", "core.pager=x", "log"], []):
        assert person.program.run("git", *arguments).returncode == 2
    assert "git --git-dir=" in person.program.run("git", "clean", "-fdx").stderr
    result = person.program.run("git", "--root", str(tmp_path), "log")
    assert (result.returncode, "~/.claude/skills" in result.stderr) == (2, True)
    assert person.program.run("git", "--root", str(person.skill.parents[1]), "log").returncode == 0
    assert person.program.run("git", "diff", "--exit-code", "main", "skilld/staging").returncode == 1


def test_an_agent_may_read_but_not_decide(person: Person) -> None:
    person.teach(TICKETS)
    agent = Program(person.program.home, {"CLAUDECODE": "1"})
    assert agent.run("git", "log").returncode == 0
    result = agent.run("git", "merge", "skilld/staging")
    assert (result.returncode, person.skill.read_text()) == (5, SKILL_TEXT)


def test_with_two_repositories_the_intended_folder_is_used(person: Person, tmp_path: Path) -> None:
    person.teach(TICKETS)
    two = person.teach(HOSTS)
    assert len(two) == 2
    other = Person(person.program, tmp_path / "other", tmp_path / "other/.claude/skills" / RELATIVE)
    other._count = 10
    assert len(other.teach(TICKETS)) == 3
    result = person.program.run("git", "log")
    assert (result.returncode, "skilld keeps 2" in result.stderr) == (2, True)
    result = person.program.run("git", "--root", str(other.skill.parents[1]), "log", "--format=%s", "main")
    assert result.stdout == f"Current state: {RELATIVE}\n"
    assert person.program.run("accept", "--all-repositories").returncode == 0
    assert set(person.states()) == {"accepted"}
    assert RULE_LINES[TICKETS] in other.skill.read_text()
