"""Facts about the machine and about our own files on it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from skilld.doctor.values import Agent, Disk, Machine, Trouble
from skilld.errors import SkilldError
from skilld.files import in_shell
from skilld.git.environment import scrub_environment
from skilld.paths import Places, check_private
from skilld.store import Store
from skilld.store.damage import why_gone
from skilld.store.meta import REBUILT
from skilld.store.mounts import is_remote
from skilld.times import seconds

_LATELY = 7 * 86400.0
_WATCHES = Path("/proc/sys/fs/inotify/max_user_watches")


def machine(
    places: Places,
    agents: Sequence[Agent],
    settings: Trouble | None,
    store: Trouble | None,
    now: float,
    *,
    rebuilt: str,
    repositories: Sequence[Path] = (),
) -> Machine:
    """Return the facts; what is known of settings, store and the repositories with proposals is passed in."""
    folders = [folder for agent in agents for folder in agent.folders if folder.is_dir()]
    return Machine(
        now=now,
        settings=settings,
        permissions=_permissions(places),
        store=store,
        rebuilt=rebuilt,
        git=_git(),
        disks=_disks(places, repositories),
        watch_limit=_watch_limit(),
        folders=sum(agent.watched for agent in agents),
        remote=tuple(folder for folder in folders if is_remote(folder)),
    )


def database(places: Places) -> tuple[Store | None, Trouble | None]:
    """Return the open store, or what is wrong with it. Neither where skilld never ran: looking makes none."""
    if not os.path.lexists(places.database) and not why_gone(places.database):
        return None, None
    try:
        return Store.open_sound(places.database), None
    except SkilldError as error:
        return None, Trouble(str(error), error.remedy)


def rebuilt(store: Store | None, now: float) -> str:
    """Return when the database was put together again, from what and why; empty where that is over a week ago."""
    known = store.meta.get(REBUILT) if store is not None else None
    if not known or now - (seconds(known["at"]) or 0.0) > _LATELY:
        return ""
    return f"it was rebuilt from {known['from']} at {known['at']}: {known['why']}"


def _permissions(places: Places) -> Trouble | None:
    try:
        if places.state.exists():
            check_private(places)
        for path in (places.state, places.config, places.data):
            if path.exists() and not os.access(path, os.R_OK | os.W_OK | os.X_OK):
                return Trouble(f"{path} cannot be used", f"chmod u+rwx {in_shell(path)}")
    except SkilldError as error:
        return Trouble(str(error), error.remedy)
    except OSError as error:
        return Trouble(f"{error.filename}: {error.strerror}")
    return None


def _git() -> str | Trouble:
    scrub_environment()
    from skilld.git.run import Git  # not before: where there is no git, GitPython must have been told to be quiet

    try:
        return Git(Path("/")).run("version").decode("utf-8", "replace")
    except SkilldError as error:
        return Trouble(str(error), error.remedy)


def _disks(places: Places, repositories: Sequence[Path]) -> tuple[Disk, ...]:
    """Return the disks that are written to, each once; those that cannot be looked at are left out."""
    written = [(places.state, "its state"), (places.data, "repositories of its own")]
    git_folders = [folder for folder in map(_git_folder, repositories) if folder is not None]
    found: dict[int, Disk] = {}
    for folder, what in (*written, *((repository, "proposals") for repository in (*repositories, *git_folders))):
        try:
            there = next(path for path in (folder, *folder.parents) if path.is_dir())
            found.setdefault(there.stat().st_dev, Disk(there, what, _free(there)))
        except (OSError, StopIteration):
            continue
    return tuple(found.values())


def _git_folder(path: Path) -> Path | None:
    """Return the `.git` folder above a path: it may be on a disk of its own."""
    found = (folder / ".git" for folder in (path, *path.parents))
    try:
        return next((git for git in found if git.is_dir()), None)
    except OSError:
        return None


def _free(folder: Path) -> int:
    facts = os.statvfs(folder)
    # Without a free inode nothing can be written either; a file system that counts none has 0 of 0.
    return facts.f_bavail * facts.f_frsize if facts.f_favail or not facts.f_files else 0


def _watch_limit() -> int | None:
    try:
        return int(_WATCHES.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
