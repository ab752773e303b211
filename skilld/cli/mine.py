"""`skilld mine`: a report on what past sessions would have taught. It proposes nothing yet."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilld import console
from skilld.cli import common
from skilld.errors import SkilldError, UsageError

if TYPE_CHECKING:
    from skilld.mine.judge import Judgement
    from skilld.mine.sessions import Session, Transcript

_DAY = 86400.0


@dataclass(frozen=True)
class _Found:
    """What a run read and came to."""

    sessions: int
    unreadable: int
    judgement: Judgement


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(
        verbs, "mine", run, "report what past sessions would have taught; nothing is proposed yet", listing=True
    )
    parser.add_argument(
        "paths", metavar="PATH", type=Path, nargs="*", help="transcripts, or folders of such, in place of your own"
    )
    parser.add_argument("--since", metavar="DAYS", type=float, default=14.0, help="so far back (default: 14)")
    parser.add_argument("--project", metavar="FOLDER", type=Path, help="only sessions that worked there")
    parser.add_argument(
        "--from", dest="ids", metavar="ID", nargs="+", help="only these sessions; - reads ids from stdin"
    )
    parser.add_argument("--limit", metavar="N", type=int, default=100, help="sessions at most (default: 100)")
    parser.add_argument("--min-turns", metavar="N", type=int, default=1, help="only sessions with so many human turns")
    parser.add_argument("--dry-run", action="store_true", help="report, and propose nothing: all there is so far")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    if arguments.limit < 1 or arguments.min_turns < 1 or arguments.since <= 0:
        raise UsageError("That is no number to mine with", "--limit, --min-turns and --since are greater than 0")
    found = _mine(arguments)
    if arguments.json:
        return common.write_json(_as_json(found))
    _report(found)
    return 0


def _mine(arguments: argparse.Namespace) -> _Found:
    from skilld.mine.judge import judge
    from skilld.mine.rows import distil
    from skilld.mine.sessions import Reader
    from skilld.skills import text

    reader = Reader(common.redactor())
    wanted = _ids(arguments.ids)
    project = arguments.project.resolve() if arguments.project else None
    rows = []
    for session in _sessions(reader.sessions, _transcripts(arguments)):
        if len(session.turns) < arguments.min_turns or (wanted is not None and session.id not in wanted):
            continue
        if project is not None and not (session.cwd and Path(session.cwd).is_relative_to(project)):
            continue
        rows.append(distil(session))
        if len(rows) == arguments.limit:
            break
    skills = common.all_skills(sorted({Path(row.main_dir) for row in rows if row.main_dir}))
    texts = {skill.path: text(skill.path) for skill in skills}
    return _Found(len(rows), reader.unreadable, judge(rows, skills, texts, now=time.time()))


def _transcripts(arguments: argparse.Namespace) -> list[Transcript]:
    from skilld.daemon.roots import roots
    from skilld.mine.sessions import below, discover

    since = time.time() - arguments.since * _DAY
    if arguments.paths:
        if missing := [path for path in arguments.paths if not path.exists()]:
            raise SkilldError("No such file or folder", str(missing[0]))
        return [found for path in arguments.paths for found in below(path, since)]
    configured = common.settings().roots
    found = discover(roots(common.home(), os.environ, configured), since)
    if not found:  # a folder that holds transcripts in some other order, as people keep copies
        found = [one for agent, bases in configured.items() for base in bases for one in below(base, since, agent)]
    return found


def _sessions(read: Any, transcripts: Sequence[Transcript]) -> Iterator[Session]:  # noqa: ANN401 - a bound method
    """Yield the sessions, with a line of progress on a terminal's standard error."""
    shown = sys.stderr.isatty()
    begun = time.monotonic()
    for number, transcript in enumerate(transcripts, 1):
        if shown:
            rate = number / max(time.monotonic() - begun, 0.001)
            left = (len(transcripts) - number) / rate
            sys.stderr.write(f"\r{number} of {len(transcripts)} transcripts, {rate:.0f}/s, {left:.0f} s left ")
            sys.stderr.flush()
        yield from read(transcript)
    if shown:
        sys.stderr.write("\r\x1b[K")


def _ids(given: list[str] | None) -> set[str] | None:
    if given is None:
        return None
    if given == ["-"]:
        return set(sys.stdin.read().split())
    return {part for one in given for part in common.as_text(one).split(",") if part}


def _as_json(found: _Found) -> dict[str, Any]:
    judged = found.judgement
    return {
        "sessions": found.sessions,
        "candidates": [
            {
                "name": one.name,
                "action": one.action,
                "target": one.target,
                "dimensions": list(one.dimensions),
                "changes": list(one.changes),
                "evidence": [{"session": p.session, "turn": p.turn, "quote": p.quote} for p in one.evidence],
            }
            for one in judged.candidates
        ],
        "rejected": [{"topic": one.topic, "missed": one.missed} for one in judged.rejected],
        "docs": [
            {
                "project": one.project,
                "text": one.text,
                "evidence": [{"session": p.session, "turn": p.turn, "quote": p.quote} for p in one.evidence],
            }
            for one in judged.docs
        ],
        "unreadable": found.unreadable,
        "calls": 0,
        "tokens": 0,
    }


def _report(found: _Found) -> None:
    judged = found.judgement
    console.line(f"{found.sessions} sessions read.")
    for one in judged.candidates:
        target = f" {console.plain(one.target)}" if one.target else ""
        console.line(f"\n{console.paint(f'{one.action} {console.plain(one.name)}', 'bold')}{target}")
        console.line(f"  because it is {', '.join(one.dimensions)}")
        for change in one.changes:
            console.line(f"  - {console.plain(change)}")
        for proof in one.evidence:
            console.line(f"    you, in {console.plain(proof.session)}: \u201c{console.plain(proof.quote)}\u201d")
    for title, rows in (
        ("For the project's own documents rather than a skill:", [(doc.text, doc.project) for doc in judged.docs]),
        ("Not taken:", [(one.topic, f"missed: {one.missed}") for one in judged.rejected]),
    ):
        if rows:
            console.line(f"\n{title}")
        for text, remark in rows:
            console.line(f"  - {console.plain(text)}" + console.paint(f"  ({console.plain(remark)})", "dim"))
