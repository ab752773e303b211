"""Every state of a repository that can be built here: what we do in it, and that nothing else changes."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from skilld.git.errors import NotTrackedError, RepoRefusedError, StagingBusyError
from skilld.git.repo import find_for_new, find_tracked, open_repo
from skilld.proposals.model import ProposalCommit
from support.new_skills import NEW_SKILL, commit_new, propose_new
from support.repos import SKILL, TEXT, Harness, Person, insert_below, isolate_git, new_repo, snapshot
from support.repository_states import detached, merging, picking, rebasing

DRY = insert_below("- Run the tests.", "- Do a dry run.")
STAGING = "refs/heads/skilld/staging"


# What makes a state: a git command (behind a `?` it may fail), files that are committed, one that is only written,
# and whatever else a line of Python does.
Step = str | dict[str, str] | tuple[str, str] | Callable[[Person], object]


@dataclass(frozen=True)
class Case:
    """`at` is the work tree to look at, beside the person's own; where it has no skill yet, one is put there."""

    steps: tuple[Step, ...]
    refusal: type[Exception] | None = None
    words: str = ""
    at: str = "work"

    def made(self, person: Person) -> Person:
        """Make the state and return the person in the work tree to look at."""
        apply_steps(person, self.steps)
        here = Person(person.root.parent / self.at)
        if self.at != "work" and not here.skill.exists():
            here.write(SKILL, TEXT)
        return here


def apply_steps(person: Person, steps: tuple[Step, ...]) -> None:
    for step in steps:
        match step:
            case str():
                person.git(*shlex.split(step.removeprefix("?")), check=not step.startswith("?"))
            case dict():
                person.commit("more", step)
            case (relpath, text):
                person.write(relpath, text)
            case _:
                step(person)


def link(relpath: str, to: str) -> Callable[[Person], object]:
    def make(person: Person) -> None:
        (person.root / to).mkdir(exist_ok=True)
        (person.root / relpath).parent.mkdir(parents=True, exist_ok=True)
        (person.root / relpath).symlink_to(person.root / to)

    return make


def remove(relpath: str) -> Callable[[Person], object]:
    return lambda person: (person.root / relpath).unlink()


UNTRACKED = (f"rm --quiet --cached {SKILL}", "commit --quiet -m out")
OTHERS = {".gitattributes": "*.md filter=lfs\n", "skills/.gitattributes": "SKILL.md -filter\n"}
ON_STAGING, TWO = "switch --quiet -c skilld/staging", {"README.md": "two\n"}
CASES = {
    "ordinary": Case(("status",)),
    "linked worktree": Case(("worktree add --quiet -b side ../linked",), at="linked"),
    "worktree of a bare repository": Case(("clone --quiet --bare . ../hub.git",
        "-C ../hub.git worktree add --quiet ../linked main"), at="linked"),
    "submodule": Case((lambda person: new_repo(person.root.parent / "outer"),
        "-C ../outer submodule --quiet add ../work sub", "-C ../outer commit --quiet -m sub"), at="outer/sub"),
    "shallow": Case((TWO, "clone --quiet --depth 1 --no-local . ../shallow"), at="shallow"),
    "shared objects": Case(("clone --quiet --shared . ../shared",), at="shared"),
    "partial clone": Case(("config uploadpack.allowFilter true", TWO,
        "clone --quiet --filter=blob:none --no-local . ../partial"), at="partial"),
    "sha256": Case((lambda person: new_repo(person.root.parent / "sha256", "--object-format=sha256"),), at="sha256"),
    "sparse": Case(("sparse-checkout set skills/release",)),
    "detached": Case((detached,)),
    "mid-merge": Case((merging,)),
    "mid-rebase": Case((rebasing,)),
    "mid-bisect": Case((TWO, "bisect start HEAD HEAD^")),
    "mid-pick": Case((picking,)),
    "index.lock": Case(((".git/index.lock", ""),)),
    "executable": Case((lambda person: person.skill.chmod(0o755), "commit --quiet --all -m runs")),
    "packed": Case(("gc --quiet", "pack-refs --all")),
    "a filter elsewhere": Case((OTHERS,)),
    "no identity": Case(("config --global --unset user.email", "config user.useConfigOnly true",
        "config commit.gpgSign true", "config gpg.program /bin/false")),
    "line endings converted": Case(("config core.autocrlf true", {".gitattributes": "*.md text eol=crlf ident\n"},
        remove(SKILL), f"checkout -- {SKILL}")),
    "reftable": Case(("config core.repositoryFormatVersion 0", "config extensions.refStorage reftable"),
        RepoRefusedError, "refstorage"),
    "no repository": Case((), NotTrackedError, "is not in a git repository", "plain"),
    "unborn": Case(("init --quiet ../fresh",), NotTrackedError, "has no commits yet", "fresh"),
    "orphan": Case(("checkout --quiet --orphan site",), RepoRefusedError,
        "is on a branch without commits; other branches have some, such as main"),
    "untracked": Case(UNTRACKED, NotTrackedError, "is not in the latest commit"),
    "ignored": Case((*UNTRACKED, (".gitignore", "skills/\n")), NotTrackedError, "is not in the latest commit"),
    "filter": Case(({".gitattributes": "[attr]big filter=lfs diff=lfs -text\nskills/**/*.md big\n"},),
        NotTrackedError, "a git filter changes"),
    "bare": Case(("init --quiet --bare ../bare.git",), RepoRefusedError, "is in a bare repository", "bare.git"),
    "embedded bare": Case(("init --quiet --bare vendor/b",), RepoRefusedError, "is in a bare repository",
        "work/vendor/b"),
    "symlink in HEAD": Case((("skills/other.md", TEXT), remove(SKILL),
        lambda person: person.skill.symlink_to("../other.md"), {}, remove(SKILL), (SKILL, TEXT)), RepoRefusedError,
        "is not a regular file"),
    "unknown extension": Case(("config core.repositoryFormatVersion 1", "config extensions.refStorage reftable"),
        RepoRefusedError, "refstorage"),
    "staging checked out": Case((ON_STAGING,), StagingBusyError, "skilld/staging is checked out in"),
    "staging in a worktree": Case(("worktree add --quiet -b skilld/staging ../linked",), StagingBusyError,
        "checked out in .*linked"),
    "staging rebased": Case((ON_STAGING, TWO, "?rebase --quiet --exec false HEAD^"), StagingBusyError,
        "skilld/staging is being rebased in"),
    "staging in update-refs": Case((TWO, "branch skilld/staging", {},
        "?rebase --quiet --update-refs --exec false HEAD~2"), StagingBusyError, "skilld/staging is being rebased in"),
    "staging bisected": Case((ON_STAGING, TWO, {}, {}, "bisect start HEAD HEAD~3"), StagingBusyError,
        "skilld/staging is being bisected in"),
    "a branch named skilld": Case(("branch skilld",), RepoRefusedError, "conflicts with skilld/staging"),
    "a branch below staging": Case(("branch skilld/staging/mine",), RepoRefusedError, "conflicts with skilld/staging"),
    "planted symref": Case((f"symbolic-ref {STAGING} refs/heads/main",), RepoRefusedError, "is a symbolic ref"),
    "dangling symref": Case(("symbolic-ref refs/skilld/proposals/p1 refs/heads/planted",), RepoRefusedError,
        "is a symbolic ref"),
    "linked refs": Case((link(".git/refs/skilld", "../outside"),), RepoRefusedError, "is a symlink"),
    "linked heads": Case((link(".git/refs/heads/skilld", "../outside"),), RepoRefusedError, "is a symlink"),
    "core.worktree above": Case(("config core.worktree ../..",), RepoRefusedError, "is not the work tree of"),
    "core.worktree elsewhere": Case(("config core.worktree /etc",), RepoRefusedError, "work tree"),
    "foreign .git file": Case((("../other/.git", "gitdir: ../work/.git\n"),), RepoRefusedError,
        "is not the work tree of", "other"),
    "linked .git": Case((link("../other/.git", ".git"),), RepoRefusedError, "is a symlink", "other"),
    "path through a link": Case((link("../alias", "."),), RepoRefusedError, "reached through a symlink", "alias"),
    "line break in a name": Case((lambda person: (person.root / "skills").rename(person.root / "sk\nills"), {}),
        RepoRefusedError, "name or character that is unsafe"),
}  # fmt: skip


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    isolate_git(monkeypatch, tmp_path / "home")
    return new_repo(tmp_path / "all" / "work")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_an_edit_is_proposed_or_refused_and_nothing_else_changes(person: Person, case: Case) -> None:
    if "--update-refs" in str(case.steps) and person.git("version").startswith(
        ("git version 2.36", "git version 2.37")
    ):
        pytest.skip("git before 2.38 has no --update-refs")
    here = case.made(person)
    everything = person.root.parent
    path = here.skill if here.skill.exists() else here.root / "sk\nills/release/SKILL.md"
    before = snapshot(everything)
    harness = Harness(here)
    if case.refusal is None:
        prepared = harness.propose("p1", DRY, path=path)
        assert isinstance(prepared, ProposalCommit)
        assert here.git("diff", "--name-only", f"{prepared.commit}^", prepared.commit) == SKILL
        assert here.git("ls-tree", prepared.commit, SKILL).split()[0] == here.git("ls-tree", "HEAD", SKILL).split()[0]
        assert here.git("fsck", "--strict", "--no-dangling") == ""
        assert here.tip(STAGING) == here.tip("refs/skilld/proposals/p1") == prepared.commit
        before_drop = snapshot(everything)
        assert harness.drop("p1").tip is None
        assert snapshot(everything) == before_drop == before
    else:
        with pytest.raises(case.refusal, match=case.words):
            # What git does not track is proposed in a repository of skilld's own.
            find_tracked(path) if case.refusal is NotTrackedError else harness.propose("p1", DRY, path=path)
        assert snapshot(everything) == before
        assert not (person.root.parent / "outside").exists() or not list((person.root.parent / "outside").iterdir())


# What a skill that does not exist yet looks at by itself; how the staging branch is written is the same for all.
NEW_CASES = {
    name: CASES[name]
    for name in (
        "linked worktree",
        "partial clone",
        "sha256",
        "sparse",
        "detached",
        "mid-rebase",
        "index.lock",
        "no repository",
        "unborn",
        "bare",
        "embedded bare",
        "staging checked out",
        "core.worktree above",
        "path through a link",
    )
} | {
    "untracked": Case(UNTRACKED),
    "submodule": replace(CASES["submodule"], refusal=RepoRefusedError, words="is a submodule of another repository"),
    "ignored": Case(((".gitignore", ".claude/skills/\n"),), NotTrackedError, f"git ignores {NEW_SKILL}"),
    "filter": Case((OTHERS,), NotTrackedError, "a git filter changes"),
}


@pytest.mark.parametrize("case", NEW_CASES.values(), ids=NEW_CASES.keys())
def test_a_new_skill_is_proposed_or_refused_and_nothing_else_changes(person: Person, case: Case) -> None:
    here = case.made(person)
    everything = person.root.parent
    before = snapshot(everything)
    harness = Harness(here)
    if case.refusal is None:
        prepared = commit_new(harness, "p1")
        assert here.git("diff", "--name-status", f"{prepared.commit}^", prepared.commit) == f"A\t{NEW_SKILL}"
        assert here.git("fsck", "--strict", "--no-dangling") == ""
        assert here.tip(STAGING) == here.tip("refs/skilld/proposals/p1") == prepared.commit
        assert harness.drop("p1").tip is None
    else:
        with pytest.raises(case.refusal, match=case.words):
            find_for_new(here.root / NEW_SKILL) if case.refusal is NotTrackedError else propose_new(harness, "p1")
    assert snapshot(everything) == before


TWIN = NEW_SKILL.replace("deploy", "Deploy")


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (((NEW_SKILL, "mine\n"),), "exists, but git does not track it"),
        (((".claude", "mine\n"),), "exists, but is not a folder"),
        (({".claude": "mine\n"}, remove(".claude")), "is not a folder in the latest commit"),
        ((link(".claude", "../outside"),), "reached through a symlink"),
        ((link(".claude", "skills"),), "reached through a symlink"),
        (((TWIN, "mine\n"),), "differs from Deploy only in case"),
        (({TWIN: "mine\n"}, remove(TWIN)), "differs from Deploy only in case"),
        (
            (
                "update-index --add --cacheinfo 160000,1111111111111111111111111111111111111111,.claude",
                "commit --quiet -m x",
            ),
            "is not a folder in the latest",
        ),
    ],
)
def test_an_occupied_path_is_refused(person: Person, steps: tuple[Step, ...], words: str) -> None:
    apply_steps(person, steps)
    before = snapshot(person.root.parent)
    with pytest.raises(RepoRefusedError, match=words):
        propose_new(Harness(person))
    assert snapshot(person.root.parent) == before


def test_replace_refs_are_not_followed(person: Person) -> None:
    apply_steps(person, ({SKILL: "# Other\n"}, "replace HEAD HEAD^", (SKILL, "# Other\n")))
    prepared = Harness(person).propose("p1", insert_below("# Other", "More."))
    assert isinstance(prepared, ProposalCommit)
    assert person.git("--no-replace-objects", "show", f"{prepared.commit}:{SKILL}") == "# Other\nMore."


def test_a_skill_owned_by_another_user_is_refused(person: Person) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    for folder, _, files in os.walk(person.root):
        os.chown(folder, 12345, 12345)
        for name in files:
            os.chown(Path(folder) / name, 12345, 12345)
    with pytest.raises(RepoRefusedError, match="belongs to another user") as error:
        Harness(person).propose("p1", DRY)
    # Git trusts no less than the whole repository.
    assert error.value.remedy == f"If you trust the repository: git config --global --add safe.directory {person.root}"


def test_the_oldest_git_words_another_users_repository_differently(
    person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As 2.36.0 and 2.37.0 do."""
    person.git("worktree", "add", "--quiet", "-b", "side", "../it's mine")
    mine = person.root.parent / "it's mine"
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    said = (
        f"fatal: unsafe repository ('{mine}' is owned by someone else)\nTo add an exception for this directory, call:"
    )
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' {shlex.quote(said)} >&2\nexit 128\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    with pytest.raises(RepoRefusedError) as error:
        open_repo(mine)
    assert str(error.value) == f"Cannot use this repository: git says that {mine} belongs to another user"
    assert (error.value.remedy or "").startswith(
        "If you trust the repository: git config --global --add safe.directory "
    )


def test_the_remedy_for_branches_in_tables_loses_none(person: Person) -> None:
    person.git("config", "core.repositoryFormatVersion", "0")  # with 1, git before 2.45 refuses it itself
    person.git("config", "extensions.refStorage", "reftable")
    if not person.git("rev-parse", "HEAD", check=False):
        pytest.skip("git from 2.45 on refuses it itself")
    with pytest.raises(RepoRefusedError) as error:
        open_repo(person.root)
    unset = f"If nothing else needs that setting: git -C {person.root} config --unset extensions.refstorage"
    assert error.value.remedy == unset
    person.write(".git/reftable/tables.list", "")
    with pytest.raises(RepoRefusedError) as error:
        open_repo(person.root)
    migrate = f"To keep branches in files: git -C {person.root} refs migrate --ref-format=files"
    assert error.value.remedy == migrate


def test_the_remedy_for_branches_in_tables_works(person: Person) -> None:
    made = person.git("init", "--quiet", "--ref-format=reftable", "../tables", check=False)
    tables = Person(person.root.parent / "tables")
    if made or not tables.root.is_dir():
        pytest.skip("git before 2.46 has no tables and no way back")
    tables.commit("first", {"a": "b\n"})
    with pytest.raises(RepoRefusedError) as error:
        open_repo(tables.root)
    tables.git(*shlex.split((error.value.remedy or "").partition(": git ")[2]))
    assert open_repo(tables.root).branch == "refs/heads/main"


def test_what_other_settings_say_about_a_format_does_not_count(person: Person) -> None:
    """Git takes it from the repository's own file alone."""
    new_repo(person.root.parent / "long", "--object-format=sha256")
    person.git("config", "--global", "extensions.objectFormat", "sha256")
    assert [open_repo(person.root.parent / name).git.algorithm for name in ("work", "long")] == ["sha1", "sha256"]


def test_a_removed_git_folder_never_selects_the_repository_above(person: Person) -> None:
    inner = new_repo(person.root / "inner")
    harness = Harness(inner)
    harness.stage("p1", DRY)
    (inner.root / ".git").rename(inner.root.parent.parent / "away")
    before = snapshot(person.root)
    with pytest.raises(NotTrackedError):
        find_tracked(inner.skill)
    assert snapshot(person.root) == before
    assert person.tip(STAGING) == ""


def test_an_inherited_variable_leads_to_no_other_repository(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    Harness(person).stage("p1", DRY)
    assert person.tip(STAGING) != ""
