"""What Gemini CLI and Qwen Code load, measured with 0.61.0 and 0.24.4."""

from __future__ import annotations

from posixpath import dirname, join

from skilld.context import markup
from skilld.context.claude_code import visible_segments
from skilld.context.markup import ImportRules, add_imports
from skilld.context.resolution import Resolution, Workspace, files_below, resolve_path, string_list, value_at
from skilld.context.values import Kind, LoadedFile, Scope, within

NEWEST = "0.61.0"
QWEN_NEWEST = "0.24.4"
_QWEN_LOCAL_SINCE = (0, 21, 2)  # not in 0.15.10
_MAX_HOPS = 5


def resolve(where: Workspace) -> Resolution:
    """Return what Gemini CLI loads, in order."""
    found = Resolution(where)
    settings = _settings(where, ".gemini")
    names = list(dict.fromkeys([*string_list(value_at(settings, "context", "fileName")), "GEMINI.md"]))
    for name in names:
        _add_file(found, join(where.own, name), Scope.PERSONAL)
    for folder in where.folders_up(where.root or where.project)[::-1]:
        for name in names:
            _add_file(found, join(folder, name), Scope.PROJECT)
    more = value_at(settings, "context", "loadMemoryFromIncludeDirectories") is True
    for given in string_list(value_at(settings, "context", "includeDirectories")) if more else ():
        for name in names:
            _add_file(found, join(resolve_path(given, where.project, where.home), name), Scope.PROJECT)
    for folder in where.nested(*names):
        for name in names:
            _add_file(found, join(folder, name), Scope.NESTED, folder)
    short = value_at(where.json(join(where.own, "projects.json")), "projects", where.root or where.project)
    if isinstance(short, str):
        found.add(join(where.own, "tmp", short, "memory/MEMORY.md"), Scope.MEMORY)
    return found


def resolve_qwen(where: Workspace) -> Resolution:
    """Return what Qwen Code loads, in order."""
    found = Resolution(where)
    settings = _settings(where, ".qwen")
    names = string_list(value_at(settings, "context", "fileName")) or ["QWEN.md", "AGENTS.md"]
    # Up to the parent of the repository's root.
    folders = where.folders_up(dirname(where.root) if where.root else "/")[::-1]
    for name in names:
        _add_file(found, join(where.own, name), Scope.PERSONAL, links=True)
        for folder in folders:
            _add_file(found, join(folder, name), Scope.PROJECT, links=True)
    if where.root and not (where.version and where.version < _QWEN_LOCAL_SINCE):
        _add_file(found, join(where.root, ".qwen/QWEN.local.md"), Scope.LOCAL, links=True)
    for top in (where.own, join(where.root or where.project, ".qwen")):
        _add_qwen_rules(found, join(top, "rules"))
    slug = "".join(letter if letter.isalnum() else "-" for letter in where.root or where.project)
    found.add(join(where.own, "projects", slug, "memory/MEMORY.md"), Scope.MEMORY)
    return found


def _settings(where: Workspace, folder: str) -> dict[str, object]:
    own, project = (where.json(join(home, "settings.json")) for home in (where.own, join(where.project, folder)))
    mine, theirs = own.get("context"), project.get("context")
    both = {"context": mine | theirs} if isinstance(mine, dict) and isinstance(theirs, dict) else {}
    return own | project | both


def _add_file(found: Resolution, path: str, scope: Scope, folder: str = "", *, links: bool = False) -> None:
    where = found.where

    def refusal(file: LoadedFile, path: str, real: str) -> str | None:
        top = dirname(file.path) if file.scope is Scope.PERSONAL else where.root or where.project
        inside = within(path, top) and (links or within(real, where.files.real(top)))
        return None if inside else "is not loaded because it is outside the allowed folders"

    file = found.add(path, scope, folder=folder)
    if file:
        add_imports(found, file, ImportRules(_MAX_HOPS, refusal, markup.BARE_SYNTAX))


def _add_qwen_rules(found: Resolution, folder: str) -> None:
    """Add the rules below a folder; those with patterns are loaded once a file of the project matches one."""
    where = found.where
    for path in files_below(where.files, folder, ".md"):
        if where.files.real(path) != where.files.real(folder) + path.removeprefix(folder):
            continue  # it does not follow links
        patterns = _qwen_patterns(where.text(path))
        if patterns is None:
            why = "no file can match its `paths`, which must be a YAML list of patterns, so the file is never loaded"
            found.add_surprise(Kind.NEVER, path, why)
            continue
        base = (where.root or where.project) if patterns else ""
        found.add(path, Scope.RULE, view=visible_segments, folder=base, paths=patterns)


def _qwen_patterns(text: str) -> list[str] | None:
    """Return the patterns of a rule, relative to the project's root; None if no file can match them."""
    front = markup.front_entries(text)
    listed = markup.list_values(front, "paths")
    if listed is None or (len(listed) > 1 and front["paths"][1][:1] not in {"", "["}):  # a plain string is one pattern
        return None
    names = [pattern.removeprefix("./") for pattern in listed if not pattern.endswith("/")]
    if listed and not names:
        return None
    return [name if "/" in name or name == "**" else f"/{name}" for name in names]
