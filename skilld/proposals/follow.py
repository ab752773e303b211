"""Follows projects whose folder the person moved or renamed, by the numbers of the folder and of a file in it.

A copy or a new clone has other numbers, so nothing is followed into one. Runs no git: the daemon calls it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from skilld.git.state import move_own_repository
from skilld.paths import places
from skilld.store import Store
from skilld.store.meta import FOLDER_IDS, SYNCED_PROJECTS, TEAMS

_MAX_NEIGHBOURS = 2000  # folders beside a missing one that are looked at
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
            new = next((one for one in _candidates(store, folder, now) if _identity(one, witness) == known[folder]), "")
            if new:
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
    try:
        top, inner = os.lstat(folder), os.lstat(f"{folder}/{witness}")
    except OSError:
        return []
    return [top.st_dev, top.st_ino, inner.st_ino]


def _candidates(store: Store, folder: str, now: float) -> Iterator[str]:
    """Yield where a moved folder may be: near its old place, also below a renamed one, or around a session."""
    missing = Path(folder)
    above = next(one for one in missing.parents if os.path.isdir(one))  # noqa: PTH112 - True or False, whatever the disk
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
        store.moved.move(old, new)
