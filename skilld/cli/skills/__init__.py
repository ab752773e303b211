"""`skilld skills VERB`: the person's library. One file for each verb, each with `add(verbs)`, as the verbs above it."""

from __future__ import annotations

from types import ModuleType

from skilld.cli import common
from skilld.cli.skills import (
    archive,
    delete,
    enable,
    export,
    history,
    imports,
    listing,
    pin,
    share,
    show,
    summary,
    testing,
    use,
)

VERBS: tuple[ModuleType, ...] = (
    listing,
    show,
    history,
    testing,
    use,
    enable,
    summary,
    pin,
    archive,
    export,
    imports,
    share,
    delete,
)


def add(verbs: common.Verbs) -> None:
    """Add the group."""
    text = "your library of skills: list, show, use, test them"
    actions = verbs.add_parser("skills", help=text, description=text).add_subparsers(
        title="actions", metavar="ACTION", dest="action", required=True
    )
    for module in VERBS:
        module.add(actions)
