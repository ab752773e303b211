"""`skilld skills profile`: what all that you said comes to, by category, and the surest of it."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from skilld import console
from skilld.cli import common

if TYPE_CHECKING:
    from skilld.memory.profile import Profile


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(
        verbs, "profile", run, "how much you taught, of which category, and the five surest things", listing=True
    )
    parser.add_argument("--project", metavar="FOLDER", type=Path, help="only what was said there")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.clock import rfc3339

    found = _profile(arguments.project.resolve() if arguments.project else None)
    newest = rfc3339(found.newest) if found.newest else None
    if arguments.json:
        top = [asdict(because) | {"category": name} for name, because in found.top]
        return common.write_json(asdict(found) | {"newest": newest, "top": top})
    facts = [("lasting things said", found.total), ("of them in a skill", found.in_skills)]
    facts += [("sessions", found.sessions), ("projects", found.projects)]
    facts += [(name.replace("_", " "), number) for name, number in found.by_category.items()]
    console.table([(name, str(number)) for name, number in facts])
    if newest:
        console.line(f"The last on {newest[:10]}. The surest:")
    for name, because in found.top:
        said = f"{console.plain(because.text)}  {because.kind} {because.id}"
        console.line(f"{because.confidence:4.0%}  {name.replace('_', ' '):12}  {said}")
    return 0


def _profile(project: Path | None) -> Profile:
    from skilld.memory.clusters import of_learning, of_proposal
    from skilld.memory.profile import profile
    from skilld.types import State

    store = common.store()
    states = [state for state in State if state is not State.SUPERSEDED]
    said = [*map(of_learning, store.learnings.all()), *map(of_proposal, store.proposals.in_states(states))]
    here = [one for one in said if project is None or one.project == str(project)]
    return profile(here, now=time.time(), feedback=store.records.feedback())
