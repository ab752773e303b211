"""What the remaining agents load, according to their documentation; not measured with their clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from posixpath import join

from skilld.context import markup
from skilld.context.gather import Resolution, Where, files_below
from skilld.context.values import Scope

_PERSONAL: Mapping[str, str] = {
    "antigravity": ".gemini/config/AGENTS.md",
    "droid": ".factory/AGENTS.md",
    "mistral-vibe": ".vibe/AGENTS.md",
}
_ALWAYS = {"cline": ".clinerules", "kiro": ".kiro/steering"}  # folders of which each file is loaded
_CURSOR_RULES = frozenset({"cursor", "grok-build"})


def resolve(agent: str, names: Sequence[str], where: Where) -> Resolution:
    """Return what is loaded: files of these `names` at the root of the repository and in the working folder."""
    found = Resolution(where)
    if agent in _PERSONAL:
        found.add(join(where.home, _PERSONAL[agent]), Scope.PERSONAL)
    for folder in dict.fromkeys([where.root or where.project, where.project]):
        for name in names:
            found.add(join(folder, name), Scope.PROJECT)
        for path in files_below(where.files, join(folder, _ALWAYS[agent]), ".md") if agent in _ALWAYS else ():
            found.add(path, Scope.PROJECT)
        for path in files_below(where.files, join(folder, ".cursor/rules"), ".mdc") if agent in _CURSOR_RULES else ():
            there = where.files.read(path)
            keys = markup.front_entries((markup.split_front(there.text)[0] if there else None) or ())
            patterns = (markup.listed(keys["globs"]) or ()) if "globs" in keys else ()
            found.add(path, Scope.RULE, folder=folder if patterns else "", paths=patterns)
    return found
