"""The verbs of `skilld skills` on skills and paths that are odd: each says what is wrong, and none ends in a bug."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from support.live_project import Project, folder_contents
from support.program import Program
from support.repos import Person
from support.session import Session

TEXT = "---\nname: {0}\ndescription: About {0}.\n---\n\n- Do it.\n"


@pytest.fixture
def program(home: Path) -> Program:
    return Program(home)


@pytest.fixture
def skills(home: Path) -> Path:
    folder = home / ".claude/skills"
    folder.mkdir(parents=True)
    return folder


def _add(skills: Path, name: str, data: bytes | None = None) -> Path:
    file = skills / name / "SKILL.md"
    file.parent.mkdir()
    file.write_bytes(TEXT.format(name).encode() if data is None else data)
    return file


def _odd(skills: Path) -> dict[str, str]:
    """Make skills that cannot be used; return what is wrong with each."""
    _add(skills, "huge", b"a" * 1_500_000)
    (skills / "folder/SKILL.md").mkdir(parents=True)
    (skills / "pipe").mkdir()
    os.mkfifo(skills / "pipe/SKILL.md")
    (skills / "renamed").mkdir()
    (skills / "notes.md").write_text("Notes.\n")
    (skills / "renamed/SKILL.md").symlink_to(skills / "notes.md")
    (skills / "broken").symlink_to("nowhere")
    (skills / "circle").symlink_to("circle")
    return {
        "huge": "it is 1500000 bytes; the limit is 1048576",
        "folder": "Is a directory",
        "pipe": "it is not a regular file",
        "renamed": "it is a symlink to a file with another name",
        "broken": "No such file or directory",
        "circle": "Too many levels of symbolic links",
    }


def test_a_skill_that_cannot_be_read_is_named_with_the_reason(program: Program, skills: Path) -> None:
    wrong = _odd(skills)
    _add(skills, "tidy")
    for name, why in wrong.items():
        file = f"~/.claude/skills/{name}/SKILL.md"
        for given in (name, str(skills / name)):
            result = program.run("skills", "show", given)
            assert (result.returncode, result.stderr) == (1, f"skilld: Cannot read the skill: {file}: {why}\n")
    assert program.run("skills", "show", "tiny").stderr == (
        "skilld: No such skill: tiny (did you mean tidy?)\n  List them: skilld skills list\n"
    )


def test_odd_neighbours_keep_no_skill_from_being_used_or_moved(program: Program, skills: Path) -> None:
    _odd(skills)
    os.mkdir(os.fsencode(skills) + b"/bad\xff")  # noqa: PTH102 - a name that is not UTF-8
    Path(os.fsdecode(os.fsencode(skills) + b"/bad\xff/SKILL.md")).write_text(TEXT.format("bad"))
    tidy = _add(skills, "tidy up").parent
    before = folder_contents(tidy)
    assert [row["name"] for row in program.json("skills", "list")] == ["tidy up"]
    archived = program.run("skills", "archive", "tidy up")
    assert archived.returncode == 0, archived.stderr
    back = archived.stdout.splitlines()[1].removeprefix("To bring it back: ")
    assert program.run(*shlex.split(back)[1:]).returncode == 0
    deleted = program.run("skills", "delete", "tidy up", "--yes")
    assert deleted.returncode == 0, deleted.stderr
    back = deleted.stdout.splitlines()[1].removeprefix("To get it back: ")
    subprocess.run(back, shell=True, check=True)  # noqa: S602 - as the person pastes it
    assert folder_contents(tidy) == before


def test_the_remedy_for_a_linked_skill_removes_it_from_the_agents_view(program: Program, skills: Path) -> None:
    elsewhere = _add(skills.parent, "tidy").parent
    (skills / "linked one").symlink_to(elsewhere)
    (skills / "file").mkdir()
    (skills / "file/SKILL.md").symlink_to(elsewhere / "SKILL.md")
    (skills / "circle").symlink_to("circle")
    for path in (skills / "linked one", skills / "file", skills / "file/SKILL.md"):
        assert program.json("skills", "show", str(path))["name"] == "tidy"
    for _ in range(2):
        result = program.run("skills", "delete", "tidy", "--yes")
        assert result.returncode == 5
        remedy = result.stderr.splitlines()[1].rpartition(": ")[2]
        subprocess.run(["sh", "-c", remedy], env={**os.environ, "HOME": str(program.home)}, check=True)
    assert program.json("skills", "list") == []
    assert (elsewhere / "SKILL.md").is_file()


def test_a_skill_that_is_archived_or_only_proposed_is_told_from_an_unknown_one(
    program: Program, skills: Path, tmp_path: Path
) -> None:
    _add(skills, "tidy")
    assert program.run("skills", "archive", "tidy").returncode == 0
    theirs = _add(tmp_path, "theirs")
    (row,) = program.json("skills", "import", str(theirs))
    remedies = {"tidy": "To bring it back: skilld skills restore tidy"}
    remedies |= {"theirs": f"To decide: skilld review {row['proposal']}", "other": "List them: skilld skills list"}
    for name, remedy in remedies.items():
        for verb in (("skills", "show", name), ("feedback", name, "--helpful"), ("skills", "delete", name, "--yes")):
            result = program.run(*verb)
            assert (verb, result.returncode, result.stderr.splitlines()[1:]) == (verb, 1, [f"  {remedy}"])


def test_two_skills_deleted_in_one_second_can_both_be_restored(
    program: Program, skills: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skilld.library.archive.time.strftime", lambda *_: "20260105-100000")
    trash = program.home / ".local/share/Trash"
    for text in ("one", "two"):
        _add(skills, "tidy", text.encode())
        assert program.run("skills", "delete", "tidy", "--yes").returncode == 0
    there = {path.name: (path / "SKILL.md").read_text() for path in (trash / "files").iterdir()}
    assert there == {"tidy-20260105-100000": "one", "tidy-20260105-100000-2": "two"}
    assert {path.stem for path in (trash / "info").iterdir()} == there.keys()


def test_a_trash_that_cannot_be_used_is_named_and_the_skill_stays(program: Program, skills: Path) -> None:
    before = folder_contents(_add(skills, "tidy").parent)
    trash = program.home / ".local/share/Trash"
    trash.parent.mkdir(parents=True, exist_ok=True)
    trash.write_text("no folder\n")
    result = program.run("skills", "delete", "tidy", "--yes")
    assert (result.returncode, result.stderr) == (
        1,
        "skilld: The skill was not deleted: ~/.local/share/Trash/files: Not a directory\n",
    )
    trash.unlink()
    trash.mkdir()
    (trash / "info").write_text("no folder\n")
    result = program.run("skills", "delete", "tidy", "--yes")
    assert (result.returncode, result.stderr) == (
        1,
        "skilld: The skill was not deleted: ~/.local/share/Trash/info: File exists\n",
    )
    assert folder_contents(skills / "tidy") == before


@pytest.mark.parametrize("verb", [("export",), ("share", "--to", ".", "--yes")])
def test_a_skill_that_is_no_text_is_neither_exported_nor_shared(
    program: Program, skills: Path, verb: tuple[str, ...]
) -> None:
    done = "exported" if verb[0] == "export" else "shared"
    odd = {"latin": b"---\nname: latin\n---\n\ncaf\xe9\n", "nul": b"a\0b\n", "open": b"---\nname: open\n"}
    for name, data in odd.items():
        _add(skills, name, data)
        result = program.run("skills", verb[0], name, *verb[1:])
        assert (name, result.returncode, result.stdout) == (name, 1, "")
        assert result.stderr.startswith(f"skilld: {name} was not {done}: ")


def test_the_name_of_a_folder_reaches_no_terminal_as_it_is(program: Program, skills: Path) -> None:
    hostile = "evil\x1b[31m\u202e"
    file = _add(skills, hostile)
    (file.parent / "more.md").write_text("More.\n")
    exported = program.run("skills", "export", str(file.parent))
    assert exported.stderr == "skilld: evil\\x1b[31m\\u202e: only its SKILL.md is included, not more.md\n"


def test_a_commit_may_have_a_date_that_no_calendar_has(program: Program, project: Project) -> None:
    with project.skill_path.open("a") as file:
        file.write("- Be brief.\n")
    project.git("commit", "--quiet", "--all", "--message=Brief", "--date=@99999999999999 +0000")
    folder = str(project.skill_path.parent)
    assert "  9999-12-30  Brief\n" in program.run("skills", "history", folder).stdout
    assert program.json("skills", "history", folder)[0]["at"] == "9999-12-30T23:59:59Z"


def test_sharing_that_is_only_tried_writes_nothing(program: Program, skills: Path, tmp_path: Path) -> None:
    _add(skills, "tidy")
    Person(tmp_path).git("init", "--quiet", "--bare", "hub")
    before = folder_contents(program.home)
    shared = program.run("skills", "share", "tidy", "--to", str(tmp_path / "hub"), "--dry-run")
    assert shared.returncode == 0, shared.stderr
    assert "Branch skilld/share/tidy for" in shared.stdout
    assert program.run("skills", "share", "tidy", "--to", str(tmp_path / "hub")).returncode == 5
    unknown = program.run("skills", "share", "tidy", "--to", "origin", "--yes")
    assert unknown.returncode == 2
    assert unknown.stderr.endswith("  Name the URL or folder of a repository: --to URL\n")
    assert program.run("skills", "restore", "nosuch").returncode == 1
    assert folder_contents(program.home) == before


def test_a_kind_has_a_short_name_in_a_list_as_in_an_import(program: Program, skills: Path) -> None:
    for name, kind in (("plain", ""), ("steps", "workflow"), ("greet", "prompt-template")):
        _add(skills, name, f"---\nname: {name}\nmetadata:\n  skilld-kind: {kind}\n---\n\nDo it.\n".encode())
    named = {"prompt": "greet", "prompt-template": "greet", "workflow": "steps", "skill": "plain"}
    for kind, name in named.items():
        assert [row["name"] for row in program.json("skills", "list", "--type", kind)] == [name]


def test_a_task_that_would_not_be_recorded_is_refused(program: Program) -> None:
    result = program.run("record", "fix the login", "--stats")
    assert (result.returncode, result.stdout) == (2, "")
    assert "Nothing was recorded: --stats takes no task" in result.stderr


def test_an_unknown_session_is_answered_with_one_that_exists(program: Program, project: Project) -> None:
    empty = program.run("skills", "test", str(project.skill_path.parent), "--session", "nosuch")
    assert (empty.returncode, empty.stderr.splitlines()[1:]) == (1, ["  To see why: skilld doctor"])
    session = Session(program.home, project)
    session.type("Write the notes.")
    result = program.run("feedback", str(project.skill_path.parent), "--helpful", "--session", "nosuch")
    assert (result.returncode, result.stderr.splitlines()[1:]) == (1, [f"  For example: --session {session.path.stem}"])


TYPED_PATHS = (
    *(("recommend", "x", "--project"), ("suggest", "--project"), ("skills", "list", "--project"), ("trim",)),
    *(("skills", "profile", "--project"), ("skills", "import", "x", "--project"), ("record", "x", "--project")),
    *(("learnings", "--project"), ("mine", "--dry-run", "--project"), ("mine", "--dry-run"), ("effect",), ("why",)),
    *(("sync", "--all", "--project"), ("git", "log", "--root"), ("skills", "import"), ("skills", "show")),
    *(("skills", "share", "tidy", "--dry-run", "--to"), ("skills", "export", "tidy", "-o"), ("context", "--project")),
)


@pytest.mark.parametrize("path", ["circle", "~nosuchuser/x", "a" * 5000])
def test_a_path_that_leads_nowhere_is_an_error_and_no_bug(program: Program, skills: Path, path: str) -> None:
    (program.home / "circle").symlink_to("circle")
    _add(skills, "tidy")
    results = {verb: program.run(*verb, path) for verb in TYPED_PATHS}
    assert [verb for verb, result in results.items() if result.returncode not in {0, 1, 2, 5}] == []
    assert [verb for verb, result in results.items() if "Internal error" in result.stderr] == []
    page = program.run("report", "--html", "~nosuchuser/x")
    assert (page.returncode, "No such file or folder: ~nosuchuser/x" in page.stderr) == (1, True)
