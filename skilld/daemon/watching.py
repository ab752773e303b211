"""Keeps the daemon's folder watches alive, and knows how far to trust them. The sweep finds what they miss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from skilld.daemon.messages import Changed, Message, Tick
from skilld.ingest.discover import Root
from skilld.ingest.watch import Watcher
from skilld.logs import get_logger
from skilld.store import connection

log = get_logger()


class FolderWatch:
    """Watches the folders of `roots` and posts what may have changed."""

    def __init__(self, roots: Sequence[Root], post: Callable[[Message], None]) -> None:
        self._roots = roots
        self._post = post
        self._unwatched = self._overflows = self._restarted_at = 0
        self._silent: list[str] = []
        self._watcher = Watcher(
            changed=lambda path: post(Changed(path)), lost=self._lost, appeared=lambda: post(Tick("look"))
        )
        self.look()

    @property
    def folders(self) -> int:
        """How many folders are watched (with all below them)."""
        return self._watcher.folders

    @property
    def reliable(self) -> bool:
        """Whether all folders are watched and events come from each of them, as far as can be told."""
        return self.folders > 0 and not self._unwatched and not self._silent

    def look(self) -> bool:
        """Watch what has come since; whether there was something."""
        overflows = self._overflows
        if not self._watcher.alive or overflows > self._restarted_at:
            log.warning("watching restarted", overflows=overflows)
            self._watcher.restart()
            self._restarted_at = overflows
        flat = (root.folder for root in self._roots if root.is_flat)
        new = bool(self._watcher.watch((root.folder for root in self._roots), flat))
        if new:
            self._silent = self._without_events()
        return new

    def count(self) -> None:
        """Find out which folders no events come from. Walks all of them."""
        unwatched = self._watcher.unwatched()
        if unwatched and not self._unwatched:
            log.warning("the kernel's limit of watches is reached: looking every half minute", folders=unwatched)
        self._unwatched = unwatched
        self._silent = self._without_events()

    def facts(self) -> dict[str, Any]:
        """Return what `status` shows.

        `unwatched` folders are beyond the kernel's limit of watches, `overflows` says how often events were lost, and
        from the folders in `silent` (network file systems, mounts of another system) none come.
        """
        return {
            "watched": self.folders,
            "unwatched": self._unwatched,
            "overflows": self._overflows,
            "silent": self._silent,
        }

    def stop(self) -> None:
        """Stop watching."""
        self._watcher.stop()

    def _without_events(self) -> list[str]:
        folders = [root.folder for root in self._roots if root.folder.is_dir()]
        return [str(folder) for folder in folders if connection.is_remote(folder)]

    def _lost(self) -> None:
        """Start over, since folders that came meanwhile are not watched, and look at everything.

        Runs on the observer's thread.
        """
        self._overflows += 1
        self._post(Tick("look"))
        self._post(Tick("full sweep"))
