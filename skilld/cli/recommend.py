"""`skilld recommend TEXT`: the skills that fit a piece of work, and what you said of such work before."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from skilld import console
from skilld.cli import common, inventory
from skilld.errors import UsageError

if TYPE_CHECKING:
    from skilld.library.recommend import Recommendation


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(
        verbs, "recommend", run, "name the skills that fit a piece of work, with what you said of such", listing=True
    )
    parser.add_argument("text", metavar="TEXT", nargs="+", help="the work, in a few words")
    parser.add_argument("--project", metavar="FOLDER", type=Path, default=Path(), help="the current one if not given")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    text = common.as_text(" ".join(arguments.text)).strip()
    if not text:
        raise UsageError("For which work?", "the text is empty", 'skilld recommend "write the release notes"')
    found = fitting(text, common.folder(arguments.project))
    if arguments.json:
        return common.write_json([asdict(one) for one in found])
    for one in found:
        name = console.plain(one.skill) if one.skill else "(in no skill yet)"
        console.line(f"{one.confidence:4.0%}  {console.paint(name, 'bold')}  {console.plain(one.path)}".rstrip())
        for because in one.because:
            words = f"{console.plain(because.text)}  {because.kind} {because.id}, {because.confidence:.0%} sure"
            console.line(console.paint(f"      {words}", "dim"))
    if not found:
        console.line("Nothing that you have or said has to do with it.")
    return 0


def fitting(text: str, project: Path) -> list[Recommendation]:
    """Return what is recommended for a piece of work in a project."""
    from skilld.library.clusters import about
    from skilld.library.recommend import recommend
    from skilld.library.rows import disabled, served

    store = common.store()
    off = {str(path) for path in disabled(store)}
    return recommend(
        text,
        [said for said in about(store, text) if said.path not in off],
        served(store, inventory.all_skills([project])),
        now=time.time(),
        project=str(project),
        feedback=store.records.feedback(),
    )
