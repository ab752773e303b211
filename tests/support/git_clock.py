"""A clock for git: each commit of a test has its own date, hours apart as in life, and once an earlier one.

A test takes less than a second, so all its commits would have the same date, and whatever orders or limits commits by
date would be right by chance. So the git on the tests' PATH is a script that gives each command that makes commits its
own date and then runs the real git. A program that sets the date itself, as skilld does for a proposal, keeps it.
Starting a shell costs nearly as much as git does, so where a test or skilld starts git in this process, commands that
make no commits skip the script.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

# Seconds from the start to each commit in turn; after the last one every commit is a minute later.
CLOCKS = {
    "seconds": (1, 2, 3, 4),
    "hours": (3_600, 10_800, 14_400, 25_200),
    "back": (7_200, 3_600, 7_210, 7_220),
    "mixed": (1, 2, 10_800, 10_801, 3_600, 14_400, 14_401),
}
CHOSEN = "SKILLD_TEST_GIT_CLOCK"  # names another clock than `mixed`; `real` for none
PREFIX = "skilld-git-"  # of the folder's name
# For the configuration of a test's person: after each commit and merge git would start two processes that look whether
# there is anything to tidy up.
NO_TIDYING = "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
_COUNT, _START = "commits", "start"
_MAKING = frozenset(
    ("commit", "commit-tree", "merge", "cherry-pick", "revert", "rebase", "am", "tag", "pull", "stash", "notes")
)
_SCRIPT = """\
#!/bin/sh
# Written by tests/support/git_clock.py.
argument=
for word in "$@"; do
    if [ -n "$argument" ]; then argument=; continue; fi
    case $word in
        -C|-c|--git-dir|--work-tree|--namespace) argument=1 ;;
        -*) ;;
        *) break ;;
    esac
done
case $word in
    commit|commit-tree|merge|cherry-pick|revert|rebase|am|tag|pull|stash|notes)
        if [ -z "$GIT_COMMITTER_DATE" ]; then
            count=0
            [ ! -r "{count}" ] || read -r count <"{count}"
            echo $((count + 1)) >"{count}"
            case $count in
                {cases}
            esac
            read -r start <"{start}"
            GIT_COMMITTER_DATE="$((start + offset)) +0000"
            export GIT_COMMITTER_DATE
            case $word in
                commit|commit-tree) [ -n "$GIT_AUTHOR_DATE" ] || export GIT_AUTHOR_DATE="$GIT_COMMITTER_DATE" ;;
            esac
        fi ;;
esac
exec {git} "$@"
"""


def install(folder: Path) -> None:
    """Put a git with a clock into a folder and the folder at the head of this process's PATH."""
    offsets = CLOCKS.get(os.environ.get(CHOSEN, "mixed"))
    path = _unclocked(os.environ["PATH"])  # a process of xdist inherits the clock of pytest's own
    git = shutil.which("git", path=path)
    if offsets is None or git is None:
        return
    folder.mkdir(exist_ok=True)
    cases = [f"{count}) offset={offset} ;;" for count, offset in enumerate(offsets)]
    cases.append(f"*) offset=$(({offsets[-1]} + (count - {len(offsets) - 1}) * 60)) ;;")
    script = folder / "git"
    script.write_text(
        _SCRIPT.format(count=folder / _COUNT, start=folder / _START, cases="\n                ".join(cases), git=git)
    )
    script.chmod(0o755)
    os.environ["PATH"] = f"{folder}{os.pathsep}{path}"


_started: dict[Path, int] = {}


def restart(folder: Path, start: int, slack: int = 0) -> None:
    """Make the next commit count as the first. `start` is a Unix time; one up to `slack` seconds older is as good."""
    (folder / _COUNT).unlink(missing_ok=True)
    if folder.is_dir() and not 0 <= start - _started.get(folder, 0) < slack:
        (folder / _START).write_text(f"{start}\n")
        _started[folder] = start


def repeat(commits: int) -> None:
    """Continue as after so many commits: what they made was copied."""
    if (folder := _folder()) is not None:
        (folder / _COUNT).write_text(f"{made() + commits}\n")


def start() -> int | None:
    """Return the time from which commits are counted, None if the system's clock dates them."""
    folder = _folder()
    return int((folder / _START).read_text()) if folder else None


def made() -> int:
    """Return how many commits the clock has dated since it was started."""
    folder = _folder()
    return int((folder / _COUNT).read_text()) if folder and (folder / _COUNT).exists() else 0


def day() -> int:
    """Return the number of the day on which the first commit would be made."""
    return (start() or int(time.time())) // 86_400


def shelf() -> Path:
    """Return a new folder for what is made once in this process; it is removed with the process's other folders."""
    return Path(tempfile.mkdtemp(prefix="skilld-kept-", dir=_folder()))


def _folder() -> Path | None:
    folder = Path(os.environ["PATH"].partition(os.pathsep)[0])
    return folder if folder.name.startswith(PREFIX) else None


def unclocked_git(git: str, arguments: Sequence[str]) -> str:
    """Return the real git in place of the one with a clock for a command that makes no commits."""
    folder = Path(git).parent
    return git if not folder.name.startswith(PREFIX) or not _MAKING.isdisjoint(arguments) else _real(folder)


@cache
def _real(folder: Path) -> str:
    return shutil.which("git", path=_unclocked(os.environ["PATH"])) or str(folder / "git")


def _unclocked(path: str) -> str:
    """Return a PATH without the folders of clocks."""
    return os.pathsep.join(one for one in path.split(os.pathsep) if not Path(one).name.startswith(PREFIX))


def use_real_git_for_readers() -> None:
    """Make skilld, in this process, start the real git for whatever makes no commits."""
    from skilld.git.run import Git

    door: Any = Git
    argv = door._argv

    def spared_argv(self: Git, arguments: Sequence[str]) -> list[str]:
        git, *rest = argv(self, arguments)
        return [unclocked_git(git, arguments), *rest]

    if argv.__name__ != spared_argv.__name__:
        door._argv = spared_argv
