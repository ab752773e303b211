"""The files of one of skilld's own repositories, committed as they stand in the skills root, in the person's name.

By plumbing alone: no hook, no signing, no prompt, since this runs in the background. Only files that the repository
holds, or that are named, are looked at; reading them is all that is done to the root.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skilld.git import index, objects, refs, state, tree
from skilld.git.errors import RepoUnreadableError
from skilld.git.identity import person_at
from skilld.git.run import Git
from skilld.git.workdir import Place

_EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # the tree without entries, which git knows without having it
_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True)
class _File:
    mode: str
    data: bytes
    changed_at: float


def commit_as_found(place: Place, wanted: Sequence[str], *, start: bool = False) -> None:
    """Commit what changed among the files held and the `wanted` ones; nothing where nothing did.

    `start` makes a first commit even of no file, for a new skill's proposal to stand on. A file that is gone is taken
    out. While an operation is in progress, or no branch is checked out, the person is at work in the repository, and
    nothing is done. Raises LostRaceError where another process was quicker.
    """
    branch = state.head_branch(place.git_dir)
    if branch is None or branch == refs.STAGING or state.in_progress(place.git_dir) is not None:
        return
    head = refs.tip(place.git, "HEAD")
    held = index.parse(place.git.run("ls-tree", "-r", "-z", "--full-tree", head)) if head is not None else {}
    staged = index.parse(place.git.run("ls-files", "-z", "--stage"))
    found: dict[str, tree.Entry | None] = {}
    times = []
    for relpath in sorted({*held, *staged, *wanted}):
        file = _read(place.toplevel, relpath)
        found[relpath] = tree.Entry(file.mode, _oid(file.data)) if file is not None else None
        if found[relpath] != held.get(relpath):
            times.append(file.changed_at if file is not None else time.time())
            if file is not None:
                objects.write_blob(place.git, file.data)
    # The index first: were it the other way round, a kill in between would leave a change nobody made.
    index.stage(place.git, {relpath: entry for relpath, entry in found.items() if entry != staged.get(relpath)})
    changes = {relpath: entry for relpath, entry in found.items() if entry != held.get(relpath)}
    if not changes and (head is not None or not start):
        return
    who = person_at(place.git, _when(place.git, head, times or [time.time()]))
    root = tree.rewrite(place.git, head or _EMPTY, changes) if changes else place.git.run("mktree").decode().strip()
    commit = objects.write_commit(
        place.git,
        tree=root,
        parents=[head] if head is not None else [],
        message=_message(changes),
        author=who,
        committer=who,
    )
    refs.move(place.git, place.common_dir, [refs.Change(branch, commit, head)])


def _when(git: Git, head: str | None, times: Sequence[float]) -> int:
    """Return when the files came to be as they are: not before the newest commit, and not in the future."""
    newest = objects.read_commit(git, head) if head is not None else None
    return max(newest.committer.seconds if newest is not None else 0, int(min(time.time(), max(times))))


def _read(root: Path, relpath: str) -> _File | None:
    """Return a file, or None where no plain one of moderate size stands there, or behind a link."""
    path = root / relpath
    if path.resolve() != path:
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO}:
            return None
        raise RepoUnreadableError(str(path), error.strerror or type(error).__name__) from error
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _LIMIT:
            return None
        return _File("100755" if facts.st_mode & stat.S_IXUSR else "100644", file.read(), facts.st_mtime)


def _oid(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _message(changes: Mapping[str, tree.Entry | None]) -> bytes:
    what = next(iter(changes)) if len(changes) == 1 else f"{len(changes) or 'no'} skills"
    names = "".join(f"\n{relpath}" for relpath in changes) if len(changes) > 1 else ""
    return f"As found: {what}\n{names}\n".encode("utf-8", "surrogateescape")
