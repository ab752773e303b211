"""`skilld skills delete NAME`: a skill's folder moves to the trash, once the person said yes."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from skilld import console
from skilld.cli import common
from skilld.cli.skills import library
from skilld.errors import Exit, RefusedError

if TYPE_CHECKING:
    from skilld.library.shelf import Shelved

_TITLE = "The skill was not deleted"


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(verbs, "delete", run, "move a skill's folder to the trash, from where it can be taken back")
    parser.add_argument("name", metavar="NAME", help="its name, or its folder where two have that name")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.decide.guard import refuse_agent
    from skilld.git.environment import scrub_environment
    from skilld.library.trash import put_aside, trash_of
    from skilld.types import State

    refuse_agent(os.environ, stdin_is_tty=sys.stdin.isatty(), allowed=False, title="Only you can delete your skills")
    removed = scrub_environment()
    store = common.store()
    row = library.the_skill(store, arguments.name)
    _refuse_uncommitted(row, removed)
    folder = row.path.parent
    waiting = sum(one.path == str(row.path) for one in store.proposals.in_states([State.OPEN]))
    for_it = f" {waiting} open proposals are for it." if waiting else ""
    question = f"Move {console.plain(str(folder))} to the trash?{for_it} [y/N] "
    if not arguments.yes and not common.confirmed(question, _TITLE):
        console.line("Nothing was deleted.")
        return Exit.FAILURE
    place = put_aside(row.skill, trash_of(common.home(), common.places().data.parent, sys.platform))
    console.line(f"It is in {console.plain(str(place))} now.")
    console.line(f"To take it back: mv {console.plain(shlex.join([str(place), str(folder)]))}")
    return Exit.OK


def _refuse_uncommitted(row: Shelved, removed: Mapping[str, str]) -> None:
    """Raise RefusedError where git tracks the skill and something in its folder is in no commit."""
    from skilld.git.errors import NotTrackedError, RepoRefusedError
    from skilld.git.private import person_git
    from skilld.git.repo import find

    try:
        tracked = find(row.path)
    except (NotTrackedError, RepoRefusedError):
        return  # the trash is then its only copy, and a good one
    folder = str(Path(tracked.relpath).parent)
    asked = ("status", "--porcelain", "--untracked-files=all", "--", folder)
    changed = person_git(tracked.repo, removed).run(*asked).decode("utf-8", "replace").splitlines()
    if changed:
        raise RefusedError(
            _TITLE,
            f"{len(changed)} changes in {row.path.parent} are not committed, {changed[0][3:]} first",
            "Commit or undo them, then delete it.",
        )
