"""`skilld skills use NAME`: the skill's text, its variables filled, to be pasted or piped into whatever takes it."""

from __future__ import annotations

import argparse
import sys

from skilld import console
from skilld.cli import common, inventory
from skilld.cli.skills import library
from skilld.errors import UsageError


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(verbs, "use", run, "print a skill's text with its variables filled, to paste or pipe")
    parser.add_argument("name", metavar="NAME", help="its name, or its folder where two have that name")
    parser.add_argument("--var", metavar="NAME=VALUE", action="append", default=[], help="again for another")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.skills.write import body, filled, holes

    row = library.the_skill(common.store(), arguments.name)
    text = body(inventory.skill_text(row.skill)).lstrip("\r\n")
    known = holes(text) if row.kind in {"prompt-template", "mcp-tool"} else ()
    values = _values(arguments.var)
    if unknown := sorted(values.keys() - set(known)):
        there = ", ".join(known) or "it has none"
        raise UsageError(f"{row.name} has no such variable", f"{unknown[0]}; there are: {there}")
    if missing := [name for name in known if name not in values]:
        remedy = " ".join(f"--var {name}=..." for name in missing)
        raise UsageError("A variable is missing", ", ".join(missing), f"skilld skills use {row.name} {remedy}")
    said = filled(text, values) if known else text
    if sys.stdout.isatty():
        console.piece(said)
    else:
        sys.stdout.buffer.write(said.encode())
    return 0


def _values(given: list[str]) -> dict[str, str]:
    values = {}
    for one in map(common.as_text, given):
        name, equals, value = one.partition("=")
        if not equals:
            raise UsageError("That is no variable with its value", one, "Write --var name=value.")
        values[name] = value
    return values
