"""The daemon and its worker in the test's own process: transcripts are read, batches judged and staged."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from skilld.daemon.engine import Engine
from skilld.git.session import shared_git
from skilld.ingest.discover import Host
from skilld.jobs.analyse import analyse
from skilld.paths import places
from skilld.protocol import AnalyseBatch
from skilld.redact import Redactor
from skilld.redact.key import load_key
from skilld.settings import load_file
from skilld.types import Proposal, State
from support.new_store import new_store


class InProcessDaemon:
    """Follows the transcripts of a home; those that exist when it starts are old."""

    def __init__(self, home: Path) -> None:
        where = places()
        for folder in (where.database.parent, where.redaction_key.parent):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._redact = Redactor(load_key(where.redaction_key)).redact
        self.store = new_store(where.database)
        around = Host(home, dict(os.environ))
        self.engine = Engine(self.store, load_file(where.settings_file), around, time.time(), self._redact)
        self.engine.follower.sweep()

    def run(self) -> list[Proposal]:
        """Read new lines and judge due batches; return the open proposals."""
        now = time.time()
        self.engine.follower.sweep()
        self.engine.close_due(now)
        while batch := self.engine.next_batch(now):
            work = self.engine.start(batch).work
            assert isinstance(work, AnalyseBatch)
            with shared_git():
                result = analyse(work, self._redact, lambda plan: self.engine.save_plan(batch, plan, now))
            self.engine.finish(batch, result, now)
        return self.store.proposals.in_states([State.OPEN])

    def close(self) -> None:
        """Close the store, once."""
        with suppress(Exception):
            self.store.close()
