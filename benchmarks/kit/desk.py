"""The daemon's own decisions in this process, without its loop: an engine over a fresh store, told to read a home."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import structlog

from benchmarks.kit.daemon import database
from skilld.daemon.engine import Engine
from skilld.ingest.discover import Host
from skilld.paths import private_dir
from skilld.settings import Settings
from skilld.store import Store
from skilld.store.meta import INSTALLED_AT

AGENT = "claude-code"


def engine(home: Path, *, all_new: bool, settings: Mapping[str, Any] | None = None) -> Engine:
    """Return an engine on `home` with an empty store: to it all transcripts there are new, or all are from before."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    path = database(home)
    private_dir(path.parent)
    store = Store.open(path)
    if all_new:
        store.meta.set(INSTALLED_AT, 0)
    return Engine(store, Settings(**{"model": "offline", **(settings or {})}), Host(home, {}), time.time())
