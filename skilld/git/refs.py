"""Moves skilld's own refs, all or nothing, each by compare-and-swap, after checking them for links.

A repository can hold a symbolic ref in place of ours, so that git moves its target, or a symlinked folder, so that git
writes outside the repository (both measured, git 2.39): both are refused, and `--no-deref` is passed as well.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from skilld.files import shell_quoted
from skilld.git import objects, state
from skilld.git.errors import GitFailedError, LostRaceError, RefLockedError, RepoRefusedError
from skilld.git.line import is_before
from skilld.git.run import Git
from skilld.git.session import cached
from skilld.git.staging_branch import PROPOSAL_REFS, STAGING_BRANCH, STAGING_REF
from skilld.git.state import remove_temporary_objects
from skilld.values import value_class

_RETRY_SECONDS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # between tries at a held lock: 3.2 s in total
# Names that no git takes for anything but a ref: "@{" or a colon would ask for something else.
_PLAIN_REF_PATTERN = re.compile(r"refs/[A-Za-z0-9_/-]+(?:\.[A-Za-z0-9_/-]+)*")
_RACE_MESSAGES = ("but expected", "reference already exists", "unable to resolve reference", "reference is missing")


@value_class
class RefChange:
    """One ref to move from `old` (None: it must not exist) to `new` (None: delete it)."""

    ref: str
    new: str | None
    old: str | None


def written_at(common_dir: Path, proposal: str) -> float:
    """Return when the ref of a proposal was written, as a Unix time; 0 if it is gone, or packed and so not new."""
    try:
        return (common_dir / f"{PROPOSAL_REFS}{proposal}").stat().st_mtime
    except OSError:
        return 0.0


def proposal_ref(proposal: str) -> str:
    """Return the ref of an open proposal; raises ValueError for an invalid ID."""
    if not re.fullmatch(r"[0-9A-Za-z][0-9A-Za-z-]{0,63}", proposal):
        raise ValueError(f"{proposal!r} is not a proposal ID")
    return PROPOSAL_REFS + proposal


def read_tip(git: Git, ref: str) -> str | None:
    """Return the commit that a ref points to, or None if there is no such ref."""
    found = objects.read_objects(git, [f"{ref}^{{commit}}"])[0]
    return found.oid if found is not None else None


def read_tips(git: Git, patterns: Sequence[str]) -> dict[str, str]:
    """Return name -> object id of all refs matching the patterns (full names, or folders without a final slash)."""
    rows = git.lines("for-each-ref", "--format=%(objectname) %(refname)", *patterns)
    return {name: oid for oid, name in (row.split(" ", 1) for row in rows)}


def read_refs(git: Git, names: Sequence[str]) -> dict[str, str]:
    """Return name -> object ID of those of these refs that exist; git is asked for a list only if one seems not to."""
    if not names:
        return {}
    if all(_PLAIN_REF_PATTERN.fullmatch(name) for name in names):
        with suppress(GitFailedError):  # a damaged object
            found = objects.read_sizes(git, names)
            if all(size >= 0 for _, _, size in found):
                return {name: oid for name, (oid, _, _) in zip(names, found, strict=True)}
    return read_tips(git, names)


def read_own_refs(git: Git, common_dir: Path) -> dict[str, str]:
    """Return name -> object ID of the staging branch and of the refs of proposals."""
    names = _own_names(common_dir)
    return read_tips(git, [STAGING_REF, PROPOSAL_REFS.rstrip("/")]) if names is None else read_refs(git, names)


def _own_names(common_dir: Path) -> list[str] | None:
    """Return the names of these refs, as files show them; None if only git can tell."""
    folder = common_dir / PROPOSAL_REFS
    try:
        # In this order: git writes a ref to the file with many before it removes the file of its own.
        names = {PROPOSAL_REFS + entry.name for entry in (os.scandir(folder) if folder.is_dir() else ())}
        names |= {STAGING_REF} if (common_dir / STAGING_REF).is_file() else set()
        packed = state.packed_refs(common_dir)
    except OSError:
        return None
    names |= {name for name in packed if name == STAGING_REF or name.startswith(PROPOSAL_REFS)}
    return None if (common_dir / "reftable").is_dir() else sorted(names)


def is_reachable(git: Git, commit: str, tip: str) -> bool:
    """Whether a commit is `tip` or an ancestor of it."""
    if (known := is_before(git, commit, tip)) is not None:
        return known
    question = "merge-base", "--is-ancestor", commit, tip
    return cached((git, *question), lambda: git.call(*question).status == 0)


def without_ancestors(git: Git, tips: Collection[str]) -> list[str]:
    """Return those commits that are not ancestors of any other of them."""
    return [one for one in tips if not any(one != other and is_reachable(git, one, other) for other in tips)]


def check_no_links(common_dir: Path, names: Iterable[str]) -> None:
    """Raise RepoRefusedError if one of these refs, or a folder on the way to it, is a link of any kind."""
    for top in ("refs", "objects", "packed-refs"):
        _refuse_link(common_dir / top)
    for name in names:
        path = common_dir
        for part in name.split("/"):
            path /= part
            _refuse_link(path)
        if _file_type(path) == stat.S_IFREG and path.read_bytes()[:4] == b"ref:":
            raise RepoRefusedError(
                "Cannot use this repository",
                f"{name} is a symbolic ref, so writing to it would move the ref that it points to",
                f"git --git-dir {shell_quoted(common_dir)} symbolic-ref --delete {name}",
            )


def move_refs(git: Git, common_dir: Path, changes: Sequence[RefChange], note: str = "") -> None:
    """Make all changes or none; `note` is added to existing reflogs.

    Raises LostRaceError if a ref no longer has its old value, RefLockedError if another program keeps a lock,
    RepoRefusedError if the ref cannot exist (because of a branch named `skilld`).
    """
    if not changes:
        return
    check_no_links(common_dir, [change.ref for change in changes])
    orders = "".join(_update_line(change) for change in changes).encode()
    why = ["-m", note] if note else []
    deadline = time.monotonic() + sum(_RETRY_SECONDS)  # git itself waits a second for packed-refs
    for wait in (*_RETRY_SECONDS, None):
        result = git.call("update-ref", "--no-deref", *why, "--stdin", stdin=orders)
        if result.status == 0:
            return
        if ".lock': File exists" not in result.err:
            break
        if wait is None or time.monotonic() > deadline:
            raise RefLockedError("Could not update the refs", "a lock on a ref", result.err)
        time.sleep(wait)
    if any(word in result.err for word in _RACE_MESSAGES):
        raise LostRaceError("The staging branch moved in the meantime", result.err)
    above = STAGING_BRANCH.partition("/")[0]
    if "exists; cannot create" in result.err or "Is a directory" in result.err or "Not a directory" in result.err:
        raise RepoRefusedError(
            "Cannot create the staging branch",
            f"the name of another branch conflicts with {STAGING_BRANCH}",
            f"Rename the branch {above}, or the branches under {STAGING_BRANCH}/: "
            f"git --git-dir {shell_quoted(common_dir)} branch --move {above} NEWNAME",
        )
    raise GitFailedError("Could not update the refs", result.status, result.err)


def repair_refs(git: Git, common_dir: Path) -> None:
    """Delete refs of ours that a power cut left without a value, and restore the staging branch's newest commit.

    Git writes a ref to a temporary file and renames it, so an empty file is never one being written. The commit is
    found by the refs of proposals; a packed value may be outdated.
    """
    folder = common_dir / PROPOSAL_REFS
    broken = [
        path for path in (common_dir / STAGING_REF, *(folder.iterdir() if folder.is_dir() else ())) if _is_empty(path)
    ]
    for path in broken:
        path.unlink(missing_ok=True)
    oids = read_tips(git, [PROPOSAL_REFS.rstrip("/")]).values() if common_dir / STAGING_REF in broken else ()
    if oids:
        newest = git.run("rev-list", "--topo-order", "--max-count=1", *oids).decode().strip()
        move_refs(git, common_dir, [RefChange(STAGING_REF, newest, read_tip(git, STAGING_REF))])


def _is_empty(path: Path) -> bool:
    return path.suffix != ".lock" and _file_type(path) == stat.S_IFREG and not path.read_bytes().strip(b"\0\n ")


def remove_stale_locks(common_dir: Path, older_than: float = 0.0) -> list[Path]:
    """Remove locks that a killed worker left on our own refs more than so many seconds ago, and return them.

    Temporary files of objects that it was writing are removed, too. Only for a program that knows that no other skilld
    is running: 2 of 263 kills with -9 left such a lock, which blocked every later proposal.
    """
    check_no_links(common_dir, [STAGING_REF, PROPOSAL_REFS.rstrip("/")])
    proposals = common_dir / PROPOSAL_REFS
    locks = [common_dir / f"{STAGING_REF}.lock", *(proposals.glob("*.lock") if proposals.is_dir() else ())]
    before = time.time() - older_than
    stale = [lock for lock in locks if _file_type(lock) == stat.S_IFREG and lock.stat().st_mtime <= before]
    for lock in stale:
        lock.unlink(missing_ok=True)
    remove_temporary_objects(common_dir / "objects", older_than)
    return stale


def _update_line(change: RefChange) -> str:
    # `create` needs no old value, so it works with either object format.
    if change.new is None:
        return f"delete {change.ref} {change.old}\n"
    if change.old is None:
        return f"create {change.ref} {change.new}\n"
    return f"update {change.ref} {change.new} {change.old}\n"


def _file_type(path: Path) -> int:
    try:
        return stat.S_IFMT(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _refuse_link(path: Path) -> None:
    if _file_type(path) == stat.S_IFLNK:
        raise RepoRefusedError(
            "Cannot use this repository",
            f"{path} is a symlink, so git would write outside the repository",
            f"Replace {path} with a folder.",
        )
