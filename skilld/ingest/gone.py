"""Folders of transcripts that were read and are no longer there: the agent was moved, or told to use another one."""

from __future__ import annotations

import os
from collections.abc import Iterable

from skilld.ingest.discover import Root
from skilld.store import Store
from skilld.text import pluralize


def gone_roots(store: Store, roots: Iterable[Root]) -> list[tuple[Root, int]]:
    """Return the roots whose folder is gone, each with the number of transcripts that were read in it."""
    gone = [root for root in roots if not os.path.lexists(root.folder)]
    return [(root, read) for root in gone if (read := store.transcripts.count_below(root.agent, str(root.folder)))]


def describe_gone(root: Root, read: int) -> str:
    """Say that a folder is gone, and what was read in it."""
    return f"{root.folder} is gone; {pluralize(read, 'session file')} {'was' if read == 1 else 'were'} read there"


def gone_remedy(root: Root) -> str:
    """Return what to do if the agent's sessions are elsewhere now."""
    return f"If its sessions are elsewhere now: skilld config set roots.{root.agent} FOLDER"
