"""A daemon with nothing to do shows that it lives, and writes nothing to its database."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from support.live_project import Project
from support.program import Program
from support.session import LASTING, Session
from support.waiting import wait_for


def test_an_idle_daemon_writes_nothing_and_is_seen_all_the_same(home: Path, project: Project, program: Program) -> None:
    program.environment["WATCHDOG_USEC"] = "1500000"  # half a second between signs of life

    def seen_at() -> str:
        return str(program.json("status")["daemon"]["seen_at"])

    with program.daemon(), closing(sqlite3.connect(home / ".local/state/skilld/skilld.db")) as database:

        def commits() -> int:
            (version,) = database.execute("PRAGMA data_version").fetchone()  # another one for each commit of the daemon
            return int(version)

        for looks in range(4):
            before, number = seen_at(), commits()
            wait_for("a sign of life", lambda before=before: seen_at() > before, every=0.2)  # type: ignore[misc]
            assert looks == 0 or commits() == number  # the first may be that of its start
        Session(home, project).type(LASTING)
        wait_for("the turn", lambda: commits() > number, every=0.1)
