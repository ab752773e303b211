"""Finds the repository that tracks a given SKILL.md, and decides whether we may write to it.

Takes a real path and returns a `Repo`, or raises a typed refusal with a sentence for the person. If git cannot tell
something, that is an error, never "absent". Reads only, and runs no program that the repository configures.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from skilld.files import shell_quoted
from skilld.git import objects, state, tree
from skilld.git.attributes import is_filtered, storage_refusal
from skilld.git.environment import person_variables
from skilld.git.errors import GitFailedError, NotTrackedError, RepoRefusedError, RepoUnreadableError
from skilld.git.run import SHA1, Git
from skilld.git.session import cached, shared_git
from skilld.git.staging_branch import STAGING_BRANCH, STAGING_REF
from skilld.git.state import PRIVATE_NAME, is_temporary, require_absent, require_unborn
from skilld.git.top import find_top
from skilld.text import fold, word_set
from skilld.values import value_class

_EXTENSIONS = word_set(
    "compatobjectformat noop objectformat partialclone preciousobjects relativeworktrees worktreeconfig"
)
# Not allowed in the name of a ref: git takes a file with such a name for something else.
_INVALID_REF_CHARACTERS = frozenset(" ~^:?*[\\\n\0")
_REMOTE_REF_PATTERN = re.compile(r"refs/remotes/[^/]+/.")
_OVERRULED_SETTINGS = "rerere.enabled", "revert.reference"
SETTINGS_PATTERN = (
    r"^(core\.(bare|worktree|repositoryformatversion)|extensions\..*|remote\..*\.url|init\.defaultbranch"
    r"|merge\.ff|rerere\.enabled|revert\.reference|user\.(name|email))$"
)


@value_class
class DefaultBranch:
    """The default branch: its short name, and the commit of each of its refs here (the local and the fetched one)."""

    name: str
    refs: Mapping[str, str]

    @property
    def tips(self) -> tuple[str, ...]:
        """The distinct commits of its refs."""
        return tuple(dict.fromkeys(self.refs.values()))


@value_class
class Repo:
    """A repository as seen from one work tree, read once.

    `head` is the commit of HEAD, `branch` the full name of the checked-out branch (None: detached), `default` None
    if unknown. `remote` says whether it has a remote, `private` whether it is skilld's own repository for these skills
    (`skilld.git.managed_repos`).
    """

    git: Git
    toplevel: Path
    git_dir: Path
    common_dir: Path
    head: str
    branch: str | None
    default: DefaultBranch | None
    remote: bool
    private: bool = False

    @property
    def superproject(self) -> Path | None:
        """The work tree that this one is a submodule of; None if it is not a submodule."""
        if self.git_dir != self.common_dir or "modules" not in self.git_dir.parts:
            return None
        return find_top(self.toplevel.parent) if (self.toplevel / ".git").is_file() else None

    @property
    def address(self) -> Path:
        """The folder that identifies it: the work tree, or the git directory of a private one."""
        return self.git_dir if self.private else self.toplevel


@value_class
class TrackedFile:
    """A SKILL.md in HEAD of its repository: `relpath` with forward slashes below the top level.

    `entry` is None for one that is to be created.
    """

    repo: Repo
    relpath: str
    entry: tree.Entry | None


@shared_git()
def open_repo(folder: Path) -> Repo:
    """Return the repository whose work tree holds `folder` (a real path).

    Raises NotTrackedError if there is none or it has no commit, RepoRefusedError if we do not write to it: bare, not
    the person's, redirected elsewhere, of an unknown format.
    """
    return open_location(locate(folder))


def find_tracked(path: Path) -> TrackedFile:
    """Return the repository that tracks the skill at `path`, and where in it.

    `path` must be the real path of the file: a link anywhere in it is refused. Raises as `open_repo`, and
    NotTrackedError if HEAD does not have the file or a filter changes its stored bytes.
    """
    found = find_in_repo(path.parent, path)
    if found.entry is None:
        raise NotTrackedError("untracked", f"{found.relpath} is not in the latest commit of {found.repo.toplevel}")
    return found


@shared_git()
def find_in_repo(folder: Path, path: Path) -> TrackedFile:
    """Return where `path` is in the repository around `folder`, one of its parents, whether HEAD has it or not.

    Raises as `find_tracked`, except if HEAD does not have the file.
    """
    if path.resolve() != path:
        raise RepoRefusedError("Cannot edit this file", f"{path} is reached through a symlink")
    place = locate(folder)
    relpath = path.relative_to(place.toplevel).as_posix()
    tree.check_relpath(relpath)
    repo = open_location(place)
    found = tree.read_entry(repo.git, repo.head, relpath)
    if found is not None and found.mode not in tree.FILE_MODES:
        raise RepoRefusedError("Cannot edit this file", f"{relpath} is not a regular file in {place.toplevel}")
    if is_filtered(place.toplevel, relpath):
        raise NotTrackedError("filtered", f"a git filter changes {relpath} when git stores it", _PLAIN_REMEDY)
    return TrackedFile(repo, relpath, found)


_PLAIN_REMEDY = "If git should store it as it is, exclude it in .gitattributes (PATH -filter), and fetch its text."


def require_plain(path: Path) -> None:
    """Raise NotTrackedError if git stores another text than the file at `path` has, as `storage_refusal` tells."""
    if why := storage_refusal(path):
        raise NotTrackedError("filtered", why, _PLAIN_REMEDY)


def open_location(place: RepoLocation, *, private: bool = False) -> Repo:
    """Return the repository at a known location; raises as `open_repo`."""
    settings = settings_of(place.git)
    unknown = sorted(key for key in settings if key.startswith("extensions.") and key.split(".")[1] not in _EXTENSIONS)
    if unknown:
        # Name it: only the person knows whether another program needs it.
        unset = f"git -C {shell_quoted(place.toplevel)} config --unset {unknown[0]}"
        cause = f"{place.toplevel} uses {', '.join(unknown)}, which skilld does not support"
        remedy = f"If nothing else needs that setting: {unset}"
        if unknown[0] == "extensions.refstorage" and (place.common_dir / "reftable").is_dir():  # all its branches
            remedy = f"To keep branches in files: git -C {shell_quoted(place.toplevel)} refs migrate --ref-format=files"
        raise RepoRefusedError("Cannot use this repository", cause, remedy)
    head, default = _read_refs(place, settings.get("init.defaultbranch", ""))
    if head is None or head.kind != "commit":
        require_unborn(place.git_dir, place.common_dir, state.head_branch(place.git_dir))
        first = f"git -C {shell_quoted(place.toplevel)} commit --allow-empty -m Start"
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
        default=default or _only_branch(place.git),
        remote=any(key.startswith("remote.") for key in settings),
        private=private,
    )


def _branches(git: Git) -> list[str]:
    """Return some branches with a commit, local or remote."""
    names = git.lines("for-each-ref", "--count=3", "--format=%(refname:short)", "refs/heads", "refs/remotes")
    return [name for name in names if not name.startswith("skilld/")]


def settings_of(git: Git) -> dict[str, str]:
    """Return the settings of a repository that SETTINGS_PATTERN names; read once within `shared_git`."""
    return cached(("settings", git), lambda: _read_settings(git))


def keep_settings(git: Git, found: dict[str, str]) -> None:
    """Have the settings of a repository, those that SETTINGS_PATTERN names, not read again within `shared_git`."""
    if found:
        cached(("settings", git), lambda: {key.lower(): value for key, value in found.items()})


def allows_only_fast_forward(repo: Repo) -> bool:
    """Whether `git merge` refuses to make a commit of its own here."""
    return settings_of(repo.git).get("merge.ff") == "only"


def overruled_settings(repo: Repo) -> list[str]:
    """Return the settings, as KEY=VALUE, that the person may have and a cherry-pick or revert of ours must not.

    They would record a conflict that is undone, or write another message. Hooks see what is overruled, so what the
    person lacks is left out; their variables may name further configuration.
    """
    found, elsewhere = settings_of(repo.git), any(name.startswith("GIT_CONFIG") for name in person_variables())
    used = {"rerere.enabled"} if (repo.common_dir / "rr-cache").is_dir() else set[str]()
    return [f"{name}=false" for name in _OVERRULED_SETTINGS if elsewhere or name in used or name in found]


def _read_settings(git: Git) -> dict[str, str]:
    result = git.call("config", "--null", "--get-regexp", SETTINGS_PATTERN)
    if result.status not in (0, 1):  # 1: nothing matches
        raise GitFailedError("Cannot read the repository's configuration", result.status, result.err)
    items = result.out.decode("utf-8", "surrogateescape").split("\0")
    return {key.lower(): value for key, _, value in (item.partition("\n") for item in items if item)}


def _read_refs(place: RepoLocation, configured: str) -> tuple[objects.Object | None, DefaultBranch | None]:
    """Return HEAD's commit and, if its name shows it, the default branch, from one answer."""
    names = [name for name in (configured, "main", "master") if name and not set(name) & _INVALID_REF_CHARACTERS]
    # A clone of a repository in which the staging branch was checked out treats that as the default branch.
    pointers = [ref for ref in _remote_heads(place) if not ref.endswith(f"/{STAGING_BRANCH}")]
    pointers.sort(key=lambda ref: not ref.startswith("refs/remotes/origin/"))
    own = {name: [f"refs/heads/{name}", f"refs/remotes/origin/{name}"] for name in names if name != STAGING_BRANCH}
    named = {ref: [f"refs/heads/{ref.split('/', 3)[3]}", ref] for ref in pointers}
    asked = ["HEAD", *(ref for both in (*named.values(), *own.values()) for ref in both)]
    found = dict(zip(asked, objects.read_objects(place.git, asked), strict=True))
    there = {ref: item.oid for ref, item in found.items() if item is not None}
    ways = [(both, ref) for ref, both in named.items()] + [(both, both[0]) for both in own.values()]
    refs = next((both for both, needed in ways if needed in there), [])
    tips = {ref: there[ref] for ref in refs if ref in there}
    return found["HEAD"], DefaultBranch(refs[0].removeprefix("refs/heads/"), tips) if refs else None


def _only_branch(git: Git) -> DefaultBranch | None:
    """Return the only branch besides the staging branch as the default one."""
    rows = git.lines("for-each-ref", "--count=3", "--format=%(refname) %(objectname)", "refs/heads")
    only = [row.split(" ") for row in rows if not row.startswith(STAGING_REF)]
    return DefaultBranch(only[0][0].removeprefix("refs/heads/"), {only[0][0]: only[0][1]}) if len(only) == 1 else None


def _remote_heads(place: RepoLocation) -> list[str]:
    """Return the ref that HEAD of each remote points to; only loose refs can point to another one."""
    if (place.common_dir / "reftable").is_dir():
        return [ref for ref in place.git.lines("for-each-ref", "--format=%(symref)", "refs/remotes/*/HEAD") if ref]
    found = (state.symbolic_target(head) for head in sorted((place.common_dir / "refs/remotes").glob("*/HEAD")))
    return [ref for ref in found if ref and _REMOTE_REF_PATTERN.match(ref) and not set(ref) & _INVALID_REF_CHARACTERS]


# The work tree and the git directory of a folder must belong to each other. A repository can name a work tree anywhere
# (`core.worktree`), and a `.git` file can name any git directory: git accepts both (measured, 2.39). Here the `.git`
# above the folder must lead to the git directory, and that one must lead back.

# The second in 2.36.0 and 2.37.0.
_OWNERSHIP_PATTERN = re.compile(r"(?:dubious ownership in repository at |unsafe repository \()'(.+)'")
_REV_PARSE_OPTIONS = (
    "--is-bare-repository",
    "--show-toplevel",
    "--absolute-git-dir",
    "--git-common-dir",
    "--show-object-format",
)


@value_class
class RepoLocation:
    """A work tree and its git directory, all real paths; `git` runs at the top level and searches no parent folder."""

    git: Git
    toplevel: Path
    git_dir: Path
    common_dir: Path


def locate(folder: Path) -> RepoLocation:
    """Return the work tree around `folder`; raises NotTrackedError if there is none, RepoRefusedError if unusable."""
    top, outside = _find_top(folder)
    if outside:
        raise _outside_error(folder)
    place = cached(("place", top), lambda: _locate(folder, top)) if top is not None else _locate(folder)
    if not folder.is_relative_to(place.toplevel):
        cause = f"its work tree, {place.toplevel}, does not contain {folder}"
        raise RepoRefusedError("Cannot use this repository", cause)
    return place


def _find_top(folder: Path) -> tuple[Path | None, bool]:
    """Return the nearest folder with a `.git`, and whether there is certainly none; neither if only git can tell."""
    try:
        device = folder.stat().st_dev
        for above in (folder, *folder.parents):
            if above.stat().st_dev != device:  # a mount point: git looks no higher
                return None, True
            if _exists(above / "HEAD"):  # perhaps a bare repository
                return None, False
            if _exists(above / ".git"):
                return above, False
    except OSError:
        return None, False
    return None, True


def _outside_error(folder: Path) -> NotTrackedError:
    return NotTrackedError("no-repository", f"{folder} is not in a git repository")


def _exists(path: Path) -> bool:
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    return True


def _locate(folder: Path, top: Path | None = None) -> RepoLocation:
    if top is not None:
        state.check_regular(top)
        if (plain := _locate_plain(top)) is not None:
            return plain
    result = Git(folder).call("rev-parse", "--path-format=absolute", *_REV_PARSE_OPTIONS)
    lines = os.fsdecode(result.out).removesuffix("\n").split("\n")
    if result.status != 0 or len(lines) != len(_REV_PARSE_OPTIONS) or lines[0] != "false":
        raise _locate_error(folder, result.err, bare=lines[:1] == ["true"])
    toplevel, git_dir, common_dir = (Path(os.path.realpath(line)) for line in lines[1:4])
    if folder.is_relative_to(toplevel):
        _check_pointers(toplevel, git_dir, common_dir)
    git = Git(toplevel, ceiling=toplevel.parent, algorithm=lines[4])
    return RepoLocation(git, toplevel, git_dir, common_dir)


def _locate_plain(top: Path) -> RepoLocation | None:
    """Return the work tree at `top` if nothing about it is unusual; None if git must say more than its settings.

    Git reads the settings of a repository only if it recognizes it and trusts its owner.
    """
    dot_git = top / ".git"
    plain = not dot_git.is_symlink() and dot_git.is_dir() and not os.path.lexists(dot_git / "commondir")
    if not plain or os.path.realpath(top) != str(top):
        return None
    git = Git(top, ceiling=top.parent)
    out = git.call("config", "--null", "--show-origin", "--get-regexp", SETTINGS_PATTERN).out
    parts = out.decode("utf-8", "surrogateescape").split("\0")
    rows = [(origin, *row.partition("\n")) for origin, row in zip(parts[::2], parts[1::2], strict=False)]
    settings = {key.lower(): value for _, key, _, value in rows}
    own = {key.lower(): value for origin, key, _, value in rows if origin == "file:.git/config"}
    form, git.algorithm = own.get("core.repositoryformatversion"), own.get("extensions.objectformat", SHA1)
    unusual = settings.get("core.bare", "false") != "false" or "core.worktree" in settings
    if unusual or form not in {"0", "1"} or (form == "0" and "extensions.objectformat" in settings):
        return None
    if settings.get("extensions.objectformat", SHA1) != git.algorithm:
        return None
    keep_settings(git, settings)
    return RepoLocation(git, top, dot_git, dot_git)


def _locate_error(folder: Path, err: str, *, bare: bool) -> Exception:
    sentence = fold(err).removeprefix("fatal: ")
    if sentence.startswith("not a git repository (or any"):
        require_absent(folder)
        return _outside_error(folder)
    if (named := _OWNERSHIP_PATTERN.search(err)) or "dubious ownership" in err:
        distrusted = Path(named[1]) if named else folder
        return RepoRefusedError(
            "Cannot use this repository",
            f"git says that {distrusted} belongs to another user",
            f"If you trust the repository: git config --global --add safe.directory {shell_quoted(distrusted)}",
        )
    if bare or "cannot use bare repository" in err or "must be run in a work tree" in err:
        return RepoRefusedError(
            "Cannot use this repository", f"{folder} is in a bare repository, which has no work tree"
        )
    if is_temporary(sentence):
        return RepoUnreadableError(str(folder), sentence)
    cause, remedy = sentence, f"Check with: git -C {shell_quoted(folder)} status"
    if not os.path.lexists(folder):
        cause, remedy = f"{folder} does not exist", "Restore that folder."
    elif nowhere := sentence.removeprefix("not a git repository: ").removeprefix(sentence):
        cause = f"{folder} is in a work tree whose .git file points to {nowhere}, where no repository is"
        remedy = "If it was moved, run in its new place: git worktree repair"
    elif "unknown repository extension" in sentence or "git repo version" in sentence:
        remedy = "Install a newer version of git."
    return RepoRefusedError(
        "Cannot use this repository", cause or f"git cannot tell which repository {folder} is in", remedy
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
        here = shell_quoted(toplevel)  # a linked work tree's configuration is that of all
        setting = f"git --git-dir {shell_quoted(git_dir)} config core.worktree {here}"
        command = setting if git_dir == common_dir else f"git -C {here} worktree repair"
        raise RepoRefusedError(
            "Cannot use this repository",
            f"{toplevel} is not the work tree of {git_dir}",
            f"To make it the work tree: {command}",
        )


def _leads_back(pointer: Path, dot_git: Path) -> bool:
    """Whether a linked work tree's git directory names our `.git` file (gitrepository-layout(5))."""
    try:
        target = pointer.read_text(encoding="utf-8", errors="surrogateescape").strip()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return Path(os.path.realpath(pointer.parent / target)) == dot_git


def _is_work_tree(git_dir: Path, toplevel: Path) -> bool:
    """Whether the git directory of a submodule names our top level as its work tree."""
    value = Git(toplevel, ceiling=toplevel.parent).settings(r"^core\.worktree$").get("core.worktree", "")
    return bool(value) and Path(os.path.realpath(git_dir / value)) == toplevel


def find_for_new(path: Path) -> TrackedFile:
    """Return the repository that would track a new skill at `path`, and where in it.

    `path` must be real as far as it exists. If HEAD has a file there, that is its entry. Raises NotTrackedError if
    there is no repository around it, or the file is private or would be ignored or filtered; RepoRefusedError if an
    untracked file is there, a name differs from it only in case, it is in a submodule, or as `open_repo`.
    """
    found = find_in_repo(existing_parent(path), path)
    repo, relpath = found.repo, found.relpath
    if repo.superproject is not None:
        raise _creation_error(f"{repo.toplevel} is a submodule of another repository")
    if found.entry is not None:
        return found
    require_vacant(path)
    _check_names(repo, relpath)
    if path.name == PRIVATE_NAME:
        raise NotTrackedError("ignored", f"{relpath} is for you alone, so it is not committed to {repo.toplevel}")
    # Checked by name only, without the index: nothing is tracked there.
    result = repo.git.call("check-ignore", "--quiet", "--no-index", "--", f"./{relpath}")
    if result.status not in (0, 1):  # 1: not ignored
        raise GitFailedError("git check-ignore failed", result.status, result.err)
    if result.status == 0:
        raise NotTrackedError("ignored", f"git ignores {relpath} in {repo.toplevel}")
    return found


def existing_parent(path: Path) -> Path:
    """Return the nearest folder above `path` that exists."""
    return next(folder for folder in path.parents if folder.is_dir())


def require_vacant(path: Path) -> None:
    """Raise RepoRefusedError if something exists at `path`, or something other than a folder above it."""
    if os.path.lexists(path):
        raise _creation_error(f"{path} exists, but git does not track it")
    above = next(part for part in path.parents if os.path.lexists(part))
    if not above.is_dir():
        raise _creation_error(f"{above} exists, but is not a folder")


def _check_names(repo: Repo, relpath: str) -> None:
    """Refuse a path if HEAD has a file in place of a folder, or a part differs only in case from an existing name."""
    folder, above = repo.toplevel, ""
    for part in relpath.split("/"):
        stored = tree.list_folder(repo.git, repo.head, above.rstrip("/"))
        if part in stored and stored[part].mode != tree.TREE_MODE:
            raise _creation_error(f"{above}{part} is not a folder in the latest commit of {repo.toplevel}")
        twin = next(_case_twins(part, (*stored, *_names_on_disk(folder))), None)
        if twin is not None:
            raise _creation_error(f"{above}{part} differs from {twin} only in case")
        folder, above = folder / part, f"{above}{part}/"


def _case_twins(part: str, names: Iterable[str]) -> Iterator[str]:
    return (name for name in names if name != part and _fold_name(name) == _fold_name(part))


def _fold_name(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _names_on_disk(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []


def _creation_error(cause: str) -> RepoRefusedError:
    return RepoRefusedError("Cannot create the new skill", cause)
