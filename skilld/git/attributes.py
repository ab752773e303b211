"""Whether git stores other bytes than a file has: an attribute filters it (LFS, git-crypt), or it is a pointer of LFS.

Imports no GitPython, because a batch without proposals is judged without it. In doubt a file counts as filtered: then
we leave it alone.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from skilld.files import read_start
from skilld.git.environment import SILENT_OPTIONS, git_program, repository_variables, silent_variables
from skilld.git.errors import RepoRefusedError
from skilld.git.session import cached
from skilld.git.state import check_regular, check_regular_file, git_dirs
from skilld.git.top import find_top
from skilld.text import fold

_SYSTEM_FILE = Path("/etc/gitattributes")
_MAX_BYTES = 1 << 20
_SECONDS = 5.0  # a pattern with many stars takes git for ever
_POINTER_PATTERN = re.compile(rb"version https://(?:git-lfs|hawser)\.github\.com/spec/")  # git-lfs/docs/spec.md


def storage_refusal(path: Path, name: str = "") -> str:
    """Return why the file at a real path is left alone, as a clause: git stores another text; empty if it does not.

    Starts git only if a file of attributes names a filter. One that only git's settings name is missed here;
    `repo.find_tracked` asks git.
    """
    name = name or path.name
    try:
        if is_pointer(read_start(path, 64)):
            return f"{name} is a Git LFS pointer, not the text itself"
        top = find_top(path.parent)
        relpath = path.relative_to(top).as_posix() if top else ""
        filtered = top is not None and _may_be_filtered(top, relpath) and is_filtered(top, relpath)
    except (OSError, ValueError, RepoRefusedError):  # unreadable: whoever reads it for good says so
        return ""
    return f"a git filter changes {name} when git stores it" if filtered else ""


def is_pointer(data: bytes) -> bool:
    """Whether a file is what Git LFS leaves in place of one that it has not fetched."""
    return _POINTER_PATTERN.match(data) is not None


def is_filtered(top: Path, relpath: str) -> bool:
    """Whether the attribute `filter` is set on a file of the work tree at `top`, whoever owns that.

    Git is asked once within `shared_git`. Raises RepoRefusedError if it cannot tell, or would wait for one of its
    files.
    """
    return cached(("filtered", top, relpath), lambda: _ask_git(top, relpath))


def _may_be_filtered(top: Path, relpath: str) -> bool:
    """Whether one of the files of attributes that lie where git looks by itself names a filter, or cannot be read."""
    personal = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()
    files = [top / folder / ".gitattributes" for folder in Path(relpath).parents]
    for file in (*files, git_dirs(top / ".git")[1] / "info/attributes", personal / "git/attributes", _SYSTEM_FILE):
        try:
            data = read_start(file, _MAX_BYTES)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            return True
        if b"filter" in data or len(data) == _MAX_BYTES:
            return True
    return False


def _ask_git(top: Path, relpath: str) -> bool:
    check_regular(top)
    for folder in Path(relpath).parents:
        check_regular_file(top / folder / ".gitattributes")
    argv = [git_program(), *SILENT_OPTIONS, "-C", str(top), "check-attr", "-z", "filter", "--", relpath]
    environment = silent_variables() | repository_variables(top, top / ".git")
    try:
        done = subprocess.run(
            argv, check=False, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        return True
    if done.returncode:
        raise RepoRefusedError("Cannot read the repository's attributes", fold(os.fsdecode(done.stderr)))
    return done.stdout.split(b"\0")[2] not in {b"unspecified", b"unset"}
