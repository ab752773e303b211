"""`skilld skills enable` and `disable`: which skills skilld offers."""

from __future__ import annotations

import argparse

from skilld import console
from skilld.cli import common, inventory
from skilld.errors import UsageError
from skilld.library.rows import set_enabled
from skilld.skills import Source
from skilld.text import pluralize


def run(arguments: argparse.Namespace) -> int:
    """Run either verb."""
    if bool(arguments.names) + arguments.all + arguments.custom != 1:
        raise UsageError("Which skills?", "give their names, --all or --custom", "List them: skilld skills list")
    store, on = common.store(), arguments.action == "enable"
    if arguments.names:
        paths = [inventory.find_skill(store, name).path for name in arguments.names]
    else:
        rows = inventory.library_rows(store)
        paths = [row.path for row in rows if arguments.all or row.skill.source is not Source.PLUGIN]
    changed = set_enabled(store, paths, on=on)
    word = "enabled" if on else "disabled"
    console.say(f"{pluralize(changed, 'skill')} {word}." if changed else f"Nothing to change: already {word}.")
    return 0
