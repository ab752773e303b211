"""The yardstick of the daemon: a program with the same libraries, the same watches and an open database, and no skilld.

Argument: the folder to watch. Prints a line when it is ready, then idles until its standard input ends.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import tempfile
from pathlib import Path

import platformdirs
import pydantic_settings
import structlog
from apscheduler.schedulers.background import BackgroundScheduler
from watchdog.events import FileCreatedEvent, FileModifiedEvent, FileMovedEvent, FileSystemEventHandler
from watchdog.observers import Observer


class _Settings(pydantic_settings.BaseSettings):
    model: str = "auto"


def main(folder: Path) -> None:
    """Hold what any daemon of this kind holds."""
    _Settings()
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    platformdirs.user_state_dir("bare", appauthor=False)
    with tempfile.TemporaryDirectory() as place:
        db = sqlite3.connect(Path(place) / "bare.db")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT) STRICT")
        observer = Observer()
        wanted = [FileCreatedEvent, FileModifiedEvent, FileMovedEvent]
        observer.schedule(FileSystemEventHandler(), str(folder), recursive=True, event_filter=wanted)
        observer.start()
        scheduler = BackgroundScheduler(timezone="UTC")
        scheduler.add_job(os.getpid, "interval", seconds=5)
        scheduler.start()
        structlog.get_logger().info("the yardstick idles")
        print("ready", flush=True)
        sys.stdin.read()
        os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
