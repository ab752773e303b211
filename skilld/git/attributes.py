"""Whether git stores other bytes than a file has: an attribute filters it (LFS, git-crypt), or it is a pointer of LFS.

`git check-attr` runs the repository's fsmonitor (measured, git 2.39), so the files are parsed here. Format:
gitattributes(5). Doubtful cases count as filtered: then we leave the file alone.
"""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from skilld.files import read_regular, read_start
from skilld.git.errors import RepoRefusedError
from skilld.git.state import git_dirs
from skilld.git.top import find_top

_MAX_BYTES = 1 << 20
_MAX_PATTERN_LENGTH = 2048  # git ignores longer lines since 2.39.1
_MAX_CLASSES = 8  # in one pattern
_MAX_LINES = 20_000  # that set or unset `filter`: 2 s
_MAX_DEPTH = 100  # folders between the top of the work tree and the file

_BLANK_PATTERN = re.compile(r"[ \t\r]+")
_POINTER_PATTERN = re.compile(rb"version https://(?:git-lfs|hawser)\.github\.com/spec/")  # git-lfs/docs/spec.md


def storage_refusal(path: Path, name: str = "") -> str:
    """Return why the file at a real path is left alone, as a clause: git stores another text; empty if it does not.

    Runs no git. An attributes file that only git's settings name is missed here; `repo.find_tracked` reads it.
    """
    name = name or path.name
    try:
        if is_pointer(read_start(path, 64)):
            return f"{name} is a Git LFS pointer, not the text itself"
        top = find_top(path.parent)
        filtered = top is not None and is_filtered(
            top, git_dirs(top / ".git")[1], path.relative_to(top).as_posix(), personal_attributes("")
        )
    except (OSError, ValueError, RepoRefusedError):  # unreadable: whoever reads it for good says so
        return ""
    return f"a git filter changes {name} when git stores it" if filtered else ""


def is_pointer(data: bytes) -> bool:
    """Whether a file is what Git LFS leaves in place of one that it has not fetched."""
    return _POINTER_PATTERN.match(data) is not None


def personal_attributes(configured: str) -> Path:
    """Return the person's own attributes file: the one that they `configured`, if any, else git's default."""
    base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(configured).expanduser() if configured else Path(base).expanduser() / "git" / "attributes"


def is_filtered(toplevel: Path, common_dir: Path, relpath: str, personal: Path) -> bool:
    """Whether the attribute `filter` is set on the file.

    The sources are the person's own attributes file `personal`, then those of the folders from the top of the work tree
    down to the file's, and finally `info/attributes`. The last match decides. Raises RepoRefusedError if one of them
    cannot be read.
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
    rows = [
        (_BLANK_PATTERN.split(line), _as_bytes(relpath[len(folder) + 1 :] if folder else relpath))
        for path, folder in sources
        for line in _read_lines(path)
    ]
    macros = _filtering_macros([words for words, _ in rows if words[0].startswith("[attr]")])
    state = False
    looked_at = 0
    for (pattern, *attributes), below in rows:
        after = state
        for attribute in attributes:
            after = _apply_attribute(attribute, after, macros)
        if after == state or pattern.startswith("[attr]"):
            continue
        looked_at += 1
        if looked_at > _MAX_LINES:
            return True
        if _matches(pattern, below, sets=after):
            state = after
    return state


def _as_bytes(path: str) -> str:
    """Return a path with one letter for each byte, as git matches it."""
    return os.fsencode(path).decode("latin-1")


def _filtering_macros(definitions: Iterable[list[str]]) -> set[str]:
    """Return the macros that set `filter`, also through other macros, in any order."""
    users: dict[str, set[str]] = defaultdict(set)
    for name, *attributes in definitions:
        for attribute in attributes:
            users["filter" if attribute.startswith("filter=") else attribute].add(name.removeprefix("[attr]"))
    found: set[str] = set()
    waiting = ["filter"]
    while waiting:
        new = users[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def _apply_attribute(attribute: str, state: bool, macros: set[str]) -> bool:  # noqa: FBT001 - a fold's value
    if attribute in {"-filter", "!filter"}:
        return False
    return state or attribute == "filter" or attribute.startswith("filter=") or attribute in macros


# A token is one of: any folders, the rest of the path, any letters within a folder, a class, or one letter.
_OTHER_TOKENS = r"|\*|\[[!^]?\]?[^\]]*\]|\\.|."
_TOKEN_PATTERN = re.compile(r"(?<=/)\*\*/|(?<=/)\*\*$" + _OTHER_TOKENS, re.DOTALL)
# What two stars mean after letters depends on how git splits the pattern: in doubt, anything.
_LOOSE_TOKEN_PATTERN = re.compile(r"(?<=/)\*\*/|\*\*+/?" + _OTHER_TOKENS, re.DOTALL)
_FOLDERS, _REST, _STAR = "**/", "**", "*"


def _matches(pattern: str, relpath: str, *, sets: bool) -> bool:
    """Whether a gitattributes pattern matches the path; `*` and `?` stay within one folder.

    `sets` is the answer in doubt: what sets `filter` also matches in another case (`core.ignoreCase`), what unsets it
    does not. Follows all alternatives at once, as bits of a number: a regular expression with many stars would take
    forever.
    """
    if len(pattern) > _MAX_PATTERN_LENGTH or pattern.startswith(('"', "!")):
        return sets
    target = "/" + (relpath if "/" in pattern else relpath.rpartition("/")[2])
    pattern = "/" + pattern.removeprefix("/")
    tokens = [*(_LOOSE_TOKEN_PATTERN if sets else _TOKEN_PATTERN).finditer(pattern)]
    places: dict[str, int] = defaultdict(int)
    for i, token in enumerate(tokens):
        loose = sets and token[0].startswith(_REST) and (token[0] != _FOLDERS or pattern[token.start() - 1] != "/")
        places[_REST if loose else token[0]] |= 1 << i
    classes = [token for token in places if token.startswith("[")]
    if len(classes) > _MAX_CLASSES or not all(map(_compile_class, classes)):
        return sets
    letters = [(one, one.swapcase()) if sets else (one,) for one in target]
    return _follow(places, classes, letters) >> len(tokens) & 1 == 1


def _follow(places: Mapping[str, int], classes: Iterable[str], target: Iterable[tuple[str, ...]]) -> int:
    """Return the places in a pattern, as bits, that are reached after the target, of which each letter may be several.

    `places` are those of each token.
    """
    folders, rest, star = (places.get(kind, 0) for kind in (_FOLDERS, _REST, _STAR))
    at, before = _skip(1, folders | rest | star), "/"
    for letters in target:
        hit, stay = 0, folders | rest
        for letter in letters:
            hit |= places.get(letter, 0) | places.get(f"\\{letter}", 0)
        if letters[0] != "/":
            hit |= places.get("?", 0)
            stay |= star
            for token in classes:
                pattern = _compile_class(token)
                # Git only makes a letter smaller before it asks a class with "!".
                tried = {letters[0], letters[-1].lower()} if len(letters) > 1 and token[1] in "!^" else letters
                hit |= places[token] if pattern and any(map(pattern.match, tried)) else 0
        at = (at & hit) << 1 | at & stay
        before = letters[0]
        at = _skip(at, rest | star | (folders if before == "/" else 0))
    return at


def _skip(at: int, optional: int) -> int:
    while (more := at | (at & optional) << 1) != at:
        at = more
    return at


@lru_cache(maxsize=4096)
def _compile_class(token: str) -> re.Pattern[str] | None:
    """Return a class of letters as a regex, None for a form that only git understands, or one that does not end."""
    body = token[1:-1]
    try:
        named = "[" in body or "\\" in body
        return None if named else re.compile("[" + ("^" + body[1:] if body[:1] in "!^" else body) + "]")
    except re.error:
        return None


def _read_lines(path: Path) -> list[str]:
    if path.is_dir() or str(path) == os.devnull:
        return []
    try:
        text = read_regular(path, _MAX_BYTES)[0].removeprefix(BOM_UTF8).decode("latin-1")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise RepoRefusedError("Cannot read the repository's attributes", f"{path}: {why}") from error
    lines = (line.strip(" \t\r") for line in text.split("\n"))
    return [line for line in lines if line and not line.startswith("#")]
