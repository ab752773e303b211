"""`skilld review [ID...] [--plain]`: go through the proposals and decide, in the terminal."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from skilld import console
from skilld.cli import common, inventory, terminal
from skilld.errors import Exit, SkilldError
from skilld.git.environment import scrub_environment

if TYPE_CHECKING:
    from skilld.review.controller import ReviewSession
    from skilld.review.generating import Generation
    from skilld.store import Store


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(verbs, "review", run, "go through the proposals on screen: accept, reject, edit, undo")
    parser.add_argument("ids", metavar="ID", nargs="*", help="only these proposals")
    parser.add_argument(
        "--plain", action="store_true", help="ask questions line by line instead of using the full screen"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.library.archive import trash_folder
    from skilld.review.controller import ReviewContext, ReviewSession

    removed = scrub_environment()
    where = common.places()
    store = common.store()
    ids = [_to_review(store, given) for given in arguments.ids]
    first_step = common.first_step(store)
    store.close()
    around = ReviewContext(
        database=where.database,
        find_skills=inventory.all_skills,
        removed=removed,
        home=common.home(),
        environment=dict(os.environ),
        trash=trash_folder(common.home(), where.data.parent, sys.platform),
        redaction_key=where.redaction_key,
        targets=common.settings().targets,
        first_step=first_step,
    )
    sitting = ReviewSession(around)
    if arguments.plain or not terminal.has_screen():
        _plain(sitting, ids)
        return Exit.OK
    from skilld.review.app import ReviewApp

    app = ReviewApp(sitting, ids, common.settings().batch.turns, terminal.edit, _generating)
    app.run()
    for lines in sitting.told.values():  # the screen is gone, and what was decided with it
        for line in lines:
            console.say(console.plain(line))
    return Exit.BUG if app.return_code else Exit.OK


def _to_review(store: Store, given: str) -> str:
    """Return the ID of the proposal that a person means, of which something has to be undecided."""
    from skilld.proposals.remarks import find_descendants
    from skilld.types import State

    proposal = common.the_proposal(store, given)
    if find_descendants(store, [proposal.id], store.proposals.in_states([State.OPEN, State.DROPPED])):
        return proposal.id
    raise SkilldError("Nothing to review", f"{proposal.id} is {proposal.state.value}", f"skilld show {proposal.id}")


def _generating() -> Generation:
    from skilld.cli.mine import generating, whole

    return generating(*whole())


def _plain(sitting: ReviewSession, ids: list[str]) -> None:
    from skilld.cli.mine import run_plain
    from skilld.review.plain import Plain
    from skilld.review.plain_tabs import PlainTabs, Talk

    sitting.take_in()
    talk = Talk(console.line, terminal.ask, terminal.edit)
    tabs = PlainTabs(sitting, common.settings().batch.turns, talk, lambda: run_plain(_generating()))
    Plain(sitting, talk, tabs).run(ids)
