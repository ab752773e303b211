"""What would come of an open proposal on the branch that is checked out: by plain git, and by accepting it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skilld.errors import SkilldError
from skilld.git import objects, refs
from skilld.git.environment import scrub_environment
from skilld.git.managed_repos import open_any
from skilld.git.merging import merges
from skilld.git.repo import Repo
from skilld.proposals.fitted import Edit
from skilld.proposals.submit import private_repositories
from skilld.types import Proposal


@dataclass(frozen=True, slots=True)
class Here:
    """Whether `git cherry-pick` of it and `git merge` of its branch go through, and why accepting does not, if so."""

    picks: bool = False
    merges: bool = False
    unfit: str = ""


class Looking:
    """Looks at proposals of the same repositories, each of which is opened once."""

    def __init__(self) -> None:
        self._repos: dict[str, Repo | None] = {}

    def look(self, proposal: Proposal) -> Here:
        """Return what would come of an open proposal; nothing can be said of one whose repository is out of reach."""
        repo = self._open(proposal.repo) if proposal.commit else None
        if repo is None:
            return Here()
        commits = f"{proposal.commit}^", repo.head, proposal.commit, proposal.base, refs.STAGING
        read = objects.read(repo.git, [f"{commit}:{proposal.relpath}" for commit in commits])
        before, current, after, base, tip = (item.data if item is not None else None for item in read)
        if current == base:
            whole = True
            picks = before == current or merges(repo.git, before, current, after)
        else:
            whole, picks = merges(repo.git, base, current, tip), merges(repo.git, before, current, after)
        if picks or proposal.creates or before is None or after is None or current is None:
            return Here(picks, whole)
        try:
            Edit(proposal).certain(before, after, current)
        except SkilldError as error:
            cause = error.cause or error.title
            return Here(picks, whole, f"accepting it on this branch would be refused: {cause}")
        return Here(picks, whole)

    def _open(self, address: str) -> Repo | None:
        if address not in self._repos:
            scrub_environment()
            try:
                self._repos[address] = open_any(Path(address), private_repositories())
            except (OSError, SkilldError):
                self._repos[address] = None
        return self._repos[address]
