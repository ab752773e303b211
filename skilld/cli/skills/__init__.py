"""`skilld skills VERB`: the person's library. Each function in VERBS adds its verbs to the parser."""

from __future__ import annotations

from skilld.cli import common
from skilld.cli.skills import archive, enable, evaluation, export, imports, listing, share, show, testing

VERBS = (
    *(listing.add, show.add, show.add_history, testing.add, evaluation.add, show.add_use, enable.add),
    *(listing.add_profile, archive.add, export.add, imports.add, share.add, archive.add_delete),
)


def add(verbs: common.Verbs) -> None:
    """Add the group."""
    text = "manage your skills: list, show, use, test, share, archive"
    group = verbs.add_parser("skills", help=text, description=f"{text[0].upper()}{text[1:]}.")
    actions = group.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    for add_verb in VERBS:
        add_verb(actions)
