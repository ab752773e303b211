"""A stored proposal, for tests that care about one or two of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from skilld.store import Store
from skilld.types import Evidence, Kind, Op, Operation, Proposal, State

_PROPOSAL = Proposal(
    id="0123abcd",
    batch_id="b",
    state=State.OPEN,
    skill="notes",
    path="/p/SKILL.md",
    repo="",
    relpath="",
    base="",
    commit="",
    branch="",
    operations=(Operation(Op.INSERT_AFTER, "- a", "- b"),),
    summary="Say b",
    reason="",
    kind=Kind.FACT,
    evidence=(Evidence("t1", "always b"),),
    confidence=0.9,
    agent="claude-code",
    session_id="s1",
    model="m",
    created_at="2026-03-02T09:00:00Z",
)
# What one that is committed has besides.
COMMIT_FIELDS: Mapping[str, str] = {
    "repo": "/p",
    "relpath": "SKILL.md",
    "base": "1" * 40,
    "commit": "2" * 40,
    "branch": "refs/heads/skilld/staging",
}


def make_proposal(**changes: Any) -> Proposal:
    """Return an open proposal with these fields replaced."""
    return replace(_PROPOSAL, **changes)


def get_proposal(store: Store, name: str) -> Proposal:
    """Return a stored proposal, which must exist."""
    proposal = store.proposals.get(name)
    assert proposal is not None
    return proposal
