"""The steps of `skilld setup` around its question: what was found, the service, the last week, what was learned."""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from skilld import console
from skilld.cli import common, inventory, terminal
from skilld.clock import rfc3339
from skilld.errors import SkilldError, cause_of
from skilld.files import on_path
from skilld.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skilld.mining.sessions import Transcript

DAYS = 7.0  # looked back at, unless told otherwise
_MONTH = 30
_DAY = 86400.0
_MAX_FILES = 5
_MAX_REASONS = 3
_TOKENS_PER_CALL = 4700  # as setup.A_DAY counts a day: 140,000 tokens in 30 calls
_STARTS = 10.0  # seconds that a daemon which was stopped may take to let go of its lock


def tell_found() -> None:
    """Say which agents were used here lately, how many skills there are, and which instructions are loaded."""
    from skilld.agents import ADAPTERS
    from skilld.agents.programs import names_of

    known = {name: adapter.INFO for name, adapter in ADAPTERS.items()}
    used = Counter(one.agent for one in common.past_transcripts(time.time() - _MONTH * _DAY))
    agents = [f"{known[name].title} ({counted(number, 'session file')})" for name, number in used.most_common()]
    console.say("Found here", style="bold")
    idle = [
        info.title for name, info in known.items() if name not in used and on_path(names_of(info.title), os.environ)
    ]
    rows = [f"{', '.join(agents)} in the last {_MONTH} days"] if agents else []
    rows += [f"{', '.join(idle)}: installed, not used in the last {_MONTH} days"] if idle else []
    console.say(f"  agents        {'; '.join(rows) or f'none used in the last {_MONTH} days'}", 16)
    console.say(f"  skills        {len(inventory.all_skills([common.current_folder()])) or 'none'}")
    rows = list(dict.fromkeys(_instructions()))
    for number, row in enumerate(rows[:_MAX_FILES]):
        console.say(f"  {'' if number else 'instructions':12}  {row}")
    if len(rows) > _MAX_FILES:
        console.say(f"  {'':12}  and {len(rows) - _MAX_FILES} more: skilld context")
    if not rows:
        console.say("  instructions  no CLAUDE.md, AGENTS.md or similar file is loaded in this folder")


def _instructions() -> Iterator[str]:
    """Yield each instruction file that an agent loads at the start of a session here, with its tokens."""
    from skilld.context import LoadTime, Scope
    from skilld.context.here import contexts
    from skilld.context.tokenizer import ESTIMATE

    home = common.home()
    for context in contexts(common.current_folder(), home, os.environ):
        for file in context.files:
            path = Path(file.path)
            if file.loaded is LoadTime.START and file.scope not in {Scope.SKILL, Scope.MEMORY}:
                shown = f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
                yield f"{console.plain(shown)}, about {ESTIMATE.count(file.text):,} tokens"


def offer_link() -> None:
    """Where skilld is not on PATH but ~/.local/bin is, put a link there if the person wants that."""
    link = common.path_link()
    on_path = str(link.parent) in os.environ.get("PATH", "").split(os.pathsep)
    if common.program() == "skilld" or not on_path or os.path.lexists(link):
        return
    console.line()
    if not _wanted("skilld is not on your PATH yet. Link it into ~/.local/bin?"):
        return
    try:
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(common.own_program())
    except OSError as error:
        console.say(f"Could not create {console.plain(str(link))}: {cause_of(error)}.")
    else:
        console.say(f"Created the link {console.plain(str(link))}.")


def offer_service(answer: str | None, environment: str | None, *, asks: bool) -> str:
    """Have skilld run whenever the person is logged in, if they want that; returns what was done, if anything."""
    from skilld.cli import service

    if answer == "no" or (answer is None and not asks):
        return ""
    manager = service.the_manager()
    state = manager.state()
    console.line()
    if state.state == "unknown":
        console.say(
            f"skilld cannot start at login here, because {state.manager} is not responding (skilld doctor shows why). "
            "Start it in a terminal instead, as shown below."
        )
        return ""
    if state.running:
        console.say("skilld already runs whenever you are logged in.")
        return ""
    if process := common.daemon_process():
        console.say(f"skilld is already running: process {process}. To run it as a service, stop it first, then:")
        console.say("  skilld service install")
        return ""
    if answer is None and not _wanted("Run skilld whenever you are logged in?"):
        return ""
    try:
        service.put_in_place(manager, environment)
    except SkilldError as error:
        _tell(error)
        return ""
    return "the service is installed"


def offer_look_back(days: float | None, *, asks: bool) -> str:
    """Judge what was said in the last days, if the person wants that; returns what was done, if anything."""
    from skilld.cli import service

    if days == 0 or (days is None and not asks):
        return ""
    wanted = DAYS if days is None else days
    found = common.past_transcripts(time.time() - wanted * _DAY)
    last = "day" if wanted == 1 else f"{wanted:g} days"
    console.line()
    if not found:
        console.say(f"No agent was used here in the last {last}, so there are no past sessions to read.")
        return ""
    process = common.daemon_process()
    if process and not service.the_manager().state().running:  # which can be stopped and started again, and a run not
        console.say(f"skilld is already running: process {process}. To process the last {last}, stop it first, then:")
        console.say(f"  skilld run --once --backfill {wanted:g}")
        return ""
    files = counted(len(found), "session file")
    if not (new := _unjudged(found, wanted)):
        console.say(f"The last {last}: {files}, already judged.")
        return ""
    part = f", {len(new)} of them not judged yet" if len(new) < len(found) else ""
    console.say(f"The last {last}: {files}{part}. Judging them now {_cost(new)}.")
    if days is None and not _wanted("Judge them now?"):
        console.say(f"To do it later: skilld run --once --backfill {wanted:g}")
        return ""
    try:
        _look_back(wanted)
    except SkilldError as error:
        _tell(error)
        return ""
    return f"the last {last} processed"


def _unjudged(found: list[Transcript], days: float) -> list[Transcript]:
    """Return the sessions of the last days that were neither followed nor looked back at from there on."""
    since = rfc3339(time.time() - days * _DAY)
    with closing(common.stored()) as store:
        return [one for one in found if not store.transcripts.is_read(str(one.path), since)]


def _cost(found: list[Transcript]) -> str:
    """Return what judging these sessions takes. Reads them where a model is asked."""
    from skilld.classify.backends import OFFLINE
    from skilld.mining.candidates import with_progress as shown
    from skilld.mining.questions import session_windows
    from skilld.mining.sessions import SessionFilter, read_sessions
    from skilld.settings import choice_of

    settings = common.settings()
    model = choice_of(settings, os.environ).name
    if model == OFFLINE:
        return "does not call a model or send anything"
    progress = common.Progress("Reading sessions")
    told = shown(found, lambda _, done, total: progress.show(done, total) if progress.due else None)
    sessions = read_sessions(told, SessionFilter(limit=len(found)), common.redactor(), lambda _: None).sessions
    progress.clear()
    calls = sum(len(session_windows(session, model)) for session in sessions)
    if not calls:
        return "needs no model: nothing in them sounds like a lasting instruction"
    most = settings.budget.calls
    later = f"; at most {most} calls a day (budget.calls), the rest later" if most and calls > most else ""
    return f"takes about {counted(calls, 'model call')} and {calls * _TOKENS_PER_CALL:,} tokens{later}"


def _look_back(days: float) -> None:
    """Judge what was said in the last days, the service out of the way meanwhile: one process reads at a time."""
    from skilld.cli import run, service

    manager = service.the_manager()
    if again := manager.state().running:
        manager.stop()
        end = time.monotonic() + _STARTS
        while common.daemon_process() and time.monotonic() < end:
            time.sleep(0.05)
    umask = os.umask(0o077)  # which a run sets for all that it does
    try:
        run.run(argparse.Namespace(once=True, backfill=days, brief=True))
    finally:
        os.umask(umask)
        if again:
            manager.start()


def tell_outcome(*, listed: bool) -> None:
    """Say what was learned, or why nothing was, and what comes next; proposals already `listed` are only counted."""
    from skilld.cli import service

    console.line()
    if not common.places().database.exists():
        console.say("No proposals yet: no sessions were read.")
    else:
        _tell_learned(listed=listed)
    batch = common.settings().batch
    when = (
        f"It judges a session after every {counted(batch.turns, 'message')} from you, and when the session "
        f"ends or has been idle for {batch.idle_minutes:g} minutes."
    )
    if common.daemon_process():
        console.say(f"skilld is running. {when}")
        return
    usable = service.the_manager().state().state != "unknown"
    name = common.program()
    at_login = f". To start it at every login instead: {name} service install" if usable else ""
    console.say(f"Next, start skilld: {name} run{at_login}")
    console.say(when)
    common.tell_of_path()


def _tell_learned(*, listed: bool) -> None:
    from skilld.health import checks
    from skilld.health.gather import counts
    from skilld.notify.notice import about_waiting

    with closing(common.store()) as store:
        proposals = store.proposals.open()
        homeless = store.learnings.count_for_files()
        known, paused = counts(store, common.settings()), store.meta.paused(time.time())
        ran = not common.first_step(store)
    for one in () if listed else proposals[:_MAX_FILES]:
        console.say(f"{one.id}  {console.plain(one.skill)}: {console.plain(one.summary)}")
    if not listed and len(proposals) > _MAX_FILES:
        console.say(f"and {len(proposals) - _MAX_FILES} more: skilld proposals")
    if proposals:
        number = counted(len(proposals), "open proposal")
        console.say(f"{number}. To review: skilld review", style="bold")
    if homeless:
        console.say(about_waiting(homeless))
    if not (proposals or homeless or ran):  # the first messages count from a run on, and that is the next step
        console.say("No proposals yet: no sessions were read.")
    elif not proposals and not homeless:
        paused_until = "until you resume it: skilld resume" if paused else ""
        reasons = checks.why_nothing(known, paused_until, running=bool(common.daemon_process()))
        console.say(
            "No open proposals. To see past ones: skilld proposals --state all" if known.since else "No proposals yet:"
        )
        for reason in reasons[:_MAX_REASONS]:
            console.say(f"  {console.plain(reason)}")


def _wanted(question: str) -> bool:
    """Ask: Enter is a yes, the end of the input a no."""
    said = terminal.ask(f"{question} [Y/n] ")
    return said is not None and said.strip().lower() in {"", "y", "yes"}


def _tell(error: SkilldError) -> None:
    console.say(f"{console.plain(error.title)}: {console.plain(error.cause)}.")
    if error.remedy:
        console.say(f"  {console.plain(error.remedy)}")
