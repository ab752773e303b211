"""The files of a cloned repository's newest commit, read from its objects: nothing of it is ever checked out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from skilld.errors import RefusedError, SkilldError
from skilld.git import objects
from skilld.git.run import Git
from skilld.git.tree import FILE_MODES

_TITLE = "Nothing was imported"
_NO_NAMES = frozenset({"", "."})  # a tree made by hand can hold them; no work tree does


@dataclass(frozen=True)
class Tree:
    """All paths of a commit, with mode, object and size (0 for what is no file)."""

    git: Git
    entries: dict[str, tuple[str, str, int]] = field(default_factory=dict)
    KINDS: ClassVar[dict[str, str]] = {"120000": "it is a link", "160000": "it is a repository of its own"}

    @property
    def files(self) -> list[str]:
        """The paths, with forward slashes."""
        return list(self.entries)

    def why_not(self, path: str) -> str:
        """Return why a path is not read: a clause, empty where it is a plain file."""
        mode = self.entries[path][0]
        return "" if mode in FILE_MODES else self.KINDS.get(mode, "it is no plain file")

    def size(self, path: str) -> int:
        """Return the bytes of a file."""
        return self.entries[path][2]

    def read(self, path: str) -> bytes:
        """Return a file as git stores it. Raises SkilldError where it is missing."""
        found = objects.read(self.git, [self.entries[path][1]])[0]
        if found is None or found.kind != "blob":
            raise SkilldError(_TITLE, f"{path} is not in the repository")
        return found.data


def tree_of(git: Git, most: int) -> Tree:
    """Return the newest commit's tree, without paths that are two ways to one file.

    Raises SkilldError where there is no commit, RefusedError for over `most` paths.
    """
    listed = git.call("ls-tree", "-r", "-z", "-l", "--full-tree", "HEAD")
    if listed.status != 0:
        raise SkilldError(_TITLE, "the repository has no commit")
    rows = listed.out.split(b"\0")[:-1]
    if len(rows) > most:
        raise RefusedError(_TITLE, f"the repository has {len(rows)} files, more than {most}")
    entries = {}
    for row in rows:
        head, _, path = row.partition(b"\t")
        mode, _, oid, size = head.decode().split()
        name = path.decode("utf-8", "replace")
        if _NO_NAMES.isdisjoint(name.split("/")):
            entries[name] = (mode, oid, int(size) if size != "-" else 0)
    return Tree(git, entries)
