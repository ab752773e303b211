"""Keeps the daemon's folder watches alive, and knows how reliable they are. The sweep finds what they miss."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import Any

from skilld.daemon.messages import FileChanged, Message, Tick
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
        self._kept: dict[Root, frozenset[str]] = {}
        self._watcher = Watcher(
            changed=lambda path: post(FileChanged(path)), lost=self._start_over, appeared=lambda: post(Tick("folders"))
        )
        self.watch_new_folders()

    @property
    def folders(self) -> int:
        """The number of watched folders, each with all folders below it."""
        return self._watcher.folders

    @property
    def reliable(self) -> bool:
        """Whether all folders are watched and deliver events, as far as known."""
        return self.folders > 0 and not self._unwatched and not self._silent

    def watch_new_folders(self) -> bool:
        """Watch new folders; return whether there were any."""
        overflows = self._overflows
        if not self._watcher.alive or overflows > self._restarted_at:
            log.warning("watching restarted", overflows=overflows)
            self._watcher.restart()
            self._restarted_at = overflows
            self._kept.clear()
        flat = (root.folder for root in self._roots if root.is_flat)
        sparse = (root.folder for root in self._roots if root.is_sparse)
        new = bool(self._watcher.watch((root.folder for root in self._roots), flat, sparse))
        if new:
            self._silent = self._folders_without_events()
            self._kept.clear()
        return new

    def watch_sessions(self, newest: Mapping[Root, Mapping[str, float]]) -> None:
        """Watch the folders of the newest sessions, and their parents, if each session has its own folder.

        `newest` are their transcripts with the modification times when they were read. An older session that
        continues is found by the full sweep, and is then among the newest.
        """
        for root, times in newest.items():
            if self._kept.get(root) == (kept := frozenset(times)):
                continue
            self._kept[root] = kept
            new = self._watcher.watch_only(
                root.folder, {folder for path in times for folder in _session_folders(root, Path(path))}
            )
            for path, at in times.items():
                if str(Path(path).parent) in new and _mtime(path) != at:  # it changed before it was watched
                    self._post(FileChanged(path))

    def check_events(self) -> None:
        """Find out which folders deliver no events."""
        unwatched = self._watcher.unwatched_count()
        if unwatched and not self._unwatched:
            log.warning("the kernel's limit of watches is reached: looking every half minute", folders=unwatched)
        self._unwatched = unwatched
        self._silent = self._folders_without_events()

    def facts(self) -> dict[str, Any]:
        """Return what `status` shows.

        `unwatched` folders exceed the kernel's limit of watches, `overflows` counts losses of events, and the folders
        in `silent` (network file systems, mounts of another system) deliver none.
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

    def _folders_without_events(self) -> list[str]:
        folders = [root.folder for root in self._roots if root.folder.is_dir()]
        return [str(folder) for folder in folders if connection.is_remote(folder)]

    def _start_over(self) -> None:
        """Request a full sweep after a loss of events, because new folders may not be watched.

        Runs on the observer's thread.
        """
        self._overflows += 1
        self._post(Tick("full sweep"))


def _session_folders(root: Root, transcript: Path) -> Iterator[str]:
    """Yield the folder of a transcript, subfolders with parts of it, and the parents of the session's folder."""
    if root.has_parts:
        with suppress(OSError), os.scandir(transcript.parent) as entries:
            yield from (entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    yield str(transcript.parent)
    yield from map(str, takewhile(root.folder.__ne__, root.session_folder(transcript).parents))


def _mtime(path: str) -> float | None:
    try:
        return Path(path).lstat().st_mtime
    except OSError:
        return None
