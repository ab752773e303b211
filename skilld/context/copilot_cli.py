"""What Copilot CLI loads, measured with 1.0.102."""

from __future__ import annotations

from posixpath import basename, join

from skilld.context import markup
from skilld.context.markup import ImportRules, add_imports
from skilld.context.resolution import Resolution, Workspace, files_below
from skilld.context.values import Kind, LoadedFile, Scope, within

NEWEST = "1.0.102"
_MAX_HOPS = 64
_NAMES = (".github/copilot-instructions.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md")
_INTERMEDIATE_NAME = ".claude/CLAUDE.md"  # read in folders between the root and the working folder, and in nested ones
_RULE_FOLDERS = ((".github/instructions", ".instructions.md"), (".claude/rules", ".md"))


def resolve(where: Workspace) -> Resolution:
    """Return what is loaded, in order."""
    found = Resolution(where)
    found.add(join(where.own, "copilot-instructions.md"), Scope.PERSONAL)
    ends = _add_project_files(found)
    _add_rules(found, join(where.own, "instructions"), ".instructions.md")
    for folder in ends:
        for below, suffix in _RULE_FOLDERS:
            _add_rules(found, join(folder, below), suffix)
    for folder in where.environment.get("COPILOT_CUSTOM_INSTRUCTIONS_DIRS", "").split(","):
        if folder.strip():
            _add_rules(found, folder.strip(), ".instructions.md")
    for folder in where.nested("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github", ".claude"):
        for name in (*_NAMES, _INTERMEDIATE_NAME):
            _add_file(found, join(folder, name), Scope.NESTED, folder)
        for below, suffix in _RULE_FOLDERS:
            _add_rules(found, join(folder, below), suffix, folder)
    return found


def _add_project_files(found: Resolution) -> list[str]:
    """Add the files of the root and the working folder, then of those between; return the first two."""
    ways = found.where.folders_up(found.where.root or found.where.project)
    ends = list(dict.fromkeys([ways[-1], ways[0]]))
    for names in (_NAMES[:1], _NAMES[1:]):
        for folder in ends:
            for name in names:
                _add_file(found, join(folder, name), Scope.PROJECT)
    for folder in ways[-2:0:-1]:
        for name in (*_NAMES[:3], _INTERMEDIATE_NAME, *_NAMES[3:]):
            _add_file(found, join(folder, name), Scope.PROJECT)
    return ends


def _add_file(found: Resolution, path: str, scope: Scope, folder: str = "", paths: tuple[str, ...] = ()) -> None:
    where = found.where

    def refusal(_: LoadedFile, path: str, real: str) -> str | None:
        top = where.root or where.project
        return None if within(path, top) and within(real, top) else "is not loaded because it is outside the project"

    file = found.add(path, scope, folder=folder, paths=paths)
    if file and basename(path) != "GEMINI.md":  # the only one whose imports it does not follow
        add_imports(found, file, ImportRules(_MAX_HOPS, refusal, markup.BRACKETED_SYNTAX))


def _add_rules(found: Resolution, folder: str, suffix: str, base: str = "") -> None:
    """Add the rules below a folder; those without patterns are loaded once something below `base` is touched."""
    for path in files_below(found.where.files, folder, suffix):
        keys = markup.front_entries(found.where.text(path))
        key = next((key for key in ("applyTo", "paths") if key in keys), "")
        listed = markup.list_values(keys, key)
        if "globs" in keys and not key:
            found.add_surprise(
                Kind.IGNORED, path, "`globs:` has no effect here, so the file is always loaded; use `applyTo:`"
            )
        if listed is None:
            found.add_surprise(Kind.NEVER, path, f"its `{key}` cannot be parsed, so the file is never loaded")
            continue
        always = not listed or listed in (["**"], ["**/*"])
        # It does not understand a leading `!` or a slash at the end.
        patterns = [pattern.removeprefix("./") for pattern in listed if pattern[0] != "!" and pattern[-1] != "/"]
        if always or patterns:
            paths = () if always else tuple(patterns)
            top = found.where.root or found.where.project  # patterns are relative to it, wherever the rule is
            _add_file(found, path, Scope.RULE, top if paths else base, paths)
