"""`skilld statusline`: how many proposals are waiting, in at most 40 characters, for a status line or a shell prompt.

`skilld/__main__.py` answers before this is imported. This handles the rest: help, usage errors, and an agent that the
file does not list yet.
"""

from __future__ import annotations

import argparse

from skilld.cli import common


def run(arguments: argparse.Namespace) -> int:
    """Run the verb. If the file is missing or damaged, it prints nothing."""
    from skilld import statusline

    common.check_agent(arguments.agent)
    waiting = statusline.numbers(statusline.read(str(common.places().state / statusline.FILE)))
    statusline.print_line(waiting or {}, arguments.agent or "")
    return 0
