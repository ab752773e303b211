"""Watch events as hints: which files may have changed. The sweep is the truth.

watchdog's traps, measured on 7.1: an exception in a handler kills the observer thread for good; over the kernel's watch
limit it watches less and says nothing; after a queue overflow the handler is told nothing, only a logger is. FSEvents
(macOS, by its source) tells real paths, in the disk's spelling, and all that happens below a folder however deep.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from watchdog.events import (
    DirCreatedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

# Our own reads make opened/closed events, and every append makes four: only these three matter.
_WANTED: list[type[FileSystemEvent]] = [FileCreatedEvent, FileModifiedEvent, FileMovedEvent]
# Of a folder in which a watched one may appear.
_APPEARING: list[type[FileSystemEvent]] = [DirCreatedEvent, DirMovedEvent]
_Identity = tuple[int, int] | None
# What a watch that cannot be had raises: inotify OSError, FSEvents the others.
_REFUSED = (OSError, RuntimeError, SystemError)
_LOGGERS = ("watchdog.observers.inotify", "watchdog.observers.inotify_c")


class _Handler(FileSystemEventHandler):
    def __init__(self, folder: Path, changed: Callable[[str], None]) -> None:
        self._folder = folder
        self._depth = len(Path(os.path.realpath(folder)).parts)
        self._changed = changed

    def on_any_event(self, event: FileSystemEvent) -> None:
        path = Path(os.fsdecode(event.dest_path if isinstance(event, FileMovedEvent) else event.src_path))
        if not path.is_relative_to(self._folder):  # the same place by its real path
            path = self._folder.joinpath(*path.parts[self._depth :])
        self._changed(str(path))


class _Appearance(FileSystemEventHandler):
    def __init__(self, appeared: Callable[[], None]) -> None:
        self._appeared = appeared

    def on_any_event(self, event: FileSystemEvent) -> None:
        del event
        self._appeared()


class _Overflow(logging.Handler):
    def __init__(self, lost: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._lost = lost

    def emit(self, record: logging.LogRecord) -> None:
        del record
        self._lost()


class Watcher:
    """Watches folders and tells what may have changed.

    `changed` gets a path, `lost` is called when events were lost, `appeared` when a folder that was not there may have
    come: then call `watch` again. All run on other threads and must only pass it on.
    """

    def __init__(self, changed: Callable[[str], None], lost: Callable[[], None], appeared: Callable[[], None]) -> None:
        self._changed = changed
        self._appeared = appeared
        self._parents: dict[Path, ObservedWatch] = {}
        self._observer = _observer()
        self._watched: dict[Path, tuple[ObservedWatch, _Identity]] = {}
        self._wanted: list[Path] = []
        self._flat: frozenset[Path] = frozenset()
        self._overflow = _Overflow(lost)
        for name in _LOGGERS:
            logging.getLogger(name).addHandler(self._overflow)

    def watch(self, folders: Iterable[Path], flat: Iterable[Path] = ()) -> list[Path]:
        """Watch those of `folders` that exist and are not watched yet; returns the new ones. Cheap to call again.

        Of those that are `flat` as well, nothing below is watched.
        """
        wanted = self._wanted = list(folders)
        self._flat = frozenset(flat)
        self._observer = self._observer or _observer()
        for folder, (watch, identity) in list(self._watched.items()):
            if _identity(folder) != identity:
                self._drop(folder, watch)
        new = [folder for folder in wanted if folder not in self._watched and folder.is_dir() and self._take(folder)]
        self._await({_nearest(folder) for folder in wanted if folder not in self._watched})
        return new

    def _take(self, folder: Path) -> bool:
        identity = _identity(folder)
        watch = self._schedule(folder, _Handler(folder, self._changed), _WANTED, recursive=folder not in self._flat)
        if watch is None:
            return False
        self._watched[folder] = (watch, identity)
        return True

    def _schedule(
        self, folder: Path, handler: FileSystemEventHandler, wanted: list[type[FileSystemEvent]], *, recursive: bool
    ) -> ObservedWatch | None:
        """Watch a folder; None if it is gone or the kernel has no watch left. The sweep sees it all the same."""
        if self._observer is None:
            return None
        try:
            return self._observer.schedule(handler, str(folder), recursive=recursive, event_filter=wanted)
        except _REFUSED:
            return None

    def _drop(self, folder: Path, watch: ObservedWatch) -> None:
        """Let go of a folder that was deleted or moved: the kernel goes on watching what it was."""
        del self._watched[folder]
        self._unschedule(watch)

    def _unschedule(self, watch: ObservedWatch) -> None:
        if self._observer is not None:
            with suppress(KeyError, OSError):  # the folder itself may be gone
                self._observer.unschedule(watch)

    def _await(self, parents: set[Path]) -> None:
        """Watch the folders in which a missing one would appear, and no others.

        FSEvents would tell of everything below them, and the nearest one is the home folder: there none is watched, and
        a folder that has come is found when `watch` is called again.
        """
        if sys.platform == "darwin":
            return
        for gone in set(self._parents) - parents:
            self._unschedule(self._parents.pop(gone))
        for parent in parents - set(self._parents):
            watch = self._schedule(parent, _Appearance(self._appeared), _APPEARING, recursive=False)
            if watch is not None:
                self._parents[parent] = watch

    @property
    def alive(self) -> bool:
        """Whether the observer, if one could be had, still runs."""
        return self._observer is None or self._observer.is_alive()

    @property
    def folders(self) -> int:
        """How many folders are watched (with all below them)."""
        return len(self._watched)

    def unwatched(self) -> int:
        """Return how many folders that should be watched are not, because the kernel's limit is reached.

        0 also where the system does not tell. Walks all folders: not for every minute.
        """
        watches = _watches()
        below = {folder for root in self._wanted if root not in self._flat for folder, _, _ in os.walk(root)}
        below |= {str(root) for root in self._flat if root.is_dir()}
        return max(0, len(below | set(map(str, self._parents))) - watches) if watches is not None else 0

    def restart(self) -> None:
        """Start over: the observer died, or events were lost and with them what folders are new."""
        self._end()
        self._observer = _observer()
        folders = [*self._watched]
        self._watched, self._parents = {}, {}
        self.watch(folders, self._flat)

    def stop(self) -> None:
        """Stop watching."""
        for name in _LOGGERS:
            logging.getLogger(name).removeHandler(self._overflow)
        self._end()

    def _end(self) -> None:
        if self._observer is not None:
            self._observer.stop()
            self._observer.join(timeout=2)


def _observer() -> BaseObserver | None:
    """Return a running observer; None if the kernel has none left for this person: the sweep sees everything."""
    try:
        observer = Observer()
    except OSError:
        return None
    observer.start()
    return observer


def _identity(folder: Path) -> _Identity:
    """Return what tells a folder from another one of its name; None if it is gone."""
    try:
        facts = folder.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _watches() -> int | None:
    """Return how many folders this process watches by inotify; None if that cannot be told. Source: proc(5)."""
    try:
        inotify = [descriptor.name for descriptor in Path("/proc/self/fd").iterdir() if _is_inotify(descriptor)]
        return sum(Path("/proc/self/fdinfo", name).read_bytes().count(b"\ninotify wd:") for name in inotify)
    except OSError:
        return None


def _is_inotify(descriptor: Path) -> bool:
    try:
        return "inotify" in str(descriptor.readlink())
    except OSError:  # closed meanwhile
        return False


def _nearest(folder: Path) -> Path:
    """Return the nearest folder above that exists."""
    return next(parent for parent in folder.parents if parent.is_dir())


# Lets a transcript that changes all the time be looked at now and then: a hint too soon is put off, never lost.
#
# A database is asked anew at every look, and its client writes many times a second while an answer comes in.

_EARLY = 0.01  # seconds by which a timer may go off before its time


class Throttle:
    """Knows when each transcript was looked at; `again` is told, from another thread, when one put off is due."""

    def __init__(self, again: Callable[[Path], None], seconds: float = 1.0) -> None:
        self._again = again
        self._seconds = seconds
        self._looked: dict[Path, float] = {}
        self._put_off: set[Path] = set()

    def is_over(self, path: Path) -> bool:
        """Whether a transcript may be looked at now; where not, it will be said again when it may."""
        now = time.monotonic()
        left = self._looked.get(path, -self._seconds) + self._seconds - now
        if left <= _EARLY:
            self._put_off.discard(path)
            self._looked[path] = now
            return True
        if path not in self._put_off:
            self._put_off.add(path)
            timer = threading.Timer(left, self._again, [path])
            timer.daemon = True
            timer.start()
        return False
