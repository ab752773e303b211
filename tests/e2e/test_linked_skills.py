"""A skill several agents see under several names: one proposal, in the repository of the real file."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from support.lessons import HOSTS, RULE_LINES, TICKETS
from support.live_project import SKILL, Project
from support.opencode_db import OpenCodeDb
from support.program import Program
from support.session import Session

CHATTER = ("ok, looks good", "thanks", "go on")


@pytest.fixture
def linked(tmp_path: Path, home: Path) -> Project:
    """Return a project whose skills are in .agents/skills, to which .claude/skills is a link."""
    project = Project(tmp_path / "project", home, ".agents/skills")
    (project.root / ".claude").mkdir()
    (project.root / ".claude" / "skills").symlink_to("../.agents/skills")
    return project


def say_to_claude(home: Path, project: Project, skills: Path, *said: str) -> None:
    """Say it to Claude Code, which has found the skill in the folder `skills`."""
    session = Session(home, project)
    told = (skills / SKILL).as_posix()
    session.use_skill()
    session.path.write_text(session.path.read_text().replace(project.skill_path.parent.as_posix(), told))
    session.type("Write the release notes for 2.4.0", *said, *CHATTER)


def say_to_opencode(home: Path, project: Project, skills: Path, *said: str) -> None:
    """Say it to opencode, which has found the skill in the folder `skills`."""
    prompts = ("Write the release notes for 2.4.0", *said, *CHATTER)
    listed = home / ".local" / "state" / "opencode" / "prompt-history.jsonl"
    listed.parent.mkdir(parents=True)
    listed.write_text("".join(json.dumps({"input": text, "parts": [], "mode": "normal"}) + "\n" for text in prompts))
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    with OpenCodeDb(path, now=int(time.time() * 1000) - 60_000) as client:
        client.session("s1", str(project.root))
        client.prompt("s1", prompts[0])
        client.skill("s1", skills / SKILL)
        for text in prompts[1:]:
            client.prompt("s1", text)
            client.answer("s1")


def test_the_same_words_to_two_agents_are_one_proposal_with_two_quotes(
    home: Path, linked: Project, program: Program
) -> None:
    say_to_claude(home, linked, linked.root / ".claude" / "skills", TICKETS)
    say_to_opencode(home, linked, linked.root / ".agents" / "skills", TICKETS)
    result = program.run("run", "--once", "--backfill", "1")
    assert result.returncode == 0, result.stdout + result.stderr
    (proposal,) = program.json("proposals")
    assert proposal["path"] == str(linked.skill_path)
    assert proposal["repo"] == str(linked.root)
    assert [evidence["quote"] for evidence in proposal["evidence"]] == [TICKETS, TICKETS]
    assert {evidence["turn"].partition(":")[0] for evidence in proposal["evidence"]} == {"claude-code", "opencode"}
    assert linked.git("show", f"skilld/staging:{proposal['relpath']}").count(RULE_LINES[TICKETS]) == 1
    assert linked.git("rev-list", "--count", f"{linked.skill_commit}..skilld/staging") == "1"
    program.run("run", "--once")
    (again,) = program.json("proposals")
    assert again["evidence"] == proposal["evidence"]
    assert TICKETS in program.run("show", proposal["id"]).stdout


def test_a_link_in_the_home_leads_to_the_repository_of_the_real_file(
    home: Path, linked: Project, program: Program
) -> None:
    for folder in (home / ".claude" / "skills", home / ".config" / "opencode" / "skills"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / SKILL).symlink_to(linked.skill_path.parent)
    say_to_claude(home, linked, home / ".claude" / "skills", TICKETS)
    say_to_opencode(home, linked, home / ".config" / "opencode" / "skills", HOSTS)
    assert program.run("run", "--once", "--backfill", "1").returncode == 0
    proposals = program.json("proposals")
    assert {proposal["path"] for proposal in proposals} == {str(linked.skill_path)}
    assert {proposal["repo"] for proposal in proposals} == {str(linked.root)}
    assert sorted(quote["quote"] for proposal in proposals for quote in proposal["evidence"]) == sorted(
        [TICKETS, HOSTS]
    )
