"""Auto mode: which of the proposals just made are applied without being asked for. Off unless the settings say so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from skilld.decide.auto import apply_unasked
from skilld.edit.low_risk import is_low_risk
from skilld.errors import SkilldError
from skilld.types import Op, Proposal
from skilld.worker.staged import Staged
from skilld.worker.staging import applier, private_repositories, restage


def apply_allowed(staged: Staged, standing: Sequence[Proposal], rules: Mapping[str, Any]) -> None:
    """Apply those of the proposals just made that `rules` allow; the others stay on the staging branch.

    `rules` has `skills`, the names of skills whose proposals may be applied (None: all), and `confidence`, which a
    proposal must reach. One that was not applied for the state of its repository says so in its note.
    """
    for proposal in list(staged.made):
        if not _allowed(proposal, rules):
            continue
        try:
            commit = apply_unasked(proposal, applier(proposal), private_repositories())
        except SkilldError as error:
            staged.change(replace(proposal, note=f"not applied: {error.cause or error.title}"))
            continue
        staged.applied.append([proposal.id, commit])
        others = [other for other in (*standing, *staged.made) if other.id not in {name for name, _ in staged.applied}]
        try:
            restage(proposal.repo, others, staged, [proposal.id])
        except SkilldError:
            continue  # the next look at git takes it off the branch


def _allowed(proposal: Proposal, rules: Mapping[str, Any]) -> bool:
    """Whether a proposal is of the kind that needs no person: sure, unflagged, adding plain words and nothing else."""
    named = rules["skills"] is None or proposal.skill in rules["skills"]
    sure = proposal.confidence >= rules["confidence"] and not proposal.flags
    if not (named and sure and proposal.commit) or any(item.op is not Op.INSERT_AFTER for item in proposal.operations):
        return False
    try:
        before = Path(proposal.path).read_bytes()
        return is_low_risk(before, applier(proposal)(before))
    except (OSError, SkilldError):
        return False
