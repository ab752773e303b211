"""Finds where a person has put away the lines of a proposal that was written to its file and not committed.

They may be in a stash, in the index, on another branch or in another work tree. As long as they are, the person has
not thrown them away. Reads only.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from skilld.git import line_diff, objects, state
from skilld.git.repo import Repo
from skilld.git.staging_branch import STAGING_BRANCH, STAGING_REF

_STASH = "refs/stash"
_MAX_STASHES = "--max-count=100"
_MAX_COMMITS = "--max-count=300"


@dataclass(frozen=True, slots=True)
class WrittenChange:
    """A change that was written to the file at `relpath`: the file before and after it."""

    relpath: str
    before: bytes
    after: bytes
    others: frozenset[str] = frozenset()  # lines that other proposals add

    def is_in(self, text: bytes | None) -> bool:
        """Whether something of the change is in a text, perhaps reworded."""
        return text is not None and not line_diff.is_change_gone(text, self.before, self.after, self.others)

    def came_with(self, old: bytes | None, new: bytes | None) -> bool:
        """Whether the change from one text to another brought something of it; None: the file does not exist."""
        return self.is_in(new) and not self.is_in(old or b"")


def find_put_away(repo: Repo, change: WrittenChange, since: int | None) -> str:
    """Return where something of a change is that is not in its file ("in a stash"); empty if nowhere.

    Only commits since a Unix time (None: all) are searched, and not the staging branch. While a merge, a rebase or the
    like is in progress, git may hold the lines anywhere: then that is the place.
    """
    if busy := state.in_progress(repo.git_dir):
        return f"in what git keeps during {busy}"
    found = _in_stash(repo, change) or _in_index(repo, change) or _in_work_tree(repo, change)
    return found or _on_branch(repo, change, since)


def _in_stash(repo: Repo, change: WrittenChange) -> str:
    """Look at each stash: its work tree, its index, and its untracked files."""
    if repo.git.call("rev-parse", "--verify", "--quiet", _STASH).status:
        return ""
    oids = repo.git.run("rev-list", "--walk-reflogs", _MAX_STASHES, _STASH).decode().split()
    names = [f"{oid}{part}:{change.relpath}" for oid in oids for part in ("^1", "", "^2", "^3")]
    texts = objects.read_texts(repo.git, names)
    rows = (texts[at : at + 4] for at in range(0, len(texts), 4))
    return "in a stash" if any(change.came_with(base, new) for base, *kept in rows for new in kept) else ""


def _in_index(repo: Repo, change: WrittenChange) -> str:
    versions = objects.read_texts(repo.git, [f"{repo.head}:{change.relpath}", f":{change.relpath}"])
    return "in the index" if change.came_with(*versions) else ""


def _in_work_tree(repo: Repo, change: WrittenChange) -> str:
    for work_tree in state.work_trees(repo.common_dir):
        if work_tree != repo.toplevel:
            with suppress(OSError):
                if change.came_with(None, (work_tree / change.relpath).read_bytes()):
                    return f"in the work tree {work_tree}"
    return ""


def _on_branch(repo: Repo, change: WrittenChange, since: int | None) -> str:
    """Look for a commit that brought the change and a branch that contains it and still has it."""
    dated = () if since is None else (f"--since={since}",)
    among = f"--exclude={STAGING_BRANCH}", "--branches", "--remotes", "--not", repo.head
    out = repo.git.run("rev-list", "--full-history", _MAX_COMMITS, *dated, *among, "--", change.relpath)
    commits = [commit for commit in objects.read_commits(repo.git, out.decode().split()) if commit is not None]
    pairs = [(commit.parents[0] if commit.parents else commit.oid, commit.oid) for commit in commits]
    texts = objects.read_texts(repo.git, [f"{oid}:{change.relpath}" for pair in pairs for oid in pair])
    for commit, old, new in zip(commits, texts[::2], texts[1::2], strict=True):
        if change.came_with(old if commit.parents else None, new):
            for ref in branches_with(repo, commit.oid):
                if change.is_in(objects.read_blob(repo.git, ref, change.relpath)):
                    return f"on the branch {ref.split('/', 2)[2]}"
    return ""


def branches_with(repo: Repo, commit: str) -> list[str]:
    """Return the full names of the branches, here and as last fetched, that contain a commit; not the staging one."""
    form = f"--contains={commit}", "--format=%(refname)", "refs/heads", "refs/remotes"
    names = repo.git.run("for-each-ref", *form).decode("utf-8", "surrogateescape").splitlines()
    return [name for name in names if name != STAGING_REF]
