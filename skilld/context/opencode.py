"""What opencode loads, measured with 1.18.33."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname, join

from skilld.context.gather import Resolution, Where, files_below, strings, target
from skilld.context.patterns import is_whole
from skilld.context.values import Kind, Scope

NEWEST = "1.18.33"
_MAX_DEPTH = 8
_SETTINGS = ("opencode.json", "opencode.jsonc")


def resolve(where: Where) -> Resolution:
    """Return what is loaded, first to last."""
    found = Resolution(where)
    environment = where.environment
    claude = environment.get("OPENCODE_DISABLE_CLAUDE_CODE") != "1"
    names = ("AGENTS.md", *(("CLAUDE.md",) if claude else ()), "CONTEXT.md")
    personal = [join(where.own, "AGENTS.md"), *([join(where.home, ".claude/CLAUDE.md")] if claude else [])]
    there = [path for path in personal if where.files.read(path) is not None]
    if there:
        found.add(there[0], Scope.PERSONAL)
    for path in there[1:]:
        found.tell(Kind.HIDDEN, path, "it is used only if there is no personal AGENTS.md", by=there[0])
    if environment.get("OPENCODE_DISABLE_PROJECT_CONFIG") != "1":
        _project(found, names)
    _named(found)
    if environment.get("OPENCODE_DISABLE_PROJECT_CONFIG") != "1":
        for folder in where.nested(*names[:-1]):
            found.first(folder, names[:-1], Scope.NESTED, nested=True)
    return found


def _project(found: Resolution, names: tuple[str, ...]) -> None:
    """Take the first name that any folder of the way has: it hides the others in all of them."""
    where = found.where
    folders = where.up(where.root or "/")
    chosen = ""
    for name in names:
        paths = [join(folder, name) for folder in folders if where.files.read(join(folder, name)) is not None]
        for path in paths:
            if not chosen:
                found.add(path, Scope.PROJECT)
            elif found.is_there(path):
                found.tell(
                    Kind.HIDDEN,
                    path,
                    "opencode found a file with another name first, and reads only files with that name",
                    by=chosen,
                )
        chosen = chosen or next(iter(paths), "")


def _named(found: Resolution) -> None:
    """Take the files that settings name, the person's and the project's."""
    where = found.where
    for folder in (where.own, *where.up(where.root or "/")[::-1]):
        for name in _SETTINGS:
            for pattern in strings(where.json(join(folder, name)).get("instructions")):
                base = where.project if folder == where.own else folder
                for path in _expanded(where, target(pattern, base, where.home)):
                    found.add(path, Scope.PERSONAL if folder == where.own else Scope.PROJECT)


def _expanded(where: Where, pattern: str) -> Iterator[str]:
    if not set(pattern) & set("*?[{"):
        yield pattern
        return
    start = pattern[: min(pattern.index(letter) for letter in "*?[{" if letter in pattern)]
    top = dirname(start)
    for path in files_below(where.files, top, "", pattern.count("/") if "**" not in pattern else _MAX_DEPTH):
        if is_whole(pattern, path):
            yield path
