"""Takes in decisions made with plain git since the last look. Reading git may take a while; the store is quick."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from skilld.proposals.poll import lately, observation, record
from skilld.protocol import GitResult
from skilld.store import Store


def refresh(store: Store, *, rebuild: bool = True) -> None:
    """Look, and write down what was found. Trouble with a repository is not ours to raise.

    `rebuild` says whether the staging branch is made again, too: a decision does that itself.
    """
    if (read := look(store, rebuild=rebuild)) is not None:
        record(store, read(), time.time())


def look(store: Store, *, rebuild: bool = True) -> Callable[[], GitResult] | None:
    """Return the look itself, which reads git and no store, so that it may be taken on another thread.

    None if there is nothing to look at: GitPython is not even imported then.
    """
    now = time.time()
    proposals = lately(store, now)
    if not proposals:
        return None
    from skilld.git.environment import scrub_environment
    from skilld.proposals.reconcile import observe

    job = replace(observation(store, proposals, now), rebuild=rebuild)
    scrub_environment()
    return lambda: observe(job)
