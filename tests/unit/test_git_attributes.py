"""Whether git filters a file, as git itself tells; in doubt it does."""

import os
import subprocess
from pathlib import Path

import pytest

from skilld.git import attributes
from skilld.git.attributes import is_filtered, storage_refusal
from skilld.git.errors import RepoRefusedError
from support.repos import Person, isolate_git
from support.rows import for_each

PATH = "my skills/[a]/SKILL.md"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    isolate_git(monkeypatch, tmp_path / "home")
    subprocess.run(["git", "init", "--quiet", tmp_path / "work"], check=True)
    return tmp_path / "work"


@for_each(
    ("text", "expected"),
    [
        ("*.md filter=lfs", True),
        ("SKILL.md filter", True),
        ('"my skills/*/SKILL.md" filter=x', True),
        ("[attr]big filter=lfs -text\n*.md big", True),
        ("*.md -filter\n*.md filter=x", True),
        ("*.md filter=x\nSKILL.md -filter", False),
        ("*.md filter=x\n*.md !filter", False),
        ("*.md diff=markdown text eol=lf", False),
        ("*.txt filter=x", False),
    ],
)
def test_only_the_attribute_filter_counts(text: str, expected: bool, repository: Path) -> None:  # noqa: FBT001
    (repository / ".gitattributes").write_text(text + "\n")
    assert is_filtered(repository, PATH) is expected


def test_attributes_of_the_person_of_folders_and_of_the_repository_apply(repository: Path) -> None:
    (repository.parent / "mine").write_text("*.md filter=x\n")
    assert not is_filtered(repository, PATH)
    Person(repository).git("config", "--global", "core.attributesFile", str(repository.parent / "mine"))
    assert is_filtered(repository, PATH)
    (repository / PATH).parent.mkdir(parents=True)
    (repository / PATH).with_name(".gitattributes").write_text("SKILL.md -filter\n")
    assert not is_filtered(repository, PATH)
    (repository / ".git/info").mkdir(exist_ok=True)
    (repository / ".git/info/attributes").write_text("SKILL.md filter=y\n")
    assert is_filtered(repository, PATH)


def test_it_is_known_in_a_linked_work_tree_and_for_the_work_tree_alone(repository: Path) -> None:
    """What the repository's settings say of its work tree does not count."""
    person = Person(repository)
    person.commit("first", {".gitattributes": "*.md filter=x\n"})
    person.git("worktree", "add", "--quiet", "../linked")
    assert is_filtered(repository.parent / "linked", PATH)
    person.git("config", "core.worktree", str(repository.parent))
    assert is_filtered(repository, PATH)


def test_no_program_of_the_repository_runs(repository: Path) -> None:
    hook = repository.parent / "hook"
    hook.write_text(f"#!/bin/sh\ntouch {repository.parent}/ran\n")
    hook.chmod(0o755)
    person = Person(repository)
    person.commit("first", {".gitattributes": "*.md filter=x\n"})
    for name in ("core.fsmonitor", "filter.x.clean", "filter.x.smudge"):
        person.git("config", name, str(hook))
    (repository.parent / "ran").unlink(missing_ok=True)
    assert is_filtered(repository, PATH)
    assert not (repository.parent / "ran").exists()


def test_another_users_repository_is_asked_too(repository: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    (repository / ".gitattributes").write_text("*.md filter=x\n")
    os.chown(repository, 12345, 12345)
    os.chown(repository / ".git", 12345, 12345)
    assert is_filtered(repository, PATH)


def test_what_takes_git_too_long_counts_as_filtered(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attributes, "_SECONDS", 0.5)
    (repository / ".gitattributes").write_text(f"**/{'*a' * 30}b filter=lfs\n")
    assert is_filtered(repository, f"skills/{'a' * 200}/SKILL.md")


@pytest.mark.parametrize("name", [".gitattributes", "my skills/.gitattributes", ".git/info/attributes"])
def test_a_file_that_git_would_wait_for_is_refused(name: str, repository: Path) -> None:
    (repository / name).parent.mkdir(exist_ok=True)
    os.mkfifo(repository / name)
    with pytest.raises(RepoRefusedError, match="is not a regular file"):
        is_filtered(repository, PATH)


def test_where_git_cannot_tell_nothing_is_said_of_filters(repository: Path) -> None:
    (repository / ".git/config").write_text("[core\n")
    with pytest.raises(RepoRefusedError, match="Cannot read the repository's attributes: fatal: bad config line"):
        is_filtered(repository, PATH)
    (repository / "SKILL.md").write_text("# Release\n")
    assert storage_refusal(repository / "SKILL.md") == ""
