"""Every state of a person's repository that can be built here: what we do in it, and that nothing else changes."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from skilld.git.errors import NotTrackedError, RepoRefusedError, StagingBusyError
from skilld.proposals.model import ProposalCommit
from support.new_skills import NEW, made_new, propose_new
from support.repos import SKILL, TEXT, Desk, Person, below, isolate, new_repo, snapshot
from support.unready import detached, merging, picking, rebasing

DRY = below("- Run the tests.", "- Do a dry run.")
STAGING = "refs/heads/skilld/staging"


@dataclass(frozen=True)
class Case:
    """`build` makes the state; it may return the Person in another work tree, where that is the one to look at."""

    build: Callable[[Person], object]
    refusal: type[Exception] | None = None
    words: str = ""

    def made(self, person: Person) -> Person:
        """Make the state and return the person in the work tree to look at."""
        built = self.build(person)
        return built if isinstance(built, Person) else person


def ordinary(person: Person) -> None:
    person.git("status")


def bare_above(person: Person) -> Person:
    bare = Person(person.root.parent / "bare.git")
    person.git("init", "--quiet", "--bare", str(bare.root))
    bare.write(SKILL, TEXT)
    return bare


def embedded_bare(person: Person) -> Person:
    person.git("init", "--quiet", "--bare", "vendor/b")
    inside = Person(person.root / "vendor/b")
    inside.write(SKILL, TEXT)
    return inside


def no_repository(person: Person) -> Person:
    plain = Person(person.root.parent / "plain")
    plain.write(SKILL, TEXT)
    return plain


def linked_worktree(person: Person) -> Person:
    person.git("worktree", "add", "--quiet", "-b", "side", "../linked")
    return Person(person.root.parent / "linked")


def worktree_of_bare(person: Person) -> Person:
    person.git("clone", "--quiet", "--bare", ".", "../hub.git")
    hub = Person(person.root.parent / "hub.git")
    hub.git("worktree", "add", "--quiet", "../linked", "main")
    return Person(person.root.parent / "linked")


def submodule(person: Person) -> Person:
    outer = new_repo(person.root.parent / "outer")
    outer.git("submodule", "--quiet", "add", str(person.root), "sub")
    outer.commit("sub")
    return Person(outer.root / "sub")


def shallow(person: Person) -> Person:
    for count in range(3):
        person.commit(f"later {count}", {"src/app.py": f"print({count})\n"})
    person.git("clone", "--quiet", "--depth", "1", f"file://{person.root}", "../shallow")
    return Person(person.root.parent / "shallow")


def shared_objects(person: Person) -> Person:
    person.git("clone", "--quiet", "--shared", ".", "../shared")
    return Person(person.root.parent / "shared")


def partial_clone(person: Person) -> Person:
    person.git("config", "uploadpack.allowFilter", "true")
    person.commit("later", {"src/app.py": "print(2)\n"})
    person.git("clone", "--quiet", "--filter=blob:none", "--no-local", f"file://{person.root}", "../partial")
    return Person(person.root.parent / "partial")


def sha256(person: Person) -> Person:
    return new_repo(person.root.parent / "sha256", "--object-format=sha256")


def sparse(person: Person) -> None:
    person.git("sparse-checkout", "set", "skills/release")


def unborn(person: Person) -> Person:
    fresh = Person(person.root.parent / "fresh")
    person.git("init", "--quiet", str(fresh.root))
    fresh.write(SKILL, TEXT)
    return fresh


def orphan(person: Person) -> None:
    person.git("checkout", "--quiet", "--orphan", "site")


def mid_bisect(person: Person) -> None:
    person.commit("two", {"README.md": "two\n"})
    person.git("bisect", "start", "HEAD", "HEAD^")


def index_lock(person: Person) -> None:
    person.write(".git/index.lock", "")


def untracked(person: Person) -> None:
    person.git("rm", "--quiet", "--cached", SKILL)
    person.git("commit", "--quiet", "-m", "not in git")


def ignored(person: Person) -> None:
    untracked(person)
    person.write(".gitignore", "skills/\n")


def symlink_in_head(person: Person) -> None:
    person.write("other.md", TEXT)
    person.skill.unlink()
    person.skill.symlink_to("../../other.md")
    person.commit("a link")
    person.skill.unlink()
    person.write(SKILL, TEXT)


def lfs(person: Person) -> None:
    person.commit("lfs", {".gitattributes": "[attr]big filter=lfs diff=lfs -text\nskills/**/*.md big\n"})


def lfs_but_not_here(person: Person) -> None:
    person.commit("lfs", {".gitattributes": "*.md filter=lfs\n", "skills/.gitattributes": "SKILL.md -filter\n"})


def executable(person: Person) -> None:
    person.skill.chmod(0o755)
    person.commit("runs")


def no_identity(person: Person) -> None:
    person.git("config", "--global", "--unset", "user.email")
    person.git("config", "user.useConfigOnly", "true")
    person.git("config", "commit.gpgSign", "true")
    person.git("config", "gpg.program", "/bin/false")


def converted(person: Person) -> None:
    person.git("config", "core.autocrlf", "true")
    person.commit("eol", {".gitattributes": "*.md text eol=crlf ident\n"})
    person.skill.unlink()
    person.git("checkout", "--", SKILL)


def reftable_by_name(person: Person) -> None:
    person.git("config", "core.repositoryFormatVersion", "0")
    person.git("config", "extensions.refStorage", "reftable")


def replaced(person: Person) -> None:
    person.commit("other", {SKILL: "# Other\n"})
    person.git("replace", person.tip(), person.tip("HEAD^"))
    person.write(SKILL, "# Other\n")


def packed(person: Person) -> None:
    person.git("gc", "--quiet")
    person.git("pack-refs", "--all")


def unknown_extension(person: Person) -> None:
    person.git("config", "core.repositoryFormatVersion", "1")
    person.git("config", "extensions.refStorage", "reftable")


def staging_checked_out(person: Person) -> None:
    person.git("switch", "--quiet", "-c", "skilld/staging")


def staging_in_linked_worktree(person: Person) -> None:
    person.git("worktree", "add", "--quiet", "-b", "skilld/staging", "../linked")


def staging_rebased(person: Person) -> None:
    person.git("switch", "--quiet", "-c", "skilld/staging")
    person.commit("two", {"README.md": "two\n"})
    person.git("rebase", "--quiet", "--exec", "false", "HEAD^", check=False)


def staging_in_update_refs(person: Person) -> None:
    person.git("branch", "skilld/staging")
    person.commit("two", {"README.md": "two\n"})
    person.git("branch", "-f", "skilld/staging")
    person.commit("three", {"README.md": "three\n"})
    person.git("rebase", "--quiet", "--update-refs", "--exec", "false", "HEAD~2", check=False)


def staging_bisected(person: Person) -> None:
    person.git("switch", "--quiet", "-c", "skilld/staging")
    for count in range(4):
        person.commit(f"{count}", {"README.md": f"{count}\n"})
    person.git("bisect", "start", "HEAD", "HEAD~4")


def branch_named_skilld(person: Person) -> None:
    person.git("branch", "skilld")


def branch_below_staging(person: Person) -> None:
    person.git("branch", "skilld/staging/mine")


def planted_symref(person: Person) -> None:
    person.git("symbolic-ref", STAGING, "refs/heads/main")


def dangling_symref(person: Person) -> None:
    person.git("symbolic-ref", "refs/skilld/proposals/p1", "refs/heads/planted")


def linked_refs(person: Person) -> None:
    outside = person.root.parent / "outside"
    outside.mkdir()
    (person.root / ".git/refs/skilld").symlink_to(outside)


def linked_heads(person: Person) -> None:
    outside = person.root.parent / "outside"
    outside.mkdir()
    (person.root / ".git/refs/heads/skilld").symlink_to(outside)


def worktree_redirect(person: Person) -> None:
    person.git("config", "core.worktree", str(person.root.parent))


def worktree_elsewhere(person: Person) -> None:
    person.git("config", "core.worktree", "/etc")


def foreign_git_file(person: Person) -> Person:
    other = Person(person.root.parent / "other")
    other.write(SKILL, TEXT)
    other.write(".git", f"gitdir: {person.root / '.git'}\n")
    return other


def linked_git_folder(person: Person) -> Person:
    other = Person(person.root.parent / "other")
    other.write(SKILL, TEXT)
    (other.root / ".git").symlink_to(person.root / ".git")
    return other


def through_a_link(person: Person) -> Person:
    (person.root.parent / "alias").symlink_to(person.root)
    return Person(person.root.parent / "alias")


def hostile_name(person: Person) -> None:
    (person.root / "skills").rename(person.root / "sk\nills")
    person.commit("odd")


CASES = {
    "ordinary": Case(ordinary),
    "linked worktree": Case(linked_worktree),
    "worktree of a bare repository": Case(worktree_of_bare),
    "submodule": Case(submodule),
    "shallow": Case(shallow),
    "shared objects": Case(shared_objects),
    "partial clone": Case(partial_clone),
    "sha256": Case(sha256),
    "sparse": Case(sparse),
    "detached": Case(detached),
    "mid-merge": Case(merging),
    "mid-rebase": Case(rebasing),
    "mid-bisect": Case(mid_bisect),
    "mid-pick": Case(picking),
    "index.lock": Case(index_lock),
    "executable": Case(executable),
    "packed": Case(packed),
    "a filter elsewhere": Case(lfs_but_not_here),
    "no identity": Case(no_identity),
    "line endings converted": Case(converted),
    "reftable": Case(reftable_by_name, RepoRefusedError, "extensions.refstorage"),
    "no repository": Case(no_repository, NotTrackedError, "is not in a git repository"),
    "unborn": Case(unborn, NotTrackedError, "has no commits yet"),
    "orphan": Case(orphan, RepoRefusedError, "is on a branch without commits; other branches have some, such as main"),
    "untracked": Case(untracked, NotTrackedError, "is not in the latest commit"),
    "ignored": Case(ignored, NotTrackedError, "is not in the latest commit"),
    "filter": Case(lfs, NotTrackedError, "a git filter changes"),
    "bare": Case(bare_above, RepoRefusedError, "is in a bare repository"),
    "embedded bare": Case(embedded_bare, RepoRefusedError, "is in a bare repository"),
    "symlink in HEAD": Case(symlink_in_head, RepoRefusedError, "is not a regular file"),
    "unknown extension": Case(unknown_extension, RepoRefusedError, "refstorage"),
    "staging checked out": Case(staging_checked_out, StagingBusyError, "skilld/staging is checked out in"),
    "staging in a worktree": Case(staging_in_linked_worktree, StagingBusyError, "checked out in .*linked"),
    "staging rebased": Case(staging_rebased, StagingBusyError, "skilld/staging is being rebased in"),
    "staging in update-refs": Case(staging_in_update_refs, StagingBusyError, "skilld/staging is being rebased in"),
    "staging bisected": Case(staging_bisected, StagingBusyError, "skilld/staging is being bisected in"),
    "a branch named skilld": Case(branch_named_skilld, RepoRefusedError, "conflicts with skilld/staging"),
    "a branch below staging": Case(branch_below_staging, RepoRefusedError, "conflicts with skilld/staging"),
    "planted symref": Case(planted_symref, RepoRefusedError, "is a symbolic ref"),
    "dangling symref": Case(dangling_symref, RepoRefusedError, "is a symbolic ref"),
    "linked refs": Case(linked_refs, RepoRefusedError, "is a symlink"),
    "linked heads": Case(linked_heads, RepoRefusedError, "is a symlink"),
    "core.worktree above": Case(worktree_redirect, RepoRefusedError, "is not the work tree of"),
    "core.worktree elsewhere": Case(worktree_elsewhere, RepoRefusedError, "work tree"),
    "foreign .git file": Case(foreign_git_file, RepoRefusedError, "is not the work tree of"),
    "linked .git": Case(linked_git_folder, RepoRefusedError, "is a symlink"),
    "path through a link": Case(through_a_link, RepoRefusedError, "reached through a symlink"),
    "line break in a name": Case(hostile_name, RepoRefusedError, "name or character that is unsafe"),
}


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    isolate(monkeypatch, tmp_path / "home")
    return new_repo(tmp_path / "all" / "work")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_an_edit_is_proposed_or_refused_and_nothing_else_changes(person: Person, case: Case) -> None:
    here = case.made(person)
    everything = person.root.parent
    path = here.skill if here.skill.exists() else here.root / "sk\nills/release/SKILL.md"
    before = snapshot(everything)
    desk = Desk(here)
    if case.refusal is None:
        made = desk.propose("p1", DRY, path=path)
        assert isinstance(made, ProposalCommit)
        assert here.git("diff", "--name-only", f"{made.commit}^", made.commit) == SKILL
        assert here.git("ls-tree", made.commit, SKILL).split()[0] == here.git("ls-tree", "HEAD", SKILL).split()[0]
        assert here.git("fsck", "--strict", "--no-dangling") == ""
        assert here.tip(STAGING) == here.tip("refs/skilld/proposals/p1") == made.commit
        before_drop = snapshot(everything)
        assert desk.drop("p1").tip is None
        assert snapshot(everything) == before_drop == before
    else:
        with pytest.raises(case.refusal, match=case.words):
            desk.propose("p1", DRY, path=path)
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
    "untracked": Case(untracked),
    "submodule": Case(submodule, RepoRefusedError, "is a submodule of another repository"),
    "ignored": Case(ignored, NotTrackedError, "git ignores .claude/skills/deploy/SKILL.md"),
    "filter": Case(lfs_but_not_here, NotTrackedError, "a git filter changes"),
}


@pytest.mark.parametrize("case", NEW_CASES.values(), ids=NEW_CASES.keys())
def test_a_new_skill_is_proposed_or_refused_and_nothing_else_changes(person: Person, case: Case) -> None:
    here = case.made(person)
    everything = person.root.parent
    before = snapshot(everything)
    desk = Desk(here)
    if case.refusal is None:
        made = made_new(desk, "p1")
        assert here.git("diff", "--name-status", f"{made.commit}^", made.commit) == f"A\t{NEW}"
        assert here.git("fsck", "--strict", "--no-dangling") == ""
        assert here.tip(STAGING) == here.tip("refs/skilld/proposals/p1") == made.commit
        assert desk.drop("p1").tip is None
    else:
        with pytest.raises(case.refusal, match=case.words):
            propose_new(desk, "p1")
    assert snapshot(everything) == before


def occupied(person: Person) -> None:
    person.write(NEW, "mine\n")


def a_file_above(person: Person) -> None:
    person.write(".claude", "mine\n")


def a_file_above_in_head(person: Person) -> None:
    person.commit("odd", {".claude": "mine\n"})
    (person.root / ".claude").unlink()


def a_link_above(person: Person) -> None:
    (person.root.parent / "outside").mkdir()
    (person.root / ".claude").symlink_to("../outside")


def a_link_within(person: Person) -> None:
    (person.root / ".claude").symlink_to("skills")


def a_twin_on_the_disk(person: Person) -> None:
    person.write(NEW.replace("deploy", "Deploy"), "mine\n")


def a_twin_in_head(person: Person) -> None:
    person.commit("theirs", {NEW.replace("deploy", "DEPLOY"): "mine\n"})
    (person.root / NEW.replace("deploy", "DEPLOY")).unlink()


def an_absent_submodule(person: Person) -> None:
    person.git("update-index", "--add", "--cacheinfo", f"160000,{person.tip()},.claude")
    person.git("commit", "--quiet", "-m", "a submodule that is not here")


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (occupied, "exists, but git does not track it"),
        (a_file_above, "exists, but is not a folder"),
        (a_file_above_in_head, "is not a folder in the latest commit"),
        (a_link_above, "reached through a symlink"),
        (a_link_within, "reached through a symlink"),
        (a_twin_on_the_disk, "differs from Deploy only in case"),
        (a_twin_in_head, "differs from DEPLOY only in case"),
        (an_absent_submodule, "is not a folder in the latest commit"),
    ],
)
def test_a_place_that_is_taken_is_refused(person: Person, build: Callable[[Person], None], words: str) -> None:
    build(person)
    before = snapshot(person.root.parent)
    with pytest.raises(RepoRefusedError, match=words):
        propose_new(Desk(person, person.root.parent / "own"))
    assert snapshot(person.root.parent) == before


def test_replace_refs_are_not_followed(person: Person) -> None:
    replaced(person)
    made = Desk(person).propose("p1", below("# Other", "More."))
    assert isinstance(made, ProposalCommit)
    assert person.git("--no-replace-objects", "show", f"{made.commit}:{SKILL}") == "# Other\nMore."


def test_a_skill_of_another_owner_is_refused(person: Person) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    for folder, _, files in os.walk(person.root):
        os.chown(folder, 12345, 12345)
        for name in files:
            os.chown(Path(folder) / name, 12345, 12345)
    with pytest.raises(RepoRefusedError, match="belongs to another user") as refused:
        Desk(person).propose("p1", DRY)
    # Git trusts no less than the whole repository.
    assert (
        refused.value.remedy == f"If you trust the repository: git config --global --add safe.directory {person.root}"
    )


def test_a_removed_git_folder_never_means_the_repository_above(person: Person) -> None:
    inner = new_repo(person.root / "inner")
    desk = Desk(inner)
    desk.made("p1", DRY)
    (inner.root / ".git").rename(inner.root.parent.parent / "away")
    before = snapshot(person.root)
    with pytest.raises(NotTrackedError):
        desk.propose("p2", below("- Push the tag.", "- Write the news."))
    assert snapshot(person.root) == before
    assert person.tip(STAGING) == ""


def test_an_inherited_variable_is_refused(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    with pytest.raises(RuntimeError, match="GIT_DIR"):
        Desk(person).propose("p1", DRY)
