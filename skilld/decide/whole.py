"""A whole skill that comes or goes where git's own command would not do it, as when other work is staged.

All or nothing, as in `person`: the file and its entry in the index, the commit in the person's name, or as it was.
"""

from __future__ import annotations

from skilld.decide import files
from skilld.decide.person import Desk, commit_file, kept_as_object
from skilld.decide.values import Landed
from skilld.git import index, objects, tree
from skilld.git.objects import Ident


def commit_made(desk: Desk, data: bytes, message: bytes, author: Ident | None) -> Landed:
    """Make the skill's file and commit it alone. Raises RefusedError where that fails: it is gone again then."""
    git, relpath = desk.repo.git, desk.tracked.relpath
    files.make(desk.path, data)

    def take_away() -> list[str]:
        found = files.read(desk.path)
        index.stage(git, {relpath: None})
        files.remove(desk.path, found, desk.repo.toplevel)
        return [] if found == data else kept_as_object(desk, found)

    try:
        index.stage(git, {relpath: tree.Entry("100644", objects.write_blob(git, data))})
    except BaseException:
        take_away()
        raise
    return commit_file(desk, message, author, take_away)


def commit_removed(desk: Desk, message: bytes) -> Landed:
    """Remove the skill's file and commit that alone. Raises RefusedError where that fails: it is back then."""
    data = files.read(desk.path)
    files.remove(desk.path, data, desk.repo.toplevel)

    def make_again() -> list[str]:
        files.make(desk.path, data)
        return []

    return commit_file(desk, message, None, make_again)
