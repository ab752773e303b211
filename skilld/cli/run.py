"""`skilld run`: the daemon in the foreground, and what it prints when it starts."""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
import time
from contextlib import suppress
from functools import cache, partial

from skilld import console, logs
from skilld.agents import ADAPTERS
from skilld.caller.programs import program_names
from skilld.classify.backends.agent_cli.clients import PREFIX
from skilld.classify.backends.names import check_name
from skilld.cli import common, permissions
from skilld.cli.progress import Progress
from skilld.cli.terminal import remove_unfinished_edits
from skilld.clock import local_day
from skilld.daemon import settings_cache
from skilld.daemon.engine import Engine
from skilld.daemon.lock import FileIdentity, Lock, show_life
from skilld.daemon.loop import Loop
from skilld.daemon.recovery import open_store, record_recovery, recovery_job
from skilld.daemon.schedule import due_after_corrections
from skilld.daemon.settings_cache import settings_origin
from skilld.daemon.surveys import SurveySchedule
from skilld.errors import Exit
from skilld.files import first_program
from skilld.ingest.discover import find_links, gone_roots
from skilld.notify.desktop import Desktop
from skilld.notify.notice import about_waiting
from skilld.paths import Places, check_private, is_relocated
from skilld.proposals.model import top_folder
from skilld.proposals.poll import PollSchedule, record_observation
from skilld.proposals.remarks import UNDO_VERBS
from skilld.protocol import BatchResult, GitResult, Job, PartialResult
from skilld.settings import Settings, choose_back_end
from skilld.store.batches import StoredBatch
from skilld.store.budget import spent_limit
from skilld.store.corruption import restrict_access
from skilld.store.meta import INSTALLED_AT, RAN_ONCE_AT
from skilld.store.proposals import TAKEN_BACK_PREFIX, UNWANTED_STATES
from skilld.text import pluralize
from skilld.types import Op, Proposal, State
from skilld.worker.spawn import VerbWorker, Worker


def run(arguments: argparse.Namespace, *, brief: bool = False) -> int:
    """Run the verb; `brief` is for `setup`, which has printed what was found and prints the outcome."""
    check_caller(arguments)
    umask = os.umask(0o077)  # for skilld's files; in repositories a worker restores the person's own
    where = common.places()
    origin, settings = _load_settings(where)
    common.check_exposure(where)
    restrict_access(where.database)
    check_private(where)
    if os.geteuid() == 0:
        whole = "which can change every file on this machine"
        console.warn(f"skilld: You are running skilld as root, {whole}. Use your own account.")
    lock = Lock.acquire(where.lock)
    remove_unfinished_edits()
    terminal = sys.stdout.isatty()
    logs.set_up(None if _is_journald_reading() else where.log, terminal=terminal)
    store = open_store(where.database, time.time())
    new_here = store.meta.get(INSTALLED_AT) is None
    if terminal and not brief:
        from skilld.cli import setup

        if setup.ask_once(settings, where.settings_file):
            origin, settings = _load_settings(where)
    settings_cache.store_settings(store, settings, origin)
    engine = Engine(store, settings, common.host(umask=umask), time.time(), _redact)
    try:
        return _follow(engine, where, arguments, new_here=new_here, brief=brief)
    finally:
        store.close()
        lock.release()


# What an agent would choose by the variables that begin so, and the values with which nothing is chosen.
_CHOICES = {"applies": ("SKILLD_APPLY", "SKILLD_AUTO"), "asks": ("SKILLD_MODEL",), "spends": ("SKILLD_BUDGET",)}
_HARMLESS = frozenset({"stage", "offline"})


def check_caller(arguments: argparse.Namespace) -> None:
    """Raise RefusedError if an agent's variables choose what counts as the person's words or is applied unasked.

    Also if it chooses who is sent these words, or what that may cost. A service manager and a container choose all of
    this for the person; what the person has set counts for an agent, too.
    """
    if permissions.calling_agent() is None:
        return
    from skilld.cli import inventory

    given = [name.upper() for name, value in os.environ.items() if value not in _HARMLESS]
    chosen = next((does for does, names in _CHOICES.items() if any(one.startswith(names) for one in given)), "")
    if chosen or is_relocated() or inventory.are_folders_moved():
        title = f"Only you can choose what skilld {chosen or 'reads'}"
        permissions.require_person(title, arguments.words, by_agents=True)


def _follow(engine: Engine, places: Places, arguments: argparse.Namespace, *, new_here: bool, brief: bool) -> int:
    """Print what was found here, and follow the agents: once, or until a signal. Returns the exit code."""
    gc.freeze()  # what was imported stays
    bell = _ring_bell if sys.stdout.isatty() else None
    desktop = Desktop(bell) if engine.settings.notify.enabled else None
    check = FileIdentity(places.lock, places.database).check
    life = partial(show_life, places.lock)
    loop = Loop(engine, _print_news, desktop, places.settings_file, check, show_life=life, warn=_print_setback)
    known = _count_turns(engine)
    if not arguments.once:
        loop.handle_signals()
    else:
        engine.follower.sweep()  # before printing what was found
    # Printed already by `setup`; and cron mails whatever is printed, run after run.
    quiet = arguments.once and not (sys.stdout.isatty() or new_here or arguments.backfill)
    if not (brief or quiet):
        print_introduction(engine, new_here=new_here and not arguments.backfill, follows=not arguments.once)
    if arguments.backfill:
        count = engine.follower.backfill(arguments.backfill, time.time())
        days = "day" if arguments.backfill == 1 else f"{arguments.backfill:g} days"
        console.say(f"Reading {pluralize(count, 'transcript')} from the last {days}.")
    if arguments.once:
        with Worker(engine.host.environment) as worker:
            code = _run_once(engine, worker, brief=brief, known=known if quiet else -1)
            if arguments.backfill and not brief and _count_turns(engine) == known > 0:
                console.say("Sessions already judged are not judged again; to search them: skilld mine")
            return code
    loop.run()
    if loop.stopped_by != signal.SIGINT:
        return Exit.OK
    if sys.stdout.isatty():
        console.line("\nStopped. To continue from here: skilld run")  # below the terminal's own ^C
    return Exit.INTERRUPTED


def _load_settings(places: Places) -> tuple[str, Settings]:
    """Return the settings' origin, read before them, and the settings."""
    origin, settings = settings_origin(places.settings_file, os.environ), common.settings()
    check_name(settings.model, own_server=bool(settings.model_base_url))
    return origin, settings


_load_redactor = cache(common.redactor)


def _redact(text: str) -> str:
    """Redact the words of a turn. The rules take 0.9 MB and are loaded with the first turn, not at start."""
    return _load_redactor()(text)


def _is_journald_reading() -> bool:
    """Whether standard error goes to journald. The variable alone proves nothing: a terminal may inherit it."""
    facts = os.fstat(sys.stderr.fileno())
    return os.environ.get("JOURNAL_STREAM") == f"{facts.st_dev}:{facts.st_ino}"


def _run_once(engine: Engine, worker: Worker, *, brief: bool = False, known: int = -1) -> int:
    """Read what is new and finish the batches that are due, one by one.

    `brief` omits the totals. They are also omitted if nothing was judged and there are still just `known` turns.
    """
    seconds = engine.settings.worker.seconds
    engine.store.batches.recover()
    before = _count_failed(engine)
    _read_new(engine)
    engine.close_due(time.time())
    umask = engine.host.umask
    if recovery := recovery_job(engine.store, engine.host, time.time()):
        record_recovery(engine.store, worker.do(Job(recovery, umask), seconds), time.time())
    schedule = PollSchedule(engine.store)
    _observe(engine, worker, schedule)  # what was decided in git comes before what was said since
    done = _finish_due(engine, worker)
    if _observe(engine, worker, schedule):
        done += _finish_due(engine, worker)  # proposals that no longer fit

    known_ids = {one.id for one in engine.store.proposals.in_states([State.OPEN])}
    if not brief:
        _survey(engine, worker)
    if repair := due_after_corrections(engine, time.time()):
        with VerbWorker(engine.host.environment) as verb:
            verb.do(Job(repair, umask), seconds)
    remedies = [one for one in engine.store.proposals.in_states([State.OPEN]) if one.id not in known_ids]
    _print_news(remedies)
    failed = _count_failed(engine) - before
    if not brief and (done or remedies or failed > 0 or _count_turns(engine) != known):
        _print_totals(engine, done, failed)
    engine.store.meta.set(RAN_ONCE_AT, time.time())
    return 0


def _observe(engine: Engine, worker: Worker, schedule: PollSchedule) -> bool:
    """Record what git shows of the proposals, if anything may have changed; return whether it was read."""
    poll = schedule.job(time.time())
    if poll is None:
        return False
    found = worker.do(Job(poll, engine.host.umask), engine.settings.worker.seconds)
    if isinstance(found, GitResult):
        record_observation(engine.store, found, time.time())
    return True


def _count_turns(engine: Engine) -> int:
    return sum(int(facts["turns"]) for facts in engine.store.transcripts.summary().values())


def _count_failed(engine: Engine) -> int:
    """Return the number of batches without a usable answer, or for which no judge could be asked."""
    return engine.store.batches.counts()["parked"] + engine.store.batches.outcomes().get("failed", 0)


def _print_totals(engine: Engine, done: int, failed: int) -> None:

    count = engine.store.proposals.count(State.OPEN)
    learnings = engine.store.learnings.count()
    have = f"{pluralize(count, 'open proposal')} and {pluralize(learnings, 'learning')}"
    console.say(f"Judged {pluralize(done - max(failed, 0), 'batch', 'batches')}. You now have {have}.")
    if failed > 0:
        console.say(f"{pluralize(failed, 'batch', 'batches')} could not be judged; to see why: skilld doctor")
    if engine.store.meta.paused(time.time()):
        console.say("skilld is paused, so nothing was judged. To continue: skilld resume")
    waiting = engine.store.batches.counts()["pending"]
    why = spent_limit(engine.store.usage.on(local_day(time.time())), engine.settings.budget)
    if waiting and why:
        must = f"{pluralize(waiting, 'batch', 'batches')} must wait until tomorrow"
        console.say(f"Today's budget is spent ({why}), so {must}. To see what was spent: skilld cost")
    for delay in engine.store.batches.standing_delays(None):
        console.say(console.message(delay.describe(time.time(), goes_on=False)))
    if unfinished := engine.store.transcripts.turn_outcomes()["waiting"]:
        batch = engine.settings.batch
        most, idle = pluralize(batch.turns, "message"), pluralize(batch.idle_minutes, "minute")
        held = pluralize(unfinished, "possible instruction is waiting", "possible instructions are waiting")
        console.say(f"{held}: a session is judged once it has {most}, ends, or is idle for {idle}.")
    if count:
        console.say("To review: skilld review")
    if learnings:
        console.say("To see why learnings were not proposed: skilld learnings")


def _finish_due(engine: Engine, worker: Worker) -> int:
    """Have the due batches judged; return how many need no other try."""
    done = 0
    with Progress("Judging batches") as progress:
        while batch := engine.next_batch(time.time()):
            waiting = engine.store.batches.counts()["pending"]
            progress.show(done, done + waiting)
            job, seconds = engine.start(batch), engine.settings.worker.seconds
            result = worker.do(job, seconds, partial(_keep_plan, engine, batch), charge=engine.account(batch).charge)
            new = engine.finish(batch, result, time.time())
            taken_back = (engine.store.proposals.get(one.proposal) for one in BatchResult.of(result).taken_back)
            if found := [*new, *engine.repeated_proposals(result), *filter(None, taken_back)]:
                progress.clear()
                _print_news(found)
            ended = engine.store.batches.get(batch.id)
            done += ended is None or ended.state != "pending"  # else it waits to be tried again
    return done


def _survey(engine: Engine, worker: Worker) -> None:
    """Survey the newest transcripts of idle sessions, as many as the daemon does at a time."""
    surveys, now = SurveySchedule(engine.store, engine.host, delay=0), time.time()
    settings, total = engine.settings, 0
    charge = surveys.account(lambda: settings).charge
    with Progress("Reading past sessions") as progress:
        while survey := surveys.job(settings, now):
            total = max(total, surveys.waiting)
            progress.show(total - surveys.waiting, total)
            surveys.record(worker.do(Job(survey, engine.host.umask), settings.worker.seconds, charge=charge))


def _read_new(engine: Engine) -> None:
    """Read what is new, showing progress if transcripts must be read again."""
    total = engine.store.transcripts.reread_count()
    with Progress("Reading transcripts") as progress:

        def show() -> None:
            if total and progress.due:
                progress.show(total - engine.store.transcripts.reread_count(), total)

        engine.follower.progress = show
        engine.follower.sweep()


def _keep_plan(engine: Engine, batch: StoredBatch, plan: PartialResult) -> None:

    if isinstance(plan, BatchResult):
        engine.save_plan(batch, plan, time.time())


def _ring_bell() -> None:
    """Ring the terminal's bell, for lack of a desktop notification."""
    sys.stdout.write("\a")
    sys.stdout.flush()


def _print_news(proposals: list[Proposal], waiting: int = 0) -> None:
    """Print what was proposed, applied by auto mode or said again, and how many learnings now wait for a file."""
    for proposal in proposals:
        done, then = _describe_news(proposal)
        where = console.message(str(top_folder(proposal)))
        console.say(f"{done} ({where}): {console.plain(proposal.summary)}")
        console.say(f"  {then} {proposal.id}")
    if waiting:
        console.say(about_waiting(waiting))
    with suppress(OSError):  # a full disk, if standard output is a file
        sys.stdout.flush()


def _print_setback(why: str) -> None:
    """Print why a batch could not be judged, or nothing be stored, which may also keep it from being printed."""
    with suppress(OSError):
        console.say(console.message(why), style="yellow")
        sys.stdout.flush()


def _describe_news(proposal: Proposal) -> tuple[str, str]:
    """Describe what happened to a proposal, and what to do about it."""
    state, name = proposal.state, console.plain(proposal.skill)
    if state in UNWANTED_STATES:
        return (
            f"You said this again for {name} after you {state.value} it",
            f"To bring it back: skilld {UNDO_VERBS[state]}",
        )
    if any(flag.startswith(TAKEN_BACK_PREFIX) for flag in proposal.flags):
        return f"You may have taken this back for {name}", "To decide on it: skilld review"
    if proposal.landed:
        return f"Applied to {name}", "To undo it: skilld revert"
    removes = bool(proposal.operations) and all(one.op is Op.DELETE for one in proposal.operations)
    return f"Removal proposed for {name}" if removes else f"Proposed for {name}", "To review it: skilld review"


# What `skilld run` prints when it starts: what was found here, who judges, what that costs.


def _describe_cost(model: str, settings: Settings) -> str:
    if model == "offline":
        return "nothing, and nothing leaves this machine"
    if model.startswith("ollama"):
        return "only CPU time on this machine"
    from skilld.cli.setup import DAILY_USE

    what = "a few cents with a small model"
    if model == "agent":
        what = "uses your plan or credits for each agent"
    elif model.startswith(PREFIX):
        what = f"uses your plan or credits for {model.split(':')[1]}"
    elif settings.model_base_url:
        what = "at the price of that server"
    most = settings.budget.calls
    calls = f"at most {pluralize(most, 'model call')} a day" if most else "no limit on model calls"
    return f"{DAILY_USE}: {what}; {calls} (budget.calls)"


def print_introduction(engine: Engine, *, new_here: bool, follows: bool) -> None:
    """Print what was found on this machine and what judging costs; for a new user also how to process the past week.

    `follows` says whether the program runs until it is stopped.
    """
    from skilld.cli.inventory import skill_places

    settings = engine.settings
    choice = choose_back_end(settings, engine.host.environment)
    _print_agents(engine)
    folders = {folder for place in skill_places().values() for folder in place.absolute}
    skills = {path.resolve() for folder in folders for path in folder.glob("*/SKILL.md")}  # links may lead to one twice
    _print_row("Skills", f"{len(skills)} in your own folders, plus any in your projects")
    _print_row("Files", "instruction files (CLAUDE.md, AGENTS.md, rules) of the projects you work in, and your own")
    _print_row("Judge", f"{choice.name}: {choice.why}")
    _print_row("Cost", _describe_cost(choice.name, settings))
    for found in choice.found:
        _print_row("", found)
    if settings.notify.enabled:
        _print_row("Notify", f"at most {settings.notify.per_day} desktop notifications a day (notify.per_day)")
    if new_here and any(one.get("files") for one in engine.store.transcripts.summary().values()):
        _print_backfill_hint(choice.name, follows=follows)
    console.line()
    if follows and sys.stdout.isatty():
        common.print_path_hint()
        console.say("Following your agents. Press Ctrl-C to stop. To review proposals: skilld review", style="dim")
    sys.stdout.flush()


def _print_row(name: str, text: str) -> None:
    console.say(f"{name:12} {text}", 13)


def _print_agents(engine: Engine) -> None:
    from skilld.health.agent_checks import describe_links

    environment = engine.host.environment
    summary = engine.store.transcripts.summary()
    absent = []
    gone = {root.agent: what for root, what in gone_roots(engine.store, engine.roots)}
    for name, adapter in ADAPTERS.items():
        roots = [one for one in engine.roots if one.agent == name]
        if name in gone:
            _print_row(adapter.INFO.title, f"{console.message(gone[name])} (skilld doctor)")
        elif files := summary.get(name, {}).get("files", 0):
            _print_row(adapter.INFO.title, pluralize(files, "session file"))
        elif first_program(program_names(adapter.INFO.title), environment) or any(r.folder.is_dir() for r in roots):
            _print_row(adapter.INFO.title, "no sessions yet")
        else:
            absent.append(adapter.INFO.title)
        if links := [link for one in roots for link in find_links(one)]:
            _print_row("", describe_links(links))
    if absent:
        number = pluralize(len(absent), "other agent" if len(absent) < len(ADAPTERS) else "agent")
        them = "it" if len(absent) == 1 else "them"
        _print_row("Not found", f"{number}, followed once you use {them} (list: skilld doctor)")


def _print_backfill_hint(model: str, *, follows: bool) -> None:
    offline = "" if model == "offline" else "SKILLD_MODEL=offline "
    console.line()
    console.say("skilld learns only from what you say from now on, even in sessions that are already open.")
    console.say("To see what it would have learned from the last 7 days, without a model:")
    first = "   (stop this process first with Ctrl-C)" if follows else ""
    console.say(f"  {offline}{common.command_name()} run --once --backfill 7{first}")
