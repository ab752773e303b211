"""`skilld mine`: what past sessions would have taught, as a report and as proposed skills."""

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
from pathlib import Path
from typing import TYPE_CHECKING

from skilld import console
from skilld.cli import common, guarding, inventory, over, terminal
from skilld.cli.common import Progress
from skilld.cli.unasked import as_job
from skilld.errors import Exit, RefusedError, SkilldError, UsageError

if TYPE_CHECKING:
    from skilld.mining.candidates import Report
    from skilld.mining.questions import Estimate
    from skilld.mining.sessions import Transcript
    from skilld.mining.values import Hooks, MiningContext, Options
    from skilld.review.generating import Generation

_DAY = 86400.0
_SINCE = 14.0
_LOOK = 0.5  # seconds between looks at whether who started us is still there
_never = threading.Event()


class _Kinds(tuple[str, ...]):
    """The kinds that are created. "prompt" is taken too, as it was once: there is none to be found."""

    __slots__ = ()

    def __contains__(self, kind: object) -> bool:
        return kind == "prompt" or super().__contains__(kind)


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(verbs, "mine", run, "propose skills, new or changed, from your past sessions", listing=True)
    parser.add_argument(
        "paths", metavar="PATH", type=Path, nargs="*", help="transcripts or folders to read (default: your agents')"
    )
    _add_elsewhere(parser)
    parser.add_argument(
        "--since", metavar="DAYS", type=common.days, help="days to look back, or 36h, 2w (default: 14; --reviews: 90)"
    )
    parser.add_argument("--project", metavar="FOLDER", type=Path, help="only sessions in this project")
    parser.add_argument(
        "--from", dest="ids", metavar="ID", nargs="+", help="only these sessions; - reads IDs or JSON with IDs"
    )
    parser.add_argument(
        "--limit", metavar="N", type=common.count, default=100, help="read at most N sessions (default: 100)"
    )
    parser.add_argument(
        "--min-turns", metavar="N", type=common.count, default=1, help="only sessions with at least N messages from you"
    )
    parser.add_argument(
        "--min-cost",
        metavar="USD",
        type=common.number,
        help="only sessions known to have cost at least this many US dollars",
    )
    parser.add_argument(
        "--status", choices=("completed",), help="only sessions that ran to completion, as far as skilld can tell"
    )
    parser.add_argument("--kind", choices=_Kinds(("workflow", "domain", "mcp")), help="create only this kind of skill")
    parser.add_argument("--name", metavar="NAME", default="", help="the name of the first new skill")
    parser.add_argument("--dry-run", action="store_true", help="report without proposing anything")
    parser.add_argument("--edit", action="store_true", help="open each new skill in your editor before proposing it")
    parser.add_argument(
        "-i",
        "--interactive",
        action="store_true",
        help="choose sessions, review the findings, then name and propose skills",
    )
    parser.add_argument("--yes", action="store_true", help="call the model without asking you first")
    parser.add_argument("--nightly", action="store_true", help=argparse.SUPPRESS)  # started by the daemon


def _add_elsewhere(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--reviews", action="store_true", help="read the repository's review comments on GitHub or GitLab instead"
    )
    over.add(parser, "report on all transcripts in these folders or object stores (s3://...)")


def run(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    over.check(arguments)
    if arguments.over:
        from skilld.cli import mine_over

        return mine_over.run(arguments)
    if arguments.reviews:
        from skilld.cli import mine_reviews

        return mine_reviews.run(arguments)
    refuse_others(arguments)
    if arguments.nightly:
        return as_job("mining", lambda: _mined(arguments, _options(arguments)).proposed)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # under nohup it is meant to go on alone
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    if arguments.interactive:
        return _step_by_step(arguments)
    options = _options(arguments)
    report = _mined(arguments, options)
    from skilld.cli.mine_report import as_json, show

    if arguments.json:
        return common.write_json(as_json(report))
    show(report, options.wanted.ids or ())
    return 0


def refuse_others(arguments: argparse.Namespace) -> None:
    """Raise RefusedError where somebody else would have words read as the person's that no agent recorded.

    A timer may have the agents' own folders mined, an agent nothing.
    """
    if arguments.dry_run or guarding.person_doubt() is None:
        return
    places = inventory.transcript_folders()
    strange = [path for path in arguments.paths if not any(place.holds(path) for place in places)]
    if arguments.interactive or strange or _moved():
        what = f"{strange[0]} is not in an agent's folder" if strange else "another program chose what to read"
        guarding.refuse_others(f"Only you can choose what to mine ({common.as_text(what)})", arguments.words)
    if agent := guarding.an_agent():
        raise RefusedError("Only you can run skilld mine", agent.words, guarding.remedy(agent, arguments.words))


def _moved() -> bool:
    """Whether variables have other folders read than the person's home and settings file name."""
    from skilld import paths
    from skilld.ingest.discover import roots

    home, configured = common.home(), common.settings().roots
    by_variable = any(name.upper().startswith("SKILLD_ROOTS") for name in os.environ)
    return by_variable or paths.moved() or inventory.transcript_folders() != roots(home, {}, configured)


def whole() -> tuple[Options, MiningContext]:
    """Return what a run without any option is asked to do, and what it works with."""
    from skilld.cli.parser import build_parser

    return _options(build_parser("mine").parse_args(["mine"])), _world()


def _mined(arguments: argparse.Namespace, options: Options) -> Report:
    from skilld.mining.candidates import run_mining

    progress = Progress()
    try:
        return run_mining(options, _world(), _hooks(arguments, progress))
    except KeyboardInterrupt:
        progress.clear()
        sys.stderr.write("Stopped. Your answers and proposals so far are kept; the next run continues from there.\n")
        raise
    finally:
        progress.clear()


def _options(arguments: argparse.Namespace) -> Options:
    from skilld.mining.sessions import SessionFilter
    from skilld.mining.values import Options
    from skilld.skills.draft import SHORT_NAMES

    wanted = SessionFilter(
        limit=arguments.limit,
        turns=arguments.min_turns,
        ids=_ids(arguments.ids),
        project=arguments.project.resolve() if arguments.project else None,
        usd=arguments.min_cost,
        completed=arguments.status is not None,
    )
    kind = SHORT_NAMES[arguments.kind] if arguments.kind else None
    name = common.as_text(arguments.name)
    settings = common.settings()
    return Options(
        _transcripts(arguments),
        wanted,
        kind,
        name,
        gather=settings.mine.auto_domain_skill,
        dry_run=arguments.dry_run,
        create_new=settings.lifecycle.mode == "create_new",
    )


def _world() -> MiningContext:
    from skilld.mining.values import MiningContext
    from skilld.settings import choice_of

    settings = common.settings()
    terms = common.terms(choice_of(settings, os.environ).spec, settings)
    return MiningContext(
        store=common.store(),
        terms=terms,
        host=common.host(umask=terms.umask, roots=settings.roots),
        redact=common.redactor(),
        skills=inventory.all_skills,
    )


def _hooks(arguments: argparse.Namespace, progress: Progress) -> Hooks:
    from skilld.mining.values import Hooks

    def agree(expected: Estimate, dollars: Callable[[], float | None]) -> bool:
        progress.clear()
        # The setting that has it run by night is the person's word.
        agreed = arguments.yes or (arguments.nightly and common.settings().mine.nightly)
        usd = None if agreed else dollars()
        money = "" if agreed else ", price unknown" if usd is None else f", about ${usd:.2f}"
        sys.stderr.write(f"Questions for the model: {expected.told()}{money}.\n")
        if agreed or (usd == 0 and not sys.stdin.isatty()):
            return True
        if not sys.stdin.isatty():
            sys.stderr.write("No questions were sent: confirmation needs a terminal. To skip it: --yes\n")
            return False
        return terminal.says_yes("Send them? [y/N] ", sys.stderr)

    def edited(text: str) -> str:
        progress.clear()
        return terminal.edit(text)

    return Hooks(agree, edited if arguments.edit else lambda text: text, progress)


def _transcripts(arguments: argparse.Namespace) -> list[Transcript]:
    from skilld.mining.sessions import transcripts_below

    since = time.time() - (arguments.since or _SINCE) * _DAY
    if arguments.paths:
        if missing := [path for path in arguments.paths if not path.exists()]:
            raise SkilldError("No such file or folder", str(missing[0]))
        places = inventory.transcript_folders()
        found = [one for path in arguments.paths for one in transcripts_below(path, since)]
        return [replace(one, by_hand=not any(place.holds(one.path) for place in places)) for one in found]
    return common.past_transcripts(since)


def _ids(given: list[str] | None) -> frozenset[str] | None:
    if given is None:
        return None
    if given == ["-"]:
        text = sys.stdin.read()
        if not text.lstrip().startswith(("[", "{")):
            return frozenset(text.split())
        with suppress(ValueError, RecursionError):
            return frozenset(_sessions_in(json.loads(text)))
        raise UsageError("Cannot read standard input", "--from - takes session IDs, or the JSON of another command")
    return frozenset(part for one in given for part in common.as_text(one).split(",") if part)


def _sessions_in(found: object) -> Iterator[str]:
    """Yield the ids of sessions in a document of another verb: learnings, proposals, recommend."""
    if isinstance(found, list):
        for one in found:
            yield from _sessions_in(one)
    elif isinstance(found, dict):
        named = (found.get(key) for key in ("session", "session_id"))
        yield from (name for name in named if name and isinstance(name, str))
        yield from _sessions_in([one for one in found.values() if isinstance(one, list | dict)])


def _end_with(parent: int) -> None:
    """End this process when the one that started it is gone, however that ended."""
    while os.getppid() == parent:
        _never.wait(_LOOK)
    os.kill(os.getpid(), signal.SIGKILL)


# `skilld mine --interactive`: the three steps, on a screen or by questions and answers, and what came of them.


def _step_by_step(arguments: argparse.Namespace) -> int:
    """Go through the steps and print what became of what was kept."""
    from skilld.cli.mine_report import brief

    if arguments.json or arguments.edit or arguments.yes or arguments.name:
        raise UsageError("Conflicting options", "--interactive cannot be combined with --json, --edit, --yes or --name")
    steps = generating(_options(arguments), _world())
    if not terminal.has_screen():
        run_plain(steps)
        return Exit.OK
    from skilld.review.generate_screen import GenerateApp

    app = GenerateApp(steps)
    brief(app.run() or [])
    return Exit.BUG if app.return_code else Exit.OK


def run_plain(steps: Generation) -> None:
    """Go through the steps by questions and answers, and print what became of what was kept."""
    from skilld.cli.mine_report import brief
    from skilld.review.plain_generate import PlainGenerate
    from skilld.review.plain_tabs import Talk

    brief(PlainGenerate(steps, Talk(console.line, terminal.ask, terminal.edit)).run())


def generating(options: Options, world: MiningContext) -> Generation:
    """Return the steps without a screen. They open the store for each call: the one in `world` is closed."""
    from skilld.review.generating import Generation

    world.store.close()
    return Generation(options, world, common.store)
