"""Whether a project is the person's own: what is merely cloned to be looked at is never edited.

Told by files of git's alone, but where only the history can say it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from skilld.errors import SkilldError

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
