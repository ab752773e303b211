"""`skilld skills list`, `profile`, `enable` and `disable`: every skill with its use; how much you have taught."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from skilld import console
from skilld.cli import common, inventory
from skilld.clock import rfc3339, time_ago
from skilld.errors import UsageError
from skilld.library.rows import (
    BROKEN,
    MERGED,
    PLAIN_KIND,
    LibraryRow,
    broken_reason,
    long_by,
    matches_search,
    merged_skills,
    set_enabled,
)
from skilld.skills import Source
from skilld.skills.draft import SHORT_NAMES
from skilld.skills.spec import MAX_LINES
from skilld.store import Store
from skilld.text import pluralize
from skilld.types import State

if TYPE_CHECKING:
    from skilld.library.recommend import Profile

_SOURCES = ("evolving", "project", "user", "plugin")
_ORDERS: dict[str, Callable[[LibraryRow], float]] = {
    "group": lambda _: 0.0,
    "recency": lambda row: -max(row.uses.last, row.edited_at),
    "uses": lambda row: -row.uses.number,
}


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    store = common.store_or_empty()
    shelved = inventory.listed_rows(store, common.resolve_folder(arguments.project) if arguments.project else None)
    chosen = sorted(_matching_rows(shelved, arguments), key=_ORDERS[arguments.sort])[: arguments.limit]
    if arguments.json:
        return common.write_json([inventory.row_json(row) for row in chosen])
    console.table([_cells(row) for row in chosen])
    _print_merged(store, shelved, chosen)
    _print_broken(chosen)
    if not chosen:
        console.say("No skills match." if shelved else "No skills yet.")
    return 0


def _print_merged(store: Store, shelved: Sequence[LibraryRow], chosen: Sequence[LibraryRow]) -> None:
    """Say of each merged skill whether it can be archived or has something left."""
    takers = merged_skills(row.skill for row in shelved)
    for row in chosen:
        if MERGED not in row.marks:
            continue
        from skilld.cli.consolidate import advice_on_merged  # late: few skills are merged

        console.say(console.plain(advice_on_merged(store, takers[row.path], row.skill, shelved)))


def _print_broken(chosen: Sequence[LibraryRow]) -> None:
    for row in chosen:
        if BROKEN in row.marks:
            why = f"{row.name} is broken, so agents may not use it: {broken_reason(row.skill)}"
            console.say(console.plain(why), style="yellow")
        elif lines := long_by(row.skill):
            why = f"{row.name} has {lines} lines, over the {MAX_LINES} of the specification: an agent reads them all"
            remedy = "Move what is rarely needed to files beside it."
            console.say(console.plain(f"{why} whenever it uses the skill. {remedy}"), style="yellow")


def _chosen_kind(given: str | None, rows: Sequence[LibraryRow]) -> str | None:
    """Return the kind that the person named, if any. Raises UsageError if there is no such kind."""
    kind = SHORT_NAMES.get(given or "", given)
    known = {PLAIN_KIND, *SHORT_NAMES.values(), *(row.kind for row in rows)}
    if kind is not None and kind not in known:
        raise UsageError("No such kind of skill", common.as_text(kind), f"Use {', '.join(sorted(known))}.")
    return kind


def _matching_rows(rows: Sequence[LibraryRow], arguments: argparse.Namespace) -> list[LibraryRow]:
    project = common.resolve_folder(arguments.project) if arguments.project else None
    words = common.as_text(arguments.search)
    kind = _chosen_kind(arguments.kind, rows)
    return [
        row
        for row in rows
        if kind in {None, row.kind}
        and set(arguments.tag) <= set(row.tags)
        and arguments.source in {None, row.group, row.skill.source.value}
        and project in {None, row.skill.project}
        and matches_search(row, words)
    ]


def _cells(row: LibraryRow) -> tuple[str, ...]:
    uses = row.uses
    last = time_ago(uses.last or None, time.time())
    used = f"used in {pluralize(uses.number, 'session')}, most recently {last}" if uses.number else "no session seen"
    also = ", counting recorded tasks and feedback" if uses.judged > uses.number else ""
    kept = f"went well {uses.kept} of {uses.judged} times{also}" if uses.judged else ""
    corrected = f"{pluralize(row.corrections, 'edit')} proposed from what you said" if row.corrections else ""
    kind = "" if row.kind == "skill" else row.kind
    marks = " ".join((kind, *row.marks)).strip()
    place = console.paint(console.message(str(row.path.parent)), "dim")
    return row.group, console.plain(row.name), used, kept, corrected, console.plain(marks), place


# `skilld skills profile`: how much you have taught, and what has the highest confidence.


def run_profile(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.library.recommend import confidence_word

    found = _build_profile(common.resolve_path(arguments.project) if arguments.project else None)
    if arguments.project and not found.total:
        common.resolve_folder(arguments.project)
    newest = rfc3339(found.newest) if found.newest else None
    if arguments.json:
        return common.write_json(asdict(found) | {"newest": newest})
    facts = [("lasting instructions you gave", found.total), ("now in a skill", found.in_skills)]
    facts += [("now in another file", found.in_files), ("sessions", found.sessions), ("projects", found.projects)]
    console.table([(name, str(number)) for name, number in facts])
    if newest:
        console.say(f"Most recent: {newest[:10]}. Highest confidence:")
    for source in found.top:
        said = f"{console.plain(source.text)}  {source.kind} {source.id}"
        console.say(f"{confidence_word(source.confidence):6}  {said}")
    return 0


def _build_profile(project: Path | None) -> Profile:
    from skilld.library.clusters import learning_mention, proposal_instructions
    from skilld.library.recommend import build_profile
    from skilld.proposals.model import REMEDY_PREFIX

    store = common.store_or_empty()
    states = [state for state in State if state is not State.SUPERSEDED]
    proposed = [one for one in store.proposals.in_states(states) if not one.batch_id.startswith(REMEDY_PREFIX)]
    said = [*map(learning_mention, store.learnings.said())]
    said += [one for each in proposed for one in proposal_instructions(each)]
    here = [one for one in said if project is None or one.project == str(project)]
    return build_profile(here, now=time.time(), feedback=store.records.feedback())


# `skilld skills enable` and `disable`: which skills skilld offers.


def run_enable(arguments: argparse.Namespace) -> int:
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
