from __future__ import annotations

import pytest

from skilld.git import objects, tree
from skilld.git.errors import RepoRefusedError
from skilld.git.repo import Repo, open_repo
from support.repos import SKILL, Person
from support.rows import for_each


@pytest.fixture
def person(person: Person) -> Person:
    files = {"a/b/c/d/deep.txt": "deep\n", "a/b.txt": "b\n", "a.b": "x\n", "a-b": "y\n", "é ü/ß.txt": "z\n"}
    person.commit("more", files)
    return person


@pytest.fixture
def repo(person: Person) -> Repo:
    return open_repo(person.root)


def listing(person: Person, name: str) -> list[str]:
    return person.git("ls-tree", "-r", "-z", name).rstrip("\0").split("\0")


def test_only_one_file_changes(person: Person, repo: Repo) -> None:
    blob = objects.write_blob(repo.git, b"new\r\n\0bytes")
    new = tree.rewrite_tree(repo.git, repo.head, {"a/b/c/d/deep.txt": tree.Entry("100755", blob)})
    repo.git.write()
    expected = [
        f"100755 blob {blob}\ta/b/c/d/deep.txt" if row.endswith("deep.txt") else row for row in listing(person, "HEAD")
    ]
    assert listing(person, new) == expected
    assert tree.changed_files(repo.git, repo.head, new) == {
        "a/b/c/d/deep.txt": (tree.read_entry(repo.git, repo.head, "a/b/c/d/deep.txt"), tree.Entry("100755", blob))
    }
    assert person.git("fsck", "--strict", "--no-dangling") == ""


def test_files_come_and_go_with_their_folders(person: Person, repo: Repo) -> None:
    blob = objects.write_blob(repo.git, b"n\n")
    plain = tree.Entry("100644", blob)
    new = tree.rewrite_tree(repo.git, repo.head, {"a/b/c/d/deep.txt": None, "n/m/new.txt": plain, SKILL: plain})
    repo.git.write()
    names = [row.split("\t")[1] for row in listing(person, new)]
    assert "a/b/c/d/deep.txt" not in names
    assert "n/m/new.txt" in names
    assert person.git("ls-tree", new, "a/b") == ""
    assert set(tree.changed_files(repo.git, repo.head, new)) == {"a/b/c/d/deep.txt", "n/m/new.txt", SKILL}
    assert tree.changed_files(repo.git, new, repo.head).keys() == tree.changed_files(repo.git, repo.head, new).keys()


def test_the_same_entry_gives_the_same_tree(person: Person, repo: Repo) -> None:
    same = tree.read_entry(repo.git, repo.head, "é ü/ß.txt")
    assert tree.rewrite_tree(repo.git, repo.head, {"é ü/ß.txt": same}) == person.git("rev-parse", "HEAD^{tree}")


def test_a_file_in_place_of_a_folder_is_handled(repo: Repo) -> None:
    plain = tree.Entry("100644", objects.write_blob(repo.git, b"n\n"))
    for path in ("a", "README.md/x"):
        with pytest.raises(RepoRefusedError):
            tree.rewrite_tree(repo.git, repo.head, {path: plain})


@for_each(
    "path",
    ["", "/a", "a/", "a//b", ".", "..", "a/../b", ".git/config", "a/.GIT/x", "a/.g\u200cit/x", "git~1/x", ".git /x",
     ".git./x", "a\\b", "a\nb", "a\0b", "a\x1bb", "\udcff"],
)  # fmt: skip
def test_unsafe_paths_are_refused(path: str) -> None:
    with pytest.raises(RepoRefusedError):
        tree.check_relpath(path)


@for_each("path", ["SKILL.md", ".claude/skills/x/SKILL.md", ".github/a", "é ü/ß.md", "a.git/b", "gitx"])
def test_unusual_but_safe_paths_are_accepted(path: str) -> None:
    tree.check_relpath(path)


def test_objects_are_read_in_one_batch(repo: Repo) -> None:
    found = objects.read_objects(repo.git, ["HEAD:README.md", "HEAD:nothing", "HEAD", "HEAD^{tree}"])
    assert [item.kind if item else None for item in found] == ["blob", None, "commit", "tree"]
    assert found[0] is not None
    assert found[0].data == b"read me\n"
    assert objects.read_blob(repo.git, "HEAD", "a") is None
    with pytest.raises(RepoRefusedError):
        objects.read_objects(repo.git, ["HEAD:a\nHEAD"])


def test_commits_are_read_whatever_they_contain(person: Person, repo: Repo) -> None:
    raw = (
        f"tree {person.git('rev-parse', 'HEAD^{tree}')}\nparent {repo.head}\n"
        "author Zoë Ünal <z@example.org> 1700000000 +0530\ncommitter  <> 1700000001 -0800\n"
        "gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\n"
        "Subject\n\n    Skilld-Proposal: p1\n* Skilld-Proposal: p2\nSkilld-Proposal: p3 not\n"
    ).encode()
    (person.root / ".git/raw").write_bytes(raw)
    oid = person.git("hash-object", "-t", "commit", "-w", "--literally", ".git/raw")
    commit = objects.read_commit(repo.git, oid)
    assert commit is not None
    assert commit.parents == (repo.head,)
    assert (str(commit.author), str(commit.committer)) == (
        "Zoë Ünal <z@example.org> 1700000000 +0530",
        " <> 1700000001 -0800",
    )
    assert (commit.subject, commit.proposals) == ("Subject", ("p1", "p2"))
