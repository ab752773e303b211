"""`skilld retry`: try again what was given up."""

from __future__ import annotations

import argparse

from skilld import console
from skilld.cli import common


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    common.verb(verbs, "retry", run, "try the parked batches again")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    del arguments
    number = common.store().batches.retry_parked()
    console.line(f"{number} parked batch{'' if number == 1 else 'es'} will be tried again.")
    return 0
