"""What the person's hooks, filters and signing program see in a decision of skilld's, compared with their own git."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from skilld.errors import RefusedError
from skilld.git.managed_repos import person_git
from skilld.git.remote import push
from skilld.git.repo import open_repo
from skilld.git.run import literal
from skilld.proposals import cherry_pick
from skilld.proposals.model import CommitMethod
from support.repos import SKILL, TEXT, Harness, Person, harness_with, insert_below, isolate_git, snapshot

DRY = insert_below("- Run the tests.", "- Do a dry run.")
HOOKS = (
    *("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"),
    *("reference-transaction", "post-index-change", "pre-push"),
)
OF_THE_RUN = {
    "_",
    "PWD",
    "OLDPWD",
    "SHLVL",
    "GIT_INDEX_FILE",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_DATE",
    "GIT_REFLOG_ACTION",
}
MESSAGE = "skilld\n"


def dumping(folder: Path, name: str, then: str = "") -> str:
    return f'#!/bin/sh\nenv > "{folder}/{name}"\n{then}\n'


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    folder = tmp_path / "dumps"
    folder.mkdir()
    return folder


@pytest.fixture
def watched(templates: Path, tmp_path: Path, dumps: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
    """Return a harness whose person has hooks, a filter and a signing program that write down their environment."""
    isolate_git(monkeypatch, tmp_path / "home")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("LANGUAGE", "en")
    harness = harness_with({"p1": DRY}, templates / "one", tmp_path)
    person = harness.person
    for name in HOOKS:
        person.write(f".git/hooks/{name}", dumping(dumps, name)).chmod(0o755)
    signs = "cat > /dev/null\nprintf '\\n[GNUPG:] SIG_CREATED \\n' >&2\necho signed"
    gpg = person.write(".git/gpg", dumping(dumps, "gpg", signs))
    clean = person.write(".git/clean", dumping(dumps, "filter", "cat"))
    for program in (gpg, clean):
        program.chmod(0o755)
    person.write(".git/info/attributes", "README.md filter=mine\n")
    for key, value in {
        "filter.mine.clean": str(clean),
        "gpg.program": str(gpg),
        "commit.gpgSign": "true",
        "user.signingKey": "ABCD",
    }.items():
        person.git("config", key, value)
    return harness


def read_dumps(dumps: Path) -> dict[str, dict[str, str]]:
    """Return the environment that each program saw, and forget it."""
    found = {}
    for file in dumps.iterdir():
        rows = (line.partition("=") for line in file.read_text().splitlines())
        found[file.name] = {name: value for name, _, value in rows if name not in OF_THE_RUN}
        file.unlink()
    return found


def plain(person: Person, *args: str) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    git = shutil.which("git") or "git"
    subprocess.run([git, *args], cwd=person.root, env=env, input=MESSAGE, text=True, check=True, capture_output=True)


def make_stale(person: Person) -> None:
    """Make git look at a file again, through its filter."""
    file = person.root / "README.md"
    os.utime(file, (1, file.stat().st_mtime - 1))


def same(ours: dict[str, dict[str, str]], theirs: dict[str, dict[str, str]]) -> None:
    assert ours.keys() == theirs.keys()
    for name, seen in ours.items():
        assert seen == theirs[name] | {"GIT_TERMINAL_PROMPT": "0"}, name


def test_an_accept_and_a_revert_look_like_the_persons_own(watched: Harness, dumps: Path) -> None:
    person = watched.person
    start, wanted = person.tip(), watched.proposals["p1"].commit
    make_stale(person)
    plain(person, "cherry-pick", wanted)
    theirs = read_dumps(dumps)
    assert {"prepare-commit-msg", "post-commit", "reference-transaction", "gpg", "filter"} <= theirs.keys()
    make_stale(person)
    plain(person, "revert", "--no-edit", "HEAD")
    theirs_reverting = read_dumps(dumps)
    person.git("reset", "--hard", "--quiet", start)
    read_dumps(dumps)
    make_stale(person)
    watched.accept("p1")
    same(read_dumps(dumps), theirs)
    make_stale(person)
    watched.revert("p1")
    same(read_dumps(dumps), theirs_reverting)


def test_a_commit_beside_staged_work_looks_like_the_persons_own(watched: Harness, dumps: Path) -> None:
    person = watched.person
    person.write("src/app.py", "print(2)\n")
    person.git("add", "src/app.py")
    read_dumps(dumps)
    make_stale(person)
    watched.accept("p1")
    ours = read_dumps(dumps)
    person.write(SKILL, person.skill.read_text() + "More.\n")
    make_stale(person)
    plain(person, "commit", "--quiet", "--only", "--file=-", "--author=skilld <skilld@localhost>", "--", SKILL)
    theirs = read_dumps(dumps)
    assert {"pre-commit", "commit-msg", "gpg"} <= theirs.keys()
    same(ours, theirs)


@pytest.mark.parametrize("staged", [False, True])
def test_a_hook_finds_files_by_pattern(watched: Harness, tmp_path: Path, staged: bool) -> None:  # noqa: FBT001
    """A check of the changed files must not be shown none."""
    person, out = watched.person, tmp_path / "seen"
    name = "pre-commit" if staged else "post-commit"
    command = "git diff --cached" if staged else "git diff HEAD^ HEAD"
    person.write(f".git/hooks/{name}", f'#!/bin/sh\n{command} --name-only -- "*.md" > "{out}"\n').chmod(0o755)
    if staged:
        person.write("src/app.py", "print(2)\n")
        person.git("add", "src/app.py")
    watched.accept("p1")
    assert out.read_text() == f"{SKILL}\n"


def test_a_push_looks_like_the_persons_own(watched: Harness, dumps: Path, tmp_path: Path) -> None:
    person = watched.person
    person.git("init", "--quiet", "--bare", str(tmp_path / "origin.git"))
    person.git("remote", "add", "origin", str(tmp_path / "origin.git"))
    read_dumps(dumps)
    plain(person, "push", "--quiet", "origin", "HEAD:refs/heads/main")
    theirs = read_dumps(dumps)["pre-push"]
    person.git("branch", "side")
    push(open_repo(person.root), "origin", "refs/heads/side")
    ours = read_dumps(dumps)["pre-push"]
    assert ours.pop("GIT_ALLOW_PROTOCOL") == "file:git:http:https:ssh"  # a guard: no protocol may run a program
    same({"pre-push": ours}, {"pre-push": theirs})


@pytest.mark.parametrize(
    ("prepare", "seen"),
    [
        (lambda _: None, []),
        (lambda person: person.git("config", "rerere.enabled", "true"), ["rerere.enabled=false"]),
        (lambda person: (person.root / ".git/rr-cache").mkdir(), ["rerere.enabled=false"]),
        (lambda person: person.git("config", "--global", "revert.reference", "true"), ["revert.reference=false"]),
    ],
)
def test_only_what_the_person_has_is_overruled(
    person: Person, prepare: Callable[[Person], object], seen: list[str]
) -> None:
    prepare(person)
    assert person_git(open_repo(person.root))._overruled == seen


def test_a_path_is_taken_as_it_is_spelled(person: Person) -> None:
    """The literal form must not match another path."""
    for name in ("*.md", "a?b.md", "[x].md", ":(top)z.md", "!n.md", "ä ö.md"):
        person.write(f"odd/{name}", "1\n")
    person.commit("odd")
    git = person_git(open_repo(person.root))
    for name in ("odd/*.md", "odd/a?b.md", "odd/[x].md", "odd/:(top)z.md", "odd/!n.md", "odd/ä ö.md"):
        assert git.run("ls-files", "-z", "--", literal(name)) == f"{name}\0".encode()
    assert git.run("ls-files", "-z", "--", literal(".")).count(b"\0") == 9


def contents(person: Person) -> dict[str, str]:
    """Return every file and what is in it; git writes its index anew when it looks."""
    return {
        name: value.rsplit(" ", 1)[0]
        for name, value in snapshot(person.root).items()
        if not name.endswith(".git/index")
    }


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("failing", ["gpg", "prepare-commit-msg", "clean"])
@pytest.mark.parametrize("verb", ["accept", "revert"])
def test_a_decision_that_git_refuses_leaves_every_file_as_it_was(
    harness: Harness,
    verb: str,
    failing: str,
    staged: bool,  # noqa: FBT001
) -> None:
    """Also those of the git directory: where HEAD was before, the last message, and the reflog."""
    person = harness.person
    harness.stage("p1", DRY)
    if verb == "revert":
        harness.accept("p1")
    person.commit("work", {"README.md": "more\n"})
    person.git("reset", "--quiet", "--hard", "HEAD^")
    if staged:
        person.write("src/app.py", "print(2)\n")
        person.git("add", "src/app.py")
    if failing == "gpg":
        person.git("config", "commit.gpgSign", "true")
        person.git("config", "gpg.program", "false")
    elif failing == "clean":
        person.write(".git/info/attributes", "README.md filter=mine\n")
        person.git("config", "filter.mine.clean", "no-such-program %f")
        person.git("config", "filter.mine.required", "true")
        make_stale(person)
    else:
        person.write(f".git/hooks/{failing}", "#!/bin/sh\nexit 1\n").chmod(0o755)
    before, status = contents(person), person.git("diff", "--cached", "--name-status")
    assert {".git/ORIG_HEAD", ".git/COMMIT_EDITMSG", ".git/logs/HEAD"} <= before.keys()
    with pytest.raises(RefusedError) as refused:
        (harness.accept if verb == "accept" else harness.revert)("p1")
    assert contents(person) == before
    assert person.git("diff", "--cached", "--name-status") == status
    assert (refused.value.remedy or "").endswith(f", then: skilld {verb} p1")


def test_a_conflict_that_git_finds_is_taken_back_without_a_reset(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked for before; what git finds all the same leaves nothing."""
    person = harness.person
    harness.stage("p1", DRY)
    person.commit("the same place", {SKILL: TEXT.replace("- Tag", "- Think.\n- Tag")})
    monkeypatch.setattr(cherry_pick, "would_merge", lambda *_: True)
    before = contents(person)
    assert harness.accept("p1").method is CommitMethod.ANCHORS
    assert [row for row in person.git("reflog").splitlines() if "reset" in row] == []
    after = contents(person)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert changed == {
        SKILL,
        ".git/COMMIT_EDITMSG",
        ".git/logs/HEAD",
        ".git/logs/refs/heads/main",
        ".git/refs/heads/main",
    }


def test_a_missing_program_of_a_filter_is_named(harness: Harness) -> None:
    """A cherry-pick by hand would fail in the same way."""
    person = harness.person
    harness.stage("p1", DRY)
    person.write(".git/info/attributes", "README.md filter=lfs\n")
    person.git("config", "filter.lfs.required", "true")
    make_stale(person)
    for setting, cause, remedy in (
        (
            "no-such-lfs clean -- %f",
            "git's filter lfs, which changes README.md, needs no-such-lfs, which is not installed",
            "Install no-such-lfs",
        ),
        (
            "exit 3",
            "git's filter lfs fails on README.md: error: external filter 'exit 3' failed 3",
            "Fix it (git config --show-origin --get-regexp filter.lfs)",
        ),
    ):
        person.git("config", "filter.lfs.clean", setting)
        with pytest.raises(RefusedError) as refused:
            harness.accept("p1")
        assert (refused.value.cause, refused.value.remedy) == (cause, f"{remedy}, then: skilld accept p1")
    for start in ("", "read -r greeting; "):  # git names no filter that has ended only after being written to
        person.git("config", "filter.lfs.process", f"{start}no-such-lfs filter-process")
        with pytest.raises(RefusedError, match="needs no-such-lfs, which is not installed"):
            harness.accept("p1")
