"""What Copilot CLI loads, measured with 1.0.102."""

from __future__ import annotations

from posixpath import join

from skilld.context import markup
from skilld.context.gather import Resolution, Where, files_below
from skilld.context.markup import Imports, follow
from skilld.context.values import Kind, LoadedFile, Scope, within

NEWEST = "1.0.102"
_MAX_HOPS = 64
_NAMES = (".github/copilot-instructions.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md")
_BETWEEN = ".claude/CLAUDE.md"  # read there and in nested folders, not at the root and not in the working folder
_RULES = ((".github/instructions", ".instructions.md"), (".claude/rules", ".md"))


def resolve(where: Where) -> Resolution:
    """Return what is loaded, first to last."""
    found = Resolution(where)
    found.add(join(where.own, "copilot-instructions.md"), Scope.PERSONAL)
    ends = _on_the_way(found)
    _rules(found, join(where.own, "instructions"), ".instructions.md")
    for folder in ends:
        for below, suffix in _RULES:
            _rules(found, join(folder, below), suffix)
    for folder in where.environment.get("COPILOT_CUSTOM_INSTRUCTIONS_DIRS", "").split(","):
        if folder.strip():
            _rules(found, folder.strip(), ".instructions.md")
    for folder in where.nested("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github", ".claude"):
        for name in (*_NAMES, _BETWEEN):
            _take(found, join(folder, name), Scope.NESTED, folder)
        for below, suffix in _RULES:
            _rules(found, join(folder, below), suffix, folder)
    return found


def _on_the_way(found: Resolution) -> list[str]:
    """Take what the root and the working folder hold, then the folders between them; return those two."""
    ways = found.where.up(found.where.root or found.where.project)
    ends = list(dict.fromkeys([ways[-1], ways[0]]))
    for names in (_NAMES[:1], _NAMES[1:]):
        for folder in ends:
            for name in names:
                _take(found, join(folder, name), Scope.PROJECT)
    for folder in ways[-2:0:-1]:
        for name in (*_NAMES[:3], _BETWEEN, *_NAMES[3:]):
            _take(found, join(folder, name), Scope.PROJECT)
    return ends


def _take(found: Resolution, path: str, scope: Scope, folder: str = "", paths: tuple[str, ...] = ()) -> None:
    where = found.where

    def refuses(_: LoadedFile, path: str, real: str) -> str:
        top = where.root or where.project
        return "" if within(path, top) and within(real, top) else "is not loaded because it is outside the project"

    file = found.add(path, scope, folder=folder, paths=paths)
    if file:
        follow(found, file, Imports(_MAX_HOPS, refuses, markup.BRACKETED))


def _rules(found: Resolution, folder: str, suffix: str, base: str = "") -> None:
    """Take the rules below a folder; those without patterns once something below `base` was touched."""
    for path in files_below(found.where.files, folder, suffix):
        there = found.where.files.read(path)
        keys = markup.front_entries((markup.split_front(there.text)[0] if there else None) or ())
        key = next((key for key in ("applyTo", "paths") if key in keys), "")
        listed = markup.listed(keys[key]) if key else []
        if "globs" in keys and not key:
            found.tell(Kind.IGNORED, path, "`globs:` has no effect here, so the file is always loaded; use `applyTo:`")
        if listed is None:
            found.tell(Kind.NEVER, path, f"its `{key}` cannot be parsed, so the file is never loaded")
            continue
        always = not listed or listed in (["**"], ["**/*"])
        # What a `!` or a slash at the end means to others is lost on it.
        patterns = [pattern.removeprefix("./") for pattern in listed if pattern[0] != "!" and pattern[-1] != "/"]
        if always or patterns:
            paths = () if always else tuple(patterns)
            top = found.where.root or found.where.project  # of patterns, wherever the rule lies
            _take(found, path, Scope.RULE, top if paths else base, paths)
