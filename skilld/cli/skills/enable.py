"""`skilld skills enable` and `disable`: which skills skilld offers."""

from __future__ import annotations

import argparse
from functools import partial

from skilld import console
from skilld.cli import common, inventory
from skilld.errors import UsageError
from skilld.text import pluralize


def add(verbs: common.Verbs) -> None:
    """Add the two verbs."""
    about = "through mcp, sync, suggest, chat and recommend"
    for name, on, text in (
        ("enable", True, f"offer skills to agents again ({about})"),
        ("disable", False, f"stop offering skills to agents ({about}); agents may still load them on their own"),
    ):
        parser = common.verb(verbs, name, partial(run, on=on), text)
        parser.add_argument("names", metavar="NAME", nargs="*", help="a skill's name or folder")
        parser.add_argument("--all", action="store_true", help="all the skills you have now")
        parser.add_argument(
            "--custom", action="store_true", help="all your own skills and project skills, but not plugin skills"
        )


def run(arguments: argparse.Namespace, *, on: bool) -> int:
    """Run either verb."""
    from skilld.library.rows import set_enabled
    from skilld.skills import Source

    if bool(arguments.names) + arguments.all + arguments.custom != 1:
        raise UsageError("Which skills?", "give their names, --all or --custom", "List them: skilld skills list")
    store = common.store()
    if arguments.names:
        paths = [inventory.find_skill(store, name).path for name in arguments.names]
    else:
        rows = inventory.library_rows(store)
        paths = [row.path for row in rows if arguments.all or row.skill.source is not Source.PLUGIN]
    changed = set_enabled(store, paths, on=on)
    word = "enabled" if on else "disabled"
    console.say(f"{pluralize(changed, 'skill')} {word}." if changed else f"Nothing to change: already {word}.")
    return 0
