"""The repository of a proposal: the person's own, or one that skilld keeps for files that git does not track."""

from __future__ import annotations

from pathlib import Path

from skilld.git.managed_repos import find_any, open_any, track_in_managed
from skilld.git.repo import Repo, TrackedFile, find_for_new, find_tracked
from skilld.paths import places
from skilld.types import Proposal


def repo_at(address: str | Path) -> Repo:
    """Return the repository with this `Proposal.repo`. Raises as `open_any` does."""
    return open_any(Path(address), places().repositories)


def is_private(address: str) -> bool:
    """Whether an address is that of one of skilld's own repositories."""
    return Path(address).parent == places().repositories


def find_file(path: Path) -> TrackedFile:
    """Return where the file at `path` is tracked. Writes nothing, and raises as `find_any` does."""
    return find_any(path, places().repositories)


def tracked_file(proposal: Proposal) -> TrackedFile:
    """Return where a proposal's file is tracked; for a repository of ours, after committing the file as found.

    Raises as `skilld.git.repo.find_tracked` does.
    """
    path = Path(proposal.path)
    if is_private(proposal.repo):
        return track_in_managed(path, places().repositories, new=proposal.creates)
    return find_for_new(path) if proposal.creates else find_tracked(path)
