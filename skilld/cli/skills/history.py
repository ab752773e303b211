"""`skilld skills history` and `skilld skills diff`: what git knows of a skill's versions, skilld's own git too."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from skilld import console
from skilld.cli import common
from skilld.cli.skills import library
from skilld.errors import SkilldError

if TYPE_CHECKING:
    from skilld.library.history import History
    from skilld.library.rows import Shelved


def add(verbs: common.Verbs) -> None:
    """Add the two verbs."""
    parser = common.verb(verbs, "history", history, "list the commits that made a skill what it is", listing=True)
    parser.add_argument("name", metavar="NAME", help="a skill's name, or its folder")
    parser.add_argument("--limit", metavar="N", type=int, default=50, help="so many at most (default: 50)")
    parser = common.verb(verbs, "diff", diff, "show what changed in a skill, or what a proposal changes")
    parser.add_argument("name", metavar="NAME", help="a skill's name, or its folder")
    parser.add_argument("since", metavar="REV|PROPOSAL", nargs="?", default="", help="else: what is not committed yet")


def history(arguments: argparse.Namespace) -> int:
    """List the commits."""
    from skilld.clock import rfc3339

    row = library.the_skill(common.store(), arguments.name)
    found = _history(row).versions(max(1, arguments.limit))
    if arguments.json:
        return common.write_json([asdict(version) | {"at": rfc3339(version.at)} for version in found])
    for version in found:
        named = f"  (proposal {', '.join(version.proposals)})" if version.proposals else ""
        head = f"{console.paint(version.commit[:10], 'yellow')}  {rfc3339(version.at)[:10]}"
        console.line(f"{head}  {console.plain(version.subject)}{console.plain(named)}")
        console.line(console.paint(f"            {console.plain(version.author)}", "dim"))
    return 0


def diff(arguments: argparse.Namespace) -> int:
    """Show what changed in a skill since a revision, what is not committed, or what a proposal changes."""
    store = common.store()
    row = library.the_skill(store, arguments.name)
    since = common.as_text(arguments.since)
    proposals = [one for one in store.proposals.find(since) if one.path == str(row.path)] if since else []
    if len(proposals) == 1:
        from skilld.proposals.parts import diff as of_proposal

        lines = list(of_proposal(proposals[0]))
    else:
        lines = _history(row).diff(since)
    console.diff(lines)
    if not lines:
        console.line("Nothing changed since." if since else "Nothing in it is uncommitted.")
    return 0


def _history(row: Shelved) -> History:
    from skilld.git.environment import scrub_environment
    from skilld.git.errors import NotTrackedError
    from skilld.library.history import History
    from skilld.proposals.submit import private_repositories

    scrub_environment()
    try:
        return History(row.path, private_repositories())
    except NotTrackedError as error:
        remedy = "skilld keeps one from the first proposal on."
        raise SkilldError(f"{row.name} has no history", error.cause, remedy) from error
