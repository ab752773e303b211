"""`skilld statusline`: how many proposals wait, in at most 40 characters, for a status line or a shell prompt.

What people type is answered before this is imported (`skilld/__main__.py`); the rest comes here: help, mistakes, and
an agent that the file does not name yet.
"""

from __future__ import annotations

import argparse

from skilld.cli import common
from skilld.errors import UsageError


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(verbs, "statusline", run, "print how many proposals are waiting, for a status line or prompt")
    parser.add_argument("--agent", metavar="AGENT", help="count only proposals from this agent's sessions")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb. A file that is missing or damaged says nothing."""
    from skilld import statusline
    from skilld.agents import ADAPTERS

    if arguments.agent and arguments.agent not in ADAPTERS:
        raise UsageError("No such agent", f"{common.as_text(arguments.agent)}; known agents: {', '.join(ADAPTERS)}")
    waiting = statusline.numbers(statusline.read(str(common.places().state / statusline.FILE)))
    statusline.tell(waiting or {}, arguments.agent or "")
    return 0
