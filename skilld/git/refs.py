"""skilld's own refs: checked for traps, then moved all or nothing, each by compare-and-swap.

A repository can hold a symbolic ref in place of ours, which moves its target, or a symlinked folder, which makes git
write outside of it (both measured, git 2.39): both are refused first, and `--no-deref` is given besides.
"""

from __future__ import annotations

import re
import stat
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from skilld.files import in_shell
from skilld.git import objects
from skilld.git.errors import GitFailedError, LostRaceError, RefLockedError, RepoRefusedError
from skilld.git.run import Git
from skilld.git.staging_branch import PROPOSALS, STAGING, STAGING_BRANCH
from skilld.git.state import remove_begun_objects

_WAITS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # seconds between tries at a held lock: 3.2 s in all
_MOVED = ("but expected", "reference already exists", "unable to resolve reference", "reference is missing")


@dataclass(frozen=True, slots=True)
class Change:
    """One ref, from `old` to `new`. An `old` of None means it must not exist, a `new` of None deletes it."""

    ref: str
    new: str | None
    old: str | None


def proposal_ref(proposal: str) -> str:
    """Return the ref on which an open proposal hangs; raises ValueError for an id that could be anything else."""
    if not re.fullmatch(r"[0-9A-Za-z][0-9A-Za-z-]{0,63}", proposal):
        raise ValueError(f"{proposal!r} is not a proposal ID")
    return PROPOSALS + proposal


def tip(git: Git, ref: str) -> str | None:
    """Return the commit a ref names, or None if there is no such ref."""
    found = objects.read(git, [f"{ref}^{{commit}}"])[0]
    return found.oid if found is not None else None


def tips(git: Git, patterns: Sequence[str]) -> dict[str, str]:
    """Return ref name -> object id of all refs below the patterns (a full name, or a folder without its slash)."""
    out = git.run("for-each-ref", "--format=%(objectname) %(refname)", *patterns).decode("utf-8", "surrogateescape")
    return {name: oid for oid, name in (line.split(" ", 1) for line in out.splitlines())}


def reaches(git: Git, commit: str, tip: str) -> bool:
    """Whether a commit is `tip` or below it."""
    return commit == tip or git.call("merge-base", "--is-ancestor", commit, tip).status == 0


def leading(git: Git, tips: Collection[str]) -> list[str]:
    """Return those of some commits that no other of them has in its history."""
    return [one for one in tips if not any(one != other and reaches(git, one, other) for other in tips)]


def check_plain(common_dir: Path, names: Iterable[str]) -> None:
    """Raise RepoRefusedError if one of these refs, or a folder on the way to it, is a link of any sort."""
    for top in ("refs", "objects", "packed-refs"):
        _refuse_link(common_dir / top)
    for name in names:
        path = common_dir
        for part in name.split("/"):
            path /= part
            _refuse_link(path)
        if _kind(path) == stat.S_IFREG and path.read_bytes()[:4] == b"ref:":
            raise RepoRefusedError(
                "Cannot use this repository",
                f"{name} is a symbolic ref, so writing to it would move the ref that it points to",
                f"git --git-dir {in_shell(common_dir)} symbolic-ref --delete {name}",
            )


def move(git: Git, common_dir: Path, changes: Sequence[Change], note: str = "") -> None:
    """Make all changes or none; `note` goes into the reflogs there are.

    Raises LostRaceError if a ref no longer has its old value, RefLockedError if another program keeps a lock,
    RepoRefusedError if the ref cannot exist (a branch named `skilld` is in its way).
    """
    if not changes:
        return
    check_plain(common_dir, [change.ref for change in changes])
    orders = "".join(_order(change) for change in changes).encode()
    why = ["-m", note] if note else []
    for wait in (*_WAITS, None):
        result = git.call("update-ref", "--no-deref", *why, "--stdin", stdin=orders)
        if result.status == 0:
            return
        if ".lock': File exists" not in result.err:
            break
        if wait is None:
            raise RefLockedError("Could not write the proposal", "another program holds a lock on a ref", after=60)
        time.sleep(wait)
    if any(word in result.err for word in _MOVED):
        raise LostRaceError("The staging branch moved in the meantime", result.err)
    above = STAGING_BRANCH.partition("/")[0]
    if "exists; cannot create" in result.err or "Is a directory" in result.err or "Not a directory" in result.err:
        raise RepoRefusedError(
            "Cannot create the staging branch",
            f"the name of another branch conflicts with {STAGING_BRANCH}",
            f"Rename the branch {above}, or the branches under {STAGING_BRANCH}/: "
            f"git --git-dir {in_shell(common_dir)} branch --move {above} NEWNAME",
        )
    raise GitFailedError("Could not update the refs", result.status, result.err)


def mend(git: Git, common_dir: Path) -> None:
    """Take away our own refs that a power cut left without a value, and give the staging branch its newest commit back.

    Git writes a ref beside its place and renames it, so such a file is never one in the making. Which commit it was the
    refs of proposals tell; an older value that was packed is none.
    """
    folder = common_dir / PROPOSALS
    broken = [path for path in (common_dir / STAGING, *(folder.iterdir() if folder.is_dir() else ())) if _empty(path)]
    for path in broken:
        path.unlink(missing_ok=True)
    oids = tips(git, [PROPOSALS.rstrip("/")]).values() if common_dir / STAGING in broken else ()
    if oids:
        newest = git.run("rev-list", "--topo-order", "--max-count=1", *oids).decode().strip()
        move(git, common_dir, [Change(STAGING, newest, tip(git, STAGING))])


def _empty(path: Path) -> bool:
    return path.suffix != ".lock" and _kind(path) == stat.S_IFREG and not path.read_bytes().strip(b"\0\n ")


def remove_stale_locks(common_dir: Path, older_than: float = 0.0) -> list[Path]:
    """Remove locks that a killed worker left on our own refs more than so many seconds ago, and return them.

    What it had begun to write of objects goes too.

    Only for a program that knows that no other skilld is at work: with kill -9, 2 of 263 kills left such a lock, which
    blocked every later proposal.
    """
    check_plain(common_dir, [STAGING, PROPOSALS.rstrip("/")])
    proposals = common_dir / PROPOSALS
    locks = [common_dir / f"{STAGING}.lock", *(proposals.glob("*.lock") if proposals.is_dir() else ())]
    before = time.time() - older_than
    stale = [lock for lock in locks if _kind(lock) == stat.S_IFREG and lock.stat().st_mtime <= before]
    for lock in stale:
        lock.unlink(missing_ok=True)
    remove_begun_objects(common_dir / "objects", older_than)
    return stale


def _order(change: Change) -> str:
    # `create` needs no old value, so it works in repositories of either object format.
    if change.new is None:
        return f"delete {change.ref} {change.old}\n"
    if change.old is None:
        return f"create {change.ref} {change.new}\n"
    return f"update {change.ref} {change.new} {change.old}\n"


def _kind(path: Path) -> int:
    try:
        return stat.S_IFMT(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _refuse_link(path: Path) -> None:
    if _kind(path) == stat.S_IFLNK:
        raise RepoRefusedError(
            "Cannot use this repository",
            f"{path} is a symlink, so git would write outside the repository",
            f"Replace {path} with a folder.",
        )
