"""`skilld skills`: the library on a home in which two things were taught."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from faults.model import program_with
from skilld.git.managed_repos import track_in_managed
from support.in_process import run_in_process
from support.lessons import HOSTS, LINKS, RULE_LINES, TICKETS, Lessons
from support.program import Program
from support.repos import isolate_git
from support.session import Session
from support.stub_model import StubModel, request_text
from support.taught_project import TaughtProject

TEMPLATE = """\
---
name: greet
description: Greets somebody.
metadata:
  skilld-kind: prompt-template
  skilld-tags: "mail, polite"
---

Greet {{ who }} in {{language}}.
"""


def _skill(folder: Path, text: str = "---\nname: x\ndescription: Mine.\n---\n\n- Say it.\n") -> Path:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text)
    return folder


@pytest.fixture
def library(world: TaughtProject) -> TaughtProject:
    """Return the world with a template of the person's and a skill that is linked into another agent's folder."""
    _skill(world.home / ".claude/skills/greet", TEMPLATE)
    linked = _skill(world.home / ".agents/skills/tidy")
    (world.home / ".claude/skills/tidy").symlink_to(linked)
    world.program = Program(world.home)
    return world


def _names(library: TaughtProject, *options: str) -> list[str]:
    return [row["name"] for row in library.program.json("skills", "list", *options)]


def test_a_name_means_the_work_tree_one_stands_in(world: TaughtProject) -> None:
    """Only of the same file in work trees of one repository: a personal skill of that name is still asked about."""
    tree = world.home / "second"
    world.project.git("worktree", "add", "--quiet", "-b", "second", str(tree))
    places = [
        Program(folder, world.program.environment | {"HOME": str(world.home)}) for folder in (world.project.root, tree)
    ]
    for place in places:
        for verb in ("show", "history"):
            result = place.run("skills", verb, "release-notes")
            assert (result.returncode, result.stderr) == (0, "")
        shown = place.json("skills", "show", "release-notes")
        assert Path(shown["path"]).is_relative_to(place.home)
        listed = [row["path"] for row in place.json("skills", "list") if row["name"] == "release-notes"]
        assert listed == [shown["path"]]
        assert place.json("consolidate", "--dry-run") == []
    elsewhere = world.program.json("skills", "show", "release-notes")["path"]
    assert Path(elsewhere).is_relative_to(world.project.root), "that of the main work tree, as listed"
    _skill(world.home / ".claude/skills/release-notes", TEMPLATE.replace("greet", "release-notes"))
    result = places[1].run("skills", "show", "release-notes")
    assert (result.returncode, "Which skill?" in result.stderr) == (2, True)


def test_what_an_error_says_to_type_works_when_pasted(world: TaughtProject) -> None:
    """Also if two skills share the name, and if a folder has a blank."""
    folder = world.home / "with a blank"
    own = _skill(world.home / ".claude/skills/greet", TEMPLATE)
    other = _skill(folder / ".claude/skills/greet", TEMPLATE)
    here = Program(folder, world.program.environment | {"HOME": str(world.home)})
    subprocess.run(["git", "init", "-q", str(folder)], env=here.environment, check=True)
    error = here.run("skills", "show", "greet").stderr
    assert "Which skill? 2 skills are called greet: " in error
    assert f"{shlex.quote(str(other))} (project)" in error
    assert f"{str(own).replace(str(world.home), '~')} (user)" in error
    notes = _skill(folder / ".claude/skills/release-notes", TEMPLATE.replace("greet", "release-notes"))
    _skill(world.home / ".claude/skills/release-notes", TEMPLATE.replace("greet", "release-notes"))
    subprocess.run(["git", "-C", str(folder), "add", "."], env=here.environment, check=True)
    subprocess.run(["git", "-C", str(folder), "commit", "-qm", "One"], env=here.environment, check=True)
    for given in (str(notes), ".claude/skills/release-notes"):
        result = here.run("skills", "diff", given, "HEAD~99")
        assert (result.returncode, "No such revision: HEAD~99" in result.stderr) == (2, True)
        _, *words = shlex.split(result.stderr.partition("List them: ")[2])
        assert words == ["skills", "history", given]
        assert "One" in here.run(*words).stdout


def test_a_rating_concerns_the_skill_the_session_used(library: TaughtProject) -> None:
    own = _skill(library.home / ".claude/skills/release-notes", TEMPLATE.replace("greet", "release-notes"))
    notes = str(library.project.skill_path)
    session = library.show(library.one)["session_id"]
    result = library.program.run("feedback", "release-notes", "--helpful")
    assert (result.returncode, "Which skill?" in result.stderr) == (2, True)
    told = library.program.run("feedback", "release-notes", "--helpful", "--session", session)
    assert (told.returncode, notes in told.stdout) == (0, True)
    rates = {row["path"]: row["success_rate"] for row in library.program.json("skills", "list")}
    assert (rates[notes], rates[str(own / "SKILL.md")]) == (0.5, None)


def test_each_skill_is_listed_once_with_its_counts(library: TaughtProject) -> None:
    rows = {row["name"]: row for row in library.program.json("skills", "list")}
    assert list(rows) == ["release-notes", "greet", "tidy"]
    notes = rows["release-notes"]
    assert (notes["group"], notes["source"], notes["project"]) == ("evolving", "project", str(library.project.root))
    assert (notes["uses"], notes["corrections"], notes["corrections_per_use"]) == (2, 2, 1.0)
    assert notes["success_rate"] == 0.0
    assert notes["last_used_at"]
    assert {"claude-code", "codex"} <= set(rows["tidy"]["agents"])
    assert (rows["greet"]["kind"], rows["greet"]["tags"], rows["greet"]["uses"]) == (
        "prompt-template",
        ["mail", "polite"],
        0,
    )
    output = Program(library.home).run("skills", "list").stdout
    assert [line.split()[:2] for line in output.splitlines()] == [
        ["evolving", "release-notes"],
        ["user", "greet"],
        ["user", "tidy"],
    ]
    assert "used in 2 sessions, most recently" in output
    assert "went well 0 of 2 times  2 edits proposed from what you said" in output


def test_a_list_can_be_filtered_and_sorted(library: TaughtProject) -> None:
    assert _names(library, "--source", "user") == ["greet", "tidy"]
    assert _names(library, "--source", "evolving") == ["release-notes"]
    assert _names(library, "--type", "prompt-template") == ["greet"]
    assert _names(library, "--tag", "mail", "--tag", "polite") == ["greet"]
    assert _names(library, "--search", "merged changes") == ["release-notes"]
    assert _names(library, "--project", str(library.project.root)) == ["release-notes"]
    assert _names(library, "--sort", "uses", "--limit", "1") == ["release-notes"]
    for narrowed in (("--search", "nosuch"), ("--tag", "nosuch"), ("--type", "workflow")):
        assert library.program.run("skills", "list", *narrowed).stdout == "No skills match.\n"
    assert library.program.run("skills", "list", "--limit", "0").returncode == 2
    assert library.program.run("skills", "list", "--project", "/nosuch").stderr == "skilld: No such folder: /nosuch\n"


def test_a_skill_is_shown_with_the_quotes_behind_it(library: TaughtProject) -> None:
    library.program.run("accept", library.one)
    document = library.program.json("skills", "show", "release-notes")
    assert [(proposal["id"], proposal["state"]) for proposal in document["proposals"]] == [
        (library.one, "accepted"),
        (library.two, "open"),
    ]
    assert document["text"] == library.skill
    printed = library.program.run("skills", "show", "release-notes").stdout
    assert LINKS in printed
    assert re.search(r"^  last used +(?:just now|\d+ minutes? ago)$", printed, re.MULTILINE)
    assert "  path         ~/.claude/skills/greet/SKILL.md\n" in library.program.run("skills", "show", "greet").stdout
    assert printed.endswith(library.skill)


def test_words_said_in_several_sessions_are_shown_once_with_their_number(library: TaughtProject) -> None:
    for _ in range(2):
        Lessons(library.home, library.project, library.program).teach(LINKS)
    library.program.run("accept", library.one)
    shown = library.program.run("skills", "show", "release-notes").stdout
    number = library.skill.splitlines().index(RULE_LINES[LINKS]) + 1
    traced = library.program.run("why", f"{library.project.skill_path}:{number}").stdout
    for printed in (shown, traced):
        said = [line.strip() for line in printed.splitlines() if f"you: \u201c{LINKS}" in line]
        assert said == ["you: \u201cRemember to link every entry to its pull request.\u201d (3 times)"]


def test_the_folder_tells_two_skills_of_one_name_apart(library: TaughtProject) -> None:
    mine = _skill(library.home / ".claude/skills/release-notes", "---\nname: release-notes\n---\n\nMine.\n")
    result = library.program.run("skills", "show", "release-notes")
    assert result.returncode == 2
    assert "; ~/.claude/skills/release-notes (user)" in result.stderr
    assert f"{library.project.skill_path.parent} (project)" in result.stderr
    assert library.program.json("skills", "show", str(mine))["text"].endswith("Mine.\n")
    assert library.program.run("skills", "show", "nosuch").returncode == 1


def test_a_skill_is_found_by_any_path_in_it(library: TaughtProject) -> None:
    folder = library.home / ".claude/skills/greet"
    (folder / "references").mkdir()
    (folder / "references/notes.md").write_text("Be kind.\n")
    for given in ("~/.claude/skills/greet", "references", "references/notes.md", ".", "../SKILL.md", "../../greet/"):
        start = folder / "references" if given.startswith(".") else folder
        shown = run_in_process(["skills", "show", given, "--json"], start, library.program.environment)
        assert json.loads(shown.stdout)["path"] == str(folder / "SKILL.md"), given
    for given in (str(folder.parent), "references/nosuch.md", "../tidy/../nosuch"):
        assert run_in_process(["skills", "show", given], folder, library.program.environment).returncode == 1, given
    for verb in (["delete", "--yes"], ["archive"]):
        refused = library.program.run("skills", *verb, str(folder / "references"))
        assert (refused.returncode, "No such skill" in refused.stderr) == (1, True)
    assert library.program.run("skills", "archive", str(folder)).returncode == 0
    library.program.run("accept", library.one)
    listed = library.program.run("why", str(library.project.skill_path.parent)).stdout
    assert listed.startswith(f"{library.project.skill_path}:")
    restored = library.program.run("skills", "restore", str(folder))
    assert restored.stdout == "Restored greet: ~/.claude/skills/greet\n"
    assert (folder / "references/notes.md").read_text() == "Be kind.\n"


def test_the_history_is_the_one_of_git(library: TaughtProject) -> None:
    first = library.project.git("rev-parse", "HEAD~1")
    library.program.run("accept", library.one)
    newest, oldest = library.program.json("skills", "history", "release-notes")
    assert (newest["commit"], newest["proposals"]) == (library.project.git("rev-parse", "HEAD"), [library.one])
    assert (oldest["commit"], oldest["subject"]) == (first, "Add the release-notes skill")

    def diff(*since: str) -> str:
        return library.program.run("skills", "diff", "release-notes", *since).stdout

    assert diff() == "No uncommitted changes.\n"
    assert f"+{RULE_LINES[LINKS]}\n" in diff(first)
    library.project.skill_path.write_text(library.skill + "\n- Mine.\n")
    assert "+- Mine.\n" in diff()
    assert library.program.run("skills", "diff", "release-notes", "nosuch").returncode == 2


def test_untracked_skills_have_a_history_from_their_first_proposal(
    library: TaughtProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolate_git(monkeypatch, library.home)
    assert library.program.run("skills", "history", "greet").returncode == 1
    folder = library.home / ".claude/skills"
    track_in_managed(folder / "greet/SKILL.md", library.home / ".local/share/skilld/repos")
    assert len(library.program.json("skills", "history", "greet")) == 1
    (folder / "greet/SKILL.md").write_text(TEMPLATE + "\nBe brief.\n")
    assert "+Be brief.\n" in library.program.run("skills", "diff", "greet").stdout


def test_a_template_is_filled_in_and_printed_verbatim(library: TaughtProject) -> None:
    def use(*options: str) -> tuple[int, str]:
        result = library.program.run("skills", "use", "greet", *options)
        return result.returncode, result.stdout + result.stderr

    assert use("--var", "who=Ada {{language}}", "--var", "language=a\tb=c") == (
        0,
        "Greet Ada {{language}} in a\tb=c.\n",
    )
    code, said = use("--var", "who=Ada")
    assert (code, "language" in said) == (2, True)
    assert use("--var", "who=Ada", "--var", "language=x", "--var", "mood=y")[0] == 2
    assert use("--var", "who")[0] == 2
    assert library.program.run("skills", "use", "tidy").stdout == "- Say it.\n"
    tidy = library.home / ".claude/skills/tidy/SKILL.md"
    tidy.write_text(tidy.read_text() + "- Tag {{version}}.\n")
    assert library.program.run("skills", "use", "tidy").stdout == "- Say it.\n- Tag {{version}}.\n"
    assert library.program.run("skills", "use", "tidy", "--var", "version=2").stdout == "- Say it.\n- Tag 2.\n"
    tidy.write_text(tidy.read_text() + "- Tell {{team}}.\n")
    result = library.program.run("skills", "use", "tidy", "--var", "version=2")
    assert (result.returncode, result.stdout) == (2, "")
    assert "A variable is missing: team\n  skilld skills use tidy --var version=2 --var team=...\n" in result.stderr


def test_deleting_asks_and_moves_to_the_trash(library: TaughtProject) -> None:
    folder = library.home / ".claude/skills/greet"
    assert library.program.run("skills", "delete", "greet", typed="y\n").returncode == 5  # there is nobody to ask
    assert folder.exists()
    library.program.environment["CLAUDECODE"] = "1"
    assert library.program.run("skills", "delete", "greet", "--yes").returncode == 5
    del library.program.environment["CLAUDECODE"]
    assert library.program.run("skills", "delete", "tidy", "--yes").returncode == 5  # a link would lead nowhere
    result = library.program.run("skills", "delete", "greet", "--yes")
    assert (result.returncode, folder.exists()) == (0, False)
    back = result.stdout.splitlines()[-1].removeprefix("To get it back: ")
    subprocess.run(back, shell=True, check=True)  # noqa: S602 - as the person pastes it
    assert (folder / "SKILL.md").read_text() == TEMPLATE
    assert [*(library.home / ".local/share/Trash").rglob("*.trashinfo")] == []


def test_deleting_uncommitted_files_is_refused(library: TaughtProject) -> None:
    folder = library.project.skill_path.parent
    (folder / "notes.txt").write_text("mine")
    result = library.program.run("skills", "delete", "release-notes", "--yes")
    assert (result.returncode, folder.exists()) == (5, True)
    assert "uncommitted changes" in result.stderr
    (folder / "notes.txt").unlink()
    assert library.program.run("skills", "delete", "release-notes", "--yes").returncode == 0
    assert not folder.exists()


def test_a_disabled_skill_is_offered_to_no_agent(library: TaughtProject) -> None:
    def offered_skills() -> list[bool]:
        project = ("--project", str(library.project.root))
        synced = library.program.json("sync", "--agent", "codex", "--dry-run", *project)
        suggested = library.program.json("suggest", *project)["skills"]
        recommended = library.program.json("recommend", "write the release notes", *project)
        return [synced[0]["change"] == "created", bool(suggested), "release-notes" in str(recommended)]

    assert offered_skills() == [True, True, True]
    below = library.project.root / "packages/web"
    below.mkdir(parents=True)
    for verb in (("suggest",), ("recommend", "write the release notes")):  # as the agent that is started there
        assert "release-notes" in str(library.program.json(*verb, "--project", str(below)))
    before = library.project.fingerprint()
    library.program.run("skills", "disable", "release-notes")
    assert offered_skills() == [False, False, False]
    assert library.project.fingerprint() == before
    marks = {row["name"]: row["marks"] for row in library.program.json("skills", "list")}
    assert marks == {"release-notes": ["disabled"], "greet": [], "tidy": []}
    assert library.program.run("skills", "disable").returncode == 2
    assert library.program.run("skills", "disable", "--custom").stdout == "2 skills disabled.\n"
    library.program.run("skills", "enable", "--all")
    assert offered_skills() == [True, True, True]


def test_a_skill_is_tested_against_a_sessions_statements(library: TaughtProject) -> None:
    session = next(item["session_id"] for item in library.program.json("proposals") if item["id"] == library.two)

    def test() -> tuple[int, list[tuple[str, str]]]:
        result = library.program.run("skills", "test", "release-notes", "--session", session, "--json")
        return result.returncode, [(answer["word"], answer["quote"]) for answer in json.loads(result.stdout)["answers"]]

    assert test() == (1, [("not_covered", TICKETS), ("not_covered", HOSTS)])
    style = "\n## Style\n\n- Always put the ticket number last in each entry.\n"
    library.project.skill_path.write_text(library.skill.replace("\n## Style\n", style) + f"{RULE_LINES[HOSTS]}\n")
    assert test() == (1, [("contradicts", TICKETS), ("covered", HOSTS)])
    output = library.program.run("skills", "test", "release-notes", "--session", session).stdout
    assert "the skill says: Always put the ticket number last in each entry." in output
    library.project.skill_path.write_text(library.skill.replace("number last", "number first"))
    assert test() == (0, [("covered", TICKETS), ("covered", HOSTS)])
    output = library.program.run("skills", "test", "release-notes", "--session", session).stdout
    assert f"the skill says: {RULE_LINES[HOSTS][2:]}" in output
    assert "Judged by the offline rules" in output
    assert library.program.run("skills", "test", "tidy", "--session", session).returncode == 0
    assert library.program.run("skills", "test", "tidy", "--session", session[:8]).returncode == 0
    assert library.program.run("skills", "test", "tidy", "--session", "nosuch").returncode == 1
    (library.project.root / ".skilld.toml").write_text("enabled = false\n")
    assert library.program.run("skills", "test", "tidy", "--session", session).returncode == 5


def test_without_audible_statements_coverage_is_unknown(library: TaughtProject) -> None:
    """M3: a model that hears nothing is believed, the rules are not."""
    talk = Session(library.home, library.project)
    talk.type("the notes read a bit long to me", "thanks")
    asked = ("skills", "test", "release-notes", "--session", talk.path.stem)
    result = library.program.run(*asked, "--json")
    told = json.loads(result.stdout)
    assert (result.returncode, told["covered"], told["backend"]) == (1, None, "offline")
    assert "found no lasting instructions in your 2 messages" in told["reason"]
    assert "cannot tell" in library.program.run(*asked).stdout
    used = Session(library.home, library.project, "used")
    used.use_skill("release-notes")
    used.type("Always answer me in German.")
    told = library.program.run("skills", "test", "release-notes", "--session", used.path.stem, "--json")
    assert (told.returncode, json.loads(told.stdout)["covered"]) == (1, None), "it may be about the skill in use"
    printed = library.program.run("skills", "test", "release-notes", "--session", used.path.stem).stdout
    other = "1 lasting instruction seems to be about something else:\n  - Always answer me in German.\n"
    assert f"{other}    you: \u201cAlways answer me in German.\u201d\n" in printed
    with StubModel() as model:
        library.program = program_with(library.home, model)
        model.queue("<updates>[]</updates>", "<updates>[]</updates>")
        result = library.program.run(*asked)
    assert (result.returncode, "Judged by openai/stub." in result.stdout) == (0, True)


def test_a_model_is_asked_within_the_budget_and_billed(library: TaughtProject) -> None:
    session = next(item["session_id"] for item in library.program.json("proposals") if item["id"] == library.one)
    update = {"skill": 1, "section": "Style", "change": RULE_LINES[LINKS][2:], "reason": "", "kind": "preference"}
    update |= {"turn": 2, "quote": LINKS, "confidence": 0.9}
    found, nothing = f"<updates>{json.dumps([update])}</updates>", "<updates>[]</updates>"
    with StubModel() as model:
        library.program = program_with(library.home, model)
        model.queue(found, nothing)
        tested = library.program.json("skills", "test", "release-notes", "--session", session)
        assert [(answer["word"], answer["change"]) for answer in tested["answers"]] == [
            ("covered", RULE_LINES[LINKS][2:])
        ]
        bare, whole = (request_text(body) for body in model.bodies)
        assert ("Past tense" in bare, "Past tense" in whole) == (False, True)
        assert (tested["calls"], tested["tokens"]) == (2, 220)
        model.queue(nothing, nothing)
        said = library.program.run("skills", "test", "release-notes", "--session", session).stderr
        assert said.startswith("Asking openai/stub about what you said in that session. Today's budget leaves 58 calls")
        library.program.environment["SKILLD_BUDGET__CALLS"] = "2"
        result = library.program.run("skills", "test", "release-notes", "--session", session)
        assert (result.returncode, len(model.bodies)) == (1, 4)
        assert "today's budget is spent" in result.stderr
        assert "Asking" not in result.stderr


def test_a_profile_summarizes_everything_taught(library: TaughtProject) -> None:
    library.program.run("accept", library.one)
    document = library.program.json("skills", "profile")
    assert (document["total"], document["in_skills"], document["sessions"]) == (3, 1, 2), "one has two parts"
    assert library.program.json("report")["taught"]["total"] == document["total"]
    assert {one["id"] for one in document["top"]} == {library.one, library.two}
    assert RULE_LINES[LINKS][2:] in library.program.run("skills", "profile").stdout
    assert library.program.json("skills", "profile", "--project", str(library.home))["total"] == 0
