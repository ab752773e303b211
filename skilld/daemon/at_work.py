"""Whether an agent was at work in a repository when plain git decided there."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from skilld.store import Store
from skilld.store.meta import LOOKED_AT
from skilld.store.proposals import MAYBE
from skilld.store.transcripts import Active
from skilld.times import seconds
from skilld.types import Proposal

_BEFORE = 60.0  # seconds: commits have whole ones, and clocks differ
_AFTER = 300.0  # seconds in which an agent at work may write nothing


def who_decided(store: Store, proposal: Proposal, at: float, now: float) -> str:
    """Return by whom a decision that plain git shows is recorded to be; `at` is when it was made, 0 where unknown.

    A time before the last look or in the future cannot be: whoever makes a commit may date it. Then all of the time
    between that look and now counts.
    """
    last = float(store.meta.get(LOOKED_AT, 0.0)) or seconds(proposal.created_at) or now
    first, until = (at, at) if last - _BEFORE <= at <= now else (min(last, now), now)
    sessions = store.transcripts.active(first - _AFTER)
    agents = agents_in(sessions, proposal, until + _BEFORE)
    return f"{MAYBE}{', '.join(agents)}" if agents else "git"


def agents_in(sessions: Iterable[Active], proposal: Proposal, until: float) -> list[str]:
    """Return the agents that had a session around a proposal's repository, begun before `until` (Unix time)."""
    repo, skill = Path(proposal.repo), Path(proposal.path)
    found = set()
    for session in sessions:
        folder = Path(session.cwd)
        around = folder.is_relative_to(repo) or repo.is_relative_to(folder) or skill.is_relative_to(folder)
        if around and session.since <= until:
            found.add(session.agent)
    return sorted(found)
