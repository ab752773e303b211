"""Where `skilld skills share` pushes to: it says so before, also for names and relative paths, and how to import it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.live_project import Project
from support.program import Program
from support.repos import Person

URL = "Name the URL or folder of a repository: --to URL"


class FromFolder(Program):
    """skilld, called in another folder than the home."""

    @contextmanager
    def below(self, folder: Path) -> Iterator[None]:
        """Call it in `folder` while the context lasts."""
        home, self.home = self.home, folder
        yield
        self.home = home


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    """Return an empty bare repository."""
    (tmp_path / "place").mkdir()
    person = Person(tmp_path / "place")
    person.git("init", "--quiet", "--bare", "hub.git")
    return person.root / "hub.git"


@pytest.fixture
def program(home: Path) -> FromFolder:
    file = home / ".claude/skills/tidy/SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nname: tidy\ndescription: Tidies up.\n---\n\nTidy up.\n")
    return FromFolder(home)


def _branches(hub: Path) -> list[str]:
    return Person(hub).git("for-each-ref", "--format=%(refname:short)").split()


def _import_named_in(program: Program, output: str) -> str:
    """Run the command that a share printed for others, under another name; return the path of the new skill."""
    (line,) = (line for line in output.splitlines() if "to import it elsewhere: " in line)
    command = shlex.split(line.partition(": ")[2])[1:]
    (row,) = program.json(*command, "--name", "tidy-again")
    assert row["refused"] == ""
    return str(row["path"])


@pytest.mark.parametrize("given", ["hub.git", "./hub.git", "../place/hub.git"])
def test_a_path_is_relative_to_where_it_is_typed(program: FromFolder, hub: Path, given: str) -> None:
    with program.below(hub.parent):
        shared = program.run("skills", "share", "tidy", "--to", given, "--yes")
    assert shared.returncode == 0, shared.stderr
    assert f"Branch skilld/share/tidy for {hub}, containing only:" in shared.stdout
    assert _branches(hub) == ["skilld/share/tidy"]
    assert _import_named_in(program, shared.stdout).endswith("/tidy-again/SKILL.md")


def test_a_named_remote_is_imported_by_its_address(program: FromFolder, project: Project, hub: Path) -> None:
    project.git("remote", "add", "origin", str(hub))
    shared = program.run("skills", "share", str(project.skill_path.parent), "--to", "origin", "--yes")
    assert shared.returncode == 0, shared.stderr
    assert _branches(hub) == ["skilld/share/release-notes"]
    assert _import_named_in(program, shared.stdout).endswith("/tidy-again/SKILL.md")


def test_a_redirected_address_is_shown_as_where_it_leads(program: FromFolder, hub: Path) -> None:
    Person(program.home).git("config", "--global", f"url.{hub}.insteadOf", "https://example.org/skills")
    for options in (("--dry-run",), ("--yes",)):
        shared = program.run("skills", "share", "tidy", "--to", "https://example.org/skills", *options)
        assert shared.returncode == 0, shared.stderr
        assert f"Branch skilld/share/tidy for {hub}, containing only:" in shared.stdout
        assert os.listdir(hub / "refs/heads") == ([] if options == ("--dry-run",) else ["skilld"])  # noqa: PTH208


def test_a_login_in_an_address_is_not_printed_for_others(program: FromFolder) -> None:
    address = "https://pat:" + "hunter2" + "@example.org/skills.git"
    shared = program.run("skills", "share", "tidy", "--to", address, "--dry-run")
    assert "for https://example.org/skills.git, containing only:" in shared.stdout
    assert "hunter2" not in shared.stdout


def test_what_is_no_remote_is_refused_with_a_remedy(program: FromFolder, project: Project) -> None:
    project.git("remote", "add", "origin", "https://example.org/skills.git")
    fresh = project.root / ".claude/skills/fresh/SKILL.md"
    fresh.parent.mkdir()
    fresh.write_text("---\nname: fresh\ndescription: New.\n---\n\nDo it.\n")
    wrong = {
        ("tidy", ""): "an empty text is not a remote",
        ("tidy", "origin"): "git does not track ~/.claude/skills/tidy/SKILL.md",
        (str(fresh.parent), "origin"): f"git does not track {fresh}",
        ("tidy", "ext::sh -c date"): "this kind of URL runs a program",
    }
    for (name, to), why in wrong.items():
        result = program.run("skills", "share", name, "--to", to, "--yes")
        assert (to, result.returncode, result.stdout) == (to, 2, "")
        assert result.stderr.startswith("skilld: Nothing was shared: ")
        assert why in result.stderr
        assert result.stderr.splitlines()[1:] == [f"  {URL}"]
    named = program.run("skills", "share", "tidy", "--to", str(program.home), "--branch", "a b", "--yes")
    assert (named.returncode, named.stderr.splitlines()[1:]) == (5, ["  Choose another name: --branch NAME"])


def test_only_what_is_new_there_is_said_to_be_pushed(program: FromFolder, hub: Path) -> None:
    share = ("skills", "share", "tidy", "--to", str(hub), "--yes")
    assert f"\nPushed skilld/share/tidy to {hub}.\n" in program.run(*share).stdout
    again = program.run(*share)
    assert again.returncode == 0
    assert f"\n{hub} already has this on skilld/share/tidy.\n" in again.stdout
    assert "Pushed" not in again.stdout
    Person(hub).git("branch", "-D", "skilld/share/tidy")
    assert f"\nPushed skilld/share/tidy to {hub}.\n" in program.run(*share).stdout


def test_a_refused_push_says_why(program: FromFolder, hub: Path) -> None:
    share = ("skills", "share", "tidy", "--to", str(hub), "--yes")
    program.run(*share)
    theirs = Person(hub)
    commit = theirs.git("commit-tree", "-m", "Theirs", "-p", "skilld/share/tidy", "skilld/share/tidy^{tree}").strip()
    theirs.git("update-ref", "refs/heads/skilld/share/tidy", commit)
    file = program.home / ".claude/skills/tidy/SKILL.md"
    file.write_text(f"{file.read_text()}\nThen rest.\n")
    result = program.run(*share)
    assert result.returncode == 1
    assert "Could not push the branch: [rejected] (fetch first)" in result.stderr
