"""Shared by resolvers: where they look, what they have found, and how they walk through a project."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import dirname, join, normpath
from typing import Any

from skilld.context.disk import Disk, FileText
from skilld.context.patterns import matches
from skilld.context.values import Kind, LoadedFile, LoadTime, Scope, Segment, Surprise, plain_segments, within
from skilld.values import value_class

_MAX_FOLDERS = 1000  # of rules or skills below one folder
_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?')
_LAST_COMMA = re.compile(r",(\s*[}\]])")
View = Callable[[str], Sequence[Segment]]


@value_class
class Workspace:
    """Where an agent works: its working folder, the home, the agent's own folder, and touched files (absolute paths).

    `root` is the working folder or the nearest one above it that contains `.git`, empty if none does. `untouched` says
    whether nested folders count in which nothing was touched.
    """

    files: Disk
    project: str
    home: str
    own: str
    version: tuple[int, ...]
    environment: Mapping[str, str]
    touched: tuple[str, ...] = ()
    root: str = ""
    untouched: bool = True

    def folders_up(self, last: str = "/") -> list[str]:
        """Return the working folder and those above it, up to `last`."""
        return folders_up(self.project, last)

    def nested(self, *names: str) -> list[str]:
        """Return the folders below the working folder that contain one of `names`, outer ones first."""
        found = dict.fromkeys(self.files.below(self.project, frozenset(names)) if self.untouched else ())
        for path in self.touched:
            found |= dict.fromkeys(folders_up(dirname(path), self.project)[:-1] if within(path, self.project) else ())
        return sorted(found, key=lambda folder: folder.count("/"))

    def touches(self, folder: str) -> bool:
        """Whether a file below a folder was touched."""
        return any(within(path, folder) for path in self.touched)

    def touches_match(self, patterns: Sequence[str], base: str) -> bool:
        """Whether a touched file below `base` matches patterns, which are relative to it."""
        below = (path[len(base.rstrip("/")) + 1 :] for path in self.touched if within(path, base))
        return any(matches(patterns, path) for path in below)

    def main_checkout(self) -> str:
        """Return the main checkout that contains this linked work tree, "" if it is not one."""
        git = self.files.read(join(self.root, ".git")) if self.root else None
        path = git.text.removeprefix("gitdir:").strip().partition("/.git/worktrees/")[0] if git else ""
        main = resolve_path(path, self.root, "") if path else ""
        return main if main and within(self.root, main) else ""

    def text(self, path: str) -> str:
        """Return the text of a file; empty if it cannot be read."""
        there = self.files.read(path)
        return there.text if there else ""

    def json(self, path: str) -> dict[str, Any]:
        """Return the JSON object in a file, which may contain comments; empty if it is not one."""
        return json_object(self.text(path))

    def toml(self, path: str) -> dict[str, Any]:
        """Return the contents of a TOML file; empty if it is not one."""
        try:
            return tomllib.loads(self.text(path))
        except (tomllib.TOMLDecodeError, RecursionError):
            return {}


@dataclass(slots=True)
class Resolution:
    """What a resolver has found so far, in load order, each file once."""

    where: Workspace
    files: list[LoadedFile] = field(default_factory=list)
    surprises: list[Surprise] = field(default_factory=list)
    real_paths: set[str] = field(default_factory=set)
    imports: int = 0  # how many were looked up

    def add(
        self,
        path: str,
        scope: Scope,
        *,
        view: View = plain_segments,
        folder: str = "",
        paths: Sequence[str] = (),
        via: str = "",
    ) -> LoadedFile | None:
        """Add a file unless it is missing, empty or already there.

        With a `folder` it is loaded once something below that is touched, with `paths` once something matches them.
        """
        found = self.where.files.read(path)
        if found is None or found.real in self.real_paths:
            return None
        segments = tuple(view(found.text))
        if not segments:
            return None
        self.real_paths.add(found.real)
        base = folder or dirname(path)
        entered = self.where.touches_match(paths, base) if paths else not folder or self.where.touches(folder)
        loaded = LoadTime.ON_USE if folder or paths else LoadTime.START
        file = LoadedFile(path, found.real, loaded, scope, via, tuple(paths), base, segments, entered)
        self.files.append(file)
        return file

    def add_first(self, folder: str, names: Sequence[str], scope: Scope, *, nested: bool = False) -> LoadedFile | None:
        """Add the first of `names` that exists in a folder, even if it is an empty file."""
        name = next((name for name in names if self.where.files.read(join(folder, name)) is not None), None)
        return self.add(join(folder, name), scope, folder=folder if nested else "") if name else None

    def add_surprise(self, kind: Kind, path: str, why: str, *, line: int = 0, by: str = "") -> None:
        """Add a surprise."""
        self.surprises.append(Surprise(kind, path, why, line, by))

    def has_content(self, path: str) -> bool:
        """Whether a file exists and is not blank."""
        found: FileText | None = self.where.files.read(path)
        return found is not None and bool(found.text.strip())


def folders_up(folder: str, last: str = "/") -> list[str]:
    """Return a folder and those above it, up to `last`."""
    found = [folder]
    while folder not in {last, "/", ""}:
        folder = dirname(folder)
        found.append(folder)
    return found


def resolve_path(name: str, folder: str, home: str) -> str:
    """Return the path that a reference in a file in `folder` points to."""
    return normpath(join(folder, join(home, name[2:]) if name.startswith("~/") else name))


def json_object(text: str) -> dict[str, Any]:
    """Return a JSON object, which may contain comments; empty if it is not one."""
    bare = _LAST_COMMA.sub(r"\1", _COMMENT.sub(lambda found: found[1] or " ", text))
    for given in (text, bare):
        try:
            value = json.loads(given)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict) else {}
    return {}


def value_at(value: object, *keys: str) -> object:
    """Return the value below keys in nested objects; None if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def string_list(value: object) -> list[str]:
    """Return the strings in a list; a string counts as a list of one."""
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def files_below(files: Disk, folder: str, suffix: str, depth: int = 16) -> Iterator[str]:
    """Yield the files below a folder whose names end with `suffix`, in the order of the disk.

    Links are followed, as clients do, but each folder is listed once, and not too many: a repository may link to `/`.
    """
    yield from _files_below(files, folder, suffix, depth, set())


def _files_below(files: Disk, folder: str, suffix: str, depth: int, listed: set[str]) -> Iterator[str]:
    real = files.real(folder)
    if not depth or real in listed or len(listed) >= _MAX_FOLDERS:
        return
    listed.add(real)
    for name, is_folder in files.names(folder).items():
        path = join(folder, name)
        if is_folder:
            yield from _files_below(files, path, suffix, depth - 1, listed)
        elif name.endswith(suffix):
            yield path
