"""`skilld skills import`: checks other people's skills and proposes them like any others; nothing in them is run."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skilld import console
from skilld.cli import common, inventory, terminal
from skilld.clock import rfc3339
from skilld.errors import SkilldError, UsageError
from skilld.exchange.incoming import (
    ImportedSkill,
    NameTakenError,
    find_place,
    import_proposal,
    import_skill,
    missing_script_flags,
    similarity_flags,
)
from skilld.exchange.source_skills import SourceSkill, find_skills, is_address
from skilld.files import shell_quoted
from skilld.proposals.amend import stage_and_store
from skilld.skills.draft import SHORT_NAMES
from skilld.store import Store
from skilld.text import pluralize
from skilld.types import Proposal


@dataclass(frozen=True)
class _ImportResult:
    """The result for one skill of the source."""

    where: str
    imported: ImportedSkill | None = None
    proposal: Proposal | None = None
    error: SkilldError | None = None


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    if arguments.project:
        arguments.project = common.resolve_folder(arguments.project)
    only = [common.as_text(name) for name in arguments.only]
    found = find_skills(arguments.source, common.as_text(arguments.branch), only)  # a path need not be UTF-8
    if arguments.name and len(found) > 1:
        remedy = f"Choose one: --only {shell_quoted(found[0].where)}"
        raise UsageError("--name needs a single skill", f"{len(found)} were found", remedy)
    store = common.store()
    if len(found) > 1:
        found = _without_own(store, found)
    _confirm(found, arguments)
    outcomes = [_import_skill(store, one, arguments) for one in found]
    if len(outcomes) == 1 and outcomes[0].error is not None:
        raise outcomes[0].error
    if arguments.json:
        common.write_json([_as_json(one) for one in outcomes])
    else:
        taken = [one for one in outcomes if isinstance(one.error, NameTakenError)]
        for one in outcomes:
            if one not in taken or len(taken) == 1:
                _print_result(one)
        if len(taken) > 1:
            _print_taken(taken, outcomes)
    return next((int(one.error.code) for one in outcomes if one.error is not None), 0)


def _print_taken(taken: list[_ImportResult], outcomes: list[_ImportResult]) -> None:
    """Print the names that are taken, with the path of a skill if others in the source have its name."""
    every = [one.imported.draft.name for one in outcomes if one.imported]
    called = [(one.imported.draft.name, one.where) for one in taken if one.imported]
    names = ", ".join(console.plain(where if every.count(name) > 1 else name) for name, where in called)
    sys.stderr.write(
        f"skilld: not imported, because you already have skills or open proposals with these names: {names}\n"
    )
    sys.stderr.write("  To import one of them under another name: --only NAME --name OTHER\n")


def _without_own(store: Store, found: list[SourceSkill]) -> list[SourceSkill]:
    """Leave out the skills of a source that are skills here already, with the same text, and say how many."""
    own = {data for row in inventory.library_rows(store) if (data := _data_of(row.path))}
    new = [one for one in found if not one.data or one.data not in own]
    if known := len(found) - len(new):
        sys.stderr.write(f"skilld: left out {pluralize(known, 'skill')} that you have already\n")
    return new


def _data_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


_MAX_UNASKED = 10  # skills that are proposed at once without a question


def _confirm(found: list[SourceSkill], arguments: argparse.Namespace) -> None:
    """Ask before many skills are proposed at once; without a terminal, they need --yes. Raises UsageError."""
    if len(found) <= _MAX_UNASKED or arguments.yes or arguments.only:
        return
    if sys.stdin.isatty() and not arguments.json:
        if terminal.ask_yes_no(f"Propose {len(found)} skills? [y/N] ", sys.stderr):
            return
        raise UsageError("Nothing was imported", "you did not agree", "Choose some: --only NAME")
    remedy = "Choose some: --only NAME. To propose all: --yes"
    raise UsageError("Nothing was imported", f"{len(found)} skills were found", remedy)


def _import_skill(store: Store, found: SourceSkill, arguments: argparse.Namespace) -> _ImportResult:
    kind = SHORT_NAMES[arguments.kind] if arguments.kind else None
    name = common.as_text(arguments.name)
    imported = None
    try:
        source = arguments.source  # as it can be found again from any folder
        source = common.as_text(source if is_address(source) else str(common.expand_path(source).resolve()))
        imported = import_skill(found, source, common.secret_finder(), name=name, kind=kind)
        skills = inventory.all_skills([arguments.project] if arguments.project else [])
        path = find_place(
            imported.draft.name,
            arguments.project,
            skills=skills,
            waiting=store.proposals.open(),
            places=inventory.skill_places(),
            home=common.home(),
        )
        texts = {skill.name: inventory.skill_text(skill) for skill in skills}
        flags = missing_script_flags(imported.text, arguments.project) if arguments.project else ()
        imported = replace(imported, flags=(*imported.flags, *flags, *similarity_flags(imported, texts)))
        tries = sum(one.path == str(path) for one in store.proposals.all())
        proposed = import_proposal(imported, path, rfc3339(time.time()), tries)
        return _ImportResult(found.where, imported, stage_and_store(store, proposed))
    except SkilldError as error:
        return _ImportResult(found.where, imported, error=error)


def _print_result(outcome: _ImportResult) -> None:
    where = console.plain(outcome.where)
    if outcome.error is not None:
        sys.stderr.write(f"skilld: {where}: {console.message(str(outcome.error))}\n")
        if remedy := outcome.error.remedy:  # of several skills, one is named alone
            remedy = remedy.replace("--name ", f"--only {shell_quoted(outcome.where)} --name ")
            sys.stderr.write(f"  {console.plain(remedy)}\n")
        return
    if outcome.proposal is None or outcome.imported is None:
        return
    console.say(f"{console.paint(outcome.proposal.id, 'bold')}  new skill {console.plain(outcome.proposal.skill)}")
    for flag in outcome.imported.flags:
        console.say(f"  check: {console.plain(flag)}", style="yellow")
    for one in outcome.imported.left_out:
        console.say(f"  left out: {console.plain(one)}", style="dim")
    console.say(f"  Nothing is live yet. To review: skilld review {outcome.proposal.id}")


def _as_json(outcome: _ImportResult) -> dict[str, Any]:
    imported, proposed, error = outcome.imported, outcome.proposal, outcome.error
    return {
        "where": outcome.where,
        "name": imported.draft.name if imported else None,
        "proposal": proposed.id if proposed else None,
        "path": proposed.path if proposed else None,
        "flags": list(imported.flags) if imported else [],
        "left_out": list(imported.left_out) if imported else [],
        "refused": str(error) if error else "",
    }
