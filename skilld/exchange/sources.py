"""What an import finds at its source: the bytes of skills, where each stands, and what lies beside it and stays there.

A file, a folder or a git repository enters. Links are not followed, nothing is run or checked out, and only plain files
of moderate size with the two known names are read at all.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import ClassVar

from skilld.errors import RefusedError, SkilldError, UsageError
from skilld.git import objects
from skilld.git.remote import clone
from skilld.git.run import Git
from skilld.git.tree import FILE_MODES
from skilld.skills.find import FILE, MAX_BYTES

# The files of a cloned repository's newest commit, read from its objects: nothing of it is ever checked out.

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


MOST_SKILLS = 50
_MOST_FILES = 20_000
_DEPTH = 8
_YAML = (".yaml", ".yml")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|(?:[\w.-]+@)?[\w.-]{2,}:(?!:)")


@dataclass(frozen=True, slots=True)
class Found:
    """One skill at a source: `where` is its path there, `folder` the name of its folder, empty where it has none.

    `beside` are the files that belong to it there and are left out; `why` says why it cannot be read, empty where
    `data` has its bytes.
    """

    where: str
    folder: str
    data: bytes = b""
    beside: tuple[str, ...] = ()
    why: str = ""

    @property
    def is_yaml(self) -> bool:
        """Whether its bytes are a YAML document, and not a SKILL.md."""
        return self.where.lower().endswith(_YAML)


def is_address(source: str) -> bool:
    """Whether a source is the address of a repository, and no path. Raises UsageError for `helper::...`."""
    if re.match(r"[\w.+-]+::", source):
        raise UsageError(_TITLE, "such an address names a program to run, not a repository")
    return bool(_ADDRESS.match(source)) and not os.path.lexists(source)


def find(source: str, removed: Mapping[str, str], branch: str = "") -> list[Found]:
    """Return the skills at a source: a YAML file, a SKILL.md, a folder, or a git repository by path or address.

    `removed` is the part of the environment that the person's git gets back; a `branch` is one of a repository, for
    which its address or folder is given. Raises SkilldError where there is none.
    """
    if is_address(source):
        return _checked(source, _cloned(source, removed, branch))
    try:
        return _checked(source, _at(Path(source).expanduser().resolve(), source, removed, branch))
    except (OSError, RuntimeError) as error:  # too long a name, a folder that may not be read; a home of nobody's
        raise SkilldError(_TITLE, f"{source}: {getattr(error, 'strerror', None) or error}") from error


def _at(path: Path, source: str, removed: Mapping[str, str], branch: str) -> list[Found]:
    if path.is_dir():
        is_bare = (path / "HEAD").is_file() and (path / "objects").is_dir()
        return _cloned(str(path), removed, branch) if is_bare or branch else _below(path)
    if path.is_file() and (path.suffix.lower() in _YAML or path.name == FILE):
        return [_one(path, "" if path.name != FILE else path.parent.name, path.name, ())]
    if os.path.lexists(path):
        raise UsageError(_TITLE, f"{source} is no SKILL.md, YAML file, folder or git repository")
    raise SkilldError(_TITLE, f"there is no {source}")


def _checked(source: str, found: list[Found]) -> list[Found]:
    if not found:
        raise SkilldError(_TITLE, f"there is no SKILL.md in {source}")
    if len(found) > MOST_SKILLS:
        raise RefusedError(
            _TITLE, f"{source} has {len(found)} skills, more than {MOST_SKILLS}", "Import a folder of it."
        )
    return found


def _one(path: Path, folder: str, where: str, beside: Iterable[str]) -> Found:
    """Read one file, which is no link by now."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            facts = os.fstat(fd)
            if why := "it is no plain file" if not stat.S_ISREG(facts.st_mode) else _too_large(facts.st_size):
                return Found(where, folder, why=why)
            return Found(where, folder, file.read(MAX_BYTES + 1), tuple(beside))
    except OSError as error:
        link = path.is_symlink()
        return Found(where, folder, why="it is a link" if link else (error.strerror or "it cannot be read"))


def _below(top: Path) -> list[Found]:
    files: list[str] = []
    for here, folders, names in os.walk(top):
        depth = len(Path(here).relative_to(top).parts)
        folders[:] = sorted(name for name in folders if name != ".git" and depth < _DEPTH)
        files += [(Path(here) / name).relative_to(top).as_posix() for name in names]
        if len(files) > _MOST_FILES:
            raise RefusedError(_TITLE, f"{top} has more than {_MOST_FILES} files", "Import a folder of it.")
    return [_one(top / where, folder or top.name, where, beside) for where, folder, beside in _skills(files)]


def _cloned(source: str, removed: Mapping[str, str], branch: str) -> list[Found]:
    with tempfile.TemporaryDirectory(prefix="skilld-import-") as name:  # 0700
        tree = tree_of(clone(source, Path(name) / "clone", removed, branch=branch), _MOST_FILES)
        found = []
        for where, folder, beside in _skills(tree.files):
            why = tree.why_not(where) or _too_large(tree.size(where))
            called = folder or PurePosixPath(source).name.removesuffix(".git")
            found.append(Found(where, called, why=why) if why else Found(where, called, tree.read(where), beside))
        return found


def _skills(files: Iterable[str]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield path, folder name and the files beside it for every SKILL.md among the paths of files."""
    paths = sorted(PurePosixPath(file) for file in files)
    homes = {path.parent for path in paths if path.name == FILE}
    for home in sorted(homes):
        own = [path for path in paths if next((up for up in path.parents if up in homes), None) == home]
        yield str(home / FILE), home.name, tuple(str(path) for path in own if path != home / FILE)


def _too_large(size: int) -> str:
    return f"it has {size} bytes, more than {MAX_BYTES}" if size > MAX_BYTES else ""
