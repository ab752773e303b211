"""The whole life of proposals in unusual repositories: whatever git refuses, nothing of the person's is changed."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest

from skilld.errors import RefusedError, SkilldError
from skilld.git.errors import GitFailedError, RepoRefusedError
from skilld.git.run import Git
from skilld.git.session import shared_git
from skilld.proposals.remove_refs import remove_refs
from skilld.store import Store
from skilld.types import Op, Operation
from support.new_store import new_store
from support.proposal_life import ProposalLife
from support.repos import SKILL, TEXT, Person, isolate_git, new_repo, snapshot

EXTRA = "skills/extra/SKILL.md"
NEW_SKILL = "---\nname: extra\ndescription: Use for more.\n---\n\n# Extra\n"


State = Callable[[Person], Person]
"""Makes a state of the person's repository; returns the person in the work tree to look at."""


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    isolate_git(monkeypatch, tmp_path / "home")
    return new_repo(tmp_path / "all" / "work")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return new_store(tmp_path / "skilld.db")


def git(person: Person, *commands: str) -> Person:
    for command in commands:
        person.git(*shlex.split(command))
    return person


def beside(person: Person, name: str) -> Person:
    return Person(person.root.parent / name)


def hooks(person: Person, script: str, *names: str) -> Person:
    folder = person.root.parent / "hooks"
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return git(person, f"config core.hooksPath {folder}")


def without_network(person: Person, *options: str) -> Person:
    """Return a clone whose remote is gone; the skill's history has versions that are in no checkout."""
    git(person, "config uploadpack.allowFilter true")
    person.commit("more", {SKILL: f"{TEXT}More.\n"})
    person.commit("less", {SKILL: TEXT})
    git(person, f"clone --quiet --no-local {shlex.join(options)} . ../clone")
    person.root.rename(person.root.parent / "gone")
    return beside(person, "clone")


def dirty_superproject(person: Person) -> Person:
    outer = new_repo(person.root.parent / "outer")
    git(outer, "submodule --quiet add ../work sub", "commit --quiet -m sub")
    outer.write("README.md", "half a sen")
    return Person(outer.root / "sub")


def separate_git_directory(person: Person) -> Person:
    shutil.move(person.root / ".git", person.root.parent / "git")
    person.write(".git", "gitdir: ../git\n")
    return git(person, f"config core.worktree {person.root}")


def alternates(person: Person) -> Person:
    person.write(".git/objects/info/alternates", "/nowhere/objects\n")
    return person


def damaged_commit_graph(person: Person) -> Person:
    git(person, "commit-graph write --reachable")
    graph = person.root / ".git/objects/info/commit-graph"
    data = graph.read_bytes()
    graph.chmod(0o644)
    graph.write_bytes(data[:60] + b"\xff" * 20 + data[80:])
    return person


def vanished_worktree(person: Person) -> Person:
    git(person, "worktree add --quiet -b side ../linked")
    shutil.rmtree(person.root.parent / "linked")
    return person


def without_its_main(person: Person) -> Person:
    git(person, "worktree add --quiet -b side ../linked", "worktree lock ../linked")
    for path in person.root.iterdir():
        if path.name != ".git":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return beside(person, "linked")


def included(person: Person, condition: str, text: str) -> Person:
    (person.root.parent / "included").write_text(text)
    return git(person, f"config --global includeIf.{condition}.path {person.root.parent / 'included'}")


def monitored(person: Person, script: str) -> Person:
    program = person.write(".git/monitor", f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return git(person, f"config core.fsmonitor {program}", "config core.untrackedCache true")


def with_twin(person: Person) -> Person:
    person.commit("twin", {"skills/release/skill.md": "twin\n"})
    return git(person, "config core.ignoreCase true")


def written(text: str | bytes, *settings: str) -> State:
    def write(person: Person) -> Person:
        person.commit("another form", {SKILL: text})
        return git(person, *settings)

    return write


WORKING: Mapping[str, State] = {
    "sparse": lambda person: git(person, "sparse-checkout set --cone --sparse-index skills"),
    "partial clone without network": lambda person: without_network(person, "--filter=blob:none"),
    "shallow clone without network": lambda person: without_network(person, "--depth=1"),
    "sha256": lambda person: new_repo(person.root.parent / "sha256", "--object-format=sha256"),
    "locked worktree whose main is empty": without_its_main,
    "a worktree that vanished": vanished_worktree,
    "submodule of a dirty superproject": dirty_superproject,
    "separate git directory": separate_git_directory,
    "hooks that print": lambda person: hooks(person, "echo out; echo err >&2", "pre-commit", "post-commit"),
    "hooks that fail too late": lambda person: hooks(person, "exit 1", "post-commit", "post-index-change"),
    "a hook that amends": lambda person: hooks(
        person, '[ "$AMENDS" ] || AMENDS=1 git commit --quiet --amend --no-verify --message mine', "post-commit"
    ),
    "a hook that strips the trailers": lambda person: hooks(person, 'sed -i /^Skilld-/d "$1"', "commit-msg"),
    "a monitor that fails": lambda person: monitored(person, "exit 1"),
    "a monitor that prints": lambda person: monitored(person, "echo noise >&2; printf 'x\\0/\\0'"),
    "signing on the staging branch": lambda person: included(
        person, "onbranch:skilld/**", "[commit]\n\tgpgSign = true\n"
    ),
    "names that differ in case": with_twin,
    "CRLF and no newline at the end": written(TEXT.strip().replace("\n", "\r\n")),
    "CRLF stored, converted": written(TEXT.replace("\n", "\r\n"), "config core.autocrlf true"),
    "BOM, endings of both kinds": written("\ufeff" + TEXT.replace(":\n", ":\r\n")),
    "an alternates file that leads nowhere": alternates,
    "a damaged commit-graph": damaged_commit_graph,
    "git settings of all kinds": lambda person: git(
        person,
        *("config rerere.enabled true", "config core.commentChar auto", "config merge.conflictStyle diff3"),
        *("config diff.external /bin/false", "config trailer.separators '#'", "config i18n.commitEncoding latin1"),
        *("config color.ui always", "config log.showSignature true", "config diff.noprefix true"),
        *("config core.abbrev 4", "config status.short true", "config core.editor false"),
    ),
}


def propose_all(life: ProposalLife) -> None:
    life.offer("p1", text="- First.")
    life.offer("p2", "- Push the tag.", "- Second.")
    life.offer("p3", "- Tag the commit.", "- Third.")


def propose_new(life: ProposalLife) -> None:
    life.propose("p4", Operation(Op.CREATE, "", NEW_SKILL), path=life.person.root / EXTRA)


@pytest.mark.parametrize("state", WORKING.values(), ids=WORKING.keys())
def test_it_works_and_leaves_everything_as_it_was(person: Person, store: Store, state: State) -> None:
    here = state(person)
    life, text, status = ProposalLife(here, store), here.skill.read_bytes(), here.git("status", "--porcelain")
    tree = here.git("rev-parse", "HEAD^{tree}")
    propose_all(life)
    life.accept("p1")
    assert b"- First." in here.skill.read_bytes()
    assert life.observe("p1")[0] == "accepted"
    life.revert("p1")
    life.reject("p2")
    life.accept("p3", worktree=True)
    life.revert("p3")
    assert here.skill.read_bytes() == text
    life.observe_all()
    assert [life.get(name).state.value for name in ("p1", "p2", "p3")] == ["reverted", "rejected", "reverted"]
    if not here.git("rev-parse", "--show-superproject-working-tree"):
        propose_new(life)
        life.accept("p4")
        assert (here.root / EXTRA).read_text() == NEW_SKILL
        life.undo("p4")
        assert not (here.root / EXTRA).exists()
    remove_refs(here.root)
    assert here.git("for-each-ref", "refs/skilld", "refs/heads/skilld") == ""
    assert (here.git("rev-parse", "HEAD^{tree}"), here.git("status", "--porcelain")) == (tree, status)
    assert here.git("-c", "core.commitGraph=false", "fsck", "--no-dangling", "--no-progress") == ""


# States in which git does nothing: why, and what to do. Nothing is changed then, by whatever command.


def pointing_nowhere(person: Person) -> Person:
    shutil.move(person.root / ".git", person.root.parent / "moved")
    person.write(".git", "gitdir: ../nowhere\n")
    return person


def pruned_worktree(person: Person) -> Person:
    git(person, "worktree add --quiet -b side ../linked")
    shutil.rmtree(person.root / ".git/worktrees/linked")
    return beside(person, "linked")


def moved_worktree(person: Person) -> Person:
    git(person, "worktree add --quiet -b side ../linked")
    return Person((person.root.parent / "linked").rename(person.root.parent / "elsewhere"))


REFUSED: Mapping[str, tuple[State, str, str]] = {
    "no folder": (lambda person: git(person, "sparse-checkout set src"), "skills/release does not exist", "Restore"),
    "treeless clone without network": (
        lambda person: without_network(person, "--filter=tree:0"),
        "is a partial clone that lacks some of its history",
        "fetch --refetch --no-filter",
    ),
    "a newer format": (
        lambda person: git(person, "config core.repositoryFormatVersion 1", "config extensions.refStorage none"),
        "refstorage",
        "Install a newer version of git.",
    ),
    ".git points nowhere": (pointing_nowhere, "nowhere, where no repository is", "git worktree repair"),
    "pruned worktree": (pruned_worktree, "worktrees/linked, where no repository is", "git worktree repair"),
    "moved worktree": (moved_worktree, "is not the work tree of", "elsewhere worktree repair"),
    "broken configuration": (
        lambda person: included(person, "onbranch:main", "[bro ken\n"),
        "bad config line 1 in file",
        " status",
    ),
}


@pytest.mark.parametrize(("state", "cause", "remedy"), REFUSED.values(), ids=REFUSED.keys())
def test_it_is_refused_with_a_remedy_and_nothing_changes(
    person: Person, store: Store, state: State, cause: str, remedy: str
) -> None:
    life = ProposalLife(state(person), store)
    before = snapshot(person.root.parent)
    with pytest.raises(RefusedError) as error:
        propose_all(life)
    assert cause in str(error.value)
    assert remedy in error.value.remedy
    assert snapshot(person.root.parent) == before


def test_the_remedy_for_a_moved_worktree_mends_it_and_leaves_the_main_one_alone(person: Person, store: Store) -> None:
    life = ProposalLife(moved_worktree(person), store)
    config = (person.root / ".git/config").read_text()
    with pytest.raises(RefusedError) as error:
        life.offer()
    git(person, error.value.remedy.rpartition(": git ")[2])
    life.offer()
    assert life.accept().lines[0].startswith("p1 accepted")
    assert (person.root / ".git/config").read_text() == config


OLD_GIT = """\
#!/bin/sh
case " $* " in
*" cat-file "*)
    while read -r asked name; do
        case $name in
        1111*) echo "fatal: transport 'ext' not allowed" >&2; kill -PIPE $$ ;;
        *) echo "$asked $name" | GIT "$@" ;;
        esac
    done ;;
*" rev-list "*) printf "fatal: transport 'file' not allowed\\nfatal: unable to read tree\\n" >&2; exit 128 ;;
*) exec GIT "$@" ;;
esac
"""


@pytest.fixture
def old_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have git do at a missing object as before 2.39.4, where a fetch of it may not start."""
    program = tmp_path / "old" / "git"
    program.parent.mkdir()
    program.write_text(OLD_GIT.replace("GIT", shlex.quote(str(shutil.which("git")))))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")


@pytest.mark.usefixtures("old_git")
def test_a_git_that_is_killed_at_a_missing_object_is_asked_for_the_others(person: Person) -> None:
    commit, git_of_ours = person.tip().encode(), Git(person.root)
    asked = [b"1" * 40, commit, b"1" * 41, commit + b"^{tree}", b"1" * 42]
    assert [found and found[1] for found in git_of_ours.objects(asked)] == [None, "commit", None, "tree", None]
    with shared_git():
        assert [size > 0 for _, _, size in git_of_ours.sizes(asked)] == [False, True, False, True, False]
        assert [found and found[1] for found in git_of_ours.objects([b"1" * 40, commit])] == [None, "commit"]


@pytest.mark.usefixtures("old_git")
def test_an_old_git_without_history_gets_the_same_remedy_as_a_newer_one(person: Person) -> None:
    with pytest.raises(RepoRefusedError, match="is a partial clone that lacks some of its history") as error:
        Git(person.root).run("rev-list", "HEAD")
    assert "fetch --refetch --no-filter" in (error.value.remedy or "")


def test_the_newest_git_without_a_tree_gets_a_remedy_that_fetches_it(
    person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2.55 says the same of a damaged repository and of a partial clone that may not fetch."""
    script = '#!/bin/sh\ncase " $* " in *" rev-list "*) echo "fatal: unable to read tree (1)" >&2; exit 128 ;; esac\n'
    program = tmp_path / "new" / "git"
    program.parent.mkdir()
    program.write_text(f'{script}exec {shlex.quote(str(shutil.which("git")))} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    with pytest.raises(GitFailedError, match="unable to read tree"):
        Git(person.root).run("rev-list", "HEAD")
    person.git("config", "remote.origin.promisor", "true")
    with pytest.raises(RepoRefusedError, match="is a partial clone that lacks some of its history"):
        Git(person.root).run("rev-list", "HEAD")


# States in which git refuses to commit


def hook_that_fails(person: Person) -> Person:
    hooks(person, "exit 1", "post-index-change")
    return hooks(person, "echo too long >&2; exit 1", "prepare-commit-msg")


def locked(person: Person, name: str) -> Person:
    person.write(f".git/{name}", "")
    return person


LOCKS = ("index.lock", "HEAD.lock", "refs/heads/main.lock")
UNCOMMITTED: Mapping[str, tuple[State, str, str]] = {
    "a hook": (hook_that_fails, "the prepare-commit-msg hook refused the commit: too long", "Fix that, then: skilld"),
    "no key to sign with": (
        lambda person: git(person, "config commit.gpgSign true", "config gpg.program /nowhere/gpg"),
        "git cannot sign the commit",
        "git config user.signingkey KEY",
    ),
} | {name: (partial(locked, name=name), "", f".git/{name}") for name in LOCKS}


@pytest.mark.parametrize("state", UNCOMMITTED.values(), ids=UNCOMMITTED.keys())
@pytest.mark.parametrize("name", ["p1", "p4"])
def test_without_a_commit_the_files_and_the_index_are_as_before(
    person: Person, life: ProposalLife, name: str, state: tuple[State, str, str]
) -> None:
    make, cause, remedy = state
    propose_all(life)
    propose_new(life)
    make(person)
    before = person.tip()
    with pytest.raises(SkilldError) as error:
        life.accept(name)
    assert cause in str(error.value)
    assert remedy in error.value.remedy
    for lock in LOCKS:
        (person.root / ".git" / lock).unlink(missing_ok=True)
    assert (person.tip(), person.git("status", "--porcelain")) == (before, "")
    assert life.observe(name) == ("open", "")


def test_a_lock_that_keeps_the_staging_branch_as_it_is_comes_with_its_remedy(
    person: Person, life: ProposalLife
) -> None:
    propose_all(life)
    lock = person.write(".git/packed-refs.lock", "")
    (warning,) = life.reject("p2").warnings
    assert warning.startswith("the staging branch was not updated: ")
    assert warning.endswith(f"delete the lock: rm {lock}")
    lock.unlink()
    assert life.observe("p2") == ("rejected", "")


def collect_garbage(person: Person) -> None:
    git(person, "reflog expire --expire=now --all", "gc --quiet --prune=now")


@pytest.mark.parametrize("name", ["p1", "p4"])
def test_collected_garbage_between_all_decisions_loses_nothing(person: Person, life: ProposalLife, name: str) -> None:
    propose_all(life)
    propose_new(life)
    tree = person.git("rev-parse", "HEAD^{tree}")
    collect_garbage(person)
    life.accept(name)
    accepted = person.git("rev-parse", "HEAD^{tree}")
    collect_garbage(person)
    life.revert(name)
    assert person.git("rev-parse", "HEAD^{tree}") == tree
    collect_garbage(person)
    life.accept(name)
    assert person.git("rev-parse", "HEAD^{tree}") == accepted
    assert life.observe(name)[0] == "accepted"
    git(person, "branch --delete --force skilld/staging")
    collect_garbage(person)
    assert life.observe("p2")[0] == "dropped"
    life.accept("p2")
    assert life.observe("p2")[0] == "accepted"


@pytest.mark.parametrize("name", ["p1", "p4"])
@pytest.mark.parametrize("how", ["revert", "thrown away"])
def test_what_was_only_written_is_taken_out_after_its_commit_was_collected(
    person: Person, life: ProposalLife, name: str, how: str
) -> None:
    propose_all(life)
    propose_new(life)
    life.accept(name, worktree=True)
    collect_garbage(person)
    assert life.observe(name) == ("accepted", "written to the file, not committed")
    if how == "revert":
        life.revert(name)
        assert life.observe(name)[0] == "reverted"
    else:
        git(person, "checkout --quiet -- skills", "clean --quiet --force -d")
        assert life.observe(name)[0] == "open"
    assert person.skill.read_text() == TEXT
    assert not (person.root / EXTRA).exists()


def test_what_the_person_added_to_its_commit_does_not_return_with_it(person: Person, life: ProposalLife) -> None:
    life.offer()
    life.accept()
    person.skill.write_text(person.skill.read_text() + "\nMine.\n")
    git(person, "commit --quiet --all --amend --no-edit")
    assert life.observe()[0] == "accepted"
    git(person, "revert --no-edit HEAD")
    assert life.observe()[0] == "reverted"
    collect_garbage(person)
    with pytest.raises(RefusedError, match="no longer in the repository"):
        life.accept()
    assert person.skill.read_text() == TEXT


def test_two_homes_share_a_repository(person: Person, store: Store, tmp_path: Path) -> None:
    here, there = ProposalLife(person, store), ProposalLife(person, new_store(tmp_path / "other.db"))
    here.offer("a1", text="- A one.")
    there.offer("b1", text="- B one.")
    here.offer("a2", "- Push the tag.", "- A two.")
    there.offer("b2", "- Push the tag.", "- B two.")
    here.accept("a1")
    there.reject("b1")
    there.accept("b2")
    assert [here.observe("a1")[0], here.observe("a2")[0]] == ["accepted", "open"]
    assert [there.observe("b1")[0], there.observe("b2")[0]] == ["rejected", "accepted"]
    assert person.log("skilld/staging", "-1") == ["skilld(release): say a2"]
    lines = TEXT.replace("- Tag", "- A one.\n- Tag").replace("- Push the tag.\n", "- Push the tag.\n- B two.\n")
    assert person.skill.read_text() == lines


def test_a_file_that_is_gone_is_not_written(person: Person, life: ProposalLife) -> None:
    life.offer()
    person.skill.unlink()
    with pytest.raises(RefusedError) as error:
        life.accept(worktree=True)
    assert error.value.cause == f"{person.skill} does not exist"
    assert error.value.remedy == "Restore it, then: skilld accept --worktree p1"
