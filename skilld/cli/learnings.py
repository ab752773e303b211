"""`skilld learnings`: lasting things you said that have no skill to go to yet."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from skilld import console
from skilld.cli import common
from skilld.errors import SkilldError


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(
        verbs, "learnings", run, "list the lasting things you said that have no skill to go to yet", listing=True
    )
    parser.add_argument("--forget", metavar="ID", help="delete one")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    store = common.store()
    if arguments.forget:
        if not store.learnings.forget(common.as_text(arguments.forget)):
            raise SkilldError("No such learning", arguments.forget, "List them: skilld learnings")
        console.line("Forgotten.")
        return 0
    found = store.learnings.all()
    if arguments.json:
        return common.write_json([asdict(learning) for learning in found])
    for learning in found:
        console.line(f"{console.paint(learning.id, 'bold')}  {learning.created_at}  {console.plain(learning.change)}")
        console.line(f"    you: \u201c{console.plain(learning.quote)}\u201d")
        console.line(console.paint(f"    kept because {console.plain(learning.why_kept)}", "dim"))
    if not found:
        console.line("Nothing yet.")
    return 0
