"""The repository that tracks a given SKILL.md, and everything that decides whether we may write to it.

A real path enters; a `Repo` leaves, or a typed refusal with a sentence for the person. What git cannot tell is an
error, never "absent". Reads only, runs no program of the repository's choice.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skilld.files import in_shell
from skilld.git import objects, state, tree
from skilld.git.attributes import filtered
from skilld.git.errors import GitFailedError, NotTrackedError, RepoRefusedError, RepoUnreadableError
from skilld.git.run import Git, once
from skilld.git.staging_branch import STAGING, STAGING_BRANCH
from skilld.git.state import is_passing, require_absent, require_unborn
from skilld.text import fold, word_set

_KNOWN_EXTENSIONS = word_set(
    "compatobjectformat noop objectformat partialclone preciousobjects relativeworktrees worktreeconfig"
)
# What the name of a ref has not; git takes a file with such a name for something else.
_NO_REF = frozenset(" ~^:?*[\\\n\0")
_REMOTE = re.compile(r"refs/remotes/[^/]+/.")
_SETTINGS = r"^(extensions\..*|remote\..*\.url|init\.defaultbranch|core\.attributesfile)$"


@dataclass(frozen=True, slots=True)
class Default:
    """The default branch: its short name, and the commit of each ref it has here (the local and the fetched one)."""

    name: str
    refs: Mapping[str, str]

    @property
    def tips(self) -> tuple[str, ...]:
        """The commits of its refs, each once."""
        return tuple(dict.fromkeys(self.refs.values()))


@dataclass(frozen=True, slots=True)
class Repo:
    """A repository as seen from one work tree, read once.

    `head` is the commit of HEAD, `branch` the full name of the checked-out branch (None: detached), `default` None
    if it cannot be told. `remote` says whether anything pushes from here, `private` whether it is skilld's own
    repository for these skills (`skilld.git.managed_repos`).
    """

    git: Git
    toplevel: Path
    git_dir: Path
    common_dir: Path
    head: str
    branch: str | None
    default: Default | None
    remote: bool
    private: bool = False

    @property
    def address(self) -> Path:
        """The folder by which it is found again: the work tree's, or the git directory of a private one."""
        return self.git_dir if self.private else self.toplevel


@dataclass(frozen=True, slots=True)
class TrackedFile:
    """A SKILL.md in HEAD of its repository: `relpath` with forward slashes below the top level.

    `entry` is None for one that is to be made (`skilld.git.repo`).
    """

    repo: Repo
    relpath: str
    entry: tree.Entry | None


def open_repo(folder: Path) -> Repo:
    """Return the repository whose work tree holds `folder` (a real path).

    Raises NotTrackedError if there is none or it has no commit, RepoRefusedError if it is one we do not write
    to: bare, not the person's, redirected elsewhere, of an unknown format.
    """
    return open_place(locate(folder))


def find(path: Path) -> TrackedFile:
    """Return the repository that tracks the skill at `path`, and where in it.

    `path` must be the real path of the file: a link anywhere in it is refused. Raises as `open_repo`, and
    NotTrackedError if HEAD does not hold the file or a filter is between it and the stored bytes.
    """
    found = find_in(path.parent, path)
    if found.entry is None:
        raise NotTrackedError("untracked", f"{found.relpath} is not in the latest commit of {found.repo.toplevel}")
    return found


def find_in(folder: Path, path: Path) -> TrackedFile:
    """Return where `path` is in the repository around `folder`, one of its parents, be it in HEAD or not.

    Raises as `find`, but for a file that HEAD does not hold.
    """
    if path.resolve() != path:
        raise RepoRefusedError("Cannot edit this file", f"{path} is reached through a symlink")
    place = locate(folder)
    relpath = path.relative_to(place.toplevel).as_posix()
    tree.check_relpath(relpath)
    settings = _settings(place.git)
    repo = _open(place, settings)
    found = tree.entry(repo.git, repo.head, relpath)
    if found is not None and found.mode not in tree.FILE_MODES:
        raise RepoRefusedError("Cannot edit this file", f"{relpath} is not a regular file in {place.toplevel}")
    if filtered(place.toplevel, place.common_dir, relpath, _personal_attributes(settings)):
        raise NotTrackedError("filtered", f"a git filter changes {relpath} when git stores it")
    return TrackedFile(repo, relpath, found)


def open_place(place: Place, *, private: bool = False) -> Repo:
    """Return the repository at a place that is known to be one; raises as `open_repo`."""
    return _open(place, _settings(place.git), private=private)


def _open(place: Place, settings: dict[str, str], *, private: bool = False) -> Repo:
    unknown = sorted(
        key for key in settings if key.startswith("extensions.") and key.split(".")[1] not in _KNOWN_EXTENSIONS
    )
    if unknown:
        # Said in full: nothing but the person knows whether another program needs it.
        unset = f"git -C {in_shell(place.toplevel)} config --unset {unknown[0]}"
        cause = f"{place.toplevel} uses {', '.join(unknown)}, which skilld does not support"
        raise RepoRefusedError("Cannot use this repository", cause, f"If nothing else needs that setting: {unset}")
    head = objects.read(place.git, ["HEAD"])[0]
    if head is None or head.kind != "commit":
        require_unborn(place.git_dir, place.common_dir, state.head_branch(place.git_dir))
        first = f"git -C {in_shell(place.toplevel)} commit --allow-empty -m Start"
        if not private and (branches := _branches(place.git)):
            cause = f"{place.toplevel} is on a branch without commits; other branches have some, such as {branches[0]}"
            raise RepoRefusedError(
                "Cannot use this repository", cause, f"Check out another branch, or commit here: {first}"
            )
        raise NotTrackedError("no-commit", f"{place.toplevel} has no commits yet", f"Make the first commit: {first}")
    return Repo(
        git=place.git,
        toplevel=place.toplevel,
        git_dir=place.git_dir,
        common_dir=place.common_dir,
        head=head.oid,
        branch=state.head_branch(place.git_dir),
        default=_default(place, settings.get("init.defaultbranch", "")),
        remote=any(key.startswith("remote.") for key in settings),
        private=private,
    )


def _branches(git: Git) -> list[str]:
    """Return some branches that have a commit, of the person's or of a remote."""
    out = git.run("for-each-ref", "--count=3", "--format=%(refname:short)", "refs/heads", "refs/remotes")
    names = out.decode("utf-8", "surrogateescape").splitlines()
    return [name for name in names if not name.startswith("skilld/")]


def _settings(git: Git) -> dict[str, str]:
    return once(("settings", git), lambda: _read_settings(git))


def _read_settings(git: Git) -> dict[str, str]:
    result = git.call("config", "--null", "--get-regexp", _SETTINGS)
    if result.status not in (0, 1):  # 1: nothing matches
        raise GitFailedError("Cannot read the repository's configuration", result.status, result.err)
    items = result.out.decode("utf-8", "surrogateescape").split("\0")
    return {key.lower(): value for key, _, value in (item.partition("\n") for item in items if item)}


def _default(place: Place, configured: str) -> Default | None:
    names = [name for name in (configured, "main", "master") if name and not set(name) & _NO_REF]
    names = [name for name in names if name != STAGING_BRANCH]
    # A clone of a repository in which the staging branch was checked out takes that for the default branch.
    pointers = [*_there(place.git, [ref for ref in _remote_heads(place) if not ref.endswith(f"/{STAGING_BRANCH}")])]
    pointers.sort(key=lambda ref: not ref.startswith("refs/remotes/origin/"))
    if pointers:
        name = pointers[0].split("/", 3)[3]
        return Default(name, _there(place.git, [f"refs/heads/{name}", pointers[0]]))
    own = {name: [f"refs/heads/{name}", f"refs/remotes/origin/{name}"] for name in names}
    there = _there(place.git, [ref for both in own.values() for ref in both])
    for name, both in own.items():
        if both[0] in there:
            return Default(name, {ref: there[ref] for ref in both if ref in there})
    form = "--format=%(refname) %(objectname)"
    out = place.git.run("for-each-ref", "--count=3", form, "refs/heads").decode("utf-8", "surrogateescape")
    only = [line.split(" ") for line in out.splitlines() if not line.startswith(STAGING)]
    return Default(only[0][0].removeprefix("refs/heads/"), {only[0][0]: only[0][1]}) if len(only) == 1 else None


def _remote_heads(place: Place) -> list[str]:
    """Return the refs that HEAD of each remote points at; only loose refs can point at another one."""
    if (place.common_dir / "reftable").is_dir():
        out = place.git.run("for-each-ref", "--format=%(symref)", "refs/remotes/*/HEAD")
        return [ref for ref in out.decode("utf-8", "surrogateescape").splitlines() if ref]
    found = (state.points_at(head) for head in sorted((place.common_dir / "refs/remotes").glob("*/HEAD")))
    return [ref for ref in found if ref and _REMOTE.match(ref) and not set(ref) & _NO_REF]


def _there(git: Git, names: Sequence[str]) -> dict[str, str]:
    """Return the commits of those of these refs that there are."""
    found = zip(names, objects.read(git, names), strict=True)
    return {name: item.oid for name, item in found if item is not None}


def _personal_attributes(settings: dict[str, str]) -> Path:
    configured = settings.get("core.attributesfile")
    if configured:
        return Path(configured).expanduser()
    base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(base).expanduser() / "git" / "attributes"


# Where the work tree and the git directory of a folder are, and whether each really belongs to the other. A repository
# can name a work tree anywhere (`core.worktree`), and a `.git` file can name any git directory: both are accepted by
# git (measured, 2.39). Here the `.git` that stands above the folder must lead to the git directory, and that one must
# lead back.

_REPOSITORY = re.compile(r"ownership in repository at '(.+)'")
_QUESTIONS = (
    "--is-bare-repository",
    "--show-toplevel",
    "--absolute-git-dir",
    "--git-common-dir",
    "--show-object-format",
)


@dataclass(frozen=True, slots=True)
class Place:
    """A work tree and its git directory, all real paths; `git` runs at the top level and looks no higher."""

    git: Git
    toplevel: Path
    git_dir: Path
    common_dir: Path


def locate(folder: Path) -> Place:
    """Return the work tree around `folder`; raises NotTrackedError if there is none, else RepoRefusedError."""
    top = _top(folder)
    place = once(("place", top), lambda: _locate(folder)) if top is not None else _locate(folder)
    if not folder.is_relative_to(place.toplevel):
        cause = f"its work tree, {place.toplevel}, does not contain {folder}"
        raise RepoRefusedError("Cannot use this repository", cause)
    return place


def _top(folder: Path) -> Path | None:
    """Return the folder above that has a `.git`; None where git might find another one, or stop on its way there."""
    try:
        device = folder.stat().st_dev
        for above in (folder, *folder.parents):
            if above.stat().st_dev != device or _stands(above / "HEAD"):  # a mount point, a bare repository
                return None
            if _stands(above / ".git"):
                return above
    except OSError:
        return None
    return None


def _stands(path: Path) -> bool:
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    return True


def _locate(folder: Path) -> Place:
    result = Git(folder).call("rev-parse", "--path-format=absolute", *_QUESTIONS)
    lines = os.fsdecode(result.out).splitlines()
    if result.status != 0 or len(lines) != len(_QUESTIONS) or lines[0] != "false":
        raise _refusal(folder, result.err, bare=lines[:1] == ["true"])
    toplevel, git_dir, common_dir = (Path(os.path.realpath(line)) for line in lines[1:4])
    if folder.is_relative_to(toplevel):
        _check_pointers(toplevel, git_dir, common_dir)
    git = Git(toplevel, ceiling=toplevel.parent, algorithm=lines[4])
    return Place(git, toplevel, git_dir, common_dir)


def _refusal(folder: Path, err: str, *, bare: bool) -> Exception:
    sentence = fold(err).removeprefix("fatal: ")
    if sentence.startswith("not a git repository (or any"):
        require_absent(folder)
        return NotTrackedError("no-repository", f"{folder} is not in a git repository")
    if "dubious ownership" in err:
        named = _REPOSITORY.search(err)  # the folder that git wants to be told to trust
        trusted = in_shell(Path(named[1]) if named else folder)
        return RepoRefusedError(
            "Cannot use this repository",
            f"git says that {folder} belongs to another user",
            f"If you trust the repository: git config --global --add safe.directory {trusted}",
        )
    if bare or "cannot use bare repository" in err or "must be run in a work tree" in err:
        return RepoRefusedError(
            "Cannot use this repository", f"{folder} is in a bare repository, which has no work tree"
        )
    if is_passing(sentence):
        return RepoUnreadableError(str(folder), sentence)
    return RepoRefusedError(
        "Cannot use this repository", sentence or f"git cannot tell which repository {folder} is in"
    )


def _check_pointers(toplevel: Path, git_dir: Path, common_dir: Path) -> None:
    dot_git = toplevel / ".git"
    if dot_git.is_symlink():
        raise RepoRefusedError("Cannot use this repository", f"{dot_git} is a symlink")
    if dot_git.is_dir():
        honest = git_dir == common_dir == dot_git
    else:
        honest = dot_git.is_file() and (
            _leads_back(git_dir / "gitdir", dot_git) or (common_dir == git_dir and _is_work_tree(git_dir, toplevel))
        )
    if not honest:
        raise RepoRefusedError(
            "Cannot use this repository",
            f"{toplevel} is not the work tree of {git_dir}",
            f"To make it the work tree: git --git-dir {in_shell(git_dir)} config core.worktree {in_shell(toplevel)}",
        )


def _leads_back(pointer: Path, dot_git: Path) -> bool:
    """Whether a linked work tree's git directory names the `.git` file we came from (gitrepository-layout(5))."""
    try:
        target = pointer.read_text(encoding="utf-8", errors="surrogateescape").strip()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return Path(os.path.realpath(pointer.parent / target)) == dot_git


def _is_work_tree(git_dir: Path, toplevel: Path) -> bool:
    """Whether the git directory of a submodule names our top level as its work tree."""
    result = Git(toplevel, ceiling=toplevel.parent).call("config", "--null", "--get-regexp", r"^core\.worktree$")
    value = os.fsdecode(result.out).rstrip("\0").partition("\n")[2]
    return bool(value) and Path(os.path.realpath(git_dir / value)) == toplevel


def find_absent(path: Path) -> TrackedFile:
    """Return the repository that would track a new skill at `path`, and where in it.

    `path` must be a real one as far as it exists. Where HEAD holds a file there, that is its entry. Raises
    NotTrackedError if no repository is around it, or it would be ignored or filtered there; RepoRefusedError if
    something that HEAD does not hold is there, a name differs from it only by case, it is in a submodule, or as
    `skilld.git.repo.open_repo`.
    """
    found = find_in(standing_above(path), path)
    repo, relpath = found.repo, found.relpath
    if (repo.toplevel / ".git").is_file() and repo.git_dir == repo.common_dir:
        raise _refused(f"{repo.toplevel} is a submodule of another repository")
    if found.entry is not None:
        return found
    refuse_occupied(path)
    _check_names(repo, relpath)
    # Looked at by name alone, without the index: nothing is tracked there.
    result = repo.git.call("check-ignore", "--quiet", "--no-index", "--", f"./{relpath}")
    if result.status not in (0, 1):  # 1: not ignored
        raise GitFailedError("git check-ignore failed", result.status, result.err)
    if result.status == 0:
        raise NotTrackedError("ignored", f"git ignores {relpath} in {repo.toplevel}")
    return found


def standing_above(path: Path) -> Path:
    """Return the nearest folder above `path` that exists."""
    return next(folder for folder in path.parents if folder.is_dir())


def refuse_occupied(path: Path) -> None:
    """Raise RepoRefusedError if something is at `path`, or something that is no folder above it."""
    if os.path.lexists(path):
        raise _refused(f"{path} exists, but git does not track it")
    above = next(part for part in path.parents if os.path.lexists(part))
    if not above.is_dir():
        raise _refused(f"{above} exists, but is not a folder")


def _check_names(repo: Repo, relpath: str) -> None:
    """Refuse a path that something in HEAD is in the way of, or of which a part has a twin there or on the disk."""
    folder, above = repo.toplevel, ""
    for part in relpath.split("/"):
        stored = tree.names(repo.git, repo.head, above.rstrip("/"))
        if part in stored and stored[part].mode != tree.TREE_MODE:
            raise _refused(f"{above}{part} is not a folder in the latest commit of {repo.toplevel}")
        twin = next(_twins(part, (*stored, *_on_disk(folder))), None)
        if twin is not None:
            raise _refused(f"{above}{part} differs from {twin} only in case")
        folder, above = folder / part, f"{above}{part}/"


def _twins(part: str, names: Iterable[str]) -> Iterator[str]:
    return (name for name in names if name != part and _folded(name) == _folded(part))


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _on_disk(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []


def _refused(cause: str) -> RepoRefusedError:
    return RepoRefusedError("Cannot create the new skill", cause)
