"""`skilld skills delete NAME`: a skill's folder moves to the trash, once the person said yes."""

from __future__ import annotations

import argparse
import shlex
import sys

from skilld import console
from skilld.cli import common, terminal
from skilld.cli.skills import library
from skilld.cli.skills.moving import refuse_to_move
from skilld.errors import Exit

_TITLE = "The skill was not deleted"


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(verbs, "delete", run, "move a skill's folder to the trash, from where it can be taken back")
    parser.add_argument("name", metavar="NAME", help="its name, or its folder where two have that name")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.git.environment import scrub_environment
    from skilld.library.move import put_aside, trash_of
    from skilld.types import State

    removed = scrub_environment()
    store = common.store()
    row = library.the_skill(store, arguments.name)
    refuse_to_move(store, row, removed, _TITLE)
    folder = row.path.parent
    waiting = sum(one.path == str(row.path) for one in store.proposals.in_states([State.OPEN]))
    for_it = f" {waiting} open proposals are for it." if waiting else ""
    question = f"Move {console.plain(str(folder))} to the trash?{for_it} [y/N] "
    if not arguments.yes and not terminal.confirmed(question, _TITLE):
        console.line("Nothing was deleted.")
        return Exit.FAILURE
    place = put_aside(row.skill, trash_of(common.home(), common.places().data.parent, sys.platform))
    console.line(f"It is in {console.plain(str(place))} now.")
    console.line(f"To take it back: mv {console.plain(shlex.join([str(place), str(folder)]))}")
    return Exit.OK
