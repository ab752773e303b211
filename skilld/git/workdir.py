"""Where the work tree and the git directory of a folder are, and whether each really belongs to the other.

A repository can name a work tree anywhere (`core.worktree`), and a `.git` file can name any git directory: both are
accepted by git (measured, 2.39). Here the `.git` that stands above the folder must lead to the git directory, and
that one must lead back.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from skilld.files import in_shell
from skilld.git.errors import NotTrackedError, RepoRefusedError, RepoUnreadableError
from skilld.git.readable import is_passing, require_absent
from skilld.git.run import Git, once
from skilld.text import fold

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
    """Return the work tree around `folder`; raises NotTrackedError where there is none, else RepoRefusedError."""
    top = _top(folder)
    place = once(("place", top), lambda: _locate(folder)) if top is not None else _locate(folder)
    if not folder.is_relative_to(place.toplevel):
        cause = f"its work tree is set to {place.toplevel}, away from {folder}"
        raise RepoRefusedError("The repository is refused", cause)
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
        return NotTrackedError("no-repository", f"{folder} is in no git repository")
    if "dubious ownership" in err:
        return RepoRefusedError(
            "The repository is refused",
            f"git says that {folder} belongs to another user",
            f"if you trust it: git config --global --add safe.directory {in_shell(_named(err) or folder)}",
        )
    if bare or "cannot use bare repository" in err or "must be run in a work tree" in err:
        return RepoRefusedError(
            "The repository is refused", f"{folder} is in a bare repository, which has no work tree"
        )
    if is_passing(sentence):
        return RepoUnreadableError(str(folder), sentence)
    return RepoRefusedError("The repository is refused", sentence or f"git cannot say where {folder} belongs")


def _named(err: str) -> Path | None:
    """Return the folder that git's complaint names, which it wants to be told to trust."""
    found = _REPOSITORY.search(err)
    return Path(found[1]) if found else None


def _check_pointers(toplevel: Path, git_dir: Path, common_dir: Path) -> None:
    dot_git = toplevel / ".git"
    if dot_git.is_symlink():
        raise RepoRefusedError("The repository is refused", f"{dot_git} is a symbolic link")
    if dot_git.is_dir():
        honest = git_dir == common_dir == dot_git
    else:
        honest = dot_git.is_file() and (
            _leads_back(git_dir / "gitdir", dot_git) or (common_dir == git_dir and _is_work_tree(git_dir, toplevel))
        )
    if not honest:
        raise RepoRefusedError(
            "The repository is refused",
            f"{toplevel} and {git_dir} do not belong to each other",
            f"if they do: git --git-dir {in_shell(git_dir)} config core.worktree {in_shell(toplevel)}",
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
