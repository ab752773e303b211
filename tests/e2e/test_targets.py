"""A rule without a skill in use goes into the file the session's agent really loads."""

from __future__ import annotations

import json
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from skilld.clock import rfc3339
from support.live_project import Project
from support.program import Program
from support.session import CHATTER, Session

PNPM = "From now on, always use pnpm, never npm, in this repository."
GUIDE = "# Probe\n\nA small program.\n\n## Conventions\n\n* Keep functions short.\n* Write tests first.\n"


class Talk:
    """A session without any skill."""

    def __init__(self, home: Path, root: Path, version: str = "2.1.330", at: str = "") -> None:
        folder = home / ".claude/projects/-x-project"
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{uuid.uuid4()}.jsonl"
        self._shared: dict[str, Any] = {
            "sessionId": self.path.stem,
            "cwd": str(root),
            "version": version,
            "userType": "external",
        }
        self._shared |= {"isSidechain": False, "timestamp": at or rfc3339(time.time() + 1)}

    def add(self, **record: object) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(self._shared | {"uuid": str(uuid.uuid4())} | record) + "\n")

    def type(self, *texts: str) -> None:
        for text in texts:
            typed = {"promptSource": "typed", "origin": {"kind": "human"}}
            self.add(type="user", message={"role": "user", "content": text}, **typed)
            answer = [{"type": "text", "text": f"Done ({len(text)})."}]
            self.add(type="assistant", message={"role": "assistant", "content": answer})

    def use_skill(self, name: str, folder: Path) -> None:
        """Have the agent call a skill."""
        use = {"type": "tool_use", "id": "toolu_2", "name": "Skill", "input": {"skill": name}}
        self.add(type="assistant", message={"role": "assistant", "content": [use]})
        done = {"type": "tool_result", "tool_use_id": "toolu_2", "content": f"Launching skill: {name}"}
        result = {"success": True, "commandName": name}
        self.add(type="user", message={"role": "user", "content": [done]}, toolUseResult=result)
        body = [{"type": "text", "text": f"Base directory for this skill: {folder}\n\n"}]
        self.add(type="user", message={"role": "user", "content": body}, isMeta=True, sourceToolUseID="toolu_2")

    def edits(self, path: Path) -> None:
        use = {"type": "tool_use", "id": "toolu_1", "name": "Edit", "input": {"file_path": str(path)}}
        self.add(type="assistant", message={"role": "assistant", "content": [use]})


def make_project(home: Path, tmp_path: Path, **files: str) -> Project:
    project = Project(tmp_path / "plain", home, ".elsewhere")
    if files:
        project.commit("Write down how we work", files)
    return project


def teach(
    home: Path, project: Project, program: Program, *texts: str, version: str = "2.1.330"
) -> list[dict[str, Any]]:
    talk = Talk(home, project.root, version)
    talk.type(*texts, *CHATTER[: 5 - len(texts)])
    result = program.run("run", "--once")
    assert result.returncode == 0, result.stderr
    found: list[dict[str, Any]] = program.json("proposals")
    return found


def test_a_rule_goes_into_claude_md_with_everything_a_skill_rule_has(
    home: Path, tmp_path: Path, program: Program
) -> None:
    """(a), and Y6: one quoted proposal; accepted, explained, not proposed again, reverted."""
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    before = project.fingerprint()
    program.run("run", "--once")
    (proposal,) = teach(home, project, program, PNPM)
    assert (proposal["skill"], proposal["target"]) == ("", {"kind": "instructions", "agents": ["claude-code"]})
    assert [item["quote"] for item in proposal["evidence"]] == [PNPM]
    assert project.fingerprint() == before
    assert program.json("learnings") == []
    assert program.run("accept", proposal["id"]).returncode == 0
    text = (project.root / "CLAUDE.md").read_text()
    assert text == f"{GUIDE}* Always use pnpm, never npm, in this repository.\n"
    why = program.run("why", f"{project.root}/CLAUDE.md:9")
    assert PNPM in why.stdout, why.stdout + why.stderr

    assert teach(home, project, program, "Use pnpm in this repository, always!", PNPM) == []
    assert ", 2 said again (skilld proposals --state said); " in " ".join(program.run("status").stdout.split())
    note = program.json("proposals", "--state", "said")[0]
    assert (note["note"], note["commit"]) == (
        "CLAUDE.md:9 already says this: Always use pnpm, never npm, in this repository.",
        "",
    )
    (rule,) = program.json("effect")["rules"]  # reads the session at once, as the daemon does when it has time
    assert "Use pnpm in this repository, always!" in [evidence["quote"] for evidence in rule["evidence"]]
    (again,) = [check for check in program.json("doctor")["checks"] if check["name"] == "repeats"]
    assert "CLAUDE.md:9" in again["detail"]

    assert program.run("revert", proposal["id"]).returncode == 0
    assert (project.root / "CLAUDE.md").read_text() == GUIDE


def test_agents_md_is_the_target_if_the_client_reads_only_that(home: Path, tmp_path: Path, program: Program) -> None:
    """(b): Claude Code reads AGENTS.md since 2.1.277; an older one is given no file that it would not load."""
    project = make_project(home, tmp_path, **{"AGENTS.md": GUIDE})
    program.run("run", "--once")
    assert teach(home, project, program, PNPM, version="2.1.197") == []
    (learning,) = program.json("learnings")
    assert (learning["place"]["path"], learning["sessions"]) == (str(project.root / "CLAUDE.md"), 1)
    assert learning["why_not"] == (
        "you have said it in only one session, and there is no CLAUDE.md yet; "
        "Claude Code loads AGENTS.md here only from a CLAUDE.md with the line @AGENTS.md"
    )
    said = program.run("learnings").stdout
    assert "not proposed: you have said it in only one session, and there is no CLAUDE.md yet; Claude" in said
    assert teach(home, project, program, "From now on, always answer in British English here.", version="2.1.197") == []
    said = program.run("learnings").stdout
    assert (said.count("not proposed: see [1]\n"), said.count("loads AGENTS.md")) == (2, 1)
    assert (
        "\n[1] you have said it in only one session, and there is no CLAUDE.md yet; Claude Code loads AGENTS.md "
        "here only from a CLAUDE.md with the line @AGENTS.md\nA learning for a file that does not"
    ) in said
    (project.root / "CLAUDE.md").write_text("@AGENTS.md\n")
    _, learning = program.json("learnings")
    assert learning["why_not"] == "you have said it in only one session, when there was no CLAUDE.md"
    (project.root / "CLAUDE.md").unlink()
    (proposal,) = teach(home, project, program, "From now on, always write the commit subject in English.")
    assert proposal["path"] == str(project.root / "AGENTS.md")


def test_a_new_claude_md_imports_agents_md(home: Path, tmp_path: Path, program: Program) -> None:
    """A client that reads AGENTS.md would no longer do so beside a CLAUDE.md that an older one had needed."""
    project = make_project(home, tmp_path, **{"AGENTS.md": GUIDE})
    program.run("run", "--once")
    assert teach(home, project, program, PNPM, version="2.1.197") == []
    (made,) = teach(home, project, program, f"{PNPM}!", version="2.1.197")
    assert (made["flags"], made["summary"]) == ([], "Always use pnpm, never npm, in this repository.")
    program.run("accept", made["id"])
    rules = "# Preferences\n\n- Always use pnpm, never npm, in this repository.\n"
    assert (project.root / "CLAUDE.md").read_text() == f"@AGENTS.md\n\n{rules}"
    loaded = program.json("context", "--project", str(project.root), "--agent", "claude-code")
    assert [Path(one["path"]).name for one in loaded["agents"]["claude-code"]["files"]] == ["CLAUDE.md", "AGENTS.md"]


def test_a_new_claude_local_md_is_not_committed_for_the_whole_team(
    home: Path, tmp_path: Path, program: Program
) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    program.run("run", "--once")
    (made,) = teach(home, project, program, "Put this into CLAUDE.local.md: always use port 4000.")
    head = project.git("rev-parse", "HEAD")
    assert program.run("accept", made["id"]).returncode == 0
    assert (project.root / "CLAUDE.local.md").read_text() == "# Preferences\n\n- Always use port 4000.\n"
    assert project.git("rev-parse", "HEAD") == head
    assert project.git("status", "--short") == "?? CLAUDE.local.md"
    assert program.run("revert", made["id"]).returncode == 0
    assert not (project.root / "CLAUDE.local.md").exists()


def test_a_file_is_created_for_a_rule_said_in_two_sessions(home: Path, tmp_path: Path, program: Program) -> None:
    """(c): said once it waits; said in a second session it is proposed with both quotes, and the file is made."""
    project = make_project(home, tmp_path)
    program.run("run", "--once")
    assert teach(home, project, program, PNPM, PNPM) == []
    (waits,) = program.json("learnings")
    assert (waits["sessions"], waits["why_not"]) == (
        1,
        "you have said it in only one session, and there is no CLAUDE.md yet",
    )
    (proposal,) = teach(home, project, program, "Always use pnpm in this repository, never npm!")
    assert (proposal["relpath"], proposal["sessions"], len(proposal["evidence"])) == ("CLAUDE.md", 2, 2)
    assert program.json("learnings") == []
    assert program.run("accept", proposal["id"]).returncode == 0
    assert "pnpm" in (project.root / "CLAUDE.md").read_text()
    assert program.run("revert", proposal["id"]).returncode == 0
    assert not (project.root / "CLAUDE.md").exists()


@pytest.mark.parametrize("decision", ["accept", "reject"])
def test_a_second_rule_waits_for_the_proposal_that_creates_its_file(
    home: Path, tmp_path: Path, program: Program, decision: str
) -> None:
    project = make_project(home, tmp_path)
    program.run("run", "--once")
    pushed = "Never force-push to main in this repository!"
    teach(home, project, program, PNPM, pushed)
    (maker,) = teach(home, project, program, "Always use pnpm in this repository, never npm!")
    (waits,) = (one for one in teach(home, project, program, pushed) if one["id"] != maker["id"])
    assert waits["note"] == f"on hold: the open proposal {maker['id']} creates this file; decide on it first"
    assert program.run("accept", waits["id"]).returncode
    assert "git cherry-pick" not in program.run("show", waits["id"]).stdout
    assert program.run(decision, maker["id"]).returncode == 0
    (placed,) = program.json("proposals")
    assert (placed["id"], placed["note"], len(placed["evidence"])) == (waits["id"], "", 2)
    assert program.run("accept", placed["id"]).returncode == 0
    text = (project.root / "CLAUDE.md").read_text()
    assert ("pnpm" in text) == (decision == "accept")
    assert text.count("# Preferences\n\n- ") == 1
    assert "force-push" in text
    assert program.run("revert", placed["id"]).returncode == 0
    assert (project.root / "CLAUDE.md").exists() == (decision == "accept")


def test_both_are_accepted_with_one_command(home: Path, tmp_path: Path, program: Program) -> None:
    project = make_project(home, tmp_path)
    program.run("run", "--once")
    pushed = "Never force-push to main in this repository!"
    teach(home, project, program, PNPM, pushed)
    teach(home, project, program, "Always use pnpm in this repository, never npm!")
    assert [one["note"][:7] for one in teach(home, project, program, pushed)] == ["", "on hold"]
    done = program.run("accept", "--all-repositories", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert program.json("proposals") == []
    text = (project.root / "CLAUDE.md").read_text()
    assert "pnpm" in text
    assert "force-push" in text


def test_a_rule_file_for_the_files_worked_on_is_the_target(home: Path, tmp_path: Path, program: Program) -> None:
    """(e)"""
    rule = '---\npaths: ["src/**/*.ts"]\n---\n\n# TypeScript\n\n- Use strict mode.\n'
    project = make_project(home, tmp_path, **{".claude/rules/ts.md": rule, "src/a.ts": "export {}\n"})
    program.run("run", "--once")
    talk = Talk(home, project.root)
    talk.edits(project.root / "src/a.ts")
    talk.type(PNPM, *CHATTER[:4])
    program.run("run", "--once")
    (proposal,) = program.json("proposals")
    assert (proposal["relpath"], proposal["target"]["kind"]) == (".claude/rules/ts.md", "rules")
    assert program.run("accept", proposal["id"]).returncode == 0
    assert (project.root / ".claude/rules/ts.md").read_text().startswith(rule)


def test_a_rule_about_the_person_goes_into_their_own_file(home: Path, tmp_path: Path, program: Program) -> None:
    """It is outside git: skilld's own repository holds it, and nothing is written into its folder."""
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    own = home / ".claude/CLAUDE.md"
    own.parent.mkdir(exist_ok=True)
    own.write_text("# Me\n\n- Be brief.\n")
    program.run("run", "--once")
    (proposal,) = teach(home, project, program, "From now on, in all my projects, always answer me in German.")
    assert (proposal["path"], proposal["target"]["kind"]) == (str(own), "personal")
    assert program.run("accept", proposal["id"]).returncode == 0
    assert "German" in own.read_text()
    assert program.run("revert", proposal["id"]).returncode == 0
    assert own.read_text() == "# Me\n\n- Be brief.\n"


def test_a_rule_for_a_plugins_skill_goes_to_the_projects_file(home: Path, tmp_path: Path, program: Program) -> None:
    """Y11: a skill that is never edited is named where the lesson goes."""
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    skill = home / ".claude/plugins/cache/market/tools/1.0/skills/brainstorming/SKILL.md"
    skill.parent.mkdir(parents=True)
    front = "---\nname: brainstorming\ndescription: Finds ideas.\n---\n\n"
    skill.write_text(f"{front}# Brainstorming\n\n1. Ask what it is for.\n2. Offer three ideas.\n")
    program.run("run", "--once")
    talk = Talk(home, project.root)
    talk.use_skill("tools:brainstorming", skill.parent)
    talk.type("From now on, always put the ideas of a brainstorming into a table.", *CHATTER[:4])
    assert program.run("run", "--once").returncode == 0
    assert len(program.json("proposals")) == 1
    change = "When using brainstorming: always put the ideas of a brainstorming into a table."
    assert project.git("show", "skilld/staging:CLAUDE.md") == f"{GUIDE}* {change}"


def test_a_skill_on_the_subject_takes_precedence(home: Path, tmp_path: Path, program: Program) -> None:
    """It was not used in the session; words about anything else go on to the project's file."""
    front = "---\nname: release-notes\ndescription: Writes the release notes of a version.\n---\n\n"
    skill = f"{front}# Release notes\n\n- Past tense.\n"
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE, ".claude/skills/release-notes/SKILL.md": skill})
    program.run("run", "--once")
    both = ("From now on, always write release notes in British spelling.", PNPM)
    found = {one["relpath"]: one for one in teach(home, project, program, *both)}
    assert found.keys() == {"CLAUDE.md", ".claude/skills/release-notes/SKILL.md"}
    assert "British" in found[".claude/skills/release-notes/SKILL.md"]["summary"]


def test_a_file_renamed_to_what_the_agent_does_not_load(home: Path, tmp_path: Path, program: Program) -> None:
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE})
    program.run("run", "--once")
    (one,) = teach(home, project, program, PNPM, version="2.1.100")
    told = "note: Claude Code does not load AGENTS.md, which is the file's name now\n"
    shown = program.run("show", one["id"]).stdout
    assert (told in shown, "; loaded by claude-code\n" in shown) == (False, True)
    project.git("mv", "CLAUDE.md", "AGENTS.md")
    project.git("commit", "--quiet", "-m", "rename")
    shown = program.run("show", one["id"]).stdout
    assert (told in shown, "loaded by" in shown) == (True, False)


def test_a_learning_can_be_given_a_target_by_hand(home: Path, tmp_path: Path, program: Program) -> None:
    project = make_project(home, tmp_path, **{"docs/guide.md": GUIDE})
    program.run("run", "--once")
    assert teach(home, project, program, PNPM) == []
    (waits,) = program.json("learnings")
    outside = program.run("learnings", "propose", waits["id"], "--to", str(home / ".gitconfig"))
    assert (outside.returncode, "is outside" in outside.stderr) == (1, True)
    absent = program.run("learnings", "propose", waits["id"], "--to", str(project.root / "docs/nosuch.md"))
    assert "there is no file" in absent.stderr
    result = program.run("learnings", "propose", waits["id"], "--to", str(project.root / "docs/guide.md"))
    assert result.returncode == 0, result.stderr
    (proposal,) = program.json("proposals")
    assert (proposal["relpath"], proposal["target"]) == ("docs/guide.md", {"kind": "instructions", "agents": []})
    assert program.json("learnings") == []
    again = program.run("learnings", "propose", waits["id"][:6])
    assert (again.returncode, f"this learning is proposal {proposal['id']}" in again.stderr) == (1, True)
    shown = program.run("show", proposal["id"]).stdout
    assert "loaded by" not in shown
    assert "  ! none of the agents you use in this project loads docs/guide.md on its own\n" in shown


def test_codex_rules_go_into_the_file_codex_loads(home: Path, tmp_path: Path, program: Program) -> None:
    """A CLAUDE.md that Codex does not read is no place for what was said to it."""
    project = make_project(home, tmp_path, **{"CLAUDE.md": GUIDE, "AGENTS.md": "# Agents\n\n- Be brief.\n"})
    program.run("run", "--once")
    name = "0c000000-0000-7000-8000-0000000000c0"
    rows: list[tuple[str, dict[str, object]]] = [
        ("session_meta", {"id": name, "cwd": str(project.root), "cli_version": "0.169.0", "originator": "codex-tui"})
    ]
    for text in (PNPM, *CHATTER[:4]):
        rows.append(("event_msg", {"type": "user_message", "message": text, "images": []}))
        rows.append(("event_msg", {"type": "agent_message", "message": "Done."}))
    path = home / f".codex/sessions/2026/11/22/rollout-2026-11-22T10-00-00-{name}.jsonl"
    path.parent.mkdir(parents=True)
    stamp = rfc3339(time.time())
    path.write_text(
        "".join(json.dumps({"timestamp": stamp, "type": kind, "payload": row}) + "\n" for kind, row in rows)
    )
    program.run("run", "--once")
    (proposal,) = program.json("proposals")
    assert (proposal["relpath"], proposal["target"]["agents"]) == ("AGENTS.md", ["codex"])


def test_a_folder_named_last_or_anywhere_below_is_found(home: Path, tmp_path: Path, program: Program) -> None:
    """A rule for the folder takes it wherever that is; otherwise the folder's own file, whatever ends the sentence."""
    rule = '---\npaths: ["**/tests/**"]\n---\n\n# Tests\n\n- No network in tests.\n'
    texts = {"CLAUDE.md": GUIDE, ".claude/rules/tests.md": rule, "packages/api/CLAUDE.md": "# API\n\n- Use FastAPI.\n"}
    project = make_project(home, tmp_path, **texts, **{"packages/api/tests/test_a.py": "pass\n"})
    program.run("run", "--once")
    both = (
        "From now on, always log refunds with structlog in packages/api.",
        "In the tests folder, always name the file after its module.",
    )
    found = {one["relpath"]: one["summary"] for one in teach(home, project, program, *both)}
    assert found.keys() == {"packages/api/CLAUDE.md", ".claude/rules/tests.md"}
    assert "refunds" in found["packages/api/CLAUDE.md"]


def test_a_rule_that_is_not_about_the_skill_in_use_says_why_it_goes_elsewhere(
    home: Path, tmp_path: Path, program: Program
) -> None:
    project = Project(tmp_path / "project", home, ".claude/skills")
    project.commit("Write down how we work", {"CLAUDE.md": GUIDE})
    program.run("run", "--once")
    talk = Session(home, project)
    talk.use_skill()
    talk.type(PNPM, *CHATTER[:4])
    assert program.run("run", "--once").returncode == 0
    [made] = program.json("proposals")
    assert (made["target"]["kind"], made["reason"]) == (
        "instructions",
        "You stated this as a lasting rule. The skill in use, release-notes, is not about this.",
    )


def test_what_no_skill_in_use_is_about_is_proposed_once_it_was_said_in_two_sessions(
    home: Path, tmp_path: Path, program: Program
) -> None:
    """Issue 16, 3: in one session it is kept, in other words in a second one it goes into the project's file."""
    project = Project(tmp_path / "project", home, ".claude/skills")
    project.commit("Write down how we work", {"CLAUDE.md": GUIDE})
    program.run("run", "--once")
    said = "lambdas are hard to read, name the function", "please name the functions, lambdas are hard to read"
    for text in said:
        assert program.json("proposals") == []
        talk = Session(home, project)
        talk.use_skill()
        talk.type(text, *CHATTER[:4])
        assert program.run("run", "--once").returncode == 0
    [made] = program.json("proposals")
    assert (made["relpath"], {one["quote"] for one in made["evidence"]}) == ("CLAUDE.md", {*said})
    assert made["reason"].endswith(
        "You said it in an earlier session too. The skill in use, release-notes, is not about this."
    )
    assert program.json("learnings") == []
