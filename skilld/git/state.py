"""What a repository's files tell without running git: whether it is readable, mid-operation, the person's own."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from skilld.errors import SkilldError, cause_of
from skilld.files import in_shell
from skilld.git.errors import RepoRefusedError, RepoUnreadableError
from skilld.git.staging_branch import STAGING

# Whether a repository is really absent, or only cannot be read at the moment. Git says "not a git repository" of one
# whose `.git` may not be entered or fails to be read, as it does where there is none, and takes a branch whose ref it
# cannot read for one without a commit (measured, 2.39).

_ABSENT = (FileNotFoundError, NotADirectoryError)
_FILES = ("HEAD", "config")
_FOLDERS = ("objects", "refs")
_PASSING = (errno.EACCES, errno.EPERM, errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN, errno.EHOSTDOWN)
_LIMIT = 16 << 20  # bytes of a file of git's that are read


def require_absent(folder: Path) -> None:
    """Raise where a repository stands around `folder` all the same.

    RepoUnreadableError if that cannot be told now, RepoRefusedError if it is there and broken.
    """
    device = None
    for above in (folder, *folder.parents):
        try:
            facts = above.stat()
            if device not in {None, facts.st_dev}:  # git looks no higher than the mount point
                return
            device = facts.st_dev
            (above / ".git").lstat()
        except _ABSENT:
            continue
        except OSError as error:
            raise _unreadable(above / ".git", error) from error
        _require_none(above / ".git")


def _require_none(dot_git: Path) -> None:
    remedy = f"Check with: git -C {in_shell(dot_git.parent)} status"
    try:
        if not dot_git.is_dir():
            dot_git.read_bytes()
            raise RepoRefusedError("Cannot use this repository", f"{dot_git} does not point to a repository", remedy)
        if not set(os.listdir(dot_git)) & {*_FILES, *_FOLDERS}:  # noqa: PTH208 - names, not paths
            return  # a folder that only has the name
        for name in _FILES:
            with suppress(FileNotFoundError):
                (dot_git / name).read_bytes()
        for name in _FOLDERS:
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
        return  # git alone can tell
    try:
        (common_dir / branch).lstat()
    except _ABSENT:
        pass
    except OSError as error:
        raise _unreadable(common_dir / branch, error) from error
    else:
        raise RepoUnreadableError(str(common_dir / branch), "the commit it points to cannot be read")
    try:
        with (common_dir / "packed-refs").open("rb") as file:
            packed = file.read(_LIMIT)
    except _ABSENT:
        return
    except OSError as error:
        raise _unreadable(common_dir / "packed-refs", error) from error
    if os.fsencode(branch) in (line.split(b" ", 1)[-1] for line in packed.splitlines()):
        raise RepoUnreadableError(str(common_dir / "packed-refs"), f"the commit that {branch} points to cannot be read")


def is_passing(sentence: str) -> bool:
    """Whether a sentence of git's ends with an error of the system's that may be gone the next moment."""
    return sentence.endswith(tuple(f": {os.strerror(number)}" for number in _PASSING))


def _unreadable(path: Path, error: OSError) -> RepoUnreadableError:
    return RepoUnreadableError(str(error.filename or path), cause_of(error))


# Objects that a git which was killed, or found no room, began to write: `tmp_obj_*` files that nothing ever reads. Git
# itself leaves them for two weeks.

_FOLDER = re.compile(r"[0-9a-f]{2}")
_BEGUN = "tmp_obj_"
_PROCESSES = Path("/proc")
_SURELY_DEAD_SECONDS = 3600.0  # seconds: older than what any process still writes, where it cannot be seen who does


def remove_begun_objects(objects: Path, older_than: float) -> list[Path]:
    """Remove our own files of that kind that nobody wrote to for so many seconds and no process has open."""
    found = {path: facts for path in _begun(objects) if (facts := _facts(path)) is not None}
    seen = _PROCESSES.is_dir()
    before = time.time() - (older_than if seen else max(older_than, _SURELY_DEAD_SECONDS))
    old = [path for path, facts in found.items() if facts.st_mtime <= before]
    held = _open_files() if old and seen else set()
    removed = [path for path in old if (found[path].st_dev, found[path].st_ino) not in held]
    for path in removed:
        with suppress(OSError):
            path.unlink()
    return removed


def _begun(objects: Path) -> Iterator[Path]:
    with suppress(OSError):
        for entry in os.scandir(objects):
            if entry.name.startswith(_BEGUN):
                yield Path(entry.path)
            elif _FOLDER.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    yield from (Path(one.path) for one in os.scandir(entry.path) if one.name.startswith(_BEGUN))


def _facts(path: Path) -> os.stat_result | None:
    try:
        facts = path.lstat()
    except OSError:
        return None
    return facts if stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid() else None


def _open_files() -> set[tuple[int, int]]:
    """Return device and inode of what processes have open, as far as we may see."""
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
_HOLDERS = (
    ("rebase-merge/head-name", "being rebased"),
    ("rebase-merge/update-refs", "being rebased"),
    ("rebase-apply/head-name", "being rebased"),
    ("BISECT_START", "being bisected"),
)
_HEADS = "refs/heads/"
_STATE_LIMIT = 1 << 20  # bytes of a file of git's that are read


def in_progress(git_dir: Path) -> str | None:
    """Return what is in progress in the work tree of this git directory ("a rebase"), or None."""
    return next((words for name, words in _OPERATIONS if (git_dir / name).exists()), None)


def head_branch(git_dir: Path) -> str | None:
    """Return the full name of the ref that HEAD points at, or None if it is detached."""
    return points_at(git_dir / "HEAD")


def points_at(file: Path) -> str | None:
    """Return the full name of the ref that a loose one points at, or None if it has a commit of its own."""
    text = _read(file)
    return text.removeprefix("ref:").strip() if text.startswith("ref:") else None


def checked_out(common_dir: Path) -> list[str]:
    """Return the full names of the branches that are checked out in a work tree, the staging branch apart."""
    branches = (head_branch(git_dir) for git_dir, _ in _work_trees(common_dir))
    return sorted({branch for branch in branches if branch and branch != STAGING})


def work_trees(common_dir: Path) -> list[Path]:
    """Return the work trees of a repository that are there, the main one first."""
    trees = (work_tree for _, work_tree in _work_trees(common_dir))
    return [work_tree for work_tree in trees if common_dir.is_dir() and (work_tree / ".git").exists()]


def staging_holder(common_dir: Path) -> str | None:
    """Return how the staging branch is in use ("checked out in /path"), or None if it is free."""
    return holder(common_dir, STAGING)


def holder(common_dir: Path, ref: str) -> str | None:
    """Return how a branch, by its full name, is in use, as `staging_holder` does."""
    for git_dir, work_tree in _work_trees(common_dir):
        if head_branch(git_dir) == ref:
            return f"checked out in {work_tree}"
        for name, words in _HOLDERS:
            if any(line.strip() in {ref, ref.removeprefix(_HEADS)} for line in _read(git_dir / name).splitlines()):
                return f"{words} in {work_tree}"
    return None


def other_heads(common_dir: Path, git_dir: Path) -> list[tuple[Path, str]]:
    """Return the other work trees of a repository, each with the full name of its branch, or its commit."""
    others = [pair for pair in _work_trees(common_dir) if pair[0] != git_dir]
    return [(place, head_branch(other) or _read(other / "HEAD").strip()) for other, place in others]


def _work_trees(common_dir: Path) -> Iterator[tuple[Path, Path]]:
    yield common_dir, common_dir.parent
    linked = common_dir / "worktrees"
    if not linked.is_dir():
        return
    for git_dir in sorted(linked.iterdir()):
        if (git_dir / "HEAD").is_file():
            pointer = _read(git_dir / "gitdir").strip()
            yield git_dir, Path(pointer).parent if pointer else git_dir


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_STATE_LIMIT).decode("utf-8", "surrogateescape")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return ""
    except OSError as error:
        raise RepoRefusedError(
            "Cannot tell what state the repository is in", f"{path} cannot be read: {error.strerror}"
        ) from error


# skilld's own processes one after the other in a repository, without leaving a trace in it. The kernel's lock on the
# git directory itself: nothing is written, git knows nothing of it, and a process that is killed frees it. It only
# keeps our processes from racing for ever; that no move is lost is `skilld.git.refs`' work.

_LOCK_SECONDS = 10.0  # seconds; then we go on as if alone
_STEP_SECONDS = 0.01


@contextmanager
def repo_lock(common_dir: Path) -> Iterator[None]:
    """Wait until no other process is in a block like this for the same repository, but not for ever."""
    descriptor = os.open(common_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        deadline = time.monotonic() + _LOCK_SECONDS
        while not _locked(descriptor) and time.monotonic() < deadline:
            time.sleep(_STEP_SECONDS)
        yield
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    """Whether the lock is ours now, or is none that this file system has (NFS)."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


# Whether a project is the person's own: what is merely cloned to be looked at is never edited. Told by files of git's
# alone, but where only the history can say it.

_MAX_BYTES = 1 << 20
_REMOTE = re.compile(r'^[ \t]*\[remote "', re.MULTILINE)
# Lines of HEAD's log that only work of one's own leaves behind: `clone`, `checkout` and `pull` are none.
_WORKED = re.compile(r"\t(?:commit|cherry-pick|revert|am)\b")
_SECONDS = 2.0


def is_own(root: Path) -> bool:
    """Whether the project at `root` is the person's: their files, and no clone that they never committed to."""
    shows = _shown(root)
    return _committed(root) if shows is None else shows


def is_plainly_own(root: Path) -> bool:
    """Whether the files of git's say so, where the history is not asked: no git is run."""
    return bool(_shown(root))


def _shown(root: Path) -> bool | None:
    try:
        if root.stat().st_uid != os.geteuid():
            return False
        dot_git = root / ".git"
        if not os.path.lexists(dot_git):
            return True
        git_dir, common = _dirs(dot_git)
        if not _REMOTE.search(_text(common / "config")):
            return True
        return True if _WORKED.search(_text(git_dir / "logs/HEAD") + _text(common / "logs/HEAD")) else None
    except (OSError, ValueError):  # ValueError: a path that no system takes
        return False


def _dirs(dot_git: Path) -> tuple[Path, Path]:
    """Return the git directory, and the one that it shares with other work trees."""
    if dot_git.is_dir():
        return dot_git, dot_git
    git_dir = dot_git.parent / _text(dot_git).removeprefix("gitdir:").strip()
    shared = git_dir / "commondir"
    return git_dir, (git_dir / _text(shared).strip()).resolve() if shared.is_file() else git_dir


def _text(path: Path) -> str:
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _MAX_BYTES))
        return file.read(_MAX_BYTES).decode("utf-8", "replace")


def _committed(root: Path) -> bool:
    from skilld.git.objects import identity  # git takes 0.15 s to load
    from skilld.git.run import Git

    try:
        git = Git(root)
        email = identity(git)["EMAIL"]
        asked = "--max-count=1", "--fixed-strings", f"--author=<{email}>", "HEAD"
        found = git.call("rev-list", *asked, seconds=_SECONDS)
    except SkilldError:
        return False
    return found.status == 0 and bool(found.out.strip())
