"""What a repository's files show without running git: whether it is readable, mid-operation, the person's own."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from skilld.errors import SkilldError, cause_of
from skilld.files import read_start, shell_quoted, write_atomically
from skilld.git.errors import RepoRefusedError, RepoUnreadableError
from skilld.git.staging_branch import STAGING_REF

# A repository may be absent, or just unreadable at the moment. Git says "not a git repository" in both cases, and takes
# a branch whose ref it cannot read for one without a commit (measured, 2.39).

_ABSENT_ERRORS = (FileNotFoundError, NotADirectoryError)
_GIT_FILES = ("HEAD", "config")
_GIT_FOLDERS = ("objects", "refs")
_RETRY_ERRORS = (errno.EACCES, errno.EPERM, errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN, errno.EHOSTDOWN)
_MAX_PACKED_REFS_BYTES = 16 << 20
PRIVATE_NAME = "CLAUDE.local.md"  # Claude Code's file in a project for the person alone: never made in its repository


# What git reads to the end of, and waits for, apart from refs: a pipe would stop it for ever, a device fill the memory
# (measured, 2.39).
_READ_WHOLE = (
    *(*_GIT_FILES, "commondir", "index", "packed-refs", "shallow", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"),
    *("info/attributes", "info/exclude", "info/grafts", "logs/HEAD", "logs/refs/stash", "objects/info/alternates"),
    *("objects/info/commit-graph", "objects/info/commit-graphs/commit-graph-chain", "objects/pack/multi-pack-index"),
)


def check_regular(top: Path) -> None:
    """Raise RepoRefusedError if git would wait for one of the files of the repository at `top`, or never end."""
    dot_git = top / ".git"
    check_regular_file(dot_git)
    git_dir = common_dir = dot_git
    with suppress(OSError, ValueError):
        git_dir, common_dir = git_dirs(dot_git)
    for name in _READ_WHOLE:
        check_regular_file(git_dir / name)
        check_regular_file(common_dir / name)
    folders = [common_dir / "refs", git_dir / "refs"]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:  # git says why it cannot be read
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(Path(entry.path))
                elif not entry.is_file(follow_symlinks=False):
                    check_regular_file(Path(entry.path))


def check_regular_file(path: Path) -> None:
    """Raise RepoRefusedError for a pipe, a device or the like; a missing file is not one."""
    try:
        kind = stat.S_IFMT(os.stat(path).st_mode)  # noqa: PTH116 - this runs for every command
    except (OSError, ValueError):
        return
    if kind not in {stat.S_IFREG, stat.S_IFDIR}:
        raise RepoRefusedError("Cannot use this repository", f"{path} is not a regular file")


def require_absent(folder: Path) -> None:
    """Raise if there is a repository around `folder` after all.

    RepoUnreadableError if that cannot be determined now, RepoRefusedError if it exists but is broken.
    """
    device = None
    for above in (folder, *folder.parents):
        try:
            facts = above.stat()
            if device not in {None, facts.st_dev}:  # git looks no higher than the mount point
                return
            device = facts.st_dev
            (above / ".git").lstat()
        except _ABSENT_ERRORS:
            continue
        except OSError as error:
            raise _unreadable(above / ".git", error) from error
        _require_none(above / ".git")


def _require_none(dot_git: Path) -> None:
    remedy = f"Check with: git -C {shell_quoted(dot_git.parent)} status"
    try:
        if not dot_git.is_dir():
            read_start(dot_git, 1)
            raise RepoRefusedError("Cannot use this repository", f"{dot_git} does not point to a repository", remedy)
        if not set(os.listdir(dot_git)) & {*_GIT_FILES, *_GIT_FOLDERS}:  # noqa: PTH208 - names, not paths
            return  # just a folder with that name
        for name in _GIT_FILES:
            with suppress(FileNotFoundError):
                read_start(dot_git / name, 1)
        for name in _GIT_FOLDERS:
            with suppress(FileNotFoundError):
                os.scandir(dot_git / name).close()
                if not os.access(dot_git / name, os.X_OK):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(dot_git / name))
    except OSError as error:
        raise _unreadable(dot_git, error) from error
    raise RepoRefusedError("Cannot use this repository", f"git does not recognize {dot_git} as a repository", remedy)


def require_unborn(git_dir: Path, common_dir: Path, branch: str | None) -> None:
    """Raise RepoUnreadableError unless HEAD is on a branch that has no commit yet."""
    if branch is None:
        raise RepoUnreadableError(str(git_dir / "HEAD"), "the commit it points to cannot be read")
    if (common_dir / "reftable").is_dir():
        return  # only git can read these
    try:
        (common_dir / branch).lstat()
    except _ABSENT_ERRORS:
        pass
    except OSError as error:
        raise _unreadable(common_dir / branch, error) from error
    else:
        raise RepoUnreadableError(str(common_dir / branch), "the commit it points to cannot be read")
    try:
        packed = packed_refs(common_dir)
    except OSError as error:
        raise _unreadable(common_dir / "packed-refs", error) from error
    if branch in packed:
        raise RepoUnreadableError(str(common_dir / "packed-refs"), f"the commit that {branch} points to cannot be read")


def packed_refs(common_dir: Path) -> set[str]:
    """Return the full names of the refs that a repository keeps in one file.

    Raises OSError if that is unreadable or too large.
    """
    try:
        data = read_start(common_dir / "packed-refs", _MAX_PACKED_REFS_BYTES)
    except _ABSENT_ERRORS:
        return set()
    if len(data) == _MAX_PACKED_REFS_BYTES:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return {os.fsdecode(line.split(b" ", 1)[-1]) for line in data.splitlines()}


def is_temporary(sentence: str) -> bool:
    """Whether a sentence of git's ends with a system error that may be temporary."""
    return sentence.endswith(tuple(f": {os.strerror(number)}" for number in _RETRY_ERRORS))


def _unreadable(path: Path, error: OSError) -> RepoUnreadableError:
    return RepoUnreadableError(str(error.filename or path), cause_of(error))


# A git process that was killed, or ran out of disk space, leaves `tmp_obj_*` files that nothing ever reads. Git itself
# keeps them for two weeks.

_OBJECT_FOLDER_PATTERN = re.compile(r"[0-9a-f]{2}")
_TEMP_PREFIX = "tmp_obj_"
_PROCESSES = Path("/proc")
_SURELY_DEAD_SECONDS = 3600.0  # without /proc: no process still writes to a file this old


def remove_temporary_objects(objects: Path, older_than: float) -> list[Path]:
    """Remove our own temporary object files that were not written for so many seconds and that no process has open."""
    found = {path: facts for path in _temporary_objects(objects) if (facts := _own_file_stat(path)) is not None}
    seen = _PROCESSES.is_dir()
    before = time.time() - (older_than if seen else max(older_than, _SURELY_DEAD_SECONDS))
    old = [path for path, facts in found.items() if facts.st_mtime <= before]
    held = _open_files() if old and seen else set()
    removed = [path for path in old if (found[path].st_dev, found[path].st_ino) not in held]
    for path in removed:
        with suppress(OSError):
            path.unlink()
    return removed


def _temporary_objects(objects: Path) -> Iterator[Path]:
    with suppress(OSError):
        for entry in os.scandir(objects):
            if entry.name.startswith(_TEMP_PREFIX):
                yield Path(entry.path)
            elif _OBJECT_FOLDER_PATTERN.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    yield from (Path(one.path) for one in os.scandir(entry.path) if one.name.startswith(_TEMP_PREFIX))


def _own_file_stat(path: Path) -> os.stat_result | None:
    try:
        facts = path.lstat()
    except OSError:
        return None
    return facts if stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid() else None


def _open_files() -> set[tuple[int, int]]:
    """Return device and inode of files that processes have open, where we may read that."""
    found = set()
    for process in _PROCESSES.glob("[0-9]*/fd"):
        with suppress(OSError):
            for name in os.listdir(process):  # noqa: PTH208 - names, not paths
                with suppress(OSError):
                    facts = os.stat(process / name)  # noqa: PTH116 - the open file, not the link
                    found.add((facts.st_dev, facts.st_ino))
    return found


_OPERATIONS = (
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("sequencer", "a cherry-pick or revert"),
    ("BISECT_START", "a bisect"),
    ("BISECT_LOG", "a bisect"),
)
_BRANCH_USES = (
    ("rebase-merge/head-name", "being rebased"),
    ("rebase-merge/update-refs", "being rebased"),
    ("rebase-apply/head-name", "being rebased"),
    ("BISECT_START", "being bisected"),
)
_HEADS_PREFIX = "refs/heads/"
_MAX_STATE_BYTES = 1 << 20


def in_progress(git_dir: Path) -> str | None:
    """Return what is in progress in the work tree of this git directory ("a rebase"), or None."""
    return next((words for name, words in _OPERATIONS if (git_dir / name).exists()), None)


def head_branch(git_dir: Path) -> str | None:
    """Return the full name of the ref that HEAD points to, or None if it is detached."""
    return symbolic_target(git_dir / "HEAD")


def symbolic_target(file: Path) -> str | None:
    """Return the full name of the ref that a loose ref points to, or None if it holds a commit."""
    text = _read_state_file(file)
    return text.removeprefix("ref:").strip() if text.startswith("ref:") else None


def checked_out(common_dir: Path) -> list[str]:
    """Return the full names of the branches that are checked out in a work tree, except the staging branch."""
    branches = (head_branch(git_dir) for git_dir, _ in _work_trees(common_dir))
    return sorted({branch for branch in branches if branch and branch != STAGING_REF})


def work_trees(common_dir: Path) -> list[Path]:
    """Return the existing work trees of a repository, the main one first."""
    trees = (work_tree for _, work_tree in _work_trees(common_dir))
    return [work_tree for work_tree in trees if common_dir.is_dir() and (work_tree / ".git").exists()]


def staging_holder(common_dir: Path) -> str | None:
    """Return how the staging branch is in use ("checked out in /path"), or None if it is free."""
    return branch_holder(common_dir, STAGING_REF)


def branch_holder(common_dir: Path, ref: str) -> str | None:
    """Return how a branch with this full name is in use, as `staging_holder` does."""
    for git_dir, work_tree in _work_trees(common_dir):
        if head_branch(git_dir) == ref:
            return f"checked out in {work_tree}"
        for name, words in _BRANCH_USES:
            if any(
                line.strip() in {ref, ref.removeprefix(_HEADS_PREFIX)}
                for line in _read_state_file(git_dir / name).splitlines()
            ):
                return f"{words} in {work_tree}"
    return None


def other_heads(common_dir: Path, git_dir: Path) -> list[tuple[Path, str]]:
    """Return the other work trees of a repository, each with the full name of its branch or its commit."""
    others = [pair for pair in _work_trees(common_dir) if pair[0] != git_dir]
    return [(place, head_branch(other) or _read_state_file(other / "HEAD").strip()) for other, place in others]


def _work_trees(common_dir: Path) -> Iterator[tuple[Path, Path]]:
    yield common_dir, common_dir.parent
    linked = common_dir / "worktrees"
    if not linked.is_dir():
        return
    for git_dir in sorted(linked.iterdir()):
        if (git_dir / "HEAD").is_file():
            pointer = _read_state_file(git_dir / "gitdir").strip()
            yield git_dir, Path(pointer).parent if pointer else git_dir


def _read_state_file(path: Path) -> str:
    try:
        return read_start(path, _MAX_STATE_BYTES).decode("utf-8", "surrogateescape") if not path.is_dir() else ""
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise RepoRefusedError(
            "Cannot tell what state the repository is in", f"{path} cannot be read: {error.strerror}"
        ) from error


# skilld's own repositories are named after the folder that they are for, and name it as their work tree.

_WORK_TREE_PATTERN = re.compile(r"^(\s*worktree = ).*$", re.MULTILINE)
_ESCAPES = str.maketrans({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"})


def git_dir_of(root: Path, folder: Path) -> Path:
    """Return where the repository of a skills root is, whether it exists or not; `folder` holds all of them."""
    return folder / hashlib.sha256(os.fsencode(root)).hexdigest()[:16]


def config_quoted(root: Path) -> str:
    """Return a path as a value in git's configuration."""
    return f'"{str(root).translate(_ESCAPES)}"'


def move_own_repository(git_dir: Path, root: Path) -> Path:
    """Make one of skilld's own repositories that of the folder now at `root`, and return its new git directory.

    Returns the old one if that cannot be done, for example because `root` has one already. After a kill, call it again.
    """
    new = git_dir_of(root, git_dir.parent)
    if git_dir.exists() == new.exists():
        return git_dir
    config = new / "config"
    with suppress(OSError):
        if git_dir.exists():
            git_dir.rename(new)
        text = config.read_text(encoding="utf-8", errors="surrogateescape")
        text = _WORK_TREE_PATTERN.sub(lambda found: f"{found[1]}{config_quoted(root)}", text)
        write_atomically(config, text.encode("utf-8", "surrogateescape"), 0o600)
    return new if new.exists() else git_dir


# The lock that makes skilld's own processes take turns is a kernel lock on the git directory itself: nothing is
# written, git does not notice it, and a killed process releases it. It only avoids endless races; `skilld.git.refs`
# makes sure that no update is lost.

_LOCK_SECONDS = 10.0  # then we continue without the lock
_LOCK_POLL_SECONDS = 0.01


@contextmanager
def repo_lock(common_dir: Path) -> Iterator[None]:
    """Wait, but not forever, until no other process is in such a block for the same repository."""
    descriptor = os.open(common_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        deadline = time.monotonic() + _LOCK_SECONDS
        while not _try_lock(descriptor) and time.monotonic() < deadline:
            time.sleep(_LOCK_POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    """Whether we hold the lock now, or the file system does not support it (NFS)."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


# Whether a project is the person's own: a clone that they only read is never edited. Decided by git's files, and by the
# history only if those are not enough.

_MAX_LOG_BYTES = 1 << 20
_REMOTE_PATTERN = re.compile(r'^[ \t]*\[remote "', re.MULTILINE)
# Entries of HEAD's log that only the person's own work creates, unlike `clone`, `checkout` and `pull`.
_OWN_WORK_PATTERN = re.compile(r"\t(?:commit|cherry-pick|revert|am)\b")
_HISTORY_SECONDS = 2.0


def is_own_project(root: Path) -> bool:
    """Whether the project at `root` is the person's: their files, and not a clone without commits of theirs."""
    shows = _ownership_by_files(root)
    return _has_own_commit(root) if shows is None else shows


def is_surely_own(root: Path) -> bool:
    """Whether git's files alone show this, without running git."""
    return bool(_ownership_by_files(root))


def _ownership_by_files(root: Path) -> bool | None:
    try:
        if root.stat().st_uid != os.geteuid():
            return False
        dot_git = root / ".git"
        if not os.path.lexists(dot_git):
            return True
        git_dir, common = git_dirs(dot_git)
        if not _REMOTE_PATTERN.search(read_tail(common / "config")):
            return True
        return (
            True
            if _OWN_WORK_PATTERN.search(read_tail(git_dir / "logs/HEAD") + read_tail(common / "logs/HEAD"))
            else None
        )
    except (OSError, ValueError):  # ValueError: an invalid path
        return False


def git_dirs(dot_git: Path) -> tuple[Path, Path]:
    """Return the git directory, and the common one that it shares with other work trees."""
    if dot_git.is_dir():
        return dot_git, dot_git
    git_dir = dot_git.parent / read_tail(dot_git).removeprefix("gitdir:").strip()
    shared = git_dir / "commondir"
    return git_dir, (git_dir / read_tail(shared).strip()).resolve() if shared.is_file() else git_dir


def dirs_at(address: Path) -> tuple[Path, Path]:
    """Return what `git_dirs` does for the repository with this address: a work tree, or one of skilld's own."""
    dot_git = address / ".git"
    return (address, address) if (address / "HEAD").is_file() and not dot_git.exists() else git_dirs(dot_git)


def normalize_address(address: str) -> str:
    """Return host and path of an address, which do not depend on the protocol (https, ssh)."""
    bare = re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*://", "", address)
    host, _, path = re.sub(r"^[^@/]*@", "", bare).partition(":")
    return f"{host}/{path}".replace("//", "/").removesuffix("/").removesuffix(".git")


def read_tail(path: Path) -> str:
    """Return the last megabyte of a file as text; empty if there is no such file."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _MAX_LOG_BYTES))
        return file.read(_MAX_LOG_BYTES).decode("utf-8", "replace")


def _has_own_commit(root: Path) -> bool:
    from skilld.git.objects import person_identity  # git takes 0.15 s to load
    from skilld.git.run import Git

    try:
        git = Git(root)
        email = person_identity(git)["EMAIL"]
        asked = "--max-count=1", "--fixed-strings", f"--author=<{email}>", "HEAD"
        found = git.call("rev-list", *asked, seconds=_HISTORY_SECONDS)
    except SkilldError:
        return False
    return found.status == 0 and bool(found.out.strip())
