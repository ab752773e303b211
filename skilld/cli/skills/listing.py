"""`skilld skills list`: every skill once, by where it comes from, with how it is used."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from skilld import console
from skilld.cli import common
from skilld.cli.skills import library
from skilld.text import counted

if TYPE_CHECKING:
    from skilld.library.rows import Shelved

_SOURCES = ("evolving", "project", "user", "plugin")
_SORTS = ("group", "recency", "uses", "relevance")


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(verbs, "list", run, "list your skills: where from, how often used, how it went", listing=True)
    parser.add_argument("--type", metavar="KIND", dest="kind", help="only of this kind: workflow, prompt-template, ...")
    parser.add_argument("--tag", metavar="TAG", action="append", default=[], help="only with this tag; repeatable")
    parser.add_argument("--source", choices=_SOURCES, help="only from there; evolving: what skilld makes or changes")
    parser.add_argument("--search", metavar="TEXT", default="", help="only those in which every word stands")
    parser.add_argument("--project", metavar="FOLDER", type=Path, help="only this project's own")
    parser.add_argument("--sort", choices=_SORTS, default="group", help="in which order; relevance: to the search")
    parser.add_argument("--limit", metavar="N", type=_number, help="so many at most")


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError("a number above 0")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.library.rows import MERGED

    near = common.folder(arguments.project) / "SKILL.md" if arguments.project else None
    shelved = library.shelved(common.store(), near)
    chosen = _ordered(_chosen(shelved, arguments), arguments)[: arguments.limit]
    if arguments.json:
        return common.write_json([library.as_json(row) for row in chosen])
    console.table([_cells(row) for row in chosen])
    for row in chosen:
        if MERGED in row.marks:
            name = console.plain(row.name)
            console.line(f"{name} was merged into another skill; you can archive it: skilld skills archive {name}")
    if not chosen:
        console.line("None fits." if shelved else "There are no skills yet.")
    return 0


def _chosen(rows: Sequence[Shelved], arguments: argparse.Namespace) -> list[Shelved]:
    from skilld.library.rows import matches

    project = common.folder(arguments.project) if arguments.project else None
    return [
        row
        for row in rows
        if arguments.kind in {None, row.kind}
        and set(arguments.tag) <= set(row.tags)
        and arguments.source in {None, row.group, row.skill.source.value}
        and project in {None, row.skill.project}
        and (arguments.sort == "relevance" or matches(row, common.as_text(arguments.search)))
    ]


def _ordered(rows: list[Shelved], arguments: argparse.Namespace) -> list[Shelved]:
    from skilld.memory.recommend import likeness
    from skilld.words import content_stems

    wanted = content_stems(common.as_text(arguments.search))
    orders: dict[str, Callable[[Shelved], float]] = {
        "group": lambda _: 0.0,
        "recency": lambda row: -max(row.uses.last, row.edited_at),
        "uses": lambda row: -row.uses.number,
        "relevance": lambda row: (
            -likeness(wanted, content_stems(f"{row.name.replace('-', ' ')} {row.skill.front.description}"))
        ),
    }
    return sorted(rows, key=orders[arguments.sort])


def _cells(row: Shelved) -> tuple[str, ...]:
    from skilld.clock import ago

    uses = row.uses
    used = f"{counted(uses.number, 'use')}, last {ago(uses.last or None, time.time())}" if uses.number else "never used"
    went = f"{uses.success:.0%} went well" if uses.success is not None else ""
    corrected = f"{counted(row.corrections, 'correction')} ({row.rate:.1f} a use)" if row.corrections else ""
    kind = "" if row.kind == "skill" else row.kind
    marks = " ".join((kind, *row.marks)).strip()
    place = console.paint(console.plain(str(row.path.parent)), "dim")
    return row.group, console.plain(row.name), used, corrected, went, console.plain(marks), place
