"""Watch events as hints about which files may have changed. Only the sweep is reliable.

On Linux, folders are watched one by one through watchdog's own inotify descriptor: its observer uses a thread for each
folder and watches everything below it, watches less once the kernel's limit is reached, and an exception in a handler
kills its thread for good. FSEvents (macOS, according to its source) reports real paths, in the disk's spelling, and
everything below a folder at any depth.
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

from watchdog.events import FileCreatedEvent, FileModifiedEvent, FileMovedEvent, FileSystemEvent, FileSystemEventHandler
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
# Raised if a folder cannot be watched: OSError by inotify, the others by FSEvents.
_WATCH_ERRORS = (OSError, RuntimeError, SystemError)
_MAX_SPARE_WATCHES = 256  # watches below a folder that may be left although nobody needs them any more


class _Events(Flag):
    """Which events of a watched folder are reported."""

    FILES = auto()  # a file in it was created, written or moved in
    SUBFOLDERS = auto()  # the same for folders that are created below it
    NEW_FOLDERS = auto()  # only that a folder was created in it


class Watcher:
    """Watches folders and reports what may have changed.

    `changed` gets a path; `lost` is called when events were lost; `appeared` when a missing folder may have been
    created: then call `watch` again. All are called on other threads and must only pass the message on.
    """

    def __init__(self, changed: Callable[[str], None], lost: Callable[[], None], appeared: Callable[[], None]) -> None:
        self._callbacks = changed, lost, appeared
        self._backend = self._start_backend()
        self._wanted = 0  # folders that exist
        self._watched: dict[Path, _Identity] = {}
        self._parents: set[Path] = set()
        self._flat: frozenset[Path] = frozenset()
        self._sparse: frozenset[Path] = frozenset()

    def _start_backend(self) -> _InotifyBackend | _ObserverBackend | None:
        """Return a new backend; None if the kernel has no descriptor left for this user: the sweep finds everything."""
        try:
            return (
                _InotifyBackend(*self._callbacks) if sys.platform == "linux" else _ObserverBackend(self._callbacks[0])
            )
        except OSError:
            return None

    def watch(self, folders: Iterable[Path], flat: Iterable[Path] = (), sparse: Iterable[Path] = ()) -> list[Path]:
        """Watch those of `folders` that exist and are not watched yet; return the new ones. Cheap to call again.

        Below `flat` folders nothing is watched; below `sparse` ones, only new folders and those given to `watch_only`.
        """
        wanted = list(folders)
        self._wanted = sum(map(Path.is_dir, wanted))
        self._flat, self._sparse = frozenset(flat), frozenset(sparse)
        self._backend = self._backend or self._start_backend()
        if self._backend is None:
            return []
        for folder, identity in list(self._watched.items()):
            if _identity(folder) != identity:  # deleted or moved: the kernel still watches the old one
                del self._watched[folder]
                self._backend.drop(folder)
        new = [folder for folder in wanted if folder not in self._watched and self._watch_folder(self._backend, folder)]
        missing = {_nearest_existing(folder) for folder in wanted if folder not in self._watched}
        self._watch_parents(self._backend, set(map(Path, missing)))
        return new

    def _watch_folder(self, watches: _InotifyBackend | _ObserverBackend, folder: Path) -> bool:
        """Watch a folder; False if it is gone or the kernel has no watch left. The sweep covers it in any case."""
        identity = _identity(folder)
        if identity is None:
            return False
        how = _Events.FILES if folder in self._flat else _Events.FILES | _Events.SUBFOLDERS
        deep = folder not in self._flat and folder not in self._sparse
        if not folder.is_dir() or not watches.add(folder, how, deep=deep):
            return False
        self._watched[folder] = identity
        return True

    def _watch_parents(self, watches: _InotifyBackend | _ObserverBackend, parents: set[Path]) -> None:
        """Watch only those folders in which a missing one would appear.

        FSEvents would report everything below them, and the nearest one is often the home folder: on macOS none is
        watched, and a new folder is found when `watch` is called again.
        """
        if not isinstance(watches, _InotifyBackend):
            return
        for gone in self._parents - parents:
            watches.ignore_new_folders(gone)
        self._parents = {parent for parent in parents if watches.add(parent, _Events.NEW_FOLDERS, deep=False)}

    def watch_only(self, top: Path, wanted: set[str]) -> set[str]:
        """Watch these folders below a watched sparse one; return those that were not watched."""
        return self._backend.watch_only(top, wanted) if self._backend and top in self._watched else set()

    @property
    def alive(self) -> bool:
        """Whether the backend, if there is one, still runs."""
        return self._backend is None or self._backend.alive

    @property
    def folders(self) -> int:
        """How many folders are watched (with everything below them)."""
        return len(self._watched)

    def unwatched_count(self) -> int:
        """Return how many folders are not watched because a limit of the kernel is reached."""
        return self._backend.retry_refused() if self._backend else self._wanted

    def restart(self) -> None:
        """Start over: the backend died, or lost events and with them new folders."""
        self.stop()
        self._backend = self._start_backend()
        folders = [*self._watched]
        self._watched, self._parents = {}, set()
        self.watch(folders, self._flat, self._sparse)

    def stop(self) -> None:
        """Stop watching."""
        if self._backend is not None:
            self._backend.stop()


if sys.platform == "linux":
    # Our own reads cause opened and closed events, and each append causes four: only these matter.
    _FILE_MASK = Mask(InotifyConstants.IN_MODIFY | InotifyConstants.IN_CREATE | InotifyConstants.IN_MOVED_TO)
    _NEW_FOLDER_MASK = Mask(InotifyConstants.IN_CREATE | InotifyConstants.IN_MOVED_TO)


class _InotifyBackend:
    """Watchdog's inotify descriptor, and the folder of each of its watches. Events arrive on its thread."""

    def __init__(self, changed: Callable[[str], None], lost: Callable[[], None], appeared: Callable[[], None]) -> None:
        self._changed, self.on_queue_overflow, self._appeared = changed, lost, appeared
        self._watches: dict[str, WatchDescriptor] = {}
        self._folders: dict[WatchDescriptor, str] = {}
        self._special: dict[str, _Events] = {}  # folders with other events than FILES | SUBFOLDERS
        self._refused: set[str] = set()
        self._lock = threading.RLock()
        self._fd = InotifyFD()
        self._fd.start()

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._fd.is_alive()

    def add(self, folder: Path, events: _Events, *, deep: bool) -> bool:
        """Watch a folder, with `deep` all that are below it now too; False if that is not possible."""
        with self._lock:
            name = str(folder)
            before = self._events_of(name) if name in self._watches else events
            if before | events != before:
                self._remove_watch(name)
            if before | events != _Events.FILES | _Events.SUBFOLDERS:
                self._special[name] = before | events
            if not self._add_watch(name):
                return False
            for _ in self._add_watches_below(name) if deep else ():
                pass
            return True

    def ignore_new_folders(self, folder: Path) -> None:
        """Stop reporting folders that are created in a folder."""
        name = str(folder)
        with self._lock:
            if self._events_of(name) is _Events.NEW_FOLDERS:
                self._remove_watch(name)
            elif name in self._special:
                self._special[name] &= ~_Events.NEW_FOLDERS

    def drop(self, folder: Path) -> None:
        """Stop watching a folder and all below it."""
        with self._lock:
            for name in [name for name in self._watches if name == str(folder) or name.startswith(f"{folder}/")]:
                self._remove_watch(name)

    def watch_only(self, top: Path, wanted: set[str]) -> set[str]:
        """Watch these folders below `top`; return those that were not watched. The others may be dropped."""
        with self._lock:
            below = {name for name in self._watches if name.startswith(f"{top}/")}
            idle = below - wanted - self._special.keys()
            for name in idle if len(idle) > _MAX_SPARE_WATCHES else ():
                self._remove_watch(name)
            return {name for name in wanted - below if self._add_watch(name)}

    def retry_refused(self) -> int:
        """Retry the folders refused because of the kernel's limit; return how many are still refused."""
        with self._lock:
            for name in sorted(self._refused):
                self._refused.discard(name)
                for _ in self._add_watches_below(name) if self._add_watch(name) else ():
                    pass
            return len(self._refused)

    def stop(self) -> None:
        """Stop watching."""
        self._fd.stop()
        self._fd.join(timeout=2)

    def on_event(self, event: InotifyEvent) -> None:
        """Handle an event of the kernel."""
        folder = self._folders.get(event.wd)
        if folder is None or not event.name:
            return
        path, how = f"{folder}/{os.fsdecode(event.name)}", self._events_of(folder)
        if not event.is_directory:
            if _Events.FILES in how:
                self._changed(path)
            return
        if _Events.NEW_FOLDERS in how:
            self._appeared()
        if _Events.SUBFOLDERS in how:
            with self._lock:
                if event.is_moved_to:  # it replaced whatever had this name
                    self._remove_watch(path)
                for file in self._add_watches_below(path) if self._add_watch(path) else ():
                    self._changed(file)

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:
        """Drop a watch whose folder is gone."""
        with self._lock:
            folder = self._folders.pop(wd, "")
            if self._watches.get(folder) == wd:
                del self._watches[folder]
                self._special.pop(folder, None)

    def _events_of(self, folder: str) -> _Events:
        return self._special.get(folder, _Events.FILES | _Events.SUBFOLDERS)

    def _add_watch(self, folder: str) -> bool:
        """Watch a folder; False if it is gone, or the kernel has no watch left."""
        if folder in self._watches:
            return True
        mask = _NEW_FOLDER_MASK if self._special.get(folder) is _Events.NEW_FOLDERS else _FILE_MASK
        try:
            # An id for each name: a moved folder has two names for one watch until the old one is removed.
            number = CallbackId(hash(folder))
            wd = self._fd.add_callback(os.fsencode(folder), Mask(mask | InotifyConstants.IN_ONLYDIR), self, number)
        except OSError as error:
            if error.errno == errno.ENOSPC:
                self._refused.add(folder)
            return False
        if wd >= 0:  # -1 if it may not be read
            self._watches[folder], self._folders[wd] = wd, folder
        return wd >= 0

    def _add_watches_below(self, top: str) -> Iterator[str]:
        """Watch all folders below one, ignoring links; yield the files in all of them."""
        stack = [top]
        while stack:
            for entry in _scan_folder(stack.pop()):
                if not entry.is_dir(follow_symlinks=False):
                    yield entry.path
                elif self._add_watch(entry.path) or entry.path in self._refused:
                    stack.append(entry.path)

    def _remove_watch(self, folder: str) -> None:
        self._special.pop(folder, None)
        self._refused.discard(folder)
        wd = self._watches.pop(folder, None)
        if wd is not None:
            if self._folders.get(wd) == folder:
                del self._folders[wd]
            with suppress(OSError):  # the folder itself may be gone
                self._fd.remove_callbacks([(wd, CallbackId(hash(folder)))])


def _scan_folder(folder: str) -> Iterator[os.DirEntry[str]]:
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


class _ObserverBackend:
    """Watchdog's observer, for systems that watch everything below a folder at no cost."""

    def __init__(self, changed: Callable[[str], None]) -> None:
        self._changed = changed
        self._watches: dict[Path, ObservedWatch] = {}
        self._observer = Observer()
        self._observer.start()

    @property
    def alive(self) -> bool:
        return self._observer.is_alive()

    def add(self, folder: Path, events: _Events, *, deep: bool) -> bool:
        del deep
        wanted: list[type[FileSystemEvent]] = [FileCreatedEvent, FileModifiedEvent, FileMovedEvent]
        handler, recursive = _Handler(folder, self._changed), _Events.SUBFOLDERS in events
        try:
            watch = self._observer.schedule(handler, str(folder), recursive=recursive, event_filter=wanted)
        except _WATCH_ERRORS:
            return False
        self._watches[folder] = watch
        return True

    def drop(self, folder: Path) -> None:
        if watch := self._watches.pop(folder, None):
            with suppress(KeyError, OSError):  # the folder itself may be gone
                self._observer.unschedule(watch)

    def watch_only(self, top: Path, wanted: set[str]) -> set[str]:
        del top, wanted
        return set()

    def retry_refused(self) -> int:
        return 0

    def stop(self) -> None:
        self._observer.stop()
        self._observer.join(timeout=2)


def _identity(folder: Path) -> _Identity:
    """Return what distinguishes a folder from another one of the same name; None if it is gone."""
    try:
        facts = folder.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _nearest_existing(folder: Path) -> str:
    """Return the nearest existing parent folder."""
    above = os.path.dirname(folder)  # noqa: PTH120 - with pathlib this is a third of an idle daemon's work
    while not os.path.isdir(above):  # noqa: PTH112
        above = os.path.dirname(above)  # noqa: PTH120
    return above


# Limits how often a transcript that changes all the time is read: an early hint is postponed, never lost.
#
# A database is queried again at each read, and its client writes many times a second while an answer arrives.

_EARLY_SECONDS = 0.01  # by which a timer may fire early


class Throttle:
    """Records when each transcript was read; calls `again` on another thread when a postponed one is due."""

    def __init__(self, again: Callable[[Path], None], seconds: float = 1.0) -> None:
        self._again = again
        self._seconds = seconds
        self._looked: dict[Path, float] = {}
        self._put_off: set[Path] = set()

    def is_due(self, path: Path) -> bool:
        """Whether a transcript may be read now; if not, `again` is called for it later."""
        now = time.monotonic()
        left = self._looked.get(path, -self._seconds) + self._seconds - now
        if left <= _EARLY_SECONDS:
            self._put_off.discard(path)
            self._looked[path] = now
            return True
        if path not in self._put_off:
            self._put_off.add(path)
            timer = threading.Timer(left, self._again, [path])
            timer.daemon = True
            timer.start()
        return False
