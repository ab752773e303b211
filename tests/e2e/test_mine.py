"""`skilld mine` over sessions as the agent wrote them."""

from __future__ import annotations

import json
import os
from pathlib import Path

from e2e.test_targets import Talk
from skilld.store import Store
from support.live_project import Project
from support.program import Program
from support.session import SQUASHING, Session

KEY = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


def test_the_report_quotes_requests_made_again_and_again(home: Path, project: Project) -> None:
    program = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"})
    for text in ("commit this, push it and open a draft pull request", "commit, push it, open a draft pull request"):
        session = Session(home, project)
        session.type("paint the shed")
        session.work(text, *SQUASHING)
        session.type(f"the key is {KEY}")
    used = Session(home, project)
    used.use_skill()
    used.type("Write the release notes for 2.4.0", "Always mention breaking changes first.")
    before = project.fingerprint()

    document = program.json("mine", "--dry-run")
    assert (document["sessions"], document["calls"], document["tokens"]) == (3, 0, 0)
    by_action = {candidate["action"]: candidate for candidate in document["candidates"]}
    assert by_action["extend"]["target"] == str(project.skill_path)
    assert [proof["quote"] for proof in by_action["extend"]["evidence"]] == ["Always mention breaking changes first."]
    assert by_action["create"]["dimensions"] == ["done in 2 sessions, with 2 failed calls"]
    assert len({proof["session"] for proof in by_action["create"]["evidence"]}) == 2
    assert KEY not in str(document)
    assert project.fingerprint() == before

    output = program.run("mine", "--dry-run").stdout
    assert "3 sessions read." in output
    assert "Always mention breaking changes first." in output
    name = by_action["create"]["name"]
    assert f"  its SKILL.md would be:\n    ---\n    name: {name}\n" in output
    assert "\n    1. Run `make squash ONTO=main`.\n" in output
    assert program.json("mine", "--min-turns", "3")["sessions"] == 2
    assert program.json("mine", "--project", str(home))["sessions"] == 0
    assert program.json("mine", "--from", used.path.stem)["sessions"] == 1
    other = json.dumps({"because": [{"session": used.path.stem}]})  # as recommend has it
    for piped, sessions in ((other, 1), (f"{used.path.stem}\nnosuch\n", 1), ("[]", 0)):
        result = program.run("mine", "--dry-run", "--json", "--from", "-", typed=piped)
        assert json.loads(result.stdout)["sessions"] == sessions
    assert program.run("mine", "--from", "-", typed="[1").returncode == 2
    told = program.run("mine", "--from", "nosuch", "--dry-run").stdout
    assert "  not found, or left out by another option: nosuch (to look further back: --since DAYS)\n" in told
    for more in ([], ["--from"]):
        told = program.run("mine", "--from", used.path.stem[:8], *more, "nosuch", "--dry-run").stdout
        assert told.startswith("1 session read.\n  not found, or left out by another option: nosuch (")
    assert program.json("mine", str(used.path))["sessions"] == 1
    assert program.run("mine", "/no/such/folder").returncode == 1
    result = program.run("mine", "--project", "/no/such/folder", "--dry-run")
    assert (result.returncode, "No such folder: /no/such/folder" in result.stderr) == (1, True)
    assert program.run("mine", "--limit", "0").returncode == 2


def test_without_sessions_it_says_where_to_look(home: Path) -> None:
    output = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"}).run("mine", "--dry-run").stdout
    assert output.startswith("0 sessions read.\nLook further back with --since DAYS, or name transcripts")
    asked = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"}).run("mine", "--interactive").stdout
    assert asked == "No sessions to learn from. To look further back: --since DAYS\n"


def test_a_path_without_transcripts_is_named_with_what_was_expected(home: Path, project: Project) -> None:
    program = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"})
    old = Session(home, project)
    old.type("thanks")
    os.utime(old.path, (1_700_000_000, 1_700_000_000))
    (home / "notes").mkdir()
    (home / "notes/a.json").write_text('{"role": "user"}\n')
    for path in (home / "notes", home / "notes/a.json"):
        result = program.run("mine", str(path), "--dry-run")
        assert (result.returncode, result.stdout) == (0, "0 sessions read.\n")
        said = " ".join(result.stderr.split())
        assert said.startswith(f"skilld: ~/{path.relative_to(home)}: no transcript there. Name a session file")
    result = program.run("mine", str(old.path), str(project.root), "--dry-run")
    assert "too old to be read by default. To read them: --since DAYS" in " ".join(result.stderr.split())
    assert program.run("mine", str(old.path), "--dry-run", "--since", "9999").stderr == ""


def test_sessions_without_findings_are_reported_as_such(home: Path, project: Project) -> None:
    Session(home, project).type("thanks")
    output = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"}).run("mine", "--dry-run").stdout
    assert output == "1 session read.\nThere is not enough in these sessions to make a skill.\n"


def test_what_is_better_in_a_project_is_named_with_its_short_path(home: Path) -> None:
    folder = home / "code/shop"
    folder.mkdir(parents=True)
    for _ in range(2):
        Talk(home, folder).type("Always use pnpm in this repo, never npm.")
    output = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"}).run("mine", "--dry-run").stdout
    assert output.endswith("skill:\n  - Always use pnpm in this repo, never npm.  \u2013 ~/code/shop\n")


def test_an_extension_keeps_each_lesson_with_its_own_words(home: Path, project: Project) -> None:
    program = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"})
    used = Session(home, project)
    used.use_skill()
    said = ("Always mention breaking changes first.", "From now on, name the migration for each change.")
    used.type("Write the release notes for 2.4.0", *said)
    assert program.run("mine").returncode == 0
    store = Store.open(home / ".local/state/skilld/skilld.db")
    (proposal,) = store.proposals.all()
    store.close()
    assert [one.quote for one in proposal.updates] == [*said]
    message = project.git("log", "-1", "--format=%B", "skilld/staging")
    assert all(quote in " ".join(message.replace("> ", "").split()) for quote in said)
