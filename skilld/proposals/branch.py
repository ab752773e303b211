"""The staging branch as it stands: what is on it, what holds it, and the moves from here to another tip.

Reads refs and commits of one repository; moves nothing itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from skilld.git import objects, refs
from skilld.git.errors import GitTimeoutError
from skilld.git.objects import Commit
from skilld.git.repo import Repo
from skilld.proposals.model import Rest, Standing
from skilld.proposals.rebase import HeldError, read_line


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


# Where the staging branch rests: on the newest commit that last changed the skills it edits.
#
# So merging it into any branch that has that version brings in the proposals and nothing else. Takes a repository
# and paths, gives a commit with the data for a warning; writes nothing.

# Walking 20,000 commits takes 0.06 to 0.16 s of CPU, by the size of their top folder and whether git has a
# commit-graph. Reading no more than the list of commits takes 0.06 s of it, so a binary search along the list would
# save half, but it cannot see a change that was taken back, and would rest on the older of two commits then.
SECONDS = 3.0


def find_base(repo: Repo, relpaths: Sequence[str], absent: Sequence[str] = ()) -> Rest:
    """Return the commit to rest on: the first of three candidates whose files equal HEAD's.

    They are the newest commit that changed any of the files (skipped without files, and where the walk takes too
    long), the merge base with the default branch, and HEAD. All files must be in HEAD, and none of the `absent` ones.
    """

    def fits(rest: Rest | None) -> bool:
        return (
            rest is not None
            and same_files(repo, rest.commit, repo.head, relpaths)
            and not any(objects.read(repo.git, [f"{rest.commit}:{relpath}" for relpath in absent]))
        )

    rest = _newest_change(repo, relpaths) if relpaths else None
    if not fits(rest):
        rest = _merge_base(repo)
    return rest if rest is not None and fits(rest) else describe(repo, repo.head)


def same_files(repo: Repo, one: str, other: str, relpaths: Sequence[str]) -> bool:
    """Whether both commits have all the files, with the same bytes."""
    names = [f"{commit}:{relpath}" for relpath in relpaths for commit in (one, other)]
    oids = [item.oid if item is not None else None for item in objects.read(repo.git, names)]
    return None not in oids and oids[0::2] == oids[1::2]


def describe(repo: Repo, commit: str) -> Rest:
    """Return a base commit with the number of commits that merging it would bring to the default branch."""
    if repo.default is None or commit in repo.default.tips:
        return _on_default(repo, commit)
    ahead = int(repo.git.run("rev-list", "--count", commit, *_without(repo)))
    if not ahead:
        return _on_default(repo, commit)
    over = branches_over(repo, commit)
    branch = repo.branch if repo.branch in over else next(iter(over), None)
    return Rest(commit, branch.removeprefix("refs/heads/") if branch else None, repo.default.name, ahead)


def branches_over(repo: Repo, commit: str) -> dict[str, str]:
    """Return the branches that have a commit, the staging branch apart: full name -> tip."""
    form = "--format=%(refname) %(objectname)"
    out = repo.git.run("for-each-ref", f"--contains={commit}", form, "refs/heads").decode("utf-8", "surrogateescape")
    rows = (line.split(" ") for line in out.splitlines())
    return {name: oid for name, oid in rows if name != refs.STAGING}


def _on_default(repo: Repo, commit: str) -> Rest:
    return Rest(commit, default=repo.default.name if repo.default else None)


def _without(repo: Repo) -> list[str]:
    return [f"^{tip}" for tip in repo.default.tips] if repo.default else []


def _newest_change(repo: Repo, relpaths: Sequence[str]) -> Rest | None:
    """Return the newest commit that changed one of the files, as `git log -1 HEAD -- FILES` finds it.

    Whether the default branch has it is looked up among the commits that only HEAD has, since counting down from an
    old commit would walk everything once more.
    """
    tips = repo.default.tips if repo.default else ()
    try:
        found = repo.git.run("rev-list", "--max-count=1", repo.head, "--", *relpaths, seconds=SECONDS).decode().strip()
        if not found:
            return None
        if not tips or repo.head in tips:
            return _on_default(repo, found)
        own = repo.git.run("rev-list", repo.head, *_without(repo), seconds=SECONDS).decode().split()
    except GitTimeoutError:
        return None
    return describe(repo, found) if found in own else _on_default(repo, found)


def _merge_base(repo: Repo) -> Rest | None:
    if repo.default is None:
        return None
    # Status 1 without output: no common commit.
    found = repo.git.call("merge-base", repo.head, repo.default.tips[0]).out.decode().strip()
    return _on_default(repo, found) if found else None
