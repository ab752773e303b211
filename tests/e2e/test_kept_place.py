"""A learning is proposed for the file it was kept for, and an agent's personal file is one that it loads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skilld.context import MEASURED, Scope, context_of, personal_file
from skilld.store.learnings import Learning
from skilld.targets.find import WorkingSession, find_targets
from skilld.types import TargetKind
from support.in_process_daemon import InProcessDaemon
from support.live_project import Project
from support.program import Program

OURS = "Always answer me in short sentences."  # sounds personal
MINE = "Always run the linter before a commit."  # sounds like the project's


def _learning(root: Path, text: str, kind: str, place: Path, agent: str) -> Learning:
    return Learning(
        id=f"{kind[:4]}{agent[:6]}".replace("-", "0"),
        turn_key=f"{agent}:{kind}",
        quote=text,
        change=text,
        kind="preference",
        agent=agent,
        session_id="s1",
        project=str(root),
        skill=None,
        why_kept=f"you have said it in only one session, and there is no {place}",
        confidence=0.85,
        created_at="2999-01-01T00:00:00Z",
        place_kind=kind,
        place=str(place),
    )


@pytest.mark.parametrize("agent", sorted(MEASURED))
def test_it_goes_where_it_was_kept_for_whatever_its_wording(
    daemon: InProcessDaemon, home: Path, tmp_path: Path, agent: str
) -> None:
    root = Project(tmp_path / "bare", home, ".elsewhere").root
    own = Path(personal_file(agent, home, {}))
    own.parent.mkdir(parents=True, exist_ok=True)
    session = WorkingSession(agent, root, home, {})
    (team,) = find_targets(session, [TargetKind.INSTRUCTIONS]).refs
    daemon.store.learnings.add(_learning(root, OURS, "instructions", Path(team.path), agent))
    daemon.store.learnings.add(_learning(root, MINE, "personal", own, agent))
    skilld = Program(home)
    made = {one["text"]: skilld.json("learnings", "propose", one["id"]) for one in skilld.json("learnings")}
    assert (made[OURS]["target"]["kind"], made[OURS]["path"]) == ("instructions", team.path)
    assert (made[MINE]["target"]["kind"], made[MINE]["path"]) == ("personal", str(own))


def test_a_personal_one_never_goes_into_a_shared_file(daemon: InProcessDaemon, home: Path, tmp_path: Path) -> None:
    """Its own file can no longer be edited: it stays a learning."""
    root = Project(tmp_path / "bare", home, ".elsewhere").root
    own = Path(personal_file("gemini-cli", home, {}))
    own.parent.mkdir(parents=True)
    own.write_bytes(b"\xff\xfe not text")
    daemon.store.learnings.add(_learning(root, MINE, "personal", own, "gemini-cli"))
    skilld = Program(home)
    (kept,) = skilld.json("learnings")
    refused = skilld.run("learnings", "propose", kept["id"])
    assert (refused.returncode, "--to PATH" in refused.stderr) == (1, True)
    assert (skilld.json("proposals"), len(skilld.json("learnings"))) == ([], 1)


def test_one_without_a_recorded_file_goes_to_the_best_one(daemon: InProcessDaemon, home: Path, tmp_path: Path) -> None:
    root = Project(tmp_path / "bare", home, ".elsewhere").root
    (home / ".claude").mkdir(exist_ok=True)
    bare = replace(_learning(root, MINE, "", Path(), "claude-code"), id="abc", place="")
    daemon.store.learnings.add(bare)
    made = Program(home).json("learnings", "propose", "abc")
    assert made["path"] == str(root / "CLAUDE.md")
    assert made["created_at"] < bare.created_at, "it is proposed now, whenever it was said"


@pytest.mark.parametrize("text", ["", "- Be brief.\n"])
@pytest.mark.parametrize("agent", [*sorted(MEASURED), "droid", "mistral-vibe", "antigravity"])
def test_the_personal_file_that_is_offered_is_one_that_the_agent_loads(
    home: Path, tmp_path: Path, agent: str, text: str
) -> None:
    root = Project(tmp_path / "plain", home, ".elsewhere").root
    own = Path(personal_file(agent, home, {}))
    own.parent.mkdir(parents=True, exist_ok=True)
    if text:
        own.write_text(text)
    (ref,) = find_targets(WorkingSession(agent, root, home, {}), [TargetKind.PERSONAL]).refs
    assert (ref.path, ref.absent) == (str(own), not text)
    own.write_text("- Be brief.\n")
    loaded = context_of(agent, "", root, home).files
    assert str(own) in {one.path for one in loaded if one.scope is Scope.PERSONAL and one.entered}


@pytest.mark.parametrize("agent", ["cursor", "cline"])
def test_no_personal_file_is_offered_for_an_agent_that_is_not_known_to_load_one(
    home: Path, tmp_path: Path, agent: str
) -> None:
    root = Project(tmp_path / "plain", home, ".elsewhere").root
    (home / f".{agent}").mkdir()
    assert find_targets(WorkingSession(agent, root, home, {}), [TargetKind.PERSONAL]).refs == ()


@pytest.mark.parametrize("usable", [True, False])
def test_one_kept_for_a_skill_goes_to_the_skill_while_that_can_be_edited(
    daemon: InProcessDaemon, home: Path, tmp_path: Path, *, usable: bool
) -> None:
    root = Project(tmp_path / "bare", home, ".elsewhere").root
    skill = root / ".claude/skills/cut-release/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: cut-release\ndescription: Cut a release.\n---\n\n# Release\n\n- Tag.\n- Push.\n")
    kept = replace(_learning(root, MINE, "skill", skill, "claude-code"), skill="cut-release")
    daemon.store.learnings.add(kept)
    if not usable:
        skill.unlink()
    made = Program(home).json("learnings", "propose", kept.id)
    assert made["path"] == str(skill if usable else root / "CLAUDE.md")


RULE = "- Add an entry to docs/api.md whenever you export something new."
GUIDE = f"# Guide\n\n- Be brief.\n{RULE}\n"


def _keep(daemon: InProcessDaemon, project: Project, text: str, kind: str) -> Learning:
    (project.root / "CLAUDE.md").write_text(GUIDE)
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message", "Write down how we work")
    kept = replace(
        _learning(project.root, text, "instructions", project.root / "CLAUDE.md", "claude-code"),
        kind=kind,
        created_at="2026-01-01T00:00:00Z",
    )
    daemon.store.learnings.add(kept)
    return kept


@pytest.mark.parametrize("kind", ["remove_step", "change_step"])
def test_what_takes_a_rule_back_is_proposed_as_its_removal(
    daemon: InProcessDaemon, home: Path, tmp_path: Path, kind: str
) -> None:
    project = Project(tmp_path / "bare", home, ".elsewhere")
    kept = _keep(daemon, project, "You don't have to add an entry to docs/api.md any more.", kind)
    made = Program(home).json("learnings", "propose", kept.id)
    assert (made["kind"], made["summary"]) == ("remove_step", f"Remove the rule: {RULE.removeprefix('- ')}")
    assert Program(home).run("accept", made["id"]).returncode == 0
    assert (project.root / "CLAUDE.md").read_text() == "# Guide\n\n- Be brief.\n"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Beträge müssen nicht mehr als String raus; die Regel vergessen.", "remove_step"),
        ("You don't have to update the wiki any more; we generate it with typedoc now.", "change_step"),
        ("Die Prüfung vor dem Release weglassen, das macht Renovate.", "remove_step"),
    ],
)
def test_what_takes_a_rule_back_never_becomes_one(
    daemon: InProcessDaemon, home: Path, tmp_path: Path, text: str, kind: str
) -> None:
    project = Project(tmp_path / "bare", home, ".elsewhere")
    kept = _keep(daemon, project, text, kind)
    skilld = Program(home)
    refused = skilld.run("learnings", "propose", kept.id)
    assert refused.returncode == 1
    assert refused.stderr == (
        "skilld: Not proposed: it takes back a rule, but no line of CLAUDE.md is clearly that rule\n"
        f"  Remove the line from {project.root}/CLAUDE.md, then: skilld learnings --forget {kept.id}\n"
    )
    assert (skilld.json("proposals"), len(skilld.json("learnings"))) == ([], 1)


@pytest.mark.parametrize("to", [False, True])
def test_a_models_wording_is_proposed_on_request_whatever_the_rules_find(
    daemon: InProcessDaemon, home: Path, tmp_path: Path, *, to: bool
) -> None:
    project = Project(tmp_path / "bare", home, ".elsewhere")
    kept = _keep(daemon, project, "never push without asking me again", "preference")
    other = replace(kept, id="reworded", turn_key="claude-code:2", change="Get approval before a push.")
    daemon.store.learnings.add(other)
    file = project.root / "CLAUDE.md"
    made = Program(home).json("learnings", "propose", "reworded", *(["--to", str(file)] if to else []))
    assert (made["path"], made["flags"]) == (str(file), ["could not verify that it says what you said"])
    assert Program(home).run("accept", made["id"]).returncode == 0
    assert "- Get approval before a push.\n" in file.read_text()
