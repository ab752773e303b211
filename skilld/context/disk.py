"""The files that resolvers read, cached until they change."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from skilld.files import read_regular
from skilld.values import value_class

MAX_BYTES = 1 << 20
T = TypeVar("T")
_MAX_FOLDERS = 5_000  # below one project
_MAX_CACHED = 20_000  # folders and files in total
_UNSETTLED_SECONDS = 2.0  # what changed this recently may change again without a new time stamp
_MARKDOWN_SUFFIXES = (".md", ".MD")
# May be huge and contain no instructions. Files that were touched in them are read in any case.
_SKIPPED_FOLDERS = frozenset(
    (
        *("node_modules", "bower_components", "vendor", "venv", "env", "site-packages", "__pycache__", "Pods", "deps"),
        *("target", "dist", "build", "_build", "out", "coverage", "DerivedData", "bazel-bin", "bazel-out"),
    )
)


@value_class
class FileText:
    """A file: its text, and its real path."""

    text: str
    real: str


@dataclass(slots=True)
class Disk:
    """The files of this machine. Nothing raises: what cannot be read does not exist."""

    _texts: dict[str, tuple[tuple[int, ...], FileText]] = field(default_factory=dict)
    _folders: dict[str, tuple[tuple[int, ...], dict[str, bool]]] = field(default_factory=dict)
    _scans: dict[str, tuple[tuple[int, ...], tuple[list[str], list[str]]]] = field(default_factory=dict)

    def read(self, path: str) -> FileText | None:
        """Return a regular file, links followed; at most its first megabyte."""
        return _cached(self._texts, path, _read_text)

    def names(self, folder: str) -> Mapping[str, bool]:
        """Return the names in a folder, in the order of the disk, and whether each is a folder, links followed."""
        return _cached(self._folders, folder, _read_names) or {}

    def exists(self, path: str) -> bool:
        """Whether anything has this name, even a broken link."""
        try:
            return os.path.lexists(path)
        except ValueError:
            return False

    def real(self, path: str) -> str:
        """Return a path with links resolved; unchanged if it is not a valid path."""
        try:
            return os.path.realpath(path)
        except ValueError:
            return path

    def below(self, folder: str, wanted: frozenset[str]) -> Iterator[str]:
        """Yield the folders below one that contain a wanted name, outer ones first.

        Hidden ones, dependencies, links and others that hold no work are left out.
        """
        ignored = _SKIPPED_FOLDERS | self._ignored(folder)
        level = deque([folder])
        for _ in range(_MAX_FOLDERS):
            if not level:
                return
            here = level.popleft()
            inner, names = _cached(self._scans, here, _scan) or ((), ())
            level.extend([f"{here}/{name}" for name in inner if name not in ignored])
            if here != folder and not wanted.isdisjoint(names):
                yield here

    def _ignored(self, folder: str) -> frozenset[str]:
        """Return the folders that the project's .gitignore names without patterns."""
        found = self.read(f"{folder}/.gitignore")
        lines = found.text.splitlines() if found else ()
        names = (line.strip().strip("/") for line in lines if line.strip().endswith("/"))
        return frozenset(name for name in names if name and not set(name) & set("/*?[!#\\"))


def _identity(facts: os.stat_result) -> tuple[int, ...]:
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def _cached(kept: dict[str, tuple[tuple[int, ...], T]], path: str, read: Callable[[str], T]) -> T | None:
    """Return what is read at a path, or was read before if nothing has changed; None if it cannot be read."""
    try:
        facts = os.stat(path)  # noqa: PTH116 - called for hundreds of names that do not exist
        known = kept.get(path)
        if known and known[0] == _identity(facts):
            return known[1]
        found = read(path)
    except (OSError, ValueError):
        return None
    if time.time() - max(facts.st_mtime, facts.st_ctime) > _UNSETTLED_SECONDS:
        if len(kept) >= _MAX_CACHED:
            kept.clear()
        kept[path] = (_identity(facts), found)
    return found


def _read_text(path: str) -> FileText:
    if not Path(path).is_file():  # opening a device can have effects
        raise ValueError("it is not a regular file")
    text = read_regular(Path(path), MAX_BYTES)[0].decode("utf-8", "replace").removeprefix("\ufeff")
    return FileText(text, os.path.realpath(path))


def _read_names(folder: str) -> dict[str, bool]:
    with os.scandir(folder) as entries:
        return {entry.name: entry.is_dir() for entry in entries}


def _scan(folder: str) -> tuple[list[str], list[str]]:
    """Return the subfolders of a folder, and the names that may be or hold instructions."""
    inner, names = [], []
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if name.endswith(_MARKDOWN_SUFFIXES) or name[0] == ".":
                names.append(name)
            elif entry.is_dir(follow_symlinks=False):
                inner.append(name)
    return inner, names
