"""Whether git tracks a file, asked without GitPython, which the daemon must not import."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from skilld.errors import SkilldError
from skilld.files import file_stamp
from skilld.git.environment import SILENT_OPTIONS, git_program, repository_variables, silent_variables
from skilld.git.state import git_dirs
from skilld.git.top import find_top

_SECONDS = 5.0


def is_tracked(files: Iterable[Path]) -> bool | None:
    """Whether git tracks one of these files of one folder; None if it cannot tell now.

    Git holds the lock on its index while it writes files, and the index names them only after that. It is asked again
    only when the index has changed.
    """
    paths = [*files]
    top = find_top(paths[0].parent)
    if top is None:
        return False
    try:
        index = git_dirs(top / ".git")[0] / "index"
        if index.with_name("index.lock").exists():
            return None
        return _ask_git(top, tuple(path.relative_to(top).as_posix() for path in paths), file_stamp(index))
    except (OSError, ValueError, SkilldError, subprocess.TimeoutExpired):
        return None


@lru_cache(maxsize=64)
def _ask_git(top: Path, relpaths: tuple[str, ...], index: tuple[int, ...]) -> bool:
    del index  # part of the key
    argv = [git_program(), *SILENT_OPTIONS, "-C", str(top), "ls-files", "-z", "--", *relpaths]
    environment = silent_variables() | repository_variables(top, top / ".git")
    done = subprocess.run(
        argv, check=False, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS
    )
    if done.returncode != 0:
        raise ValueError(done.stderr)
    return bool(done.stdout)
