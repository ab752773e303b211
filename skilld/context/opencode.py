"""What opencode and Kilo Code, which is made from it, load, measured with 1.18.33 and 7.7.9."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from posixpath import dirname, join

from skilld.context.patterns import matches_path
from skilld.context.resolution import Resolution, Workspace, files_below, resolve_path, string_list
from skilld.context.values import Kind, Scope

NEWEST = "1.18.33"
KILO_NEWEST = "7.7.9"
_MAX_DEPTH = 8
_SETTINGS = ("opencode.json", "opencode.jsonc")


def resolve(where: Workspace) -> Resolution:
    """Return what opencode loads, in order."""
    found = Resolution(where)
    environment = where.environment
    claude = environment.get("OPENCODE_DISABLE_CLAUDE_CODE") != "1"
    names = ("AGENTS.md", *(("CLAUDE.md",) if claude else ()), "CONTEXT.md")
    personal = [join(where.own, "AGENTS.md"), *([join(where.home, ".claude/CLAUDE.md")] if claude else [])]
    there = [path for path in personal if where.files.read(path) is not None]
    if there:
        found.add(there[0], Scope.PERSONAL)
    for path in there[1:]:
        found.add_surprise(Kind.HIDDEN, path, "it is used only if there is no personal AGENTS.md", by=there[0])
    if environment.get("OPENCODE_DISABLE_PROJECT_CONFIG") != "1":
        _add_project_files(found, names)
    _add_named_files(found)
    if environment.get("OPENCODE_DISABLE_PROJECT_CONFIG") != "1":
        for folder in where.nested(*names[:-1]):
            found.add_first(folder, names[:-1], Scope.NESTED, nested=True)
    return found


def resolve_kilo(where: Workspace) -> Resolution:
    """Return what Kilo Code loads, in order; without a repository it looks into no folder above."""
    found = resolve(replace(where, root=where.root or where.project))
    for folder, scope in ((where.home, Scope.PERSONAL), (where.project, Scope.PROJECT)):
        for path in files_below(where.files, join(folder, ".kilo/rules"), ".md"):
            found.add(path, scope)
    return found


def _add_project_files(found: Resolution, names: tuple[str, ...]) -> None:
    """Add the files with the first name that any folder up to the root has: it hides the others in all of them."""
    where = found.where
    folders = where.folders_up(where.root or "/")
    chosen = ""
    for name in names:
        paths = [join(folder, name) for folder in folders if where.files.read(join(folder, name)) is not None]
        for path in paths:
            if not chosen:
                found.add(path, Scope.PROJECT)
            elif found.has_content(path):
                found.add_surprise(
                    Kind.HIDDEN,
                    path,
                    "opencode found a file with another name first, and reads only files with that name",
                    by=chosen,
                )
        chosen = chosen or next(iter(paths), "")


def _add_named_files(found: Resolution) -> None:
    """Add the files named in the person's and the project's settings.

    A relative name is looked up in the working folder and in each one above it, whichever settings have it.
    """
    where = found.where
    ways = where.folders_up(where.root or "/")
    for folder in (where.own, *ways[::-1]):
        for name in _SETTINGS:
            for pattern in string_list(where.json(join(folder, name)).get("instructions")):
                fixed = pattern.startswith(("/", "~/"))
                scope = Scope.PERSONAL if fixed and folder == where.own else Scope.PROJECT
                for base in ways[:1] if fixed else ways:
                    for path in _expand(where, resolve_path(pattern, base, where.home)):
                        found.add(path, scope)


def _expand(where: Workspace, pattern: str) -> Iterator[str]:
    if not set(pattern) & set("*?[{"):
        yield pattern
        return
    start = pattern[: min(pattern.index(letter) for letter in "*?[{" if letter in pattern)]
    top = dirname(start)
    for path in files_below(where.files, top, "", pattern.count("/") if "**" not in pattern else _MAX_DEPTH):
        if matches_path(pattern, path):
            yield path
