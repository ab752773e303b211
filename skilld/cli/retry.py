"""`skilld retry`: try again what was given up, or put off."""

from __future__ import annotations

import argparse

from skilld import console
from skilld.cli import common
from skilld.text import counted


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    common.verb(
        verbs, "retry", run, "try at once what was given up, waits for its next try, or had something in its way"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    del arguments
    number = common.store().batches.retry()
    console.line(f"{counted(number, 'batch', 'batches')} will be tried again.")
    return 0
