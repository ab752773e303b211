"""`skilld learnings`: lasting things you said that have no skill to go to yet."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from skilld import console
from skilld.cli import common
from skilld.errors import SkilldError

if TYPE_CHECKING:
    from skilld.store import Store
    from skilld.store.learnings import Learning


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(
        verbs, "learnings", run, "list the lasting things you said that have no skill to go to yet", listing=True
    )
    parser.add_argument("--search", metavar="TEXT", help="only those that have to do with it, best first")
    parser.add_argument("--project", metavar="FOLDER", type=Path, help="only those said there")
    parser.add_argument("--forget", metavar="ID", help="delete one")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.library.clusters import category

    store = common.store()
    if arguments.forget:
        if not store.learnings.forget(common.as_text(arguments.forget)):
            raise SkilldError("No such learning", arguments.forget, "List them: skilld learnings")
        console.line("Forgotten.")
        return 0
    found = _found(store, arguments)
    sure = _confidence(store)
    if arguments.json:
        return common.write_json(
            [asdict(one) | {"category": category(one.change), "relied_on": sure[one.id]} for one in found]
        )
    for learning in found:
        console.line(f"{console.paint(learning.id, 'bold')}  {learning.created_at}  {console.plain(learning.change)}")
        console.line(f"    you: \u201c{console.plain(learning.quote)}\u201d")
        sort = category(learning.change).replace("_", " ")
        remarks = f"{sure[learning.id]:.0%} sure; {sort}; kept because {learning.why_kept}"
        console.line(console.paint(f"    {console.plain(remarks)}", "dim"))
    if not found:
        console.line("None fits." if arguments.search or arguments.project else "Nothing yet.")
    return 0


def _found(store: Store, arguments: argparse.Namespace) -> list[Learning]:
    if arguments.search is None:
        found = store.learnings.all()
    else:
        hits = store.search.find(common.as_text(arguments.search))
        found = [one for hit in hits if hit.kind == "learning" and (one := store.learnings.get(hit.id))]
    project = str(arguments.project.resolve()) if arguments.project else None
    return [learning for learning in found if project in {None, learning.project}]


def _confidence(store: Store) -> dict[str, float]:
    """Return by id how much each learning is relied on, with all the times that the same was said."""
    from skilld.library.clusters import asks, confidence, of_learnings

    now = time.time()
    found = asks(of_learnings(store.learnings.all()))
    return {one.id: round(confidence(ask.pieces, now=now), 3) for ask in found for one in ask.said}
