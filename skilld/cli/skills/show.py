"""`skilld skills show`, `history`, `diff` and `use`: one skill's details, versions and text."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from skilld import console
from skilld.cli import common, inventory
from skilld.cli.proposals import describe_quotes
from skilld.clock import local_day, rfc3339, time_ago
from skilld.errors import SkilldError, UsageError
from skilld.git.errors import NotTrackedError
from skilld.skills.write import body_of, fill_holes, holes
from skilld.store import Store
from skilld.store.learnings import Learning
from skilld.text import pluralize
from skilld.types import Proposal

if TYPE_CHECKING:
    from skilld.library.history import History
    from skilld.library.rows import LibraryRow


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    store = common.store_or_empty()
    row = inventory.find_skill(store, arguments.name)
    text = inventory.skill_text(row.skill)
    of_it = [one for one in store.proposals.all() if one.path == str(row.path)]
    proposals = sorted(of_it, key=lambda one: one.state.value != "accepted")  # those in the skill first
    learnings = _learnings(store, row)
    if arguments.json:
        more = {
            "metadata": row.skill.front.metadata,
            "proposals": [_proposal_json(one) for one in proposals],
            "learnings": [common.pick(one, "id", "change", "quote") for one in learnings],
            "text": text,
        }
        return common.write_json(inventory.row_json(row) | more)
    _print_facts(row)
    for proposal in proposals:
        said = console.plain(proposal.summary)
        console.say(f"{proposal.state.value:10} {console.paint(proposal.id, 'bold')}  {said}")
        for quote in describe_quotes(evidence.quote for evidence in proposal.evidence):
            console.say(f"           {quote}")
    for learning in learnings:
        console.say(f"learned    {console.paint(learning.id, 'bold')}  {console.plain(learning.change)}")
    console.line()
    for line in text.rstrip("\n").split("\n"):
        console.say(console.plain(line))
    return 0


def _print_facts(row: LibraryRow) -> None:
    shown = inventory.row_json(row)
    metadata = row.skill.front.metadata
    console.say(f"{console.paint(console.plain(row.name), 'bold')}  {console.plain(row.skill.front.description)}")
    lines = [(name, shown[name]) for name in ("path", "source", "kind", "marks", "agents", "uses")]
    kept = f"{row.uses.kept} of {row.uses.judged}" if row.uses.judged else ""
    lines += [("corrections", shown["corrections"]), ("uses without correction", kept)]
    times = (("last used", row.uses.last), ("edited", row.edited_at))
    lines += [(name, time_ago(at, time.time()) if at else "") for name, at in times]
    lines += list(metadata.items())
    rows = [(name.replace("_", " "), _format_value(value)) for name, value in lines if value not in (None, "", [], 0)]
    console.table(rows, indent="  ")
    if row.origins:
        console.say(f"  Learned from {pluralize(row.origins, 'session')}.")


def _format_value(value: object) -> str:
    return console.message(", ".join(map(str, value)) if isinstance(value, list) else str(value))


def _learnings(store: Store, row: LibraryRow) -> list[Learning]:
    """Return the learnings about the skill that were not proposed."""
    project = str(row.skill.project) if row.skill.project else None
    of_it = [one for one in store.learnings.all() if one.skill == row.name]
    return [one for one in of_it if project is None or one.project in {None, project}]


def _proposal_json(proposal: Proposal) -> dict[str, Any]:
    shown = common.pick(proposal, "id", "state", "summary", "session_id", "created_at", "decided_at", "landed")
    return shown | {"evidence": [common.pick(one, "turn", "quote") for one in proposal.evidence]}


# `skilld skills history` and `diff`: a skill's versions, from its repository or the one that skilld keeps.


def history(arguments: argparse.Namespace) -> int:
    """List the commits."""
    row = inventory.find_skill(common.store_or_empty(), arguments.name)
    found = _open_history(row).versions(arguments.limit)
    if arguments.json:
        return common.write_json([asdict(version) | {"at": rfc3339(version.at)} for version in found])
    for version in found:
        named = f"  (proposal {', '.join(version.proposals)})" if version.proposals else ""
        head = f"{console.paint(version.commit[:10], 'yellow')}  {local_day(version.at)}"
        console.say(f"{head}  {console.plain(version.subject)}{console.plain(named)}")
        console.say(f"            {console.plain(version.author)}", style="dim")
    return 0


def diff(arguments: argparse.Namespace) -> int:
    """Show a skill's changes since a revision, or its uncommitted changes."""
    row, since = inventory.find_skill(common.store_or_empty(), arguments.name), common.as_text(arguments.since)
    lines = _open_history(row).diff(since, common.as_text(arguments.name))
    console.diff(lines)
    if not lines:
        console.say("No changes since then." if since else "No uncommitted changes.")
    return 0


def _open_history(row: LibraryRow) -> History:
    from skilld.library.history import History

    try:
        return History(row.path, common.places().repositories)
    except NotTrackedError as error:
        remedy = "skilld will start a history with its first proposal for this skill."
        raise SkilldError(f"{row.name} has no history", error.cause, remedy) from error


# `skilld skills use NAME`: the skill's text with its variables filled in, to paste or pipe elsewhere.


def run_use(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    row = inventory.find_skill(common.store_or_empty(), arguments.name)
    text = body_of(inventory.skill_text(row.skill)).lstrip("\r\n")
    known = holes(text)
    values = _parse_variables(arguments.var)
    required = known if values or row.kind in {"prompt-template", "mcp-tool"} else ()
    if unknown := sorted(values.keys() - set(known)):
        there = ", ".join(known) or "none"
        raise UsageError(f"{row.name} has no such variable", f"{unknown[0]}; available: {there}")
    if missing := [name for name in required if name not in values]:
        wanted = " ".join(
            f"--var {one}" for one in (*map(shlex.quote, arguments.var), *(f"{one}=..." for one in missing))
        )
        remedy = f"skilld skills use {shlex.quote(arguments.name)} {wanted}"
        raise UsageError("A variable is missing", ", ".join(missing), remedy)
    said = fill_holes(text, values)
    if sys.stdout.isatty():
        console.write_part(said)
    else:
        sys.stdout.buffer.write(said.encode())
    return 0


def _parse_variables(given: list[str]) -> dict[str, str]:
    values = {}
    for one in map(common.as_text, given):
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise UsageError("Expected NAME=VALUE", one, "For example: --var version=2.1")
        values[name] = value
    return values
