"""What tests of watched folders share: the mark of those that are about inotify, and its word that events were lost."""

from __future__ import annotations

import sys

import pytest
from watchdog.observers.inotify_c import InotifyConstants, InotifyEvent, WatchDescriptor

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="a matter of inotify")


def overflow() -> InotifyEvent:
    """Return what the kernel says where its queue was full."""
    return InotifyEvent(WatchDescriptor(-1), InotifyConstants.IN_Q_OVERFLOW, 0, b"")
