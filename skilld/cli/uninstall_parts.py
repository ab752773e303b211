"""What there is to remove: the service, managed blocks, refs in repositories, folders."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from skilld.cli import common
from skilld.errors import SkilldError

if TYPE_CHECKING:
    from skilld.store import Store


@dataclass(frozen=True)
class Removal:
    """One thing that goes: what it is, where, and how."""

    kind: str
    what: str
    remove: Callable[[], object]


def service() -> list[Removal]:
    """Return the service, if one is installed."""
    from skilld.cli.service import the_manager
    from skilld.service.install import uninstall

    manager = the_manager()
    there = [path for path in manager.own_files() if path.exists()]
    if not there:
        return []
    return [Removal("service", ", ".join(map(str, there)), partial(uninstall, manager))]


def from_store() -> tuple[list[Removal], list[str]]:
    """Return what stands outside of skilld's own folders, as the store knows it, and what will be left with why."""
    if not common.places().database.exists():
        return [], []
    try:
        store = common.store()
        blocks, troubles = _blocks(store)
        own_refs, more = _repositories(store)
    except SkilldError as error:
        return [], [f"branches and refs in repositories, which are not known: {error}"]
    return blocks + own_refs, troubles + more


def _blocks(store: Store) -> tuple[list[Removal], list[str]]:
    from skilld.cli.sync import removal
    from skilld.store.meta import SYNCED

    parts, troubles = [], []
    for project in map(Path, store.meta.get(SYNCED, [])):
        try:
            parts += [Removal("block", str(one.path), one.write) for one in removal(project)]
        except SkilldError as error:
            troubles.append(str(error))
    return parts, troubles


def _repositories(store: Store) -> tuple[list[Removal], list[str]]:
    from skilld.git.errors import NotTrackedError
    from skilld.propose.withdraw import plan, withdraw
    from skilld.store.meta import SHARED

    own, shared = common.places().repositories, store.meta.get(SHARED, {})
    parts, troubles = [], []
    names = sorted({*store.proposals.repos(), *shared})
    for repo in (Path(name) for name in names if name and Path(name).parent != own):
        made = shared.get(str(repo), [])
        try:
            planned = plan(repo, made)
        except NotTrackedError:
            continue  # it is gone, and all that was in it
        except SkilldError as error:
            troubles.append(f"{repo}: {error}")
            continue
        troubles += [f"{repo}: {ref.removeprefix('refs/heads/')}, since {why}" for ref, why in planned.kept.items()]
        if planned.refs:
            parts.append(Removal("refs", f"{repo}: {', '.join(planned.refs)}", partial(withdraw, repo, made)))
    return parts, troubles


def folders(*, purge: bool) -> list[Removal]:
    """Return skilld's own folders, without the skills that the person archived.

    Without `purge` the settings file stays, too, wherever it lies (on macOS among them).
    """
    where = common.places()
    kept = {where.archive} if archived() else set()
    kept |= set() if purge else {where.settings_file}
    parts = []
    for folder in dict.fromkeys([where.data, where.state, *([where.config] if purge else [])]):
        there = [path for path in folder.iterdir() if path not in kept] if folder.is_dir() else []
        if there or (purge and folder.is_dir() and not any(folder.iterdir())):
            parts.append(Removal("folder", f"{folder}: {_names(there)}", partial(_empty, folder, kept)))
    return parts


def archived() -> list[str]:
    """Return what is left of the archive, as it holds the only copies of the person's own skills: a line for each."""
    from skilld.library.archive import archived

    found = archived(common.places().archive)
    return [f"{one.folder}, which was {one.origin}: skilld skills restore {one.name}" for one in found]


def _names(paths: list[Path]) -> str:
    return ", ".join(sorted(path.name for path in paths)) or "empty"


def _empty(folder: Path, kept: Collection[Path]) -> None:
    """Remove a folder of ours with all that is in it but what is kept. No link is followed out of it."""
    for path in folder.iterdir():
        if path in kept:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    if any(path.parent == folder and path.exists() for path in kept):
        return
    if folder.is_symlink():
        folder.unlink()
    else:
        folder.rmdir()
