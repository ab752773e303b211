"""Finds and reads the skills at a source: a file, a folder, or a git repository by path or address."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote

from skilld.errors import RefusedError, SkilldError, UsageError
from skilld.files import read_regular
from skilld.git import objects
from skilld.git.remote import clone
from skilld.git.run import Git
from skilld.git.tree import FILE_MODES
from skilld.skills.find import FILE, MAX_BYTES
from skilld.skills.spec import read_front, valid_name
from skilld.values import value_class

# Links are not followed, nothing is run or checked out, and only regular files of moderate size with
# the known names are read; those of a repository are read from git's objects.

_TITLE = "Nothing was imported"
_UNSAFE_NAMES = frozenset({"", "."})  # possible in a handmade tree, but not in a work tree
_OTHER_MODES = {"120000": "it is a symlink", "160000": "it is a separate repository"}


MAX_SKILLS = 50
_MAX_FILES = 20_000
_MAX_DEPTH = 8
_MAX_SHOWN = 10  # names
_YAML_SUFFIXES = (".yaml", ".yml")
_FRONT_FENCES = (b"---", b"\xef\xbb\xbf---")
_DOCUMENT_KEYS = (b"prompt", b"context", b"implementation", b"steps", b"generated_from")
_AS_SKILL_REMEDY = (
    "Save it as SKILL.md in a folder called {}, with a description between two lines of three hyphens at the top."
)
ARCHIVE_SUFFIXES = frozenset({".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar"})
_HOST_PATTERN = re.compile(r"[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/\w")  # an address without https://
_ADDRESS_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|(?:[\w.-]+@)?[\w.-]{2,}:(?!:)")
# https://github.com/OWNER/REPO/tree/BRANCH/FOLDER; GitLab has "/-/tree/", Gitea and Codeberg "/src/branch/".
_PAGE_PATTERN = re.compile(
    r"(?P<repository>https?://[^/?#]+/[^/?#]+/[^?#]+?)/(?:-/)?(?:tree|blob|src/branch)/(?P<branch>[^/?#]+)(?:/(?P<folder>[^?#]*))?"
    r"(?:[?#].*)?"
)
# REPO.git/FOLDER
_BELOW_PATTERN = re.compile(r"(?P<repository>.+?\.git)/(?P<folder>[^?#]+)")


@value_class
class SourceFolder:
    """A repository's address or path, the branch that is named ("" if none), and the folder in it."""

    repository: str
    branch: str
    folder: str

    def holds(self, path: str) -> bool:
        """Whether a file of the repository is in the folder."""
        return not self.folder or PurePosixPath(path).is_relative_to(self.folder)


def split_source(source: str) -> SourceFolder:
    """Return the parts of a source; the folder is "" if the source is a whole repository, or no such address."""
    found = _PAGE_PATTERN.fullmatch(source) or _BELOW_PATTERN.fullmatch(source)
    if found is None:
        return SourceFolder(source, "", "")
    parts = found.groupdict("")
    folder = unquote(parts["folder"]).strip("/")
    if folder.rpartition("/")[2] == "SKILL.md":  # the page of the file itself
        folder = folder.rpartition("/")[0]
    return SourceFolder(parts["repository"], parts.get("branch", ""), folder)


@value_class
class SourceSkill:
    """One skill at a source: `where` is its path there, `folder` the name of its folder, "" if it has none.

    `beside` are the other files in its folder, which are left out; `why` says why it cannot be read, "" if it can.
    """

    where: str
    folder: str
    data: bytes = b""
    beside: tuple[str, ...] = ()
    why: str = ""

    @property
    def is_yaml(self) -> bool:
        """Whether it is a YAML document instead of a SKILL.md."""
        is_text = PurePosixPath(self.where).name == FILE or self.data.startswith(_FRONT_FENCES)
        return self.where.lower().endswith(_YAML_SUFFIXES) or (not is_text and _is_document(self.data))

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which a person may choose it: its path, and its folder's name or that of its YAML file."""
        return self.where, PurePosixPath(self.where).stem if self.is_yaml else self.folder


def is_address(source: str) -> bool:
    """Whether a source is the address of a repository and not a path. Raises UsageError for `helper::...`."""
    if re.match(r"[\w.+-]+::", source):
        raise UsageError(_TITLE, "this kind of URL runs a program instead of naming a repository")
    return bool(_ADDRESS_PATTERN.match(source)) and not os.path.lexists(source)


def find_skills(source: str, branch: str = "", only: Collection[str] = ()) -> list[SourceSkill]:
    """Return the skills at a source: a YAML file, a SKILL.md, a folder, or a git repository by path or address.

    An address may name a folder in the repository, as `https://github.com/OWNER/REPO/tree/BRANCH/FOLDER` does.
    `branch` is for repositories only; `only` are the names of those wanted, if not all. Raises SkilldError if there are
    none.
    """
    if is_address(source):
        return _chosen(source, _find_in_clone(split_source(source), branch, only), only)
    try:
        path = Path(source).expanduser().resolve()
        return _chosen(source, _find_at_path(path, source, branch, only), only)
    except (OSError, RuntimeError) as error:  # a name that is too long, an unreadable folder; an unknown home
        raise SkilldError(_TITLE, f"{source}: {getattr(error, 'strerror', None) or error}") from error


def _find_at_path(path: Path, source: str, branch: str, only: Collection[str]) -> list[SourceSkill]:
    if path.is_dir():
        return _find_in_directory(path, source, branch, only)
    if branch and os.path.lexists(path):
        raise UsageError(_TITLE, f"{source} is a file, which has no branches", "Leave out --branch")
    if path.is_file():
        found = _read_file(SourceSkill(path.name, path.parent.name if path.name == FILE else ""), path)
        if path.name == FILE or found.is_yaml:
            return [found]
        if read_front(found.data.decode("utf-8", "replace")).description:  # exported under a name of the person's
            return [replace(found, folder=path.stem)]
    if os.path.lexists(path):
        remedy = _AS_SKILL_REMEDY.format(valid_name(path.stem) or "NAME")
        if path.suffix.lower() in ARCHIVE_SUFFIXES:
            remedy = "Unpack it, then import the folder: skilld skills import FOLDER"
        raise UsageError(_TITLE, f"{source} is not a SKILL.md, a YAML file, a folder or a git repository", remedy)
    inside = split_source(str(path))
    if inside.folder and Path(inside.repository).is_dir():
        return _find_in_clone(inside, branch, only)
    remedy = f"For a repository, give its URL: https://{source}" if _HOST_PATTERN.match(source) else ""
    raise SkilldError(_TITLE, f"{source} does not exist", remedy)


def _find_in_directory(path: Path, source: str, branch: str, only: Collection[str]) -> list[SourceSkill]:
    is_bare = (path / "HEAD").is_file() and (path / "objects").is_dir()
    if branch and not (is_bare or os.path.lexists(path / ".git")):
        cause = f"{source} is not the top folder of a repository, so it has no branches"
        raise UsageError(_TITLE, cause, "Leave out --branch, or name the top folder and use --only")
    if branch or is_bare:
        return _find_in_clone(SourceFolder(str(path), "", ""), branch, only)
    return _find_below(path, only)


def _chosen(source: str, found: list[SourceSkill], only: Collection[str]) -> list[SourceSkill]:
    if not found:
        remedy = "To import another file: " + _AS_SKILL_REMEDY[:1].lower() + _AS_SKILL_REMEDY[1:].format("NAME")
        raise SkilldError(_TITLE, f"there is no SKILL.md and no skill in YAML in {source}", remedy)
    there = dict.fromkeys(name for one in found for name in one.names[1:])
    if missing := [name for name in only if not any(name in one.names for one in found)]:
        shown = ", ".join([*islice(there, _MAX_SHOWN), *(["..."] if len(there) > _MAX_SHOWN else [])])
        raise UsageError("No such skill in the source", f"{', '.join(missing)}; available: {shown}")
    found = [one for one in found if _is_wanted(one, only)]
    if len(found) > MAX_SKILLS:
        cause, remedy = f"{source} has {len(found)} skills; the limit is {MAX_SKILLS}", "Choose some: --only NAME"
        raise RefusedError(_TITLE, cause, remedy)
    return found


def _is_wanted(one: SourceSkill, only: Collection[str]) -> bool:
    return not only or not set(only).isdisjoint(one.names)


def _read_among(
    files: Collection[str], top: str, only: Collection[str], read: Callable[[SourceSkill], SourceSkill]
) -> list[SourceSkill]:
    """Return the skills among the files of a source, read if they are wanted; `top` is the name of its top folder.

    Unread if they are too many, since `_chosen` refuses them.
    """
    listed = [SourceSkill(where, folder or top, beside=beside) for where, folder, beside in _skill_files(files)]
    wanted = sum(_is_wanted(one, only) for one in listed)
    found = [read(one) if wanted <= MAX_SKILLS and _is_wanted(one, only) else one for one in listed]
    documents = (read(SourceSkill(where, "")) for where in _yaml_files(files))
    return [*found, *(one for one in documents if _is_document(one.data))]


def _read_file(one: SourceSkill, path: Path) -> SourceSkill:
    """Return a skill with the data of its file, whose path has been resolved."""
    try:
        return replace(one, data=read_regular(path, MAX_BYTES, links=False)[0])
    except ValueError as error:
        why = str(error)
    except OSError as error:
        why = "it is a symlink" if path.is_symlink() else (error.strerror or "it cannot be read")
    return replace(one, beside=(), why=why)


def _find_below(top: Path, only: Collection[str]) -> list[SourceSkill]:
    files: list[str] = []
    for here, folders, names in os.walk(top):
        depth = len(Path(here).relative_to(top).parts)
        folders[:] = sorted(name for name in folders if name != ".git" and depth < _MAX_DEPTH)
        files += [(Path(here) / name).relative_to(top).as_posix() for name in names]
        if len(files) > _MAX_FILES:
            raise RefusedError(_TITLE, f"{top} has more than {_MAX_FILES} files", "Import one of its folders.")
    return _read_among(files, top.name, only, lambda one: _read_file(one, top / one.where))


def _find_in_clone(place: SourceFolder, branch: str, only: Collection[str]) -> list[SourceSkill]:
    with tempfile.TemporaryDirectory(prefix="skilld-import-") as name:  # 0700
        git = clone(place.repository, Path(name) / "clone", branch=branch or place.branch)
        tree = {where: file for where, file in _list_tree(git).items() if place.holds(where)}

        def read(one: SourceSkill) -> SourceSkill:
            if why := tree[one.where].why:
                return replace(one, beside=(), why=why)
            return replace(one, data=_read_blob(git, one.where, tree[one.where].oid))

        own = PurePosixPath(place.repository).name.removesuffix(".git")
        return _read_among(tree, own, only, read)


class _TreeFile(NamedTuple):
    """A file in a commit: its object, and why it is not read, "" if it is."""

    oid: str
    why: str


def _list_tree(git: Git) -> dict[str, _TreeFile]:
    """Return the files of the newest commit by path, without ambiguous paths.

    Raises SkilldError if there is no commit, RefusedError if there are too many files.
    """
    listed = git.call("ls-tree", "-r", "-z", "-l", "--full-tree", "HEAD")
    if listed.status != 0:
        raise SkilldError(
            _TITLE, "the default branch of the repository has no commits", "Choose another: --branch NAME"
        )
    rows = listed.out.split(b"\0")[:-1]
    if len(rows) > _MAX_FILES:
        raise RefusedError(_TITLE, f"the repository has {len(rows)} files; the limit is {_MAX_FILES}")
    found = {}
    for row in rows:
        head, _, path = row.partition(b"\t")
        mode, _, oid, size = head.decode().split()
        why = "" if mode in FILE_MODES else _OTHER_MODES.get(mode, "it is not a regular file")
        if not why and int(size) > MAX_BYTES:
            why = f"it is {size} bytes; the limit is {MAX_BYTES}"
        name = path.decode("utf-8", "replace")
        if _UNSAFE_NAMES.isdisjoint(name.split("/")):
            found[name] = _TreeFile(oid, why)
    return found


def _read_blob(git: Git, path: str, oid: str) -> bytes:
    found = objects.read_objects(git, [oid])[0]
    if found is None or found.kind != "blob":
        raise SkilldError(_TITLE, f"{path} is not in the repository")
    return found.data


def _skill_files(files: Iterable[str]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the path, the folder's name and the other files of its folder for every SKILL.md among `files`."""
    paths = sorted(PurePosixPath(file) for file in files)
    beside: dict[PurePosixPath, list[str]] = {path.parent: [] for path in paths if path.name == FILE}
    for path in paths:
        home = next((up for up in path.parents if up in beside), None)
        if home is not None and path != home / FILE:
            beside[home].append(str(path))
    for home in sorted(beside):
        yield str(home / FILE), home.name, tuple(beside[home])


def _yaml_files(files: Iterable[str]) -> list[str]:
    """Return the YAML files at the top of a source, where an export writes them, unless that is a skill's folder."""
    top = sorted(file for file in files if "/" not in file)
    return [] if FILE in top else [file for file in top if file.lower().endswith(_YAML_SUFFIXES)]


def _is_document(data: bytes) -> bool:
    """Whether a file has the keys of a skill in YAML; other programs' files have not."""
    keys = set(re.findall(rb"^(?:\xef\xbb\xbf)?([a-z_]+):", data, re.MULTILINE))
    return {b"name", b"description"} <= keys and not keys.isdisjoint(_DOCUMENT_KEYS)
