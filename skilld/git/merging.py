"""Whether git would merge a change of one file, asked of git itself on copies outside of the repository.

`skilld.git.line_diff.merge` is a line merge of our own; on random edits it calls a merge clean that git does not in
about one of two hundred. What is printed for a person to type has to hold, so git is asked.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from skilld.git.run import Git


def merges(git: Git, base: bytes | None, current: bytes | None, other: bytes | None) -> bool:
    """Whether the change from `base` to `other` merges into `current` without a conflict; None is no such file."""
    if base is None or current is None or other is None:
        return base == current and other is not None
    with tempfile.TemporaryDirectory(prefix="skilld-") as folder:
        paths = [Path(folder) / name for name in ("current", "base", "other")]
        for path, data in zip(paths, (current, base, other), strict=True):
            path.write_bytes(data)
        return git.call("merge-file", "-p", "-q", *map(str, paths)).status == 0
