"""The whole chain: the fifth turn of a session is appended, and some time later the list contains the proposal.

It uses a real daemon, a real repository and the offline back-end. In between are reading, closing the batch, one
worker, redaction, judging, the edit, its checks and the commit. Yardstick: a process that only imports what a worker
imports.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from itertools import count
from pathlib import Path

from benchmarks.kit import children
from benchmarks.kit.daemon import daemon, database
from benchmarks.kit.figures import Figure, Scale
from benchmarks.kit.homes import person
from benchmarks.kit.timing import seconds, side_by_side
from support.live_project import Project
from support.session import CHATTER, LASTING, Session

_EVERY = 0.005
_LIMIT = 60.0
IMPORTS = "import os, skilld.jobs.analyse, skilld.classify.backends.offline, skilld.redact; os._exit(0)"


def measure(scale: Scale) -> dict[str, Figure]:
    """Return the median time from the fifth turn to the proposal."""
    with children.scratch() as home:
        person(home)
        children.python(["-c", IMPORTS], home)
        with daemon(home):
            projects = (Project(home / f"project-{number}", home, ".claude/skills") for number in count())
            _proposed(home, next(projects))
            took, imports = side_by_side(
                scale.pick(9, 3),
                lambda: _proposed(home, next(projects)),
                lambda: seconds(lambda: children.python(["-c", IMPORTS], home)),
            )
    return {"proposal": Figure(took, "s", "a process that imports what a worker does", imports, "one skill, offline")}


def _proposed(home: Path, project: Project) -> float:
    """Type five turns in a new session and return how long after the fifth there is one more proposal."""
    session = Session(home, project)
    session.use_skill()
    session.type(CHATTER[0], LASTING, CHATTER[1], CHATTER[2])
    with closing(sqlite3.connect(f"file:{database(home)}?mode=ro", uri=True)) as db:

        def proposals() -> int:
            (number,) = db.execute("SELECT count(*) FROM proposals").fetchone()
            return int(number)

        before, start = proposals(), time.perf_counter()
        session.type(CHATTER[3])
        while proposals() == before:
            if time.perf_counter() - start > _LIMIT:
                raise RuntimeError(f"no proposal within {_LIMIT:g} s")
            time.sleep(_EVERY)
        return time.perf_counter() - start
