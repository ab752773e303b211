"""The other steps of `skilld setup`: what was found, the service, the last week's sessions, what was learned."""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

from skilld import console
from skilld.agents import ADAPTERS
from skilld.classify.backends import OFFLINE
from skilld.cli import common, inventory, terminal
from skilld.cli.progress import Progress
from skilld.clock import rfc3339
from skilld.errors import SkilldError, cause_of
from skilld.files import first_program
from skilld.notify.notice import about_waiting
from skilld.text import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skilld.mining.sessions import Transcript

LOOK_BACK_DAYS = 7.0  # the default
_RECENT_DAYS = 30
_DAY_SECONDS = 86400.0
_MAX_FILES = 5
_MAX_REASONS = 3
_TOKENS_PER_CALL = 4700  # as in setup.DAILY_USE: 140,000 tokens in 30 calls
_STOP_SECONDS = 10.0  # for a stopped daemon to release its lock


def print_findings() -> None:
    """Print which agents were used recently, the number of skills, and which instruction files are loaded."""
    from skilld.caller.programs import program_names

    known = {name: adapter.INFO for name, adapter in ADAPTERS.items()}
    used = Counter(one.agent for one in common.past_transcripts(time.time() - _RECENT_DAYS * _DAY_SECONDS))
    agents = [f"{known[name].title} ({pluralize(number, 'session file')})" for name, number in used.most_common()]
    console.say("Found here", style="bold")
    idle = [
        info.title
        for name, info in known.items()
        if name not in used and first_program(program_names(info.title), os.environ)
    ]
    rows = [f"{', '.join(agents)} in the last {_RECENT_DAYS} days"] if agents else []
    rows += [f"{', '.join(idle)}: installed, not used in the last {_RECENT_DAYS} days"] if idle else []
    console.say(f"  agents        {'; '.join(rows) or f'none used in the last {_RECENT_DAYS} days'}", 16)
    console.say(f"  skills        {len(inventory.all_skills([common.current_folder()])) or 'none'}")
    rows = list(dict.fromkeys(_instruction_files()))
    for number, row in enumerate(rows[:_MAX_FILES]):
        console.say(f"  {'' if number else 'instructions':12}  {row}")
    if len(rows) > _MAX_FILES:
        console.say(f"  {'':12}  and {len(rows) - _MAX_FILES} more: skilld context")
    if not rows:
        none = "no CLAUDE.md, AGENTS.md or similar file is loaded in this folder"
        unknown = "no agent has been used here yet; to see what one loads: skilld context --agent NAME"
        console.say(f"  instructions  {none if used or idle else unknown}")


def _instruction_files() -> Iterator[str]:
    """Yield each instruction file that an agent loads at the start of a session here, with its size in tokens."""
    from skilld.context import LoadTime, Scope
    from skilld.context.installed import contexts
    from skilld.context.tokenizer import ESTIMATE

    home = common.home()
    for context in contexts(common.current_folder(), home, os.environ):
        for file in context.files:
            if file.loaded is LoadTime.START and file.scope not in {Scope.SKILL, Scope.MEMORY}:
                tokens = pluralize(ESTIMATE.count(file.text), "token")
                yield f"{console.message(file.path)}, about {tokens}"


def offer_link() -> None:
    """Offer to link skilld into ~/.local/bin, if that is on PATH and skilld is not."""
    link = common.path_symlink()
    on_path = str(link.parent) in os.environ.get("PATH", "").split(os.pathsep)
    if common.command_name() == "skilld" or not on_path or os.path.lexists(link):
        return
    console.line()
    if _confirm("skilld is not on your PATH yet. Link it into ~/.local/bin?"):
        try:
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(common.own_executable())
            console.say(f"Created the link {console.message(str(link))}.")
        except OSError as error:
            console.say(f"Could not create {console.message(str(link))}: {cause_of(error)}.")


def offer_service(answer: str | None, environment: str | None, *, asks: bool) -> str:
    """Install the service if the person wants it; return what was done, or an empty text."""
    from skilld.cli import service

    if answer == "no" or (answer is None and not asks):
        return ""
    manager = service.service_manager()
    state = manager.state()
    console.line()
    if state.state == "unknown":
        why = f"because {state.manager} is not responding (skilld doctor shows why)"
        console.say(f"skilld cannot start at login here, {why}. Start it in a terminal instead, as shown below.")
        return ""
    if state.running:
        console.say("skilld already runs whenever you are logged in.")
        return ""
    if process := common.daemon_pid():
        console.say(f"skilld is already running: process {process}. To run it as a service, stop it first, then:")
        console.say("  skilld service install")
        return ""
    if answer is None and not _confirm("Run skilld whenever you are logged in?"):
        return ""
    try:
        service.install_service(manager, environment)
    except SkilldError as error:
        _print_error(error)
        return ""
    return "the service is installed"


def offer_look_back(days: float | None, *, asks: bool) -> str:
    """Judge what was said in the last days if the person wants that; return what was done, or an empty text."""
    from skilld.cli import service

    if days == 0 or (days is None and not asks):
        return ""
    wanted = LOOK_BACK_DAYS if days is None else days
    found = common.past_transcripts(time.time() - wanted * _DAY_SECONDS)
    last = "day" if wanted == 1 else f"{wanted:g} days"
    console.line()
    if not found:
        console.say(f"No agent was used here in the last {last}, so there are no past sessions to read.")
        return ""
    process = common.daemon_pid()
    files, since = pluralize(len(found), "session file"), rfc3339(time.time() - wanted * _DAY_SECONDS)
    with closing(common.store_or_empty()) as store:
        new = [one for one in found if not store.transcripts.is_read(str(one.path), since)]
        waiting = store.batches.count_due(time.time())  # more than none if an earlier look-back was interrupted
    rest = pluralize(waiting, "batch of messages is waiting", "batches of messages are waiting")
    if not new and (process or not waiting):  # a service judges what waits
        done = f"read; {rest} to be judged" if waiting else "judged; to search them again: skilld mine"
        console.say(f"The last {last}: {files}, already {done}.")
        return ""
    if process and not service.service_manager().state().running:  # a service could be stopped and started again
        console.say(f"skilld is already running: process {process}. To process the last {last}, stop it first, then:")
        console.say(f"  skilld run --once --backfill {wanted:g}")
        return ""
    part = f", {len(new):,} of them not judged yet" if 0 < len(new) < len(found) else ""
    part += f"; {rest} to be judged" if waiting else ""
    console.say(f"The last {last}: {files}{part}. Judging them now {_describe_cost(new, waiting)}.")
    if days is None and not _confirm("Judge them now?"):
        console.say(f"To do it later: skilld run --once --backfill {wanted:g}")
        return ""
    try:
        _look_back(wanted if new else None)
    except SkilldError as error:
        _print_error(error)
        return ""
    return f"the last {last} processed"


def _describe_cost(found: list[Transcript], waiting: int) -> str:
    """Describe what it costs to judge these sessions and the waiting batches. Reads them if a model will be asked."""
    from skilld.mining.candidates import with_progress
    from skilld.mining.questions import session_windows
    from skilld.mining.sessions import SessionFilter, read_sessions
    from skilld.settings import choose_back_end

    settings = common.settings()
    model = choose_back_end(settings, os.environ).name
    if model == OFFLINE:
        return "does not call a model or send anything"
    with Progress("Reading sessions") as progress:
        transcripts = with_progress(found, lambda _, done, total: progress.show(done, total) if progress.due else None)
        limits = SessionFilter(limit=len(found))
        sessions = read_sessions(transcripts, limits, common.redactor(), lambda _: None).sessions
    calls = waiting + sum(len(session_windows(session, model)) for session in sessions)
    if not calls:
        return "needs no model: nothing in them sounds like a lasting instruction"
    most = settings.budget.calls
    later = f"; at most {most} calls a day (budget.calls), the rest later" if most and calls > most else ""
    return f"takes about {pluralize(calls, 'model call')} and {calls * _TOKENS_PER_CALL:,} tokens{later}"


def _look_back(days: float | None) -> None:
    """Judge what was said in the last days, or with None only what waits.

    The service is stopped meanwhile: only one process may read at a time.
    """
    from skilld.cli import run, service

    manager = service.service_manager()
    if again := manager.state().running:
        manager.stop()
        end = time.monotonic() + _STOP_SECONDS
        while common.daemon_pid() and time.monotonic() < end:
            time.sleep(0.05)
    umask = os.umask(0o077)  # `run` sets it for its whole process
    try:
        run.run(argparse.Namespace(once=True, backfill=days), brief=True)
    finally:
        os.umask(umask)
        if again:
            manager.start()


def print_outcome(*, listed: bool) -> None:
    """Print what was learned, or why nothing was, and the next step; `listed` proposals are only counted."""
    console.line()
    if not common.places().database.exists():
        console.say("No proposals yet: no sessions were read.")
    else:
        _print_learned(listed=listed)
    print_start()


def print_start() -> None:
    """Print how to start skilld, or that it runs, and when it judges."""
    from skilld.cli import service

    batch = common.settings().batch
    most, idle = pluralize(batch.turns, "message"), pluralize(batch.idle_minutes, "minute")
    when = f"It judges a session after every {most} from you, and when the session ends or has been idle for {idle}."
    if common.daemon_pid():
        console.say(f"skilld is running. {when}")
        return
    usable = service.service_manager().state().state != "unknown"
    name = common.command_name()
    at_login = f". To start it at every login instead: {name} service install" if usable else ""
    console.say(f"Next, start skilld: {name} run{at_login}")
    console.say(when)
    common.print_path_hint()


def _print_learned(*, listed: bool) -> None:
    from skilld.health import checks
    from skilld.health.gather import count_turns

    with closing(common.store()) as store:
        proposals = store.proposals.open()
        homeless = store.learnings.count_for_files()
        known, paused = count_turns(store, common.settings()), store.meta.paused(time.time())
        ran = not common.first_step_hint(store)
    for one in () if listed else proposals[:_MAX_FILES]:
        console.say(f"{one.id}  {console.plain(one.skill)}: {console.plain(one.summary)}")
    if not listed and len(proposals) > _MAX_FILES:
        console.say(f"and {len(proposals) - _MAX_FILES} more: skilld proposals")
    if proposals:
        number = pluralize(len(proposals), "open proposal")
        console.say(f"{number}. To review: skilld review", style="bold")
    if homeless:
        console.say(about_waiting(homeless))
    if not (proposals or homeless or ran):  # messages count from the first run on, which is the next step
        console.say("No proposals yet: no sessions were read.")
    elif not proposals and not homeless:
        paused_until = "until you resume it: skilld resume" if paused else ""
        reasons = checks.reasons_for_nothing(known, paused_until, running=bool(common.daemon_pid()))
        past = "No open proposals. To see past ones: skilld proposals --state all"
        console.say(past if known.since else "No proposals yet:")
        for reason in reasons[:_MAX_REASONS]:
            console.say(f"  {console.plain(reason)}")


def _confirm(question: str) -> bool:
    """Ask a question: Enter means yes, the end of the input no."""
    said = terminal.ask(f"{question} [Y/n] ")
    return said is not None and said.strip().lower() in {"", "y", "yes"}


def _print_error(error: SkilldError) -> None:
    console.say(f"{console.plain(error.title)}: {console.plain(error.cause)}.")
    if error.remedy:
        console.say(f"  {console.plain(error.remedy)}")
