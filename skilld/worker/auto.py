"""Auto mode: which of the proposals just made are applied without being asked for. Off unless the settings say so."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from skilld.classify.accounted import all_own
from skilld.classify.polarity import turns
from skilld.decide.auto import apply_unasked
from skilld.edit.low_risk import is_low_risk
from skilld.edit.place import DEFAULT_TITLE
from skilld.errors import SkilldError
from skilld.types import Op, Proposal
from skilld.words import denies
from skilld.worker.staged import Staged
from skilld.worker.staging import applier, private_repositories, restage

# What code writes itself: the heading of a new section, and the number of a step.
_BY_CODE = re.compile(rf"^#+ {DEFAULT_TITLE}$|^\s*\d{{1,3}}[.)]\s", re.MULTILINE)


def apply_allowed(
    staged: Staged, standing: Sequence[Proposal], rules: Mapping[str, Any], typed: Callable[[Proposal], str]
) -> None:
    """Apply those of the proposals just made that `rules` allow; the others stay on the staging branch.

    `rules` has `skills`, the names of skills whose proposals may be applied (None: all), and `confidence`, which a
    proposal must reach. `typed` gives what the person typed in the turns that a proposal quotes. One that was not
    applied for the state of its repository says so in its note.
    """
    for proposal in list(staged.made):
        if not (_allowed(proposal, rules) and _is_own(proposal, typed)):
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


def _is_own(proposal: Proposal, typed: Callable[[Proposal], str]) -> bool:
    """Whether the person typed, in the turns quoted, each content word to be added and each that turns a rule round."""
    try:
        said = typed(proposal)
    except SkilldError:
        return False
    texts = [_BY_CODE.sub("", operation.text) for operation in proposal.operations]
    return all(all_own(text, said) and turns(text) <= turns(said) and denies(text) <= denies(said) for text in texts)
