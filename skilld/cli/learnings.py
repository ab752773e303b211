"""`skilld learnings`: lists lasting instructions that are not in a file yet, and proposes one."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilld import console
from skilld.cli import common
from skilld.errors import SkilldError, UsageError
from skilld.git.environment import scrub_environment
from skilld.text import pluralize

if TYPE_CHECKING:
    from skilld.store import Store
    from skilld.store.learnings import Learning


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(
        verbs, "learnings", run, "list learnings that are not in a file yet, or propose one", json=True
    )
    parser.add_argument("action", nargs="?", choices=["propose"], help="propose: turn a learning into a proposal")
    parser.add_argument("id", nargs="?", metavar="ID", help="ID of the learning to propose; a prefix is enough")
    parser.add_argument("--to", metavar="PATH", type=Path, help="with propose: the file to put the learning in")
    parser.add_argument("--search", metavar="TEXT", help="show only learnings about TEXT, best match first")
    parser.add_argument(
        "--project", metavar="FOLDER", type=Path, help="show only what you said in the project at FOLDER"
    )
    parser.add_argument("--forget", metavar="ID", help="delete this learning, even if you said it in several sessions")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.jobs.learnings import NO_FILE_REASON
    from skilld.jobs.relocation import group_learnings

    store = common.store_or_empty()
    if arguments.action:
        return _propose(store, arguments)
    if arguments.forget:
        for one in _find_ask(store, common.as_text(arguments.forget)):
            store.learnings.forget(one.id)
        console.say("Deleted.")
        return 0
    asks = group_learnings(_matching_learnings(store, arguments))
    sure = _confidences(store)
    if arguments.json:
        return common.write_json([as_json(ask) | {"relied_on": sure[ask[0].id]} for ask in asks])
    for ask in asks:
        newest = ask[0]
        console.say(f"{console.paint(newest.id, 'bold')}  {newest.created_at}  {console.plain(newest.change)}")
        console.say(f"    you: \u201c{console.plain(newest.quote)}\u201d")
        often = pluralize(len({one.session_id for one in ask}), "session")
        where = f" in {newest.project}" if newest.project else ""
        remarks = f"said in {often}{where}; not proposed: {newest.why_kept}"
        console.say(f"    {console.plain(remarks)}", style="dim")
    if asks:
        if any(NO_FILE_REASON in ask[0].why_kept for ask in asks):
            console.say(
                "A learning for a file that does not exist yet is proposed once you say it again in another session."
            )
        console.say("To propose one now: skilld learnings propose ID [--to PATH]")
    else:
        none = "There are no learnings."
        console.say("No learnings match." if arguments.search or arguments.project else none)
    for said in [] if arguments.search or arguments.project else common.passed_over():
        console.say(console.plain(said[:1].upper() + said[1:]), style="dim")
    return 0


def as_json(ask: Sequence[Learning]) -> dict[str, Any]:
    """Return one ask as JSON, in its newest wording."""
    newest = ask[0]
    placed = next((one for one in ask if one.place), None)
    return asdict(newest) | {
        "text": newest.change,
        "sessions": len({one.session_id for one in ask}),
        "said": [one.id for one in ask],
        "place": {"kind": placed.place_kind, "path": placed.place} if placed else None,
        "why_not": newest.why_kept,
    }


def _find_ask(store: Store, name: str) -> list[Learning]:
    from skilld.jobs.relocation import group_learnings

    asks = group_learnings(store.learnings.all())
    found = [ask for ask in asks if name and any(one.id.startswith(name) for one in ask)]
    if len(found) > 1:
        raise SkilldError("Ambiguous ID", f"{name} matches {len(found)} learnings", "Type more of the ID.")
    if not found:
        raise SkilldError("No such learning", name, "List them: skilld learnings")
    return found[0]


def _propose(store: Store, arguments: argparse.Namespace) -> int:
    from skilld.jobs.relocation import propose_learning

    if not arguments.id:
        raise UsageError("Which learning?", "propose needs an ID", "List them: skilld learnings")
    ask = _find_ask(store, common.as_text(arguments.id))
    scrub_environment()
    made = propose_learning(store, ask, common.host(), common.settings().targets, common.redactor(), to=arguments.to)
    if arguments.json:
        from skilld.cli.proposals import as_json as proposal_json

        return common.write_json(proposal_json(store, made))
    console.say(f"{console.paint(made.id, 'bold')}  {console.plain(made.skill)}  {console.plain(made.summary)}")
    console.say(f"To review it: skilld review {made.id}")
    return 0


def _matching_learnings(store: Store, arguments: argparse.Namespace) -> list[Learning]:
    if arguments.search is None:
        found = store.learnings.all()
    else:
        hits = store.search.find(common.as_text(arguments.search))
        found = [one for hit in hits if hit.kind == "learning" and (one := store.learnings.get(hit.id))]
    project = str(common.resolve_path(arguments.project)) if arguments.project else None
    return [learning for learning in found if project in {None, learning.project}]


def _confidences(store: Store) -> dict[str, float]:
    """Return the confidence of each learning, by ID, over all the times that the same was said."""
    from skilld.library.clusters import confidence, group_asks, learning_mentions

    now = time.time()
    found = group_asks(learning_mentions(store.learnings.all()))
    return {one.id: round(confidence(ask.pieces, now=now), 3) for ask in found for one in ask.said}
