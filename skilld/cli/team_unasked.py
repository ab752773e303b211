"""The sync of all teams that the daemon starts, once an hour at most, and the pull requests that it may update.

Nobody waits for it: what goes wrong in one repository is kept for `skilld team status`, and the next hour tries again.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from skilld.cli import common, team
from skilld.errors import SkilldError
from skilld.git.environment import scrub_environment
from skilld.text import cut

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skilld.store import Store

_WEEK = 7 * 86400.0
_MAX = 300  # characters of what went wrong


def sync_all() -> None:
    """Sync every team that the person joined; where `team.auto_pr` says so, and a week is over, its pull request."""
    from skilld.team.join import load, save

    removed, store, settings = scrub_environment(), common.store(), common.settings().team
    for folder in settings.repositories:
        if load(store, folder, settings.repositories) is None:
            continue  # joined on this machine by another home's settings, or left by hand
        try:
            _sync(store, folder, removed, weekly=settings.auto_pr == "weekly")
        except SkilldError as error:
            if known := load(store, folder, settings.repositories):
                save(store, replace(known, trouble=cut(str(error), _MAX)))


def _sync(store: Store, folder: Path, removed: Mapping[str, str], *, weekly: bool) -> None:
    from skilld.cli.team_pr import bring_up_to_date
    from skilld.git.repo import open_repo
    from skilld.team.join import save

    repo = open_repo(common.folder(folder))
    known, now = team.joined(store, repo), time.time()
    if weekly and not known.asked_at <= now < known.asked_at + _WEEK:
        save(store, replace(known, asked_at=now))  # a host that is away is asked again in a week
        bring_up_to_date(store, repo, removed)
        return
    leaving = team.outgoing(store, repo, known)
    team.synced(store, team.team_hub(repo, known, removed), leaving.records)
