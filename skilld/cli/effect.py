"""`skilld effect`: of each rule, in how many sessions it could matter, and in how many it had to be said again."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilld import console
from skilld.cli import common
from skilld.text import counted

if TYPE_CHECKING:
    from skilld.effect.figures import Count
    from skilld.effect.rules import Effect
    from skilld.ingest.discover import Root
    from skilld.store import Store

_SECONDS = 60.0  # for transcripts that were not read yet; the daemon reads the rest
_SHOWN = 3  # quotes of one rule
_COLOURS = {"holds": "green", "repeated": "yellow", "unused": "dim", "unknown": "dim"}


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(
        verbs,
        "effect",
        run,
        "show whether each rule was kept, or had to be said again",
        listing=True,
    )
    parser.add_argument("which", metavar="NAME or PATH", nargs="?", help="only the rules of this skill or file")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    store = common.store()
    left = _read_missing(store)
    found = _chosen(collect(store), common.as_text(arguments.which or ""))
    if arguments.json:
        return common.write_json({"rules": [as_json(one) for one in found], "unread": left})
    for one in found:
        _show(one)
    if not found:
        console.line("No such rule was brought in by a proposal yet, and none had to be said again.")
    if left:
        console.line(f"{counted(left, 'transcript')} not read yet: run it again, or leave it to the daemon.")
    return 0


def collect(store: Store) -> list[Effect]:
    """Return what became of all rules, by what past sessions show."""
    from skilld.clock import seconds
    from skilld.effect.rules import effects, rules, with_notes
    from skilld.effect.survey import came_in, text_of
    from skilld.git.environment import scrub_environment
    from skilld.types import State

    scrub_environment()
    sessions = with_notes(store.past.sessions(), store.proposals.in_states([State.SAID]), text_of, cache(came_in))
    accepted = [
        (one, seconds(store.proposals.accepted_at(one.id) or one.decided_at) or 0.0)
        for one in store.proposals.in_states([State.ACCEPTED])
    ]
    return effects(rules(accepted, sessions, text_of), sessions)


def _chosen(found: Sequence[Effect], which: str) -> list[Effect]:
    """Return the rules of a skill by its name, or of a file or what lies below a folder."""
    if not which:
        return list(found)
    try:
        path = str(Path(which).expanduser().resolve())
    except (OSError, RuntimeError, ValueError):  # no name that a disk takes
        return []
    named = [one for one in found if one.rule.is_in_skill and Path(one.rule.path).parent.name == which]
    return named or [one for one in found if one.rule.path == path or one.rule.path.startswith(f"{path}/")]


def _read_missing(store: Store) -> int:
    """Read the transcripts that are new or have grown, the newest first; returns how many are left."""
    from skilld.classify.backends import OFFLINE, Spec
    from skilld.effect.survey import survey
    from skilld.ingest.discover import roots
    from skilld.jobs.limits import ProcessorTimeError, processor_time
    from skilld.protocol import PROCESSOR_SECONDS, Survey

    settings = common.settings()
    missing = _missing(store, roots(common.home(), os.environ, settings.roots))
    redact, progress, until = common.redactor(), common.Progress("sessions read"), time.monotonic() + _SECONDS
    variables, configured = _variables(), {name: tuple(map(str, found)) for name, found in settings.roots.items()}
    for number, (agent, path, facts) in enumerate(missing):
        if time.monotonic() > until:
            progress.clear()
            return len(missing) - number
        progress.show(number, len(missing))
        try:
            with processor_time(PROCESSOR_SECONDS):
                is_live = store.transcripts.is_live(path)
                job = Survey(agent, path, str(common.home()), *facts, is_live, Spec(OFFLINE), variables, configured)
                shown = survey(job, redact).sessions
        except ProcessorTimeError:
            shown = ()
        with store.transaction():
            store.past.keep(path, *facts, shown)
    progress.clear()
    return 0


def _missing(store: Store, places: Sequence[Root]) -> list[tuple[str, str, tuple[int, float]]]:
    from skilld.ingest.discover import transcripts

    known = store.past.read()
    found = [
        (root.agent, str(path), (facts.st_size, facts.st_mtime))
        for root in places
        for path, facts in transcripts(root)
        if known.get(str(path)) != (facts.st_size, facts.st_mtime)
    ]
    return sorted(found, key=lambda one: -one[2][1])


def _variables() -> dict[str, str]:
    from skilld.agents import VARIABLES

    return {name: os.environ[name] for name in VARIABLES if name in os.environ}


def as_json(effect: Effect) -> dict[str, Any]:
    """Return what is told of one rule."""
    from skilld.clock import rfc3339

    rule = effect.rule
    return {
        "path": rule.path,
        "line": rule.line,
        "text": rule.text,
        "origin": rule.origin.value,
        "since": rfc3339(rule.since) if rule.since else None,
        "before": _count(effect.before),
        "after": _count(effect.after),
        "state": effect.state.value,
        "evidence": [
            {
                "session": one.session,
                "turn": one.turn,
                "quote": one.quote,
                "agent": one.agent,
                "at": rfc3339(one.at) if one.at else None,
            }
            for one in effect.evidence
        ],
    }


def _count(count: Count) -> dict[str, Any]:
    low, high = count.interval
    return {"sessions": count.sessions, "repeats": count.repeats, "interval": [round(low, 3), round(high, 3)]}


def _show(effect: Effect) -> None:
    from skilld.cli.context import short

    rule, after = effect.rule, effect.after
    word = effect.state.value
    place = f"{short(rule.path, Path.cwd())}:{rule.line}"
    console.line(f"{console.paint(f'{word:9}', _COLOURS[word])} {console.plain(place)}  {console.plain(rule.text)}")
    told = f"said again in {after.repeats} of {counted(after.sessions, 'session')} in which it could matter"
    if after.sessions:
        low, high = after.interval
        told += f" (truth between {low:.0%} and {high:.0%})"
    if effect.before.sessions:
        told += f"; before it came in, {effect.before.repeats} of {effect.before.sessions}"
    console.line(console.paint(f"          {told}", "dim"))
    for one in effect.evidence[-_SHOWN:]:
        console.line(f"          you: “{console.plain(one.quote)}”")
