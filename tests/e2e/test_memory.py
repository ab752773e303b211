"""What is recorded and said about skills appears in recommendations."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from faults.model import program_with
from skilld.clock import rfc3339
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.types import Evidence, Kind, Update
from support.program import Program
from support.proposals import make_proposal
from support.stub_model import Body, StubModel, request_text

KEY = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    for name, about in (("release-notes", "Writes the release notes."), ("deploy", "Deploys a release to the shop.")):
        skill = tmp_path / "shop/.claude/skills" / name
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {about}\n---\n")
    return str(tmp_path / "shop")


def test_projects_with_skills_below_the_folder_are_named(program: Program, folder: str, tmp_path: Path) -> None:
    for name in ("shop", "bare", "kit"):
        (tmp_path / name).mkdir(exist_ok=True)
        log = program.home / f".claude/projects/-{name}/s{name}.jsonl"
        log.parent.mkdir(parents=True)
        turn = {"type": "user", "sessionId": f"s{name}", "cwd": str(tmp_path / name), "message": {"content": "hi"}}
        log.write_text(json.dumps(turn) + "\n")
    program.run("run", "--once", "--backfill", "9999")
    above = program.run("recommend", "deploy a release", "--project", str(tmp_path)).stdout
    assert above.splitlines()[:2] == [
        "None of your skills fit this task.",
        "The skills of shop are loaded only there; to search them: --project FOLDER",
    ]
    assert "loaded only there" not in program.run("recommend", "paint the shed", "--project", folder).stdout


def test_a_checked_task_is_learned_and_feedback_changes_the_order(program: Program, folder: str) -> None:
    def first_recommended() -> str:
        document = program.json("recommend", "write the release notes", "--project", folder)
        return str(document[0]["skill"])

    here = ("--project", folder)
    notes = f"{folder}/.claude/skills/release-notes"
    assert first_recommended() == "release-notes"
    result = program.run("feedback", notes, "--unhelpful", "--session", "s1")
    assert (result.returncode, "No such session" in result.stderr) == (1, True)
    log = program.home / ".claude/projects/-shop"
    log.mkdir(parents=True)
    for session in ("s1", "s2", "s3", "s4", "s5"):
        (log / f"{session}.jsonl").write_text(
            f'{{"type":"user","sessionId":"{session}","message":{{"content":"hi"}}}}\n'
        )
    for _ in range(2):
        program.run("feedback", notes, "--unhelpful", "--note", f"see {KEY}", "--session", "s1")
    for session in ("s2", "s3", "s4", "s5"):
        program.run("feedback", notes, "--unhelpful", "--session", session)
    program.run("record", f"write release notes with {KEY}", "--result", "Release notes start with the ticket number.",
                "--skill", "deploy", "--tool", "git", "--seconds", "60", "--qa-passed", *here)  # fmt: skip
    program.run("record", "fix the login", "--status", "failed", "--qa-failed", "--result", "Nothing.", *here)
    (learning,) = program.json("learnings", "--search", "ticket")
    assert (learning["skill"], learning["change"]) == ("deploy", "Release notes start with the ticket number.")
    assert KEY not in str(learning)
    assert first_recommended() == "deploy"

    result = program.run("record", "ship it", "--skill", "deplyo", *here)
    assert (result.returncode, "deplyo (did you mean deploy?)" in result.stderr) == (1, True)
    stats = program.json("record", "--stats")
    assert (stats["tasks"], stats["success_rate"], stats["qa_rate"], stats["average_seconds"]) == (2, 0.5, 0.5, 60.0)
    assert (stats["tools"], stats["work"]) == ({"git": 1}, {"debugging": 1, "documentation": 1})
    output = program.run("record", "--stats").stdout
    assert "completed            50%" in output
    assert "tools                git 1" in output
    assert KEY.encode() not in b"".join(path.read_bytes() for path in program.home.rglob("skilld.[dj]*"))


def test_feedback_concerns_one_of_two_skills_with_the_same_name(program: Program, folder: str) -> None:
    shop, own = Path(folder) / ".claude/skills/deploy", program.home / ".claude/skills/deploy"
    own.mkdir(parents=True)
    (own / "SKILL.md").write_text((shop / "SKILL.md").read_text())
    assert str(own / "SKILL.md") in program.run("feedback", "deploy", "--unhelpful").stdout
    assert str(shop / "SKILL.md") in program.run("feedback", str(shop), "--helpful").stdout
    found = {
        one["path"]: one["confidence"] for one in program.json("recommend", "deploy a release", "--project", folder)
    }
    assert found[str(shop / "SKILL.md")] > found[str(own / "SKILL.md")]
    result = program.run("feedback", "deplyo", "--helpful")
    assert (result.returncode, "No such skill: deplyo" in result.stderr) == (1, True)


def test_learnings_are_searched_by_text_and_project(program: Program, folder: str) -> None:
    program.run("record", "one", "--result", "Tag the release.", "--qa-passed", "--project", folder)
    program.run("record", "two", "--result", "Tag the image.", "--qa-passed")
    assert [learning["change"] for learning in program.json("learnings", "--search", "image")] == ["Tag the image."]
    assert [learning["change"] for learning in program.json("learnings", "--project", folder)] == ["Tag the release."]
    assert program.run("record").returncode == 2
    assert program.run("learnings", "--search", "nosuch").stdout == "No learnings match.\n"
    assert program.run("learnings", "--search", "").stdout == "No learnings match.\n"
    program.run("record", "four", "--result", "Siempre lint.", "--qa-passed")
    assert [learning["change"] for learning in program.json("learnings", "--search", "siempre")] == ["Siempre lint."]
    program.run("record", "three", "--result", "Run the linter first.", "--qa-passed")
    shown = program.run("learnings", "--search", "linter").stdout
    assert "the result of the task “three” in ~" in shown
    assert "you: " not in shown
    assert "learnings propose" not in shown, "only what was said becomes a rule"


def test_the_result_of_a_task_counts_nowhere_as_what_you_said(program: Program, folder: str) -> None:
    program.run("record", "import the orders", "--result", "12 rows written", "--qa-passed", "--project", folder)
    (kept,) = program.json("learnings")
    assert program.json("skills", "profile")["total"] == 0
    assert program.json("report")["taught"]["total"] == 0
    assert "you said" not in program.run("recommend", "import the orders", "--project", folder).stdout
    assert "you said" not in program.run("suggest", "--project", folder).stdout
    refused = program.run("learnings", "propose", kept["id"])
    assert (refused.returncode, "only what you say becomes a rule" in refused.stderr) == (1, True)


def test_broken_skills_are_not_suggested_and_the_rest_is_counted(program: Program, folder: str) -> None:
    skills = Path(folder) / ".claude/skills"
    about = {f"one-{number}": f"Does {number}." for number in range(5)} | {
        "broken-one": "Use when: things: break\n  - no"
    }
    for name, text in about.items():
        (skills / name).mkdir()
        (skills / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {text}\n---\n\n# X\n")
    document = program.json("suggest", "--project", folder)
    assert (len(document["skills"]), document["more"]) == (5, 2)
    shown = program.run("suggest", "--project", folder).stdout
    assert "and 2 more skills: skilld skills list" in shown
    assert "broken-one" not in shown


def test_a_list_names_a_skill_that_is_too_long_and_counts_tasks_apart(program: Program) -> None:
    own = program.home / ".claude/skills/handbook"
    own.mkdir(parents=True)
    (own / "SKILL.md").write_text("---\nname: handbook\ndescription: All of it.\n---\n\n" + "- Read the log.\n" * 760)
    program.run("record", "look it up", "--skill", "handbook", "--qa-passed")
    shown = " ".join(program.run("skills", "list").stdout.split())
    assert "handbook has 765 lines, over the 500 of the specification" in shown
    assert "went well 1 of 1 times, counting recorded tasks and feedback" in shown


def test_a_name_may_end_with_the_slash_that_a_shell_adds(program: Program) -> None:
    own = program.home / ".claude/skills/deploy"
    own.mkdir(parents=True)
    (own / "SKILL.md").write_text("---\nname: deploy\ndescription: Deploys.\n---\n\n# Deploy\n")
    assert program.json("skills", "show", "deploy/")["name"] == "deploy"


def test_each_instruction_of_a_proposal_counts_alike_in_profile_and_report(program: Program) -> None:
    program.run("resume")  # makes the store
    said = (Evidence("t1", "never name a host"), Evidence("t2", "ticket first"))
    changes = ("Never name a host.", "Put the ticket first.")
    store = Store.open(program.home / ".local/state/skilld/skilld.db")
    store.proposals.add(
        make_proposal(
            evidence=said,
            summary=" ".join(changes),
            created_at=rfc3339(time.time()),
            updates=tuple(
                Update(1, "", change, "", Kind.PREFERENCE, number, one.quote)
                for number, (change, one) in enumerate(zip(changes, said, strict=True), 1)
            ),
        )
    )
    store.close()
    assert program.json("skills", "profile")["total"] == 2
    assert program.json("report")["taught"]["total"] == 2


def test_a_session_starts_with_the_projects_skills_and_statements(program: Program, folder: str) -> None:
    assert "Nothing to suggest" in program.run("suggest").stdout
    program.run("record", "one", "--result", "Tag the release.", "--qa-passed", "--project", folder)
    document = program.json("suggest", "--project", folder)
    assert [skill["name"] for skill in document["skills"]] == ["deploy", "release-notes"]
    assert [minded["text"] for minded in document["minded"]] == ["Tag the release."]
    store = Store.open(program.home / ".local/state/skilld/skilld.db")
    for name, sure in (("unsure", 0.4), ("sure", 0.6)):
        learning = Learning(
            name, f"t:{name}", "q", f"Be {name}.", "preference", "claude-code", "s", folder, None, "", sure,
            rfc3339(time.time()), "instructions", "",
        )  # fmt: skip
        store.learnings.add(learning)
    store.close()
    texts = [minded["text"] for minded in program.json("suggest", "--project", folder)["minded"]]
    assert sorted(texts) == ["Be sure.", "Tag the release."]
    assert "the result of a task: Tag the release." in program.run("suggest", "--project", folder).stdout
    hook = program.run("suggest", "--hook", "claude-code").stdout
    assert "SessionStart" in hook
    assert not list(program.home.rglob("settings.json"))


def test_a_model_chooses_by_number_and_words_decide_if_it_does_not_answer(home: Path, folder: str) -> None:
    replies = iter(['<fits>[{"skill": 1}]</fits>', "none of them", "still none"])
    seen: list[str] = []

    def decide(body: Body) -> str:
        seen.append(request_text(body))
        return next(replies)

    task = ("recommend", "etwas für den Laden", "--project", folder)
    with StubModel(decide) as model:
        program = program_with(home, model)
        assert program.json(*task) == [], "not asked without --ask"
        (found,) = program.json(*task, "--ask")
        assert (found["skill"], found["path"].startswith(folder)) == ("deploy", True)
        assert '"deploy: Deploys a release to the shop."' in seen[0]
        failed = program.run("recommend", "write the release notes", "--project", folder, "--ask")
    assert "matched by keywords only" in failed.stderr
    assert failed.stdout.startswith(f"fits well  release-notes  {folder}")
    assert "%" not in failed.stdout
    assert [day["calls"] for day in program.json("cost")["days"]] == [3]
