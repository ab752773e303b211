"""Shared by tests of watched folders: the mark for inotify tests, and the event for an overflow."""

from __future__ import annotations

import sys

import pytest
from watchdog.observers.inotify_c import InotifyConstants, InotifyEvent, WatchDescriptor

from skilld.ingest.watch import Watcher, _InotifyBackend

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="a matter of inotify")


def inotify(watcher: Watcher) -> _InotifyBackend:
    """Return what watches on Linux."""
    assert isinstance(watcher._backend, _InotifyBackend)
    return watcher._backend


def overflow() -> InotifyEvent:
    """Return what the kernel says where its queue was full."""
    return InotifyEvent(WatchDescriptor(-1), InotifyConstants.IN_Q_OVERFLOW, 0, b"")
