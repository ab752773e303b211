"""What Pi loads, measured with 0.73.1."""

from __future__ import annotations

from posixpath import join

from skilld.context.resolution import Resolution, Workspace
from skilld.context.values import Kind, Scope

NEWEST = "0.73.1"


def resolve(where: Workspace) -> Resolution:
    """Return what is loaded, in order."""
    found = Resolution(where)
    for name in ("SYSTEM.md", "APPEND_SYSTEM.md"):
        mine, theirs = join(where.own, name), join(where.project, ".pi", name)
        taken = found.add(theirs, Scope.PROJECT) or found.add(mine, Scope.PERSONAL)
        if taken and name == "SYSTEM.md":
            found.add_surprise(Kind.HIDDEN, taken.path, "it replaces Pi's entire system prompt")
        if taken and taken.path == theirs and found.has_content(mine):
            found.add_surprise(Kind.HIDDEN, mine, "the project's file is read instead", by=theirs)
    found.add_first(where.own, ("AGENTS.md", "CLAUDE.md"), Scope.PERSONAL)
    for folder in where.folders_up()[::-1]:
        taken = found.add_first(folder, ("AGENTS.md", "CLAUDE.md"), Scope.PROJECT)
        other = join(folder, "CLAUDE.md")
        if taken and taken.path != other and found.has_content(other):
            found.add_surprise(Kind.HIDDEN, other, "only one file per folder is read", by=taken.path)
    return found
