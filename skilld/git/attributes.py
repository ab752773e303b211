"""Whether a .gitattributes file gives a path a filter, so that the stored bytes are not those of the file (LFS).

`git check-attr` runs the repository's fsmonitor (measured, git 2.39), so the files are parsed here. Format:
gitattributes(5). Doubtful cases count as filtered: the answer decides only whether we stay away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from skilld.git.errors import RepoRefusedError

_LIMIT = 1 << 20


def filtered(toplevel: Path, common_dir: Path, relpath: str, personal: Path) -> bool:
    """Whether the attribute `filter` is set on the file.

    `personal` is the person's own attributes file; then count those of the folders from the top of the work tree down
    to the file's, and last `info/attributes`. The last match decides.
    """
    folders = relpath.split("/")[:-1]
    sources = [(personal, "")]
    sources += [
        (toplevel.joinpath(*folders[:count], ".gitattributes"), "/".join(folders[:count]))
        for count in range(len(folders) + 1)
    ]
    sources.append((common_dir / "info" / "attributes", ""))
    state = False
    macros: set[str] = set()
    for path, folder in sources:
        below = relpath[len(folder) + 1 :] if folder else relpath
        state = _judge(_lines(path), below, state, macros)
    return state


def _judge(lines: Iterable[str], relpath: str, state: bool, macros: set[str]) -> bool:  # noqa: FBT001 - a fold's value
    for line in lines:
        pattern, *attributes = line.split()
        if pattern.startswith("[attr]"):
            if any(name.startswith("filter=") or name == "filter" for name in attributes):
                macros.add(pattern.removeprefix("[attr]"))
        elif _matches(pattern.strip('"'), relpath):
            for attribute in attributes:
                state = _after(attribute, state, macros)
    return state


def _after(attribute: str, state: bool, macros: set[str]) -> bool:  # noqa: FBT001 - a fold's value
    if attribute in {"-filter", "!filter"}:
        return False
    return state or attribute == "filter" or attribute.startswith("filter=") or attribute in macros


def _matches(pattern: str, relpath: str) -> bool:
    target = relpath if "/" in pattern else relpath.rpartition("/")[2]
    try:
        return re.fullmatch(_expression(pattern.removeprefix("/")), target, re.IGNORECASE) is not None
    except re.error:  # a character class that only git understands
        return True


def _expression(pattern: str) -> str:
    """Return the regular expression of a gitattributes pattern; `*` and `?` stay within one folder."""
    out, i = "", 0
    while i < len(pattern):
        if pattern.startswith("**/", i):
            out, i = out + "(?:.*/)?", i + 3
        elif pattern.startswith("**", i):
            out, i = out + ".*", i + 2
        elif pattern[i] == "*":
            out, i = out + "[^/]*", i + 1
        elif pattern[i] == "?":
            out, i = out + "[^/]", i + 1
        elif pattern[i] == "[" and "]" in pattern[i + 2 :]:
            end = pattern.index("]", i + 2)
            body = pattern[i + 1 : end].replace("\\", r"\\")
            out, i = out + "[" + ("^" + body[1:] if body[0] in "!^" else body) + "]", end + 1
        else:
            out, i = out + re.escape(pattern[i]), i + 1
    return out


def _lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            text = file.read(_LIMIT).decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return []
    except OSError as error:
        raise RepoRefusedError("The repository's attributes are unknown", f"{path}: {error.strerror}") from error
    return [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
