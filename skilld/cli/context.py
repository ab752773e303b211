"""`skilld context`: shows what each agent loads in a project, and anything surprising about it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from skilld import console
from skilld.cli import common, inventory
from skilld.context import Context, Kind, LoadedFile, LoadTime, Scope, contradictions, find_duplicates
from skilld.context.ceilings import Ceiling, ceilings, exceeded
from skilld.context.installed import contexts, unread_files
from skilld.context.references import find_dead_references
from skilld.context.tokenizer import ESTIMATE, Tokenizer, tokenizer
from skilld.files import below_home
from skilld.text import pluralize

_SOURCE_NOTES = {
    "documented": "according to its documentation",
    "not known": "skilld does not know what this agent loads",
}


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    common.check_agent(arguments.agent)
    project = common.resolve_folder(arguments.project)
    chosen = [arguments.agent] if arguments.agent else []
    found = contexts(project, common.home(), os.environ, chosen, seen=inventory.newest_version)
    nobodys = unread_files(found, project) if not chosen else []
    count, most = (tokenizer(), common.settings().limits.tokens) if arguments.tokens else (ESTIMATE, 0)
    if arguments.json:
        shown = {one.agent: as_json(one, count, most) for one in found}
        return common.write_json({"agents": shown, "unread": nobodys})
    for one in found:
        _print_context(one, project, count, most)
    for path in nobodys:
        console.say(f"No agent here reads {console.plain(short_path(path, project))}.")
    if not found:
        console.say("No coding agent is installed or has been used here. Name one: skilld context --agent claude-code")
    return 0


def as_json(context: Context, tokenizer: Tokenizer, limit: int) -> dict[str, Any]:
    """Return the JSON for one agent; `limit` is the person's own limit on a file's tokens."""
    files = [
        common.pick(file, "path", "loaded", "scope", "via", "paths") | {"tokens": tokenizer.count(file.text)}
        for file in context.files
    ]
    return {
        "version": context.version,
        "assumed": context.is_assumed,
        "source": context.source,
        "files": files,
        "tokens": _tokens_at_start(context, tokenizer),
        "tokenizer": tokenizer.name,
        "limits": [
            {"path": file.path, "most": one.limit, "unit": one.unit.value, "has": has, "what": one.effect}
            for file, one, has in _exceeded_limits(context, tokenizer, limit)
        ],
        "duplicates": [asdict(one) for one in find_duplicates(context.files)],
        "conflicts": [asdict(one) for one in contradictions(context.files)],
        "dead": [asdict(one) for one in (*context.of(Kind.DEAD), *find_dead_references(context))],
        "surprises": [asdict(one) for one in context.surprises if one.kind is not Kind.DEAD],
    }


def _tokens_at_start(context: Context, tokenizer: Tokenizer) -> int:
    return sum(tokenizer.count(file.text) for file in context.files if file.loaded is not LoadTime.ON_USE)


def _exceeded_limits(context: Context, tokenizer: Tokenizer, limit: int) -> Iterator[tuple[LoadedFile, Ceiling, int]]:
    """Yield each file that exceeds a limit or a recommendation, the limit, and the file's size."""
    limits = ceilings([context.agent], is_skill=False, tokens=limit)
    for file in context.files:
        if file.scope not in {Scope.SKILL, Scope.MEMORY}:
            yield from ((file, one, has) for one, has in exceeded(file.text, limits, tokenizer.count))


def _print_context(context: Context, project: Path, tokenizer: Tokenizer, limit: int) -> None:
    tokens = pluralize(_tokens_at_start(context, tokenizer), "token")
    measured = f"its first request includes {tokens} from these files (counted as {tokenizer.name})"
    known = _SOURCE_NOTES.get(context.source, measured)
    agent = f"{context.agent} {context.version}".strip()
    if context.is_assumed:
        agent = f"{context.agent} (version not found; assuming {context.version})"
    console.say(console.paint(agent, "bold") + f": {known}")
    rows = []
    for file in context.files:
        if file.scope is Scope.SKILL:
            continue
        why = f"imported by {short_path(file.via, project)}" if file.via else ""
        why = f"for {', '.join(file.paths)}" if file.paths else why
        tokens, name = f"{tokenizer.count(file.text):,}", short_path(file.path, project)
        rows.append((file.loaded.value, file.scope.value, tokens, name, why))
    head = [("loaded", "from", "tokens", "file", "")] if rows else []
    console.table([tuple(map(console.plain, row)) for row in (*head, *rows)], indent="  ")
    if skills := [file for file in context.files if file.scope is Scope.SKILL]:
        listed = pluralize(sum(tokenizer.count(file.text) for file in skills), "token")
        console.say(f"  of these, one line per skill: {pluralize(len(skills), 'skill')}, {listed}")
    for file, most, has in _exceeded_limits(context, tokenizer, limit):
        words = f"{has:,} {most.unit.value} (limit {most.limit:,}): {most.effect}"
        console.say(f"  ! {console.plain(short_path(file.path, project))}: {words}")
    for surprise in (*context.surprises, *find_dead_references(context)):
        place = f"{short_path(surprise.path, project)}{f':{surprise.line}' if surprise.line else ''}"
        by = f" ({short_path(surprise.by, project)})" if surprise.by else ""
        console.say(f"  ! {console.plain(place)}: {console.plain(surprise.why + by)}")
    for twice in find_duplicates(context.files):
        place = f"{short_path(twice.other, project)}:{twice.line}"
        also = f"the same {twice.size} characters are also in {short_path(twice.path, project)}"
        console.say(f"  ! {console.plain(place)}: {also}")
    for one in contradictions(context.files):
        place, other = (
            f"{short_path(one.path, project)}:{one.line}",
            f"{short_path(one.other, project)}:{one.other_line}",
        )
        console.say(f"  ! {console.plain(place)}: {console.plain(one.text)}")
        console.say(f"    but {console.plain(other)}: {console.plain(one.other_text)}")


def short_path(path: str, project: Path) -> str:
    """Return a path relative to the project or to the home, if it is in one of them."""
    return below_home(path.removeprefix(f"{project}/"), common.home())
