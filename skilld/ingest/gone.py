"""Folders of transcripts that were read and are no longer there: the agent was moved, or told to use another one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from skilld.ingest.discover import Root
from skilld.store import Store
from skilld.text import pluralize


def gone_roots(store: Store, roots: Iterable[Root]) -> Iterator[tuple[Root, str]]:
    """Yield the roots with a folder that transcripts were read in and that is gone, each with words that say so."""
    for root in roots:
        folder = str(root.folder)
        if not os.path.lexists(folder) and (read := store.transcripts.count_below(root.agent, folder)):
            were = "was" if read == 1 else "were"
            yield root, f"{folder} is gone; {pluralize(read, 'session file')} {were} read there"


def gone_remedy(root: Root) -> str:
    """Return what to do if the agent's sessions are elsewhere now."""
    return f"If its sessions are elsewhere now: skilld config set roots.{root.agent} FOLDER"
