"""skilld's own repositories, for skills that git does not track: one per skills folder, in skilld's data folder.

The work tree of such a repository is the skills root; its git directory is outside of it, and it only tracks SKILL.md
files that were added to it. Before each use, those files are committed as found, in the person's name, so that their
own edits are never mistaken for ours nor lost. Nothing here writes to the root.
"""

from __future__ import annotations

import errno
import stat
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from skilld.errors import cause_of
from skilld.files import file_stamp, read_regular
from skilld.git import objects, refs, state, tree
from skilld.git.attributes import storage_refusal
from skilld.git.errors import LostRaceError, NotTrackedError, RefLockedError, RepoRefusedError, RepoUnreadableError
from skilld.git.objects import identity_of, person_ident
from skilld.git.repo import (
    SETTINGS_PATTERN,
    Repo,
    RepoLocation,
    TrackedFile,
    find_for_new,
    find_tracked,
    keep_settings,
    open_location,
    open_repo,
    overruled_settings,
    require_plain,
    require_vacant,
    settings_of,
)
from skilld.git.run import Git, PersonGit, object_id
from skilld.git.session import cached
from skilld.git.staging_branch import STAGING_REF
from skilld.git.state import config_quoted, git_dir_of
from skilld.values import value_class

# The current files are committed with plumbing only: no hook, no signing, no prompt, since this runs in the background.
# Only files that the repository tracks, or that are named, are read.

_MAX_BYTES = 1 << 20


@value_class
class _File:
    mode: str
    data: bytes
    changed_at: float


def commit_current_state(place: RepoLocation, wanted: Sequence[str], *, start: bool = False) -> None:
    """Commit the changes of tracked files and of the `wanted` ones, if any.

    `start` makes a first commit even without files, as the base of a new skill's proposal. A missing file is removed.
    While an operation is in progress, or no branch is checked out, the person is working in the repository, and nothing
    is done. Raises LostRaceError if another process was faster.
    """
    branch = state.head_branch(place.git_dir)
    if branch is None or branch == STAGING_REF or state.in_progress(place.git_dir) is not None:
        return
    head = refs.read_tip(place.git, "HEAD")
    changed = tree.changed_files(place.git, tree.EMPTY_TREES[40], head) if head is not None else {}
    held = {relpath: entry for relpath, (_, entry) in changed.items() if entry is not None}
    index = file_stamp(place.git_dir / "index")
    staged = cached((place.git, "index", index), lambda: tree.parse_entries(place.git.run("ls-files", "-z", "--stage")))
    found: dict[str, tree.Entry | None] = {}
    times = []
    for relpath in sorted({*held, *staged, *wanted}):
        if relpath in held and storage_refusal(place.toplevel / relpath):  # only since it was added
            found[relpath] = held[relpath]
            continue
        file = _read_file(place.toplevel, relpath)
        found[relpath] = tree.Entry(file.mode, object_id("blob", file.data)) if file is not None else None
        if found[relpath] != held.get(relpath):
            times.append(file.changed_at if file is not None else time.time())
            if file is not None:
                place.git.add("blob", file.data)
    # The index first: otherwise a kill in between would leave a staged change that nobody made.
    tree.update_index(place.git, {relpath: entry for relpath, entry in found.items() if entry != staged.get(relpath)})
    changes = {relpath: entry for relpath, entry in found.items() if entry != held.get(relpath)}
    if not changes and (head is not None or not start):
        return
    who = person_ident(place.git, _commit_time(place.git, head, times or [time.time()]))
    root = (
        tree.rewrite_tree(place.git, head or tree.EMPTY_TREES[40], changes) if changes else place.git.add("tree", b"")
    )
    commit = objects.write_commit(
        place.git,
        tree=root,
        parents=[head] if head is not None else [],
        message=_message(changes),
        author=who,
        committer=who,
    )
    refs.move_refs(place.git, place.common_dir, [refs.RefChange(branch, commit, head)])


def _commit_time(git: Git, head: str | None, times: Sequence[float]) -> int:
    """Return when the files last changed: not before the newest commit, and not in the future."""
    newest = objects.read_commit(git, head) if head is not None else None
    return max(newest.committer.seconds if newest is not None else 0, int(min(time.time(), max(times))))


def _read_file(root: Path, relpath: str) -> _File | None:
    """Return a file; None if it is missing, not regular, too large, or reached through a link."""
    path = root / relpath
    if path.resolve() != path:
        return None
    try:
        data, facts = read_regular(path, _MAX_BYTES, links=False)
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


MAIN_BRANCH = "main"
_RETRY_SECONDS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)  # between tries while another process is using it
_ABANDONED_SECONDS = 3600.0  # an index lock this old was left by a killed process
_SETTINGS = """\
[core]
	autocrlf = false
	hooksPath = /dev/null
	logAllRefUpdates = true
	worktree = {root}
[status]
	showUntrackedFiles = no
"""
# Store the exact bytes, whatever the attributes of a surrounding repository or of the person say.
_ATTRIBUTES = "* -text -ident !eol !filter !diff !merge !working-tree-encoding\n"


def root_of(path: Path) -> Path:
    """Return the root of a file that git does not track: its own folder.

    For a SKILL.md it is the nearest folder named `skills` above its own, or the parent of its own; for a skill's
    `evals/evals.json` it is the same.
    """
    if path.parts[-2:] == ("evals", "evals.json"):
        path = path.parents[1] / "SKILL.md"
    if path.name.casefold() != "skill.md":
        return path.parent
    above = path.parents[1:]
    return next((folder for folder in above if folder.name == "skills"), above[0])


def list_roots(folder: Path) -> dict[Path, Path]:
    """Return the skills roots that have a repository: root -> git directory."""
    found = sorted(path for path in folder.iterdir() if (path / "HEAD").is_file()) if folder.is_dir() else []
    trees = {git_dir: _work_tree(git_dir) for git_dir in found}
    return {top: git_dir for git_dir, top in trees.items() if top is not None and git_dir_of(top, folder) == git_dir}


def open_any(address: Path, folder: Path | None) -> Repo:
    """Return the repository with this `Repo.address`; one of ours after committing its skills as found.

    Raises NotTrackedError if it or its work tree is gone, otherwise as `skilld.git.repo.open_repo`.
    """
    if folder is None or address.parent != folder:
        return open_repo(address)
    root = _work_tree(address)
    if root is None or git_dir_of(root, folder) != address or not _is_root_valid(root, address):
        raise NotTrackedError("no-repository", f"{address} is no longer one of skilld's repositories")
    return _open_updated(_make_location(root, address), None)


def track(path: Path, folder: Path | None, *, new: bool = False) -> TrackedFile:
    """Return where git tracks the skill at `path`; if it does not, add it to the managed repository of its root.

    `new` says that the skill is to be created. What a git filter changes is never copied, since it may be secret: then,
    and without a `folder` for such repositories, NotTrackedError is raised as by `skilld.git.repo.find_tracked`; for a
    new skill, also if a repository around it has no commit yet.
    """
    try:
        return find_for_new(path) if new else find_tracked(path)
    except NotTrackedError as error:
        if folder is None or error.reason == "filtered" or (new and error.reason == "no-commit"):
            raise
    return track_in_managed(path, folder, new=new)


def find_any(path: Path, folder: Path) -> TrackedFile:
    """Return where the skill at `path` is tracked, by git or in a repository of ours. Writes nothing.

    Raises as `skilld.git.repo.find_tracked` if neither tracks it.
    """
    try:
        return find_tracked(path)
    except NotTrackedError:
        place = _make_location(root_of(path), git_dir_of(root_of(path), folder))
        if not (place.git_dir / "HEAD").is_file():
            raise
        repo = open_location(place, private=True)
        relpath = path.relative_to(place.toplevel).as_posix()
        entry = tree.read_entry(repo.git, repo.head, relpath)
        if entry is None:
            raise
    return TrackedFile(repo, relpath, entry)


def track_in_managed(path: Path, folder: Path, *, new: bool = False) -> TrackedFile:
    """Return the skill at `path` (a real path) in the managed repository of its root, after committing it as found.

    The repository is created if necessary. A `new` skill may be absent, and its root as well.
    """
    if path.resolve() != path:
        raise RepoRefusedError("Cannot edit this file", f"{path} is reached through a symlink")
    require_plain(path)
    root = root_of(path)
    relpath = path.relative_to(root).as_posix()
    tree.check_relpath(relpath)
    git_dir = git_dir_of(root, folder)
    if not new and not root.is_dir():
        raise NotTrackedError("gone", f"{root} does not exist")
    if not (git_dir / "HEAD").is_file():
        _create_repo(root, git_dir)
    repo = _open_updated(_make_location(root, git_dir), relpath, start=new)
    entry = tree.read_entry(repo.git, repo.head, relpath)
    if entry is None and new:
        require_vacant(path)
    elif entry is None and not path.is_file():
        raise NotTrackedError("gone", f"{path} does not exist")
    elif entry is None:
        busy = state.in_progress(repo.git_dir)
        where = f"in skilld's repository for {root}"
        cause = f"{busy} is in progress {where}" if busy else f"the branch checked out {where} has no {relpath}"
        raise RepoRefusedError("Cannot edit this file", cause)
    return TrackedFile(repo, relpath, entry)


def person_git(repo: Repo) -> PersonGit:
    """Return the person's git in a repository; in one of ours it also works if they never configured git."""
    overruled = overruled_settings(repo)
    if not repo.private:
        return PersonGit(repo.toplevel, overruled=overruled)
    repo.toplevel.mkdir(parents=True, exist_ok=True)  # missing if its first skill is only proposed yet
    who = identity_of(settings_of(repo.git))
    defaults = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in who.items()}
    return PersonGit(repo.toplevel, git_dir=repo.git_dir, defaults=defaults, overruled=overruled)


def _open_updated(place: RepoLocation, relpath: str | None, *, start: bool = False) -> Repo:
    keep_settings(place.git, _settings(place.git_dir))
    wanted = [relpath] if relpath is not None else []
    with suppress(FileNotFoundError):
        lock = place.git_dir / "index.lock"
        if time.time() - lock.stat().st_mtime > _ABANDONED_SECONDS:
            lock.unlink()
    for wait in _RETRY_SECONDS:
        try:
            commit_current_state(place, wanted, start=start)
            return open_location(place, private=True)
        except (LostRaceError, RefLockedError):
            time.sleep(wait)
    commit_current_state(place, wanted, start=start)
    return open_location(place, private=True)


def _make_location(root: Path, git_dir: Path) -> RepoLocation:
    # Git runs in the root, or in the git directory if the root does not exist yet.
    git = cached(("managed", root, git_dir, root.is_dir()), lambda: Git(root, git_dir=git_dir))
    return RepoLocation(git, root, git_dir, git_dir)


def _is_root_valid(root: Path, git_dir: Path) -> bool:
    """Whether the root exists, or no skill was ever in it."""
    if root.is_dir():
        return True
    git = _make_location(root, git_dir).git
    return refs.read_tip(git, "HEAD") is not None and not git.run("ls-tree", "-z", "HEAD")


def _work_tree(git_dir: Path) -> Path | None:
    value = _settings(git_dir).get("core.worktree") if (git_dir / "HEAD").is_file() else None
    return Path(value) if value else None


def _settings(git_dir: Path) -> dict[str, str]:
    # In its own folder git would look for a work tree itself; the parent of the git directory always exists.
    return cached(("settings", git_dir), lambda: Git(git_dir.parent, git_dir=git_dir).settings(SETTINGS_PATTERN))


def _create_repo(root: Path, git_dir: Path) -> None:
    """Create the repository in a temporary folder and rename it, so that a kill leaves nothing incomplete."""
    try:
        for folder in (git_dir.parent.parent, git_dir.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="new-", dir=git_dir.parent) as name:
            new = Path(name) / git_dir.name
            options = "--quiet", "--template=", f"--initial-branch={MAIN_BRANCH}", "--object-format=sha1"
            Git(Path(name), git_dir=new).run("init", *options, env={"GIT_DEFAULT_REF_FORMAT": "files"})
            config = new / "config"
            # Git was given another work tree, since this one may not exist before its first skill.
            others = [line for line in config.read_text(encoding="utf-8").splitlines() if "worktree =" not in line]
            settings = _SETTINGS.format(root=config_quoted(root))
            config.write_text("\n".join([*others, settings]), encoding="utf-8", errors="surrogateescape")
            (new / "info").mkdir(exist_ok=True)
            (new / "info" / "exclude").write_text("*\n", encoding="utf-8")
            (new / "info" / "attributes").write_text(_ATTRIBUTES, encoding="utf-8")
            new.rename(git_dir)
    except OSError as error:
        if not (git_dir / "HEAD").is_file():  # otherwise another process was faster
            raise RepoRefusedError(
                "Could not create skilld's own repository", f"{git_dir}: {error.strerror}"
            ) from error
