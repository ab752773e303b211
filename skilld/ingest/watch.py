"""Watch events as hints: which files may have changed. The sweep is the truth.

On Linux folders are watched one by one through watchdog's own inotify descriptor: its observer takes a thread for each
folder it is given, and watches all that is below. Over the kernel's limit it watches less, and an exception in a
handler kills its thread for good. FSEvents (macOS, by its source) tells real paths, in the disk's spelling, and all
that happens below a folder however deep.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from enum import Flag, auto
from pathlib import Path
from typing import Protocol

from watchdog.events import (
    FileCreatedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import ObservedWatch

if sys.platform == "linux":
    from watchdog.observers.inotify_c import (
        CallbackId,
        InotifyConstants,
        InotifyEvent,
        InotifyFD,
        Mask,
        WatchDescriptor,
    )

_Identity = tuple[int, int] | None
# What a watch that cannot be had raises: inotify OSError, FSEvents the others.
_REFUSED = (OSError, RuntimeError, SystemError)
_SPARE = 256  # folders that may be watched below one for no reason any more


class _How(Flag):
    """What is told of a watched folder."""

    FILES = auto()  # that one in it was made, written or moved in
    BELOW = auto()  # the same of folders that come below it
    COMING = auto()  # that a folder came, and nothing else


class _Watches(Protocol):
    """The system's way to watch folders."""

    @property
    def alive(self) -> bool:
        """Whether it still runs."""

    def add(self, folder: Path, how: _How, *, deep: bool) -> bool:
        """Watch a folder, and where `deep` all that are below it now; False if it cannot be had."""

    def drop(self, folder: Path) -> None:
        """Watch neither a folder nor any below it."""

    def keep(self, top: Path, wanted: set[str]) -> set[str]:
        """Watch these folders below `top`; returns those that were not watched. Others may be let go."""

    def refused(self) -> int:
        """Return how many folders the kernel's limit leaves out; tries them again."""

    def stop(self) -> None:
        """Watch nothing any more."""


class Watcher:
    """Watches folders and tells what may have changed.

    `changed` gets a path, `lost` is called when events were lost, `appeared` when a folder that was not there may have
    come: then call `watch` again. All run on other threads and must only pass it on.
    """

    def __init__(self, changed: Callable[[str], None], lost: Callable[[], None], appeared: Callable[[], None]) -> None:
        self._told = changed, lost, appeared
        self._watches = self._new()
        self._watched: dict[Path, _Identity] = {}
        self._parents: set[Path] = set()
        self._flat: frozenset[Path] = frozenset()
        self._sparse: frozenset[Path] = frozenset()

    def _new(self) -> _Watches | None:
        """Return what watches; None if the kernel has none left for this person: the sweep sees everything."""
        try:
            return _Inotify(*self._told) if sys.platform == "linux" else _Observed(self._told[0])
        except OSError:
            return None

    def watch(self, folders: Iterable[Path], flat: Iterable[Path] = (), sparse: Iterable[Path] = ()) -> list[Path]:
        """Watch those of `folders` that exist and are not watched yet; returns the new ones. Cheap to call again.

        Of those that are `flat` as well, nothing below is watched, of `sparse` ones what comes and what is kept.
        """
        wanted = list(folders)
        self._flat, self._sparse = frozenset(flat), frozenset(sparse)
        self._watches = self._watches or self._new()
        if self._watches is None:
            return []
        for folder, identity in list(self._watched.items()):
            if _identity(folder) != identity:  # deleted or moved: the kernel goes on watching what it was
                del self._watched[folder]
                self._watches.drop(folder)
        new = [folder for folder in wanted if folder not in self._watched and self._take(self._watches, folder)]
        self._await(self._watches, {*map(Path, {_nearest(folder) for folder in wanted if folder not in self._watched})})
        return new

    def _take(self, watches: _Watches, folder: Path) -> bool:
        """Watch a folder; False if it is gone or the kernel has no watch left. The sweep sees it all the same."""
        identity = _identity(folder)
        if identity is None:
            return False
        how = _How.FILES if folder in self._flat else _How.FILES | _How.BELOW
        deep = folder not in self._flat and folder not in self._sparse
        if not folder.is_dir() or not watches.add(folder, how, deep=deep):
            return False
        self._watched[folder] = identity
        return True

    def _await(self, watches: _Watches, parents: set[Path]) -> None:
        """Watch the folders in which a missing one would appear, and no others.

        FSEvents would tell of everything below them, and the nearest one is the home folder: there none is watched, and
        a folder that has come is found when `watch` is called again.
        """
        if not isinstance(watches, _Inotify):
            return
        for gone in self._parents - parents:
            watches.leave(gone)
        self._parents = {parent for parent in parents if watches.add(parent, _How.COMING, deep=False)}

    def keep(self, top: Path, wanted: set[str]) -> set[str]:
        """Watch these folders below a sparse one that is watched; returns those that were not."""
        return self._watches.keep(top, wanted) if self._watches and top in self._watched else set()

    @property
    def alive(self) -> bool:
        """Whether what watches, if it could be had, still runs."""
        return self._watches is None or self._watches.alive

    @property
    def folders(self) -> int:
        """How many folders are watched (with all below them)."""
        return len(self._watched)

    def unwatched(self) -> int:
        """Return how many folders that should be watched are not, because the kernel's limit is reached."""
        return self._watches.refused() if self._watches else 0

    def restart(self) -> None:
        """Start over: what watches died, or events were lost and with them what folders are new."""
        self.stop()
        self._watches = self._new()
        folders = [*self._watched]
        self._watched, self._parents = {}, set()
        self.watch(folders, self._flat, self._sparse)

    def stop(self) -> None:
        """Stop watching."""
        if self._watches is not None:
            self._watches.stop()


if sys.platform == "linux":
    # Our own reads make opened/closed events, and every append makes four: only these matter.
    _FILES = Mask(InotifyConstants.IN_MODIFY | InotifyConstants.IN_CREATE | InotifyConstants.IN_MOVED_TO)
    _COMING = Mask(InotifyConstants.IN_CREATE | InotifyConstants.IN_MOVED_TO)


class _Inotify:
    """Watchdog's inotify descriptor, and which folder each of its watches is of. Events come on its thread."""

    def __init__(self, changed: Callable[[str], None], lost: Callable[[], None], appeared: Callable[[], None]) -> None:
        self._changed, self.on_queue_overflow, self._appeared = changed, lost, appeared
        self._watches: dict[str, WatchDescriptor] = {}
        self._folders: dict[WatchDescriptor, str] = {}
        self._special: dict[str, _How] = {}  # what is told of those of which not all is
        self._refused: set[str] = set()
        self._lock = threading.RLock()
        self._fd = InotifyFD()
        self._fd.start()

    @property
    def alive(self) -> bool:
        return self._fd.is_alive()

    def add(self, folder: Path, how: _How, *, deep: bool) -> bool:
        with self._lock:
            name = str(folder)
            before = self._how(name) if name in self._watches else how
            if before | how != before:
                self._release(name)
            if before | how != _How.FILES | _How.BELOW:
                self._special[name] = before | how
            if not self._take(name):
                return False
            for _ in self._take_below(name) if deep else ():
                pass
            return True

    def leave(self, folder: Path) -> None:
        """Do not tell of folders that come in one any more."""
        name = str(folder)
        with self._lock:
            if self._how(name) is _How.COMING:
                self._release(name)
            elif name in self._special:
                self._special[name] &= ~_How.COMING

    def drop(self, folder: Path) -> None:
        with self._lock:
            for name in [name for name in self._watches if name == str(folder) or name.startswith(f"{folder}/")]:
                self._release(name)

    def keep(self, top: Path, wanted: set[str]) -> set[str]:
        with self._lock:
            below = {name for name in self._watches if name.startswith(f"{top}/")}
            idle = below - wanted - self._special.keys()
            for name in idle if len(idle) > _SPARE else ():
                self._release(name)
            return {name for name in wanted - below if self._take(name)}

    def refused(self) -> int:
        with self._lock:
            for name in sorted(self._refused):
                self._refused.discard(name)
                for _ in self._take_below(name) if self._take(name) else ():
                    pass
            return len(self._refused)

    def stop(self) -> None:
        self._fd.stop()
        self._fd.join(timeout=2)

    def on_event(self, event: InotifyEvent) -> None:
        """Take in what the kernel says of a folder."""
        folder = self._folders.get(event.wd)
        if folder is None or not event.name:
            return
        path, how = f"{folder}/{os.fsdecode(event.name)}", self._how(folder)
        if not event.is_directory:
            if _How.FILES in how:
                self._changed(path)
            return
        if _How.COMING in how:
            self._appeared()
        if _How.BELOW in how:
            with self._lock:
                if event.is_moved_to:  # what was of this name is no more
                    self._release(path)
                for file in self._take_below(path) if self._take(path) else ():
                    self._changed(file)

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:
        """Forget a watch whose folder is gone."""
        with self._lock:
            folder = self._folders.pop(wd, "")
            if self._watches.get(folder) == wd:
                del self._watches[folder]
                self._special.pop(folder, None)

    def _how(self, folder: str) -> _How:
        return self._special.get(folder, _How.FILES | _How.BELOW)

    def _take(self, folder: str) -> bool:
        """Watch a folder; False if it is gone, or the kernel has no watch left."""
        if folder in self._watches:
            return True
        mask = _COMING if self._special.get(folder) is _How.COMING else _FILES
        try:
            # By its own number: a folder that was moved has two names for one watch, until it goes.
            number = CallbackId(hash(folder))
            wd = self._fd.add_callback(os.fsencode(folder), Mask(mask | InotifyConstants.IN_ONLYDIR), self, number)
        except OSError as error:
            if error.errno == errno.ENOSPC:
                self._refused.add(folder)
            return False
        if wd >= 0:  # -1 where it may not be read
            self._watches[folder], self._folders[wd] = wd, folder
        return wd >= 0

    def _take_below(self, top: str) -> Iterator[str]:
        """Watch all folders below one, links left out; yields the files in all of them."""
        stack = [top]
        while stack:
            for entry in _entries(stack.pop()):
                if not entry.is_dir(follow_symlinks=False):
                    yield entry.path
                elif self._take(entry.path) or entry.path in self._refused:
                    stack.append(entry.path)

    def _release(self, folder: str) -> None:
        self._special.pop(folder, None)
        self._refused.discard(folder)
        wd = self._watches.pop(folder, None)
        if wd is not None:
            if self._folders.get(wd) == folder:
                del self._folders[wd]
            with suppress(OSError):  # the folder itself may be gone
                self._fd.remove_callbacks([(wd, CallbackId(hash(folder)))])


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(folder) as entries:
        yield from entries


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


class _Observed:
    """Watchdog's observer, where the system watches all below a folder at no cost."""

    def __init__(self, changed: Callable[[str], None]) -> None:
        self._changed = changed
        self._watches: dict[Path, ObservedWatch] = {}
        self._observer = Observer()
        self._observer.start()

    @property
    def alive(self) -> bool:
        return self._observer.is_alive()

    def add(self, folder: Path, how: _How, *, deep: bool) -> bool:
        del deep
        wanted: list[type[FileSystemEvent]] = [FileCreatedEvent, FileModifiedEvent, FileMovedEvent]
        handler, recursive = _Handler(folder, self._changed), _How.BELOW in how
        try:
            watch = self._observer.schedule(handler, str(folder), recursive=recursive, event_filter=wanted)
        except _REFUSED:
            return False
        self._watches[folder] = watch
        return True

    def drop(self, folder: Path) -> None:
        if watch := self._watches.pop(folder, None):
            with suppress(KeyError, OSError):  # the folder itself may be gone
                self._observer.unschedule(watch)

    def keep(self, top: Path, wanted: set[str]) -> set[str]:
        del top, wanted
        return set()

    def refused(self) -> int:
        return 0

    def stop(self) -> None:
        self._observer.stop()
        self._observer.join(timeout=2)


def _identity(folder: Path) -> _Identity:
    """Return what tells a folder from another one of its name; None if it is gone."""
    try:
        facts = folder.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _nearest(folder: Path) -> str:
    """Return the nearest folder above that exists."""
    above = os.path.dirname(folder)  # noqa: PTH120 - a third of an idle daemon's work is here, with pathlib
    while not os.path.isdir(above):  # noqa: PTH112
        above = os.path.dirname(above)  # noqa: PTH120
    return above


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
