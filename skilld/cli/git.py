"""`skilld git ARGS...`: plain git in the repository skilld keeps for skills that git does not track."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from skilld.cli import common
from skilld.errors import SkilldError, UsageError
from skilld.files import shell_command

if TYPE_CHECKING:
    from skilld.git.repo import Repo

_READ_COMMANDS = {"blame", "cat-file", "diff", "for-each-ref", "grep", "log", "ls-files", "ls-tree"}
_READ_COMMANDS |= {"rev-list", "rev-parse", "shortlog", "show", "status"}
_MOSTLY_READ_COMMANDS = {"fsck", "reflog"}  # but `reflog expire` and `fsck --lost-found` write
# They change refs or the skills' text; none creates other files or uses the network.
_WRITE_COMMANDS = {"add", "branch", "cherry-pick", "commit", "merge", "rebase", "reset", "restore", "revert", "switch"}


def run(arguments: argparse.Namespace) -> int:
    """Run the verb: git replaces this process."""
    from skilld.git.managed_repos import list_roots, open_any, person_git

    given = _git_arguments(arguments)
    if not given:
        raise UsageError("Which git command?", "none given", "For example: skilld git log")
    command = given[0]
    folder = common.places().repositories
    root, git_dir = _choose_repository(arguments.root, list_roots(folder))
    if command not in _READ_COMMANDS | _MOSTLY_READ_COMMANDS | _WRITE_COMMANDS:
        plain = shell_command(["git", f"--git-dir={git_dir}", f"--work-tree={root}", *given])
        raise UsageError("skilld git does not support this command", command, f"To run it yourself: {plain}")
    repo: Repo = open_any(git_dir, folder)
    person_git(repo).replace_process(*given)


def is_read_only(arguments: argparse.Namespace) -> bool:
    """Whether the given git command only reads, or none is given."""
    given = _git_arguments(arguments)
    # Options can be abbreviated: --output writes a file, --open-files-in-pager (-O, also as -nO) starts a program.
    writes = [word for word in given[1:] if word.startswith("--o") and word != "--oneline"]
    opens = [word for word in given[1:] if given[0] == "grep" and re.match(r"-[^-]*O", word)]
    return not given or (given[0] in _READ_COMMANDS and not writes and not opens)


def _git_arguments(arguments: argparse.Namespace) -> list[str]:
    given: list[str] = arguments.args
    return given[1:] if given[:1] == ["--"] else given


def _choose_repository(given: Path | None, roots: Mapping[Path, Path]) -> tuple[Path, Path]:
    """Return the root and git directory of the repository named, around the current folder, or the only one."""
    if not roots:
        cause = "skilld creates a repository when it first proposes an edit to a skill outside git"
        raise SkilldError("No repository yet", cause)
    folder = common.resolve_path(given or Path())
    if enclosing := [root for root in roots if folder.is_relative_to(root)]:
        root = max(enclosing, key=lambda found: len(found.parts))
        return root, roots[root]
    if given is None and len(roots) == 1:
        return next(iter(roots.items()))
    known = ", ".join(str(root) for root in roots)
    if given is not None:
        raise UsageError("skilld has no repository there", str(given), f"skilld has repositories for: {known}")
    cause = f"skilld keeps {len(roots)} repositories"
    raise UsageError("Which skills folder?", cause, f"Choose one with --root: {known}")
