"""An edit that is on no branch, placed anew where the lines that it is anchored on are not in the skill.

While the staging branch is checked out, a session sees the lines of open proposals and an edit may be anchored on one.
Where that proposal is rejected, or just not merged, HEAD has no such line when the edit can be committed at last. And
the person may have edited the skill since a proposal was dropped, or rejected, that they want back.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from skilld.decide.inverse import transplant
from skilld.edit.between import operations_between
from skilld.errors import SkilldError
from skilld.git import lines, objects
from skilld.git.repo import Tracked
from skilld.types import Proposal
from skilld.worker.fitted import Edit


def placed_anew(proposal: Proposal, tracked: Tracked) -> Proposal | None:
    """Return a proposal with an edit that fits HEAD's version of the skill; None: it says that already.

    `proposal.base` of one without a commit is the commit that was checked out when the edit was made. The proposal
    comes back as it is where its edit fits HEAD or the person's uncommitted file, and where there is no place for it.
    """
    edit = Edit(proposal)
    git, relpath = tracked.repo.git, tracked.relpath
    origin = f"{proposal.commit}^" if proposal.commit else proposal.base
    if not origin:
        return proposal
    names = [f"{commit}:{relpath}" for commit in (origin, tracked.repo.head)]
    seen, current = (item.data if item else None for item in objects.read(git, names))
    if seen is None or current is None or _fits(edit, current):
        return proposal
    try:
        after = (objects.read_blob(git, proposal.commit, relpath) if proposal.commit else None) or edit(seen)
        if lines.holds(current, seen, after):
            return None
        if _fits(edit, Path(proposal.path).read_bytes()):
            return proposal
        try:
            edit.anew(seen, after, current)
        except SkilldError:
            common = objects.common_version(git, origin, tracked.repo.head, relpath)
            text = transplant(seen, after, common or b"", current).decode("utf-8-sig")
            return replace(proposal, operations=tuple(operations_between(current, text)))
        return replace(proposal, operations=edit.operations, note=edit.note or proposal.note)
    except (SkilldError, OSError):
        return proposal


def _fits(edit: Edit, text: bytes) -> bool:
    try:
        edit(text)
    except SkilldError:
        return False
    return True
