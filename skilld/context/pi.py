"""What Pi loads, measured with 0.73.1."""

from __future__ import annotations

from posixpath import join

from skilld.context.gather import Resolution, Where
from skilld.context.values import Kind, Scope

NEWEST = "0.73.1"


def resolve(where: Where) -> Resolution:
    """Return what is loaded, first to last."""
    found = Resolution(where)
    for name in ("SYSTEM.md", "APPEND_SYSTEM.md"):
        mine, theirs = join(where.own, name), join(where.project, ".pi", name)
        taken = found.add(theirs, Scope.PROJECT) or found.add(mine, Scope.PERSONAL)
        if taken and name == "SYSTEM.md":
            found.tell(Kind.HIDDEN, taken.path, "it replaces Pi's entire system prompt")
        if taken and taken.path == theirs and found.is_there(mine):
            found.tell(Kind.HIDDEN, mine, "the project's file is read instead", by=theirs)
    found.first(where.own, ("AGENTS.md", "CLAUDE.md"), Scope.PERSONAL)
    for folder in where.up()[::-1]:
        taken = found.first(folder, ("AGENTS.md", "CLAUDE.md"), Scope.PROJECT)
        other = join(folder, "CLAUDE.md")
        if taken and taken.path != other and found.is_there(other):
            found.tell(Kind.HIDDEN, other, "only one file per folder is read", by=taken.path)
    return found
