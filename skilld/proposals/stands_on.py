"""Places a proposal's edit in a file without the open ones below it, or tells which of those it needs there first."""

from __future__ import annotations

from collections.abc import Callable

from skilld.errors import SkilldError
from skilld.git import line_diff, objects
from skilld.git.repo import Repo
from skilld.proposals.branch import range_above
from skilld.proposals.person_text import has_own_lines
from skilld.proposals.refit import Edit, fit_edit
from skilld.types import Proposal


def place_edit(
    edit: Edit, before: bytes, after: bytes, current: bytes, base: Callable[[], bytes | None], *, amended: bool
) -> bytes:
    """Return `current` with the change from `before` to `after`, which the person may have `amended` in git.

    A text of theirs that skilld has not taken over only fits where its neighbours are. `base` is as in `fit_edit`.
    Raises SkilldError if it has no certain place.
    """
    if amended and not has_own_lines(edit.proposal, before, after):
        return line_diff.undo(after, before, current)
    return fit_edit(edit.refit_exactly, before, after, current, base)


def needed_first(repo: Repo, proposal: Proposal, current: bytes, fit: Callable[[bytes], bytes]) -> list[str]:
    """Return the open proposals for the same file with which `fit` finds a place in its text; none if none helps.

    One alone if that is enough, else all that are below the proposal on the staging branch.
    """
    commits = objects.list_commits(repo.git, "--topo-order", f"{proposal.commit}^", *range_above(repo, [proposal.base]))
    below: list[tuple[str, bytes, bytes]] = []
    for one in commits:
        old, new = (objects.read_blob(repo.git, oid, proposal.relpath) or b"" for oid in (one.parents[0], one.oid))
        below += [(name, old, new) for name in one.proposals[:1] if old != new]
    for chosen in [*([one] for one in below), below[::-1]]:
        text = current
        try:
            for _, old, new in chosen:
                text = line_diff.merge_change(old, text, new)
            fit(text)
        except (SkilldError, line_diff.MergeConflictError):
            continue
        return [name for name, *_ in chosen] if chosen else []
    return []
