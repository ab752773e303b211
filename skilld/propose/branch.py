"""The staging branch as it stands: what is on it, what holds it, and the moves from here to another tip.

Reads refs and commits of one repository; moves nothing itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from skilld.git import refs
from skilld.git.objects import Commit
from skilld.git.repo import Repo
from skilld.propose.line import HeldError, read_line
from skilld.propose.values import Standing


@dataclass(frozen=True, slots=True)
class Branch:
    """The branch as read: `line` is None where `held` says why it cannot be made again.

    `proposals` are the refs of proposals, by id.
    """

    tip: str | None
    proposals: Mapping[str, str]
    line: list[Commit] | None
    held: str = ""

    @property
    def base(self) -> str | None:
        """The commit the line rests on; the tip where nothing stands on the branch alone, None without a line."""
        if not self.line:
            return None if self.line is None else self.tip
        return self.line[0].parents[0]

    def files(self, standing: Mapping[str, Standing], dropped: Collection[str]) -> dict[str, bool]:
        """Return the paths of the skills that open proposals on the branch edit, and whether one makes the skill."""
        on_line = {name for commit in self.line or () for name in commit.proposals if name not in dropped}
        files: dict[str, bool] = {}
        for name, item in standing.items():
            if name in on_line:
                files[item.relpath] = item.creates or files.get(item.relpath, False)
        return files

    def moves(self, tip: str | None, at: Mapping[str, str], dropped: Collection[str]) -> list[refs.Change]:
        """Return the changes that bring the branch to `tip`, proposals to where they are `at`, `dropped` ones off.

        Git writes several refs one after the other: killed between two of them, it leaves some where they were.
        """
        changes = [refs.Change(refs.STAGING, tip, self.tip)] if tip != self.tip else []
        for name, oid in at.items():
            old = self.proposals.get(name)
            if oid != old and name not in dropped:
                changes.append(refs.Change(refs.proposal_ref(name), oid, old))
        gone = [(name, oid) for name, oid in self.proposals.items() if name in dropped]
        return changes + [refs.Change(refs.proposal_ref(name), None, oid) for name, oid in gone]


def read_branch(repo: Repo, standing: Sequence[Standing]) -> Branch:
    """Return the branch; without a line where it holds something that cannot be made again."""
    found = refs.tips(repo.git, [refs.STAGING, refs.PROPOSALS.rstrip("/")])
    proposals = {name.removeprefix(refs.PROPOSALS): oid for name, oid in found.items() if name != refs.STAGING}
    tip = found.get(refs.STAGING)
    if tip is None:
        return Branch(None, proposals, [])
    try:
        return Branch(tip, proposals, read_line(repo, tip, [item.base for item in standing]))
    except HeldError as error:
        return Branch(tip, proposals, None, str(error))
