"""`skilld skills enable`, `disable`, `pin` and `unpin`: which skills skilld offers, and which it must not move."""

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


# `skilld skills pin` and `unpin`: a pinned skill is not archived, not marked stale, and kept in a merge.


def add_pin(verbs: common.Verbs) -> None:
    """Add the two verbs."""
    about = "protect a skill from being archived, marked stale or merged away"
    for name, on, text in (
        ("pin", True, about),
        ("unpin", False, "unpin a skill, so that it can be archived, marked stale or merged again"),
    ):
        parser = common.verb(verbs, name, partial(run_pin, on=on), text)
        parser.add_argument("name", metavar="NAME", help="the skill's name, or its folder if two skills share the name")


def run_pin(arguments: argparse.Namespace, *, on: bool) -> int:
    """Run either verb."""
    from skilld.library.rows import set_pinned

    store = common.store()
    row = inventory.find_skill(store, arguments.name)
    changed = set_pinned(store, row.path, on=on)
    state = "pinned" if on else "not pinned"
    word = "is now pinned" if on else "is no longer pinned"
    console.say(f"{console.plain(row.name)} {word if changed else f'was already {state}'}.")
    return 0
