"""`skilld demo`: a sample session with the real daemon in a temporary home. It reads and writes nothing of yours."""

from __future__ import annotations

import argparse


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.demo import play

    return play(keep=arguments.keep)
