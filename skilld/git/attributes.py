"""Whether a .gitattributes file filters a path, so that the stored bytes differ from the file's (LFS).

`git check-attr` runs the repository's fsmonitor (measured, git 2.39), so the files are parsed here. Format:
gitattributes(5). Doubtful cases count as filtered: then we leave the file alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from skilld.git.errors import RepoRefusedError

_MAX_BYTES = 1 << 20
_MAX_DEPTH = 100  # folders between the top of the work tree and the file


def is_filtered(toplevel: Path, common_dir: Path, relpath: str, personal: Path) -> bool:
    """Whether the attribute `filter` is set on the file.

    The sources are the person's own attributes file `personal`, then those of the folders from the top of the work tree
    down to the file's, and finally `info/attributes`. The last match decides.
    """
    folders = relpath.split("/")[:-1]
    if len(folders) > _MAX_DEPTH:
        return True
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
        state = _apply_lines(_read_lines(path), below, state, macros)
    return state


def _apply_lines(lines: Iterable[str], relpath: str, state: bool, macros: set[str]) -> bool:  # noqa: FBT001 - a fold's value
    for line in lines:
        pattern, *attributes = line.split()
        if pattern.startswith("[attr]"):
            if any(name.startswith("filter=") or name == "filter" for name in attributes):
                macros.add(pattern.removeprefix("[attr]"))
        elif _matches(pattern.strip('"'), relpath):
            for attribute in attributes:
                state = _apply_attribute(attribute, state, macros)
    return state


def _apply_attribute(attribute: str, state: bool, macros: set[str]) -> bool:  # noqa: FBT001 - a fold's value
    if attribute in {"-filter", "!filter"}:
        return False
    return state or attribute == "filter" or attribute.startswith("filter=") or attribute in macros


_STAR, _DOUBLE_STAR, _ANY_FOLDERS = "*", "**", "**/"


def _matches(pattern: str, relpath: str) -> bool:
    """Whether a gitattributes pattern matches the path; `*` and `?` stay within one folder.

    Follows all alternatives at once, letter by letter: a regular expression with many stars would take forever.
    """
    target = relpath if "/" in pattern else relpath.rpartition("/")[2]
    try:
        parts = [
            part if part in (_STAR, _DOUBLE_STAR, _ANY_FOLDERS) else _compile_letter(part)
            for part in _split_pattern(pattern)
        ]
    except re.error:  # a character class that only git understands
        return True
    at, before = {0}, "/"
    for letter in [*target, ""]:
        for i, part in enumerate(parts):
            if i in at and isinstance(part, str) and (part != _ANY_FOLDERS or before == "/"):
                at.add(i + 1)
        if not letter:
            break
        stays = (_DOUBLE_STAR, _ANY_FOLDERS) if letter == "/" else (_DOUBLE_STAR, _ANY_FOLDERS, _STAR)
        there = [(i, parts[i]) for i in at if i < len(parts)]
        at = {i for i, part in there if part in stays}
        at |= {i + 1 for i, part in there if isinstance(part, re.Pattern) and part.fullmatch(letter)}
        before = letter
    return len(parts) in at


def _compile_letter(part: str) -> re.Pattern[str]:
    if part == "?":
        return re.compile("[^/]")
    if len(part) == 1:
        return re.compile(re.escape(part), re.IGNORECASE)
    body = part[1:-1].replace("\\", r"\\")
    return re.compile("[" + ("^" + body[1:] if body[0] in "!^" else body) + "]", re.IGNORECASE)


def _split_pattern(pattern: str) -> Iterator[str]:
    i = int(pattern.startswith("/"))
    while i < len(pattern):
        part = next((star for star in (_ANY_FOLDERS, _DOUBLE_STAR, _STAR) if pattern.startswith(star, i)), pattern[i])
        if part == "[" and (end := pattern.find("]", i + 2)) >= 0:
            part = pattern[i : end + 1]
        yield part
        i += len(part)


def _read_lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES).decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return []
    except OSError as error:
        raise RepoRefusedError("Cannot read the repository's attributes", f"{path}: {error.strerror}") from error
    return [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
