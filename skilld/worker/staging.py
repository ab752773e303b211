"""Proposals to commits on the staging branch: what `propose` is told, and what its outcomes mean for a proposal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from skilld.edit.operations import apply
from skilld.errors import SkilldError
from skilld.git.repo import find
from skilld.propose.staging import propose
from skilld.propose.values import Proposed, Request, Standing, Unchanged, Waiting
from skilld.types import Proposal


@dataclass
class Staged:
    """What came of staging: the proposals made, and (id, commit, base) of open ones that became other commits."""

    made: list[Proposal] = field(default_factory=list)
    moved: list[tuple[str, str, str]] = field(default_factory=list)


def stage(proposal: Proposal, standing: Sequence[Proposal], staged: Staged, dropped: Collection[str] = ()) -> bool:
    """Put one proposal on the staging branch on top of the `standing` ones. False where it is said already.

    `dropped` are ids of decided proposals that may still be on the branch. A proposal that fits only the person's
    uncommitted SKILL.md is made without a commit and waits for theirs. Raises SkilldError with the reason where it
    cannot be staged.
    """
    repo = str(find(Path(proposal.path)).repo.toplevel)
    outcome = propose(
        Request(
            id=proposal.id,
            batch_id=proposal.batch_id,
            path=Path(proposal.path),
            skill=proposal.skill,
            apply=applier(proposal),
            summary=proposal.summary,
            reason=proposal.reason,
            quote=" / ".join(evidence.quote for evidence in proposal.evidence),
            kind=proposal.kind,
            confidence=proposal.confidence,
            session_id=proposal.session_id,
            model=proposal.model,
            at=proposal.created_at,
            dropped=frozenset(dropped),
            standing=tuple(standing_of(other) for other in standing if other.repo == repo and other.commit),
        )
    )
    if isinstance(outcome, Proposed):
        places = {name: getattr(outcome, name) for name in ("id", "repo", "relpath", "base", "commit", "branch")}
        staged.made.append(replace(proposal, note="", **places))
        staged.moved += [(other, commit, outcome.base) for other, commit in outcome.line.moved.items()]
        return True
    if isinstance(outcome, Waiting):
        staged.made.append(replace(proposal, repo=repo, note=outcome.reason))
        return True
    if isinstance(outcome, Unchanged):
        return False
    raise SkilldError("The edit was not proposed", outcome.reason)


def applier(proposal: Proposal) -> Callable[[bytes], bytes]:
    """Return the proposal's edit as a function of the file's bytes."""
    return partial(apply, operations=proposal.operations)


def standing_of(proposal: Proposal) -> Standing:
    """Return an open proposal as a rebuild of the branch needs it."""
    return Standing(proposal.id, proposal.relpath, proposal.base, applier(proposal))
