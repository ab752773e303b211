"""skilld's own repositories, for skills that git does not track: one per skills folder, in skilld's data folder.

The work tree of such a repository is the skills root, its git directory stands outside of it, and it holds nothing but
the SKILL.md files that were taken in. Before anything is done with one, those files are committed as they are found,
in the person's name, so that their own edits are never taken for ours nor lost. Nothing here writes into the root.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from skilld.errors import cause_of
from skilld.files import read_plain
from skilld.git import objects, refs, state, tree
from skilld.git.errors import LostRaceError, NotTrackedError, RefLockedError, RepoRefusedError, RepoUnreadableError
from skilld.git.objects import identity, person_at
from skilld.git.repo import Place, Repo, TrackedFile, find, find_absent, open_place, open_repo, refuse_occupied
from skilld.git.run import Git, PersonGit, object_id, once
from skilld.git.staging_branch import STAGING

# The files of one of skilld's own repositories, committed as they stand in the skills root, in the person's name. By
# plumbing alone: no hook, no signing, no prompt, since this runs in the background. Only files that the repository
# holds, or that are named, are looked at; reading them is all that is done to the root.

_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True)
class _File:
    mode: str
    data: bytes
    changed_at: float


def commit_as_found(place: Place, wanted: Sequence[str], *, start: bool = False) -> None:
    """Commit what changed among the files held and the `wanted` ones; nothing if nothing did.

    `start` makes a first commit even of no file, for a new skill's proposal to stand on. A file that is gone is taken
    out. While an operation is in progress, or no branch is checked out, the person is at work in the repository, and
    nothing is done. Raises LostRaceError if another process was quicker.
    """
    branch = state.head_branch(place.git_dir)
    if branch is None or branch == STAGING or state.in_progress(place.git_dir) is not None:
        return
    head = refs.tip(place.git, "HEAD")
    held = tree.parse(place.git.run("ls-tree", "-r", "-z", "--full-tree", head)) if head is not None else {}
    staged = tree.parse(place.git.run("ls-files", "-z", "--stage"))
    found: dict[str, tree.Entry | None] = {}
    times = []
    for relpath in sorted({*held, *staged, *wanted}):
        file = _read(place.toplevel, relpath)
        found[relpath] = tree.Entry(file.mode, object_id("blob", file.data)) if file is not None else None
        if found[relpath] != held.get(relpath):
            times.append(file.changed_at if file is not None else time.time())
            if file is not None:
                place.git.add("blob", file.data)
    # The index first: were it the other way round, a kill in between would leave a change nobody made.
    tree.stage(place.git, {relpath: entry for relpath, entry in found.items() if entry != staged.get(relpath)})
    changes = {relpath: entry for relpath, entry in found.items() if entry != held.get(relpath)}
    if not changes and (head is not None or not start):
        return
    who = person_at(place.git, _when(place.git, head, times or [time.time()]))
    root = tree.rewrite(place.git, head or tree.EMPTY[40], changes) if changes else place.git.add("tree", b"")
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
    """Return a file, or None if no plain one of moderate size is there, or behind a link."""
    path = root / relpath
    if path.resolve() != path:
        return None
    try:
        data, facts = read_plain(path, _LIMIT, links=False)
    except ValueError:
        return None
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO}:
            return None
        raise RepoUnreadableError(str(path), cause_of(error)) from error
    return _File("100755" if facts.st_mode & stat.S_IXUSR else "100644", data, facts.st_mtime)


def _message(changes: Mapping[str, tree.Entry | None]) -> bytes:
    what = next(iter(changes)) if len(changes) == 1 else f"{len(changes) or 'no'} skills"
    names = "".join(f"\n{relpath}" for relpath in changes) if len(changes) > 1 else ""
    return f"Current state: {what}\n{names}\n".encode("utf-8", "surrogateescape")


BRANCH = "main"
_WAITS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)  # seconds between tries while another process is at work in it
_ABANDONED_SECONDS = 3600.0  # seconds: a lock on the index that is so old was left by a process that was killed
_SETTINGS = """\
[core]
	autocrlf = false
	hooksPath = /dev/null
	logAllRefUpdates = true
	worktree = "{root}"
[status]
	showUntrackedFiles = no
"""
_QUOTED = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"})
# The bytes as they are, whatever the attributes of a repository around the root or of the person say.
_ATTRIBUTES = "* -text -ident !eol !filter !diff !merge !working-tree-encoding\n"


def root_of(path: Path) -> Path:
    """Return the root of a file that git does not track: its own folder.

    That of a SKILL.md is the nearest folder named `skills` above its own, else the one above it; that of a skill's
    `evals/evals.json` is the same.
    """
    if path.parts[-2:] == ("evals", "evals.json"):
        path = path.parents[1] / "SKILL.md"
    if path.name.casefold() != "skill.md":
        return path.parent
    above = path.parents[1:]
    return next((folder for folder in above if folder.name == "skills"), above[0])


def git_dir_of(root: Path, folder: Path) -> Path:
    """Return where the repository of a skills root is, made yet or not; `folder` holds all of them."""
    return folder / hashlib.sha256(os.fsencode(root)).hexdigest()[:16]


def roots(folder: Path) -> dict[Path, Path]:
    """Return the skills roots that have a repository: root -> git directory."""
    found = sorted(path for path in folder.iterdir() if (path / "HEAD").is_file()) if folder.is_dir() else []
    trees = {git_dir: _work_tree(git_dir) for git_dir in found}
    return {
        root: git_dir for git_dir, root in trees.items() if root is not None and git_dir_of(root, folder) == git_dir
    }


def open_any(address: Path, folder: Path | None) -> Repo:
    """Return the repository at an address that `Repo.address` gave, its skills as found where it is one of ours.

    Raises NotTrackedError if it or its work tree is gone, else as `skilld.git.repo.open_repo`.
    """
    if folder is None or address.parent != folder:
        return open_repo(address)
    root = _work_tree(address)
    if root is None or git_dir_of(root, folder) != address or not _has_root(root, address):
        raise NotTrackedError("no-repository", f"{address} is no longer one of skilld's repositories")
    return _as_found(_place(root, address), None)


def track(path: Path, folder: Path | None, *, new: bool = False) -> TrackedFile:
    """Return where git tracks the skill at `path`; where it does not, take it into the repository of its root.

    `new` is for one that is to be made. Without a `folder` for such repositories NotTrackedError is raised as by
    `skilld.git.repo.find`; for a new one, also where a repository around it has no commit yet.
    """
    try:
        return find_absent(path) if new else find(path)
    except NotTrackedError as error:
        if folder is None or (new and error.reason == "no-commit"):
            raise
    return take_in(path, folder, new=new)


def look(path: Path, folder: Path) -> TrackedFile:
    """Return where the skill at `path` is tracked, by git or in a repository of ours. Writes nothing.

    Raises as `skilld.git.repo.find` where neither holds it.
    """
    try:
        return find(path)
    except NotTrackedError:
        place = _place(root_of(path), git_dir_of(root_of(path), folder))
        if not (place.git_dir / "HEAD").is_file():
            raise
        repo = open_place(place, private=True)
        relpath = path.relative_to(place.toplevel).as_posix()
        entry = tree.entry(repo.git, repo.head, relpath)
        if entry is None:
            raise
    return TrackedFile(repo, relpath, entry)


def take_in(path: Path, folder: Path, *, new: bool = False) -> TrackedFile:
    """Return the skill at `path` (a real one) in the repository of its root, made if need be, as it is found now.

    A `new` one may be absent, and its root with it.
    """
    if path.resolve() != path:
        raise RepoRefusedError("Cannot edit this file", f"{path} is reached through a symlink")
    root = root_of(path)
    relpath = path.relative_to(root).as_posix()
    tree.check_relpath(relpath)
    git_dir = git_dir_of(root, folder)
    if not new and not root.is_dir():
        raise NotTrackedError("gone", f"{root} does not exist")
    if not (git_dir / "HEAD").is_file():
        _make(root, git_dir)
    repo = _as_found(_place(root, git_dir), relpath, start=new)
    entry = tree.entry(repo.git, repo.head, relpath)
    if entry is None and new:
        refuse_occupied(path)
    elif entry is None and not path.is_file():
        raise NotTrackedError("gone", f"{path} does not exist")
    elif entry is None:
        busy = state.in_progress(repo.git_dir)
        where = f"in skilld's repository for {root}"
        cause = f"{busy} is in progress {where}" if busy else f"the branch checked out {where} has no {relpath}"
        raise RepoRefusedError("Cannot edit this file", cause)
    return TrackedFile(repo, relpath, entry)


def person_git(repo: Repo, removed: Mapping[str, str]) -> PersonGit:
    """Return the person's git in a repository; in one of ours it also works for a person who never set up git."""
    if not repo.private:
        return PersonGit(repo.toplevel, removed)
    repo.toplevel.mkdir(parents=True, exist_ok=True)  # absent while nothing but a new skill waits for it
    who = identity(repo.git)
    defaults = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in who.items()}
    return PersonGit(repo.toplevel, removed, git_dir=repo.git_dir, defaults=defaults)


def _as_found(place: Place, relpath: str | None, *, start: bool = False) -> Repo:
    wanted = [relpath] if relpath is not None else []
    with suppress(FileNotFoundError):
        lock = place.git_dir / "index.lock"
        if time.time() - lock.stat().st_mtime > _ABANDONED_SECONDS:
            lock.unlink()
    for wait in _WAITS:
        try:
            commit_as_found(place, wanted, start=start)
            return open_place(place, private=True)
        except (LostRaceError, RefLockedError):
            time.sleep(wait)
    commit_as_found(place, wanted, start=start)
    return open_place(place, private=True)


def _place(root: Path, git_dir: Path) -> Place:
    # Git works in the root where that is there, and in the git directory where it is not yet.
    git = once(("managed", root, git_dir, root.is_dir()), lambda: Git(root, git_dir=git_dir))
    return Place(git, root, git_dir, git_dir)


def _has_root(root: Path, git_dir: Path) -> bool:
    """Whether the root is there, or no skill was ever in it."""
    if root.is_dir():
        return True
    git = _place(root, git_dir).git
    return refs.tip(git, "HEAD") is not None and not git.run("ls-tree", "-z", "HEAD")


def _work_tree(git_dir: Path) -> Path | None:
    if not (git_dir / "HEAD").is_file():
        return None
    # In its own folder git would look for a work tree by itself; the parent of the git directory always exists.
    out = Git(git_dir.parent, git_dir=git_dir).call("config", "--null", "--get-regexp", r"^core\.worktree$").out
    value = os.fsdecode(out).rstrip("\0").partition("\n")[2]
    return Path(value) if value else None


def _make(root: Path, git_dir: Path) -> None:
    """Make the repository next to its place and put it there whole: a kill leaves nothing half made."""
    try:
        for folder in (git_dir.parent.parent, git_dir.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="new-", dir=git_dir.parent) as name:
            new = Path(name) / git_dir.name
            options = "--quiet", "--template=", f"--initial-branch={BRANCH}", "--object-format=sha1"
            Git(Path(name), git_dir=new).run("init", *options, env={"GIT_DEFAULT_REF_FORMAT": "files"})
            config = new / "config"
            # Made with another work tree, since this one may wait for its first skill.
            others = [line for line in config.read_text(encoding="utf-8").splitlines() if "worktree =" not in line]
            settings = _SETTINGS.format(root=str(root).translate(_QUOTED))
            config.write_text("\n".join([*others, settings]), encoding="utf-8", errors="surrogateescape")
            (new / "info").mkdir(exist_ok=True)
            (new / "info" / "exclude").write_text("*\n", encoding="utf-8")
            (new / "info" / "attributes").write_text(_ATTRIBUTES, encoding="utf-8")
            new.rename(git_dir)
    except OSError as error:
        if not (git_dir / "HEAD").is_file():  # else another process was first
            raise RepoRefusedError(
                "Could not create skilld's own repository", f"{git_dir}: {error.strerror}"
            ) from error
