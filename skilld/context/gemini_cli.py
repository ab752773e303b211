"""What Gemini CLI and Qwen Code load, measured with 0.61.0 and 0.24.4."""

from __future__ import annotations

from posixpath import dirname, join

from skilld.context import markup
from skilld.context.gather import Resolution, Where, at, strings, target
from skilld.context.markup import Imports, follow
from skilld.context.values import LoadedFile, Scope, within

NEWEST = "0.61.0"
QWEN_NEWEST = "0.24.4"
_MAX_HOPS = 5


def resolve(where: Where) -> Resolution:
    """Return what Gemini CLI loads, first to last."""
    found = Resolution(where)
    settings = _settings(where, ".gemini")
    names = list(dict.fromkeys([*strings(at(settings, "context", "fileName")), "GEMINI.md"]))
    for name in names:
        _take(found, join(where.own, name), Scope.PERSONAL)
    for folder in where.up(where.root or where.project)[::-1]:
        for name in names:
            _take(found, join(folder, name), Scope.PROJECT)
    more = at(settings, "context", "loadMemoryFromIncludeDirectories") is True
    for given in strings(at(settings, "context", "includeDirectories")) if more else ():
        for name in names:
            _take(found, join(target(given, where.project, where.home), name), Scope.PROJECT)
    for folder in where.nested(*names):
        for name in names:
            _take(found, join(folder, name), Scope.NESTED, folder)
    short = at(where.json(join(where.own, "projects.json")), "projects", where.root or where.project)
    if isinstance(short, str):
        found.add(join(where.own, "tmp", short, "memory/MEMORY.md"), Scope.MEMORY)
    return found


def resolve_qwen(where: Where) -> Resolution:
    """Return what Qwen Code loads, first to last."""
    found = Resolution(where)
    settings = _settings(where, ".qwen")
    names = strings(at(settings, "context", "fileName")) or ["QWEN.md", "AGENTS.md"]
    folders = where.up(dirname(where.root) if where.root else "/")[::-1]  # one above the root of the repository
    for name in names:
        _take(found, join(where.own, name), Scope.PERSONAL, links=True)
        for folder in folders:
            _take(found, join(folder, name), Scope.PROJECT, links=True)
    slug = "".join(letter if letter.isalnum() else "-" for letter in where.root or where.project)
    found.add(join(where.own, "projects", slug, "memory/MEMORY.md"), Scope.MEMORY)
    return found


def _settings(where: Where, folder: str) -> dict[str, object]:
    own, project = (where.json(join(home, "settings.json")) for home in (where.own, join(where.project, folder)))
    mine, theirs = own.get("context"), project.get("context")
    both = {"context": mine | theirs} if isinstance(mine, dict) and isinstance(theirs, dict) else {}
    return own | project | both


def _take(found: Resolution, path: str, scope: Scope, folder: str = "", *, links: bool = False) -> None:
    where = found.where

    def refuses(file: LoadedFile, path: str, real: str) -> str:
        top = dirname(file.path) if file.scope is Scope.PERSONAL else where.root or where.project
        inside = within(path, top) and (links or within(real, where.files.real(top)))
        return "" if inside else "is not loaded because it is outside the allowed folders"

    file = found.add(path, scope, folder=folder)
    if file:
        follow(found, file, Imports(_MAX_HOPS, refuses, markup.BARE))
