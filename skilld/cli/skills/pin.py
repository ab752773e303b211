"""`skilld skills pin` and `unpin`: a skill that stays: not archived, not called stale, kept in a merge."""

from __future__ import annotations

import argparse
from functools import partial

from skilld import console
from skilld.cli import common
from skilld.cli.skills import library


def add(verbs: common.Verbs) -> None:
    """Add the two verbs."""
    about = "keep a skill: not archived, never called stale, the one to stay in a merge"
    for name, on, text in (("pin", True, about), ("unpin", False, "take that back")):
        parser = common.verb(verbs, name, partial(run, on=on), text)
        parser.add_argument("name", metavar="NAME", help="its name, or its folder where two have that name")


def run(arguments: argparse.Namespace, *, on: bool) -> int:
    """Run either verb."""
    from skilld.library.visibility import pin

    store = common.store()
    row = library.the_skill(store, arguments.name)
    changed = pin(store, row.path, on=on)
    state = "pinned" if on else "not pinned"
    console.line(f"{console.plain(row.name)} is {state} now." if changed else f"It was {state} already.")
    return 0
