"""Follows projects whose folder the person moved or renamed, by the numbers of the folder and of a file in it.

On another file system the numbers differ. Then the reflog identifies it: a clone has none, and an older copy only a
part. Runs no git, because the daemon calls it.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from skilld.files import read_start
from skilld.git.state import move_own_repository
from skilld.paths import places
from skilld.store import Store
from skilld.store.meta import FOLDER_IDS, MOVED_TEAMS, SYNCED_PROJECTS, TEAMS
from skilld.store.moved import moved_path

_MAX_NEIGHBOURS = 2000  # folders beside a missing one that are looked at
_NUMBERS = 3  # the device and inode of a folder, and the inode of a file in it
_REFLOG_BYTES = 4096  # the end of a reflog that is compared
_RECENT_SECONDS = 30 * 86400  # how long a session's folder is looked at


def follow_moved_folders(store: Store, now: float) -> None:
    """Note the numbers of the known folders, and store the new path of each that is gone and was found again."""
    known: dict[str, list[int]] = store.meta.get(FOLDER_IDS, {})
    ids: dict[str, list[int]] = {}
    for folder, witness in _known_folders(store).items():
        found = _identity(folder, witness)
        if found:
            ids[folder] = found
        elif folder in known:
            ids[folder] = known[folder]
            if new := _find(known, folder, witness, _candidates(store, folder, now)):
                _move(store, folder, new)
                ids[new] = ids.pop(folder)
    if ids != known:
        with store.transaction():
            store.meta.set(FOLDER_IDS, ids)


def _known_folders(store: Store) -> dict[str, str]:
    """Return the folders of proposals and registered projects, each with the path in it of what moves along."""
    own = f"{places().repositories}/"
    found = dict.fromkeys([*store.meta.get(SYNCED_PROJECTS, []), *store.meta.get(TEAMS, {})], ".git")
    for repo, path, relpath in store.proposals.addresses():
        if repo.startswith(own):
            found[path.removesuffix(f"/{relpath}")] = relpath
        elif repo:
            found[repo] = ".git"
    return found


def _identity(folder: str, witness: str) -> list[int]:
    """Return the numbers of a folder, then the size of its reflog, if it has one, and a number for the end of it."""
    try:
        top, inner = os.lstat(folder), os.lstat(f"{folder}/{witness}")
    except OSError:
        return []
    with suppress(OSError):
        size = _reflog(folder).stat().st_size
        return [top.st_dev, top.st_ino, inner.st_ino, *_reflog_until(folder, size)]
    return [top.st_dev, top.st_ino, inner.st_ino]


def _reflog(folder: str) -> Path:
    return Path(folder) / ".git/logs/HEAD"


def _reflog_until(folder: str, size: int) -> list[int]:
    """Return a size and a number for the bytes of the reflog up to there; empty if it has not so many."""
    if not size:
        return []
    try:
        data = read_start(_reflog(folder), min(size, _REFLOG_BYTES), skip=max(0, size - _REFLOG_BYTES))
    except OSError:
        return []
    return [size, zlib.crc32(data)] if len(data) == min(size, _REFLOG_BYTES) else []


def _find(known: dict[str, list[int]], folder: str, witness: str, candidates: Iterator[str]) -> str:
    """Return where a missing folder is among these; empty if nowhere, or if there are several copies of it.

    A copy counts once the folder itself is deleted.
    """
    numbers, reflog = known[folder][:_NUMBERS], known[folder][_NUMBERS:]
    copies: set[str] = set()
    for one in candidates:
        found = _identity(one, witness)
        if found[:_NUMBERS] == numbers:
            return one
        if found and reflog and one not in known and _reflog_until(one, reflog[0]) == reflog:
            copies.add(os.path.realpath(one))
    return copies.pop() if len(copies) == 1 and _is_deleted(f"{folder}/{witness}", numbers[0]) else ""


def _is_deleted(path: str, device: int) -> bool:
    """Whether something is gone from the disk that it was on, which is there: one that is away may come back."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        with suppress(OSError):
            return _above(path).stat().st_dev == device
    except OSError:
        pass
    return False


def _above(path: str) -> Path:
    return next(one for one in Path(path).parents if os.path.isdir(one))  # noqa: PTH112 - True or False, whatever the disk


def _candidates(store: Store, folder: str, now: float) -> Iterator[str]:
    """Yield where a moved folder may be: near its old place, also below a renamed one, or around a session."""
    missing = Path(folder)
    above = _above(folder)
    rest = missing.relative_to(above).parts
    for near in (above, above.parent):
        with suppress(OSError), os.scandir(near) as entries:
            for one in islice(entries, _MAX_NEIGHBOURS):
                yield os.path.join(one.path, *rest[1:])  # noqa: PTH118 - thousands of paths
                yield os.path.join(one.path, *rest)  # noqa: PTH118
    since = now - _RECENT_SECONDS
    for cwd in {session.cwd for session in store.transcripts.active(since, since)}:
        yield from (str(one) for one in (Path(cwd), *Path(cwd).parents))


def _move(store: Store, old: str, new: str) -> None:
    """Store the new path; skilld's own repositories of folders in it are moved first, which a killed run repeats."""
    own = places().repositories
    for repo, path, relpath in store.proposals.addresses():
        root = path.removesuffix(f"/{relpath}")
        if Path(repo).parent == own and Path(root).is_relative_to(old):
            moved = move_own_repository(Path(repo), Path(new + root.removeprefix(old)))
            with store.transaction():
                store.moved.move(repo, str(moved))
    with store.transaction():
        teams: dict[str, str] = store.meta.get(MOVED_TEAMS, {})
        teams |= {repo: repo for repo in store.meta.get(TEAMS, {}) if repo not in teams.values()}
        store.moved.move(old, new)
        now = {name: moved_path(repo, old, new) for name, repo in teams.items()}
        # The list of teams is in the person's settings, which only their own commands change.
        store.meta.set(MOVED_TEAMS, {name: repo for name, repo in now.items() if repo != name})
