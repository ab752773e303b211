from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skilld.git import environment, objects, tree
from skilld.git.environment import git_program, person_variables, scrub_environment
from skilld.git.errors import GitFailedError, GitMissingError, GitTimeoutError
from skilld.git.objects import Ident
from skilld.git.repo import open_repo
from skilld.git.run import Git, PersonGit, execute
from skilld.git.session import shared_git
from support.repos import SKILL, Person


@pytest.mark.parametrize(
    "args",
    [
        ("push",),
        ("checkout", "main"),
        ("status",),
        ("gc",),
        ("update-ref", "refs/heads/x", "HEAD"),
        ("hash-object", "-w", "--stdin"),
        ("blame", "HEAD", "--", "README.md"),
        ("config", "user.name", "x"),
    ],
)
def test_an_unlisted_git_command_is_not_run(person: Person, args: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="not allowed"):
        Git(person.root).call(*args)


@pytest.mark.parametrize("command", ["push", "checkout", "reset", "clean", "update-ref", "commit-tree"])
def test_only_a_few_git_commands_may_run_as_the_person(person: Person, command: str) -> None:
    with pytest.raises(ValueError, match=command):
        PersonGit(person.root).call(command)


def test_what_is_added_can_be_read_before_it_is_written(person: Person) -> None:
    repo = open_repo(person.root)
    git, who = repo.git, Ident("Pat", "pat@example.org", 1_700_000_000)
    top = tree.rewrite_tree(git, repo.head, {SKILL: tree.Entry("100644", git.add("blob", b"new\n"))})
    commit = objects.add_commit(git, tree=top, parents=[repo.head], message=b"added\n", author=who, committer=who)
    read = objects.read_commit(git, commit)
    assert read is not None
    assert (read.tree, read.parents, read.text) == (top, (repo.head,), "added\n")
    texts = {path: objects.read_blob(git, commit, path) for path in (SKILL, "README.md", "skills/none", f"{SKILL}/x")}
    assert texts == {SKILL: b"new\n", "README.md": b"read me\n", "skills/none": None, f"{SKILL}/x": None}
    assert tree.changed_files(git, repo.head, commit).keys() == {SKILL}
    assert person.git("cat-file", "-t", commit, check=False) == ""
    git.write()
    assert person.git("cat-file", "-t", commit) == "commit"
    assert person.git("fsck", "--strict", "--no-dangling") == ""


def test_what_an_id_names_is_read_once_in_a_command_and_a_ref_each_time(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = person.tip()
    with shared_git():
        git = open_repo(person.root).git
        assert objects.read_blob(git, first, "README.md") == b"read me\n"
        second = person.commit("second", {"README.md": "two\n"})
        assert objects.read_blob(git, "HEAD", "README.md") == b"two\n"
        with monkeypatch.context() as patched:
            patched.setattr(git, "_query", pytest.fail)
            assert objects.read_blob(git, first, "README.md") == b"read me\n"
    (person.root / ".git/objects" / first[:2] / first[2:]).unlink()
    with shared_git():
        git = open_repo(person.root).git
        assert objects.read_commits(git, [first, second])[0] is None, "another command looks again"


def test_failures_have_types(person: Person) -> None:
    with pytest.raises(GitFailedError) as failed:
        Git(person.root).run("cat-file", "blob", "HEAD:none")
    assert failed.value.status == 128
    with pytest.raises(GitFailedError, match="No such file"):
        Git(person.root / "none").run("rev-parse", "HEAD")


@pytest.mark.parametrize("script", ["exec sleep 90", "sleep 90", "(sleep 90; true) & wait"])
def test_a_slow_git_is_killed_with_all_that_it_started(
    person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(f"#!/bin/sh\n{script}\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    begun = time.monotonic()
    with pytest.raises(GitTimeoutError):
        Git(person.root).call("rev-parse", "HEAD", seconds=0.3)
    assert time.monotonic() - begun < 60, "whatever holds its output is waited for"


def test_what_ssh_says_is_shown_without_escapes(person: Person) -> None:
    said = execute(["sh", "-c", r"printf 'ssh: refused\r\nfatal: no \033[1m\n' >&2; exit 7"], person.root, {}, None, 20)
    assert (said.status, said.err) == (7, "ssh: refused\nfatal: no \\x1b[1m")


def test_stdin_is_closed_unless_input_is_given(person: Person) -> None:
    assert Git(person.root).run("cat-file", "--batch") == b""


def test_git_is_never_looked_up_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = tmp_path / "git"
    planted.write_text("#!/bin/sh\n")
    planted.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ":.:relative")
    with pytest.raises(GitMissingError):
        git_program()


def test_scrubbing_removes_all_git_variables_and_gives_back_the_persons(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    given = {"GIT_DIR": "/x", "GIT_COMMITTER_NAME": "Pat", "GIT_TRACE": "/x", "GIT_SSH_COMMAND": "ssh -v"}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GIT_PYTHON_GIT_EXECUTABLE", "/x")
    monkeypatch.setenv("GIT_PYTHON_REFRESH", "raise")
    scrub_environment()
    scrub_environment()
    assert not [name for name in os.environ if name.startswith("GIT_")]
    kept = person_variables()
    assert (kept["GIT_COMMITTER_NAME"], kept["GIT_SSH_COMMAND"]) == ("Pat", "ssh -v")
    assert not {"GIT_DIR", "GIT_TRACE", "GIT_PYTHON_GIT_EXECUTABLE"} & kept.keys()


def test_the_list_of_redirecting_variables_matches_git() -> None:
    listed = subprocess.run(["git", "rev-parse", "--local-env-vars"], capture_output=True, text=True, check=True)
    chosen = {"GIT_CONFIG_COUNT"}  # how a person passes settings on; it names no repository
    assert set(listed.stdout.split()) - chosen <= environment._REPOSITORY_VARIABLES


def test_a_missing_git_is_reported_in_words(person: Person) -> None:
    code = (
        "import os\nfrom pathlib import Path\nos.environ['PATH'] = '/nowhere'\n"
        "from skilld.git.run import Git\nfrom skilld.git.errors import GitMissingError\n"
        "try:\n    Git(Path('.')).call('rev-parse', 'HEAD')\n"
        "except GitMissingError as error:\n    print(error.remedy)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        env={"HOME": str(person.root), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.stdout, result.stderr) == ("Install git 2.36 or newer.\n", "")
