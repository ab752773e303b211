"""Facts about the machine and about our own files on it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from skilld.doctor.values import Agent, Machine, Trouble
from skilld.errors import SkilldError
from skilld.files import in_shell
from skilld.git.environment import scrub_environment
from skilld.paths import Places, check_private
from skilld.store import Store
from skilld.store.mounts import is_remote

_WATCHES = Path("/proc/sys/fs/inotify/max_user_watches")


def machine(
    places: Places, agents: Sequence[Agent], settings: Trouble | None, store: Trouble | None, now: float
) -> Machine:
    """Return the facts; what is known of settings and store already is passed in."""
    folders = [folder for agent in agents for folder in agent.folders if folder.is_dir()]
    return Machine(
        now=now,
        settings=settings,
        permissions=_permissions(places),
        store=store,
        git=_git(),
        free=_free(places.state),
        watch_limit=_watch_limit(),
        folders=sum(agent.watched for agent in agents),
        remote=tuple(folder for folder in folders if is_remote(folder)),
    )


def database(places: Places) -> tuple[Store | None, Trouble | None]:
    """Return the open store, or what is wrong with it. Neither where skilld never ran: looking makes none."""
    if not places.database.exists():
        return None, None
    try:
        return Store.open_sound(places.database), None
    except SkilldError as error:
        return None, Trouble(str(error), error.remedy)


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


def _free(folder: Path) -> int | None:
    there = next(path for path in (folder, *folder.parents) if path.is_dir())
    try:
        return shutil.disk_usage(there).free
    except OSError:
        return None


def _watch_limit() -> int | None:
    try:
        return int(_WATCHES.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
