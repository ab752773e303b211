"""`skilld demo`: a sample session with the real daemon in a temporary home. It reads and writes nothing of yours."""

from __future__ import annotations

import argparse

from skilld.cli import common


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(verbs, "demo", run, "watch skilld learn from a sample session in a temporary folder")
    parser.add_argument("--keep", action="store_true", help="keep the temporary folder")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.demo import play

    return play(keep=arguments.keep)
