"""`skilld review [ID...] [--plain]`: go through the proposals and decide, in the terminal."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from skilld import console
from skilld.cli import common, inventory, terminal
from skilld.errors import Exit, SkilldError
from skilld.skills.set_aside import trash_folder
from skilld.store import Store
from skilld.types import State

if TYPE_CHECKING:
    from skilld.review.controller import ReviewSession
    from skilld.review.generation import Generation


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.review.controller import ReviewContext, ReviewSession

    where = common.places()
    store = common.store()
    ids = _find_reviewable(store, arguments.ids)
    first_step = common.first_step_hint(store)
    store.close()
    context = ReviewContext(
        database=where.database,
        open_store=common.store,
        find_skills=inventory.all_skills,
        home=common.home(),
        environment=dict(os.environ),
        trash=trash_folder(common.home(), where.data.parent, sys.platform),
        redaction_key=where.redaction_key,
        targets=common.settings().targets,
        first_step=first_step,
        passed_over=common.passed_over,
    )
    session = ReviewSession(context)
    if arguments.plain or not terminal.has_screen():
        _run_plain(session, ids)
        return Exit.OK
    from skilld.review.app import ReviewApp

    app = ReviewApp(session, ids, common.settings().batch.turns, terminal.edit, _start_generation)
    app.run()
    for lines in session.outcomes.values():  # the screen is gone, and with it the outcomes it showed
        for line in lines:
            console.say(console.message(line))
    return Exit.BUG if app.return_code else Exit.OK


def _find_reviewable(store: Store, given: Sequence[str]) -> list[str]:
    """Return the IDs of the named proposals that are undecided, and say which others are left out.

    Raises SkilldError if all of them are decided.
    """
    from skilld.proposals.remarks import find_descendants

    named = [common.find_proposal(store, one) for one in given]
    undecided = store.proposals.in_states([State.OPEN, State.DROPPED]) if named else []
    chosen = [one.id for one in named if find_descendants(store, [one.id], undecided)]
    decided = [one for one in named if one.id not in chosen]
    told = [f"{one.id} is {one.state.value}" for one in decided]
    if decided and not chosen:
        raise SkilldError("Nothing to review", ", ".join(told), f"skilld show {decided[0].id}")
    for one, why in zip(decided, told, strict=True):
        console.warn(f"skilld: {why}, so it is left out. To see it: skilld show {one.id}")
    return chosen


def _start_generation() -> Generation:
    from skilld.cli.mine import default_run, start_generation

    return start_generation(*default_run())


def _run_plain(session: ReviewSession, ids: list[str]) -> None:
    from skilld.cli.mine import run_plain
    from skilld.review.plain import PlainReview
    from skilld.review.plain_tabs import Conversation, PlainTabs

    session.update_from_git()
    talk = Conversation(console.line, terminal.ask, terminal.edit)
    tabs = PlainTabs(session, common.settings().batch.turns, talk, lambda: run_plain(_start_generation()))
    PlainReview(session, talk, tabs).run(ids)
