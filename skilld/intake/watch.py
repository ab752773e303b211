"""Watch events as hints: which files below some folders may have changed. The sweep is the truth.

watchdog's traps, measured on 7.1: an exception in a handler kills the observer thread for good; over the kernel's watch
limit it watches less and says nothing; after a queue overflow the handler is told nothing, only a logger is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from pathlib import Path

from watchdog.events import (
    FileCreatedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

# Our own reads make opened/closed events, and every append makes four: only these three matter.
_WANTED: list[type[FileSystemEvent]] = [FileCreatedEvent, FileModifiedEvent, FileMovedEvent]
_LOGGERS = ("watchdog.observers.inotify", "watchdog.observers.inotify_c")


class _Handler(FileSystemEventHandler):
    def __init__(self, changed: Callable[[str], None]) -> None:
        self._changed = changed

    def on_any_event(self, event: FileSystemEvent) -> None:
        path = event.dest_path if isinstance(event, FileMovedEvent) else event.src_path
        self._changed(path if isinstance(path, str) else path.decode("utf-8", "surrogateescape"))


class _Overflow(logging.Handler):
    def __init__(self, lost: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._lost = lost

    def emit(self, record: logging.LogRecord) -> None:
        del record
        self._lost()


class Watcher:
    """Watches folders and tells what may have changed.

    `changed` gets a path, `lost` is called when events were lost; both run on other threads and must only pass it on.
    """

    def __init__(self, changed: Callable[[str], None], lost: Callable[[], None]) -> None:
        self._changed = changed
        self._observer: BaseObserver = Observer()
        self._watched: set[Path] = set()
        self._overflow = _Overflow(lost)
        for name in _LOGGERS:
            logging.getLogger(name).addHandler(self._overflow)
        self._observer.start()

    def watch(self, folders: Iterable[Path]) -> list[Path]:
        """Watch those of `folders` that exist and are not watched yet; returns the new ones. Cheap to call again."""
        new = []
        for folder in folders:
            if folder not in self._watched and folder.is_dir():
                try:
                    handler = _Handler(self._changed)
                    self._observer.schedule(handler, str(folder), recursive=True, event_filter=_WANTED)
                except OSError:
                    continue  # no instance left, or gone again: the sweep still sees it
                self._watched.add(folder)
                new.append(folder)
        return new

    @property
    def alive(self) -> bool:
        """Whether events can still come."""
        return self._observer.is_alive()

    @property
    def folders(self) -> int:
        """How many folders are watched (with all below them)."""
        return len(self._watched)

    def restart(self) -> None:
        """Start over after the observer died."""
        self._observer.unschedule_all()
        self._observer = Observer()
        self._observer.start()
        watched, self._watched = self._watched, set()
        self.watch(watched)

    def stop(self) -> None:
        """Stop watching."""
        for name in _LOGGERS:
            logging.getLogger(name).removeHandler(self._overflow)
        self._observer.stop()
        self._observer.join(timeout=2)
