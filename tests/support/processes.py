"""The processes of a test, found by their HOME: agent clients start daemons that outlive the terminal."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from support.waiting import LIMIT, wait_for


def processes_of(home: Path) -> dict[int, bytes]:
    """Return the processes whose HOME is `home` with their command lines, by /proc; none where there is no /proc."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
            if f"HOME={home}".encode() in variables and int(folder.name) != os.getpid():
                found[int(folder.name)] = (folder / "cmdline").read_bytes()
        except OSError:  # gone meanwhile, or another user's
            continue
    return found


def workers_of(home: Path) -> list[int]:
    """Return the process ids of the workers among them."""
    return [pid for pid, command in processes_of(home).items() if b"skilld.worker" in command]


def end_processes_of(home: Path) -> None:
    """End every process whose HOME is `home`: SIGTERM first, then SIGKILL."""
    for request, limit in ((signal.SIGTERM, 3.0), (signal.SIGKILL, LIMIT)):
        for process in processes_of(home):
            try:
                os.kill(process, request)
            except ProcessLookupError:
                continue
        try:
            wait_for(f"the processes of {home} to end", lambda: not processes_of(home), limit)
        except AssertionError:
            if request is signal.SIGKILL:
                raise
        else:
            return
