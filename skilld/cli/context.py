"""`skilld context`: what each agent loads in a project, and what of it would surprise a person."""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilld import console
from skilld.cli import common
from skilld.errors import UsageError
from skilld.text import counted

if TYPE_CHECKING:
    from skilld.context import Context

_KNOWN = {"documented": "as its documentation says", "not known": "what it loads is not known"}


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(
        verbs,
        "context",
        run,
        "show what each agent loads here: instructions, rules, skills",
        listing=True,
    )
    parser.add_argument(
        "--agent", metavar="AGENT", help="only this agent (default: every agent installed or used here)"
    )
    parser.add_argument(
        "--project",
        metavar="DIR",
        type=Path,
        default=Path(),
        help="the folder the agent works in (default: the current one)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    from skilld.agents import ADAPTERS
    from skilld.context.here import contexts, unread

    if arguments.agent and arguments.agent not in ADAPTERS:
        raise UsageError("No such agent", f"{common.as_text(arguments.agent)}; there are: {', '.join(ADAPTERS)}")
    project = common.folder(arguments.project)
    chosen = [arguments.agent] if arguments.agent else []
    found = contexts(project, common.home(), os.environ, chosen)
    nobodys = unread(found, project) if not chosen else []
    if arguments.json:
        return common.write_json({"agents": {one.agent: as_json(one) for one in found}, "unread": nobodys})
    for one in found:
        _show(one, project)
    for path in nobodys:
        console.line(f"No agent here reads {console.plain(short(path, project))}.")
    if not found:
        console.line("No coding agent is installed or was used here. Name one: skilld context --agent claude-code")
    return 0


def as_json(context: Context) -> dict[str, Any]:
    """Return what is told of one agent."""
    from skilld.context import Kind, contradictions, loaded_twice

    files = [
        {
            "path": file.path,
            "loaded": file.loaded.value,
            "scope": file.scope.value,
            "tokens": file.tokens,
            "via": file.via,
            "paths": list(file.paths),
        }
        for file in context.files
    ]
    return {
        "version": context.version,
        "source": context.source,
        "files": files,
        "tokens": context.tokens,
        "duplicates": [asdict(one) for one in loaded_twice(context.files)],
        "conflicts": [asdict(one) for one in contradictions(context.files)],
        "dead": [asdict(one) for one in context.of(Kind.DEAD)],
        "surprises": [asdict(one) for one in context.surprises if one.kind is not Kind.DEAD],
    }


def _show(context: Context, project: Path) -> None:
    from skilld.context import Scope, contradictions, loaded_twice

    known = _KNOWN.get(context.source, f"{context.tokens} tokens in its first request")
    console.line(console.paint(f"{context.agent} {context.version}".strip(), "bold") + f": {known}")
    rows = []
    for file in context.files:
        if file.scope is Scope.SKILL:
            continue
        why = f"imported by {short(file.via, project)}" if file.via else ""
        why = f"for {', '.join(file.paths)}" if file.paths else why
        rows.append((file.loaded.value, file.scope.value, str(file.tokens), short(file.path, project), why))
    console.table([tuple(map(console.plain, row)) for row in rows], indent="  ")
    skills = [file for file in context.files if file.scope is Scope.SKILL]
    if skills:
        tokens = sum(file.tokens for file in skills)
        console.line(f"  and a line for each of {counted(len(skills), 'skill')}, {tokens} tokens")
    for surprise in context.surprises:
        place = f"{short(surprise.path, project)}{f':{surprise.line}' if surprise.line else ''}"
        by = f" ({short(surprise.by, project)})" if surprise.by else ""
        console.line(f"  ! {console.plain(place)}: {console.plain(surprise.why + by)}")
    for one in loaded_twice(context.files):
        place = f"{short(one.other, project)}:{one.line}"
        console.line(f"  ! {console.plain(place)}: {one.size} characters stand in {short(one.path, project)} too")
    for against in contradictions(context.files):
        place, other = (
            f"{short(path, project)}:{line}"
            for path, line in ((against.path, against.line), (against.other, against.other_line))
        )
        console.line(f"  ! {console.plain(place)}: {console.plain(against.text)}")
        console.line(f"    but {console.plain(other)}: {console.plain(against.other_text)}")


def short(path: str, project: Path) -> str:
    """Return a path as it is best read from the project."""
    home = str(common.home())
    if path.startswith(f"{project}/"):
        return path[len(str(project)) + 1 :]
    return f"~{path[len(home) :]}" if path.startswith(f"{home}/") else path
