"""`skilld mine`: proposes skills from past sessions, and reports what it found."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from skilld import console, paths
from skilld.cli import common, inventory, over_option, permissions, terminal
from skilld.cli.daemon_job import run_as_job
from skilld.cli.progress import Progress
from skilld.errors import Exit, RefusedError, SkilldError, UsageError
from skilld.skills.draft import SHORT_NAMES
from skilld.text import pluralize

if TYPE_CHECKING:
    from skilld.mining.candidates import Report
    from skilld.mining.parallel import MergedResults
    from skilld.mining.questions import Estimate
    from skilld.mining.sessions import Transcript
    from skilld.mining.values import Hooks, MiningContext, Options
    from skilld.review.generation import Generation

_DAY_SECONDS = 86400.0
_DEFAULT_DAYS = 14.0
# Whether there are any transcripts at all, and why none of them is read.
_NO_TRANSCRIPTS = {
    False: "no transcript there. Name a session file that an agent wrote, or a folder with such files, "
    "like those in ~/.claude/projects or ~/.codex/sessions",
    True: "every transcript there is too old to be read by default. To read them: --since DAYS",
}
_PARENT_POLL_SECONDS = 0.5
_never_set = threading.Event()


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    over_option.check_options(arguments)
    if arguments.over:
        return _run_over(arguments)
    if arguments.reviews:
        from skilld.cli import mine_reviews

        return mine_reviews.run(arguments)
    check_caller(arguments)
    if arguments.nightly:
        return run_as_job("mining", lambda: _mine(arguments, _options(arguments)).proposed)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # under nohup it outlives its parent
        threading.Thread(target=_die_with_parent, args=(os.getppid(),), daemon=True).start()
    if arguments.interactive:
        return _run_interactive(arguments)
    options = _options(arguments)
    report = _mine(arguments, options)
    project = options.wanted.project
    if project and not report.reading.sessions and not project.is_dir():  # of a deleted one there may be sessions
        raise SkilldError("No such folder", str(project))
    from skilld.cli.mine_report import as_json, print_report

    if arguments.json:
        return common.write_json(as_json(report))
    print_report(report, options.wanted.ids or (), hints=not arguments.paths)
    return 0


def check_caller(arguments: argparse.Namespace) -> None:
    """Raise RefusedError if another program would have words read as the person's that no agent recorded.

    A timer may mine the agents' own folders; an agent may mine nothing.
    """
    if arguments.dry_run or permissions.person_doubt() is None:
        return
    places = inventory.transcript_folders()
    strange = [path for path in arguments.paths if not any(place.contains(path) for place in places)]
    if arguments.interactive or strange or paths.is_relocated() or inventory.are_folders_moved():
        what = f"{strange[0]} is not in an agent's folder" if strange else "another program chose what to read"
        permissions.require_person(f"Only you can choose what to mine ({common.as_text(what)})", arguments.words)
    if agent := permissions.calling_agent():
        raise RefusedError("Only you can run skilld mine", agent.words, permissions.remedy(agent, arguments.words))


def default_run() -> tuple[Options, MiningContext]:
    """Return the options and the world of a run without arguments."""
    from skilld.cli.parser import build_parser

    return _options(build_parser("mine").parse_args(["mine"])), _world()


def _mine(arguments: argparse.Namespace, options: Options) -> Report:
    from skilld.mining.candidates import run_mining

    try:
        with Progress() as progress:
            return run_mining(options, _world(), _hooks(arguments, progress))
    except KeyboardInterrupt:
        sys.stderr.write("Stopped. Your answers and proposals so far are kept; the next run continues from there.\n")
        raise


def _options(arguments: argparse.Namespace) -> Options:
    from skilld.mining.sessions import SessionFilter
    from skilld.mining.values import Options

    wanted = SessionFilter(
        limit=arguments.limit,
        turns=arguments.min_turns,
        ids=_parse_ids(arguments.ids),
        project=common.resolve_path(arguments.project) if arguments.project else None,
        usd=arguments.min_cost,
        completed=arguments.status is not None,
    )
    settings = common.settings()
    return Options(
        _transcripts(arguments),
        wanted,
        SHORT_NAMES[arguments.kind] if arguments.kind else None,
        common.as_text(arguments.name),
        gather=settings.mine.auto_domain_skill,
        dry_run=arguments.dry_run,
        create_new=settings.lifecycle.mode == "create_new",
    )


def _world() -> MiningContext:
    from skilld.daemon.judges import own_judges
    from skilld.mining.values import MiningContext
    from skilld.settings import choose_back_end

    settings, store = common.settings(), common.store()
    terms = common.terms(choose_back_end(settings, os.environ).spec, settings)
    own, unasked = own_judges(store, settings, os.environ, time.time())
    return MiningContext(
        store=store,
        terms=terms,
        host=common.host(umask=terms.umask, roots=settings.roots),
        redact=common.redactor(),
        skills=inventory.all_skills,
        own=own,
        unasked=unasked,
    )


def _hooks(arguments: argparse.Namespace, progress: Progress) -> Hooks:
    from skilld.mining.values import Hooks

    def agree(expected: Estimate, dollars: Callable[[], float | None]) -> bool:
        progress.clear()
        # The setting for nightly runs is the person's consent.
        agreed = arguments.yes or (arguments.nightly and common.settings().mine.nightly)
        price = cache(dollars)
        console.warn(f"Questions for the model: {expected.told(None if agreed else price)}.")
        if agreed or (price() == 0 and not sys.stdin.isatty()):
            return True
        if not sys.stdin.isatty():
            sys.stderr.write("No questions were sent: confirmation needs a terminal. To skip it: --yes\n")
            return False
        return terminal.ask_yes_no("Send them? [y/N] ", sys.stderr)

    def edited(text: str) -> str:
        progress.clear()
        try:
            return terminal.edit(text)
        except SkilldError as error:  # what was found so far has been paid for
            console.warn(f"{error}. {error.remedy}")
            return text

    return Hooks(agree, edited if arguments.edit else lambda text: text, progress)


def _transcripts(arguments: argparse.Namespace) -> list[Transcript]:
    from skilld.mining.sessions import transcripts_below

    since = time.time() - (arguments.since or _DEFAULT_DAYS) * _DAY_SECONDS
    if arguments.paths:
        paths = [*map(common.expand_path, arguments.paths)]
        if missing := [path for path in paths if not path.exists()]:
            raise SkilldError("No such file or folder", str(missing[0]))
        places = inventory.transcript_folders()
        found = []
        for path in paths:
            there = transcripts_below(path, 0.0)
            recent = [one for one in there if one.changed >= since]
            if not recent:
                console.warn(f"skilld: {console.message(common.as_text(str(path)))}: {_NO_TRANSCRIPTS[bool(there)]}")
            found += recent
        return [replace(one, by_hand=not any(place.contains(one.path) for place in places)) for one in found]
    return common.past_transcripts(since)


def _parse_ids(given: list[str] | None) -> frozenset[str] | None:
    if given is None:
        return None
    if given == ["-"]:
        text = sys.stdin.read()
        if not text.lstrip().startswith(("[", "{")):
            return frozenset(text.split())
        with suppress(ValueError, RecursionError):
            return frozenset(_session_ids_in(json.loads(text)))
        raise UsageError("Cannot read standard input", "--from - takes session IDs, or the JSON of another command")
    return frozenset(part for one in given for part in common.as_text(one).split(",") if part)


def _session_ids_in(found: object) -> Iterator[str]:
    """Yield the session IDs in the JSON of another verb: learnings, proposals, recommend."""
    if isinstance(found, list):
        for one in found:
            yield from _session_ids_in(one)
    elif isinstance(found, dict):
        named = (found.get(key) for key in ("session", "session_id"))
        yield from (name for name in named if name and isinstance(name, str))
        yield from _session_ids_in([one for one in found.values() if isinstance(one, list | dict)])


def _die_with_parent(parent: int) -> None:
    """Kill this process when its parent is gone, however that ended."""
    while os.getppid() == parent:
        _never_set.wait(_PARENT_POLL_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


# `skilld mine --interactive`: the three steps, on a full screen or line by line, and their results.


def _run_interactive(arguments: argparse.Namespace) -> int:
    """Go through the steps and print the results for the candidates that were kept."""
    from skilld.cli.mine_report import print_results

    if arguments.json or arguments.edit or arguments.yes or arguments.name:
        raise UsageError("Conflicting options", "--interactive cannot be combined with --json, --edit, --yes or --name")
    steps = start_generation(_options(arguments), _world())
    if not terminal.has_screen():
        run_plain(steps)
        return Exit.OK
    from skilld.review.generate_screen import GenerateApp

    app = GenerateApp(steps)
    print_results(app.run() or [])
    return Exit.BUG if app.return_code else Exit.OK


def run_plain(steps: Generation) -> None:
    """Go through the steps line by line, and print the results for the candidates that were kept."""
    from skilld.cli.mine_report import print_results
    from skilld.review.plain_generate import PlainGenerate
    from skilld.review.plain_tabs import Conversation

    print_results(PlainGenerate(steps, Conversation(console.line, terminal.ask, terminal.edit)).run())


def start_generation(options: Options, world: MiningContext) -> Generation:
    """Return the steps, independent of any screen. They reopen the store for each call, so `world`'s is closed."""
    from skilld.review.generation import Generation

    world.store.close()
    return Generation(options, world, common.store)


# `skilld mine --over FOLDER|URL`: a report on many transcripts, read by several processes or by a Dask cluster.


def _run_over(arguments: argparse.Namespace) -> int:
    """Read the transcripts and report on them; nothing is proposed."""
    from skilld.mining.parallel import merge_results, mine_file

    merged = merge_results(over_option.read_all(arguments, mine_file))
    if arguments.json:
        return common.write_json(_merged_json(merged))
    _print_merged(merged)
    return 0


def _merged_json(merged: MergedResults) -> dict[str, Any]:
    judged = merged.judgement
    return {
        "files": merged.files,
        "sessions": len(merged.rows),
        "unreadable": [{"path": url, "why": why} for url, why in merged.unreadable],
        "candidates": [
            {
                "project": one.target,
                **common.pick(one, "name", "dimensions", "changes"),
                "sessions": len({proof.session for proof in (*one.evidence, *one.observed)}),
            }
            for one in judged.candidates
        ],
        "docs": [
            {"project": one.project, "text": one.text, "sessions": len({proof.session for proof in one.evidence})}
            for one in judged.docs
        ],
    }


def _print_merged(merged: MergedResults) -> None:
    console.say(f"{pluralize(len(merged.rows), 'session')} read from {pluralize(merged.files, 'transcript')}.")
    if merged.unreadable:
        console.say(f"  {pluralize(len(merged.unreadable), 'transcript')} could not be read")
    for one in merged.judgement.candidates:
        console.say(console.paint(f"\n{console.plain(one.name)}", "bold") + f"  {console.message(one.target)}")
        console.say(f"  {console.plain('; '.join(one.dimensions))}")
        for text in one.changes:
            console.say(f"  - {console.plain(text)}")
    for doc in merged.judgement.docs:
        console.say(f"\n{console.plain(doc.text)}  {console.message(doc.project)}")
