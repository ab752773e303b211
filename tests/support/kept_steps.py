"""Steps with which many tests begin, done once per process: what they did to a folder is copied for the next test."""

from __future__ import annotations

import copy
import os
import sqlite3
import stat
import zlib
from collections.abc import Callable, Hashable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from skilld.store import Store
from support import git_clock
from support.copied_repo import know_files

T = TypeVar("T")
_DATABASE = "skilld.db"


@dataclass(frozen=True)
class _Step:
    """What a step did: what it left of each file (None: nothing), the store's rows, its commits and its result."""

    files: dict[str, tuple[int, int, bytes] | None]
    rows: bytes
    commits: int
    result: Any


_KEPT: dict[tuple[Hashable, ...], _Step] = {}


class KeptSteps:
    """The steps of one test in `folder`, which has the same path in each test and now the same `store` without rows.

    Steps are the same if all that was in the folder at first was, and all before them. As soon as anything else has
    changed a file or a row, or `monkeypatch` was used, all further ones are done: nobody knows what comes of them.
    """

    def __init__(self, folder: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder, self._store, self._monkeypatch = folder, store, monkeypatch
        self._seen: object = None
        self._left = self._look()
        begins = [(path, _read(folder / path)[::2]) for path in self._left[0] if not path.endswith(".git/index")]
        replaced = tuple(sorted(str(name) for _, name, _ in (*monkeypatch._setattr, *monkeypatch._setitem)))
        self._done: tuple[Hashable, ...] = (git_clock.start(), git_clock.made(), replaced, tuple(begins))
        self._is_open = store._db.total_changes == 0

    def do(self, name: Hashable, act: Callable[[], T]) -> T:
        """Do a step or copy what it did; return its result."""
        before = self._look() if self._is_open else None
        self._is_open = before is not None and before == self._left
        if before is None or not self._is_open:
            return act()
        self._is_open, self._done = False, (*self._done, name)
        kept = _KEPT.get(self._done)
        if kept is None:
            commits = git_clock.made()
            result = act()
            rows = zlib.compress(self._store._db.serialize(), 1)
            kept = _Step(self._changed(before[0]), rows, git_clock.made() - commits, copy.deepcopy(result))
            _KEPT[self._done] = kept
        else:
            self._copy(kept)
            result = copy.deepcopy(kept.result)
        self._left, self._is_open = self._look(), True
        return result

    def look(self, act: Callable[[], None]) -> None:
        """Do what looks at the folder and changes only the store, unless nothing has changed since the last time."""
        if self._look() != self._seen:
            act()
            self._seen = self._look()

    def _look(self) -> tuple[dict[str, tuple[int, ...]], int, int]:
        """Return what shows whether anything has changed. Git never changes an object, and tests only remove them."""
        found: dict[str, tuple[int, ...]] = {}
        folders = [""]
        for folder in folders:
            with os.scandir(self._folder / folder) as entries:
                for entry in entries:
                    path = folder + entry.name
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(f"{path}/")
                        found[path] = ()
                    elif ".git/objects/" in path:
                        found[path] = ()
                    elif not path.startswith(_DATABASE):
                        info = entry.stat(follow_symlinks=False)
                        found[path] = info.st_mode, info.st_ino, info.st_size, info.st_mtime_ns
        replaced = len(self._monkeypatch._setattr) + len(self._monkeypatch._setitem)
        return dict(sorted(found.items())), self._store._db.total_changes, replaced

    def _changed(self, before: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, int, bytes] | None]:
        now = self._look()[0]
        gone = dict.fromkeys(sorted(before.keys() - now.keys(), reverse=True))
        return {**gone, **{path: _read(self._folder / path) for path in now if before.get(path) != now[path]}}

    def _copy(self, step: _Step) -> None:
        for name, left in step.files.items():
            path = self._folder / name
            if left is not None and stat.S_ISDIR(left[0]):
                path.mkdir(exist_ok=True)
                path.chmod(stat.S_IMODE(left[0]))
                continue
            if path.is_dir():
                path.rmdir()
            else:
                path.unlink(missing_ok=True)  # what git writes is another file, too
            if left is not None:
                path.write_bytes(left[2])
                path.chmod(stat.S_IMODE(left[0]))
                os.utime(path, ns=(left[1], left[1]))
        for name in step.files:
            if name.endswith(".git/index"):
                know_files((self._folder / name).parents[1])
        with closing(sqlite3.connect(":memory:")) as rows:
            data = bytearray(zlib.decompress(step.rows))
            data[18:20] = b"\1\1"  # fileformat2.html: no log of writes, which a database in memory cannot have
            rows.deserialize(bytes(data))
            rows.backup(self._store._db)
        git_clock.repeat(step.commits)


def _read(path: Path) -> tuple[int, int, bytes]:
    """Return kind, mode, time and content of a file; of a folder, those that it has."""
    info = path.lstat()
    if stat.S_ISDIR(info.st_mode):
        return info.st_mode, 0, b""
    assert stat.S_ISREG(info.st_mode), f"neither a file nor a folder: {path}"
    return info.st_mode, info.st_mtime_ns, path.read_bytes()
