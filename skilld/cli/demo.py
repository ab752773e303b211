"""`skilld demo`: a bundled session, the real daemon, a throw-away home. Nothing of yours is read or written."""

from __future__ import annotations

import argparse

from skilld.cli import common


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(verbs, "demo", run, "play a bundled session through the real daemon in a throw-away home")
    parser.add_argument("--keep", action="store_true", help="leave the throw-away home and repository in place")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.demo import play

    return play(keep=arguments.keep)
