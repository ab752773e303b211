"""The doctor's checks: each turns facts into a verdict with one remedy. Pure."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from os.path import relpath
from pathlib import Path

from skilld.classify.backends import OFFLINE
from skilld.classify.backends.choose import AGENT, EXPLICIT_ONLY
from skilld.clock import time_ago
from skilld.context import NATIVE_NAMES, Context, Scope, contradictions, find_duplicates
from skilld.files import access_remedy, shell_quoted
from skilld.health.values import BlockedWork, Check, Counts, Daemon, Model, Service, Trouble, Verdict
from skilld.service.values import ServiceState, failure_remedy, give_key_remedy
from skilld.store.budget import raise_command
from skilld.text import count_times, join_words, pluralize
from skilld.types import Cause

# Checks of the daemon, its service and failed batches.

_SILENT_SECONDS = 120.0  # the daemon reports its status every 20
_ONCE_SECONDS = 2 * 86_400.0  # somebody who runs it daily, say from cron, may have missed one
_MAX_RESTARTS = 3  # more are no accident


def daemon(facts: Daemon, service: ServiceState, now: float) -> list[Check]:
    """Return the checks of the daemon, of a pause, of failed batches, and of proposals to be remade."""
    pause = Check("pause", Verdict.OK, "not paused")
    if facts.paused_until:
        pause = Check("pause", Verdict.WARN, f"paused {facts.paused_until}", "skilld resume")
    return [_check_running(facts, service, now), pause, _check_batches(facts, service, now), _check_stale(facts)]


OUTDATED = "an older skilld is still running, from before the upgrade"


def restart_remedy(*, as_service: bool) -> str:
    """Return how to stop the running daemon and start it again."""
    by_hand = "Stop it (Ctrl-C where it runs), then: skilld run"
    return "skilld service stop && skilld service start" if as_service else by_hand


def _check_running(facts: Daemon, service: ServiceState, now: float) -> Check:
    if not facts.running:
        return _check_absent(facts, service, now)
    again = restart_remedy(as_service=service.running)
    silent = facts.seen_at is not None and now - facts.seen_at > _SILENT_SECONDS
    if facts.outdated:
        return Check("daemon", Verdict.FAIL if silent else Verdict.WARN, OUTDATED, again)
    if silent:
        return Check("daemon", Verdict.FAIL, f"not responding; last seen {time_ago(facts.seen_at, now)}", again)
    status = facts.status or {}
    if status and status.get("version") != facts.version:
        detail = f"running version {status.get('version')}, but {facts.version} is installed"
        return Check("daemon", Verdict.WARN, detail, again)
    if unwatched := status.get("unwatched"):
        polled = f"polling {pluralize(unwatched, 'folder')} every 30 s"
        detail = f"running, but the kernel's watch limit is reached: {polled}"
        return Check("daemon", Verdict.WARN, detail, "See the watches check.")
    if facts.lacking and not service.running:
        detail = f"started without {', '.join(facts.lacking)}, which this shell sets"
        return Check("daemon", Verdict.WARN, detail, give_key_remedy(as_service=False))
    return Check("daemon", Verdict.OK, f"running, version {facts.version}")


def _check_absent(facts: Daemon, service: ServiceState, now: float) -> Check:
    if service.installed:
        return Check("daemon", Verdict.FAIL, "not running", _start_remedy(service))
    if facts.ran_once_at is not None and now - facts.ran_once_at < _ONCE_SECONDS:
        ran = f"`skilld run --once` last ran {time_ago(facts.ran_once_at, now)}"
        detail = f"not running; {ran}: until the next run, nothing is judged and no notifications are shown"
        return Check("daemon", Verdict.WARN, detail)
    if not facts.is_set_up:
        return Check("daemon", Verdict.SKIP, "not set up yet: skilld has not run here", "skilld setup")
    return Check("daemon", Verdict.FAIL, "not running", _start_remedy(service))


def _start_remedy(service: ServiceState) -> str:
    if service.state == "unknown":  # no service manager
        return "skilld run"
    return "skilld service start" if service.installed else "skilld service install (or, in a terminal: skilld run)"


def _check_batches(facts: Daemon, service: ServiceState, now: float) -> Check:
    if facts.parked:
        detail = f"{len(facts.parked)} failed; last error: {facts.parked[-1]}"
        remedy = failure_remedy(facts.parked[-1], facts.status, as_service=service.running)
        return Check("batches", Verdict.FAIL, detail, remedy or "Fix the cause, then: skilld retry")
    if facts.delayed:
        goes_on = facts.running and not facts.paused_until
        detail = "; ".join(one.describe(now, goes_on=goes_on) for one in facts.delayed[:_MAX_REASONS])
        return Check("batches", Verdict.WARN, detail, "To try again now: skilld retry")
    last = f"; last error: {facts.last_error}" if facts.last_error else ""
    failed = f"{facts.unusable} failed because the answer could not be used" if facts.unusable else "none failed"
    return Check("batches", Verdict.OK, f"{failed}{last}")


def _check_stale(facts: Daemon) -> Check:
    if not facts.stale:
        return Check("proposals", Verdict.OK, "none out of date")
    more = f"; {len(facts.stale) - 1} more" if len(facts.stale) > 1 else ""
    return Check("proposals", Verdict.WARN, f"{facts.stale[0]}{more}", "List them: skilld proposals --state stale")


def service(facts: Service) -> Check:
    """Return the check of the service: the first of these conditions that holds."""
    known = facts.state
    state = known.state or "stopped"
    unknown = state == "unknown"
    install, logs = "skilld service install", "Find out why: skilld logs"
    in_terminal = "Run skilld in a terminal instead: skilld run"
    missing = f"runs without {', '.join(facts.missing)}, which your shell sets"
    rules = (
        (unknown and not known.installed, Verdict.SKIP, f"not available here: {known.says}", in_terminal),
        (not known.installed, Verdict.SKIP, "not installed; to run skilld at every login: skilld service install", ""),
        (not facts.program_exists, Verdict.FAIL, f"starts {known.program}, which no longer exists", install),
        (unknown, Verdict.WARN, f"{known.manager} is not responding: {known.says}", "In a terminal: skilld run"),
        (not known.running and state.startswith("failed"), Verdict.FAIL, state, logs),
        (known.restarts > _MAX_RESTARTS, Verdict.WARN, f"restarted {known.restarts} times", logs),
        (not known.running, Verdict.WARN, state, "skilld service start"),
        (bool(facts.missing), Verdict.WARN, missing, f"{install} --environment keep"),
        (not known.enabled, Verdict.WARN, "does not start when you log in", install),
        (True, Verdict.OK, f"running under {known.manager}", ""),
    )
    return next(Check("service", verdict, detail, remedy) for holds, verdict, detail, remedy in rules if holds)


# Checks of the back-end, the budget and notices.

_ASK_HINT = "To test it: skilld doctor --ask"
_ASK_ELSEWHERE_HINT = "To test it, in a shell with the settings that skilld was started with: skilld doctor --ask"
STARTED_WITH = "skilld was started with it, but this shell has other settings"  # why a judge was chosen


def back_end(model: Model | None) -> Check:
    """Return the check of the back-end; `model` is None if the settings are not valid."""
    name = "judge"
    if model is None:
        return Check(name, Verdict.SKIP, "unknown until the settings are valid")
    if model.missing is not None:
        return Check(name, Verdict.FAIL, f"{model.name}: {model.missing.what}", model.missing.remedy)
    if isinstance(model.answer, Trouble):
        told = (one.what if isinstance(one, Trouble) else one for one in (model.answer, *model.others))
        return Check(name, Verdict.FAIL, f"{model.name}: {'; '.join(told)}", model.answer.remedy)
    unasked = f"; skilld cannot ask {join_words(model.unasked, 'or')} yet" if model.unasked else ""
    shown = f"{model.name}: {model.why}{unasked}"
    if model.agents:
        detail = "; ".join(f"{agent}: {trouble.what}" for agent, trouble in model.agents)
        return Check(name, Verdict.WARN, f"{shown}. {detail}", model.agents[0][1].remedy)
    if model.why == EXPLICIT_ONLY:
        return Check(name, Verdict.WARN, shown.partition(";")[0], "skilld setup")
    if model.name == OFFLINE:
        return Check(name, Verdict.OK, shown, model.found[0] if model.found else "")
    if model.answer is None:
        hint = _ASK_ELSEWHERE_HINT if STARTED_WITH in model.why else _ASK_HINT
        known = f"it last answered on {model.answered_on}" if model.answered_on else "not tested"
        return Check(name, Verdict.OK, f"{shown}; {known}", hint)
    answered = model.answer if model.name == AGENT else f"it answered a test question{model.answer}"
    return Check(name, Verdict.OK, f"{shown}; {answered}")


def budget(spent: str | None) -> Check:
    """Return the check of the budget; `spent` is the limit that was reached."""
    if spent:
        detail = f"spent for today: {spent}; the rest is on hold until tomorrow"
        return Check("budget", Verdict.WARN, detail, raise_command(spent))
    return Check("budget", Verdict.OK, "not reached")


def notices(why_not: str | None, *, known: bool = True) -> Check:
    """Return the check of desktop notices: None if they are off, otherwise why none can be shown."""
    if why_not is None:
        return Check("notices", Verdict.SKIP, "turned off" if known else "unknown until the settings are valid")
    if why_not:
        return Check("notices", Verdict.WARN, why_not, "See what is waiting: skilld status")
    return Check("notices", Verdict.OK, "on")


# Why nothing was proposed lately: what became of the turns.

NOTHING_LASTING = "nothing judged so far sounded like a lasting instruction"
NOTHING_LASTING_SINCE = "nothing judged since then sounded like a lasting instruction"
_MAX_REASONS = 3


def reasons_for_nothing(counts: Counts, paused_until: str, *, running: bool) -> list[str]:
    """Return the reasons, the most important first; none if nothing was said since the newest proposal."""
    if not counts.turns:
        return [] if counts.since else [_why_no_messages(counts, running=running)]
    reasons = [_count_messages(counts)]
    if counts.judged and not (counts.learnings or counts.said_since or counts.refusals):
        before = "what you said has been proposed before (list: skilld proposals --state all)"
        nothing = NOTHING_LASTING_SINCE if counts.since else NOTHING_LASTING
        reasons.append(before if counts.taught else nothing)
    if counts.learnings:
        kept = pluralize(counts.learnings, "lasting instruction")
        reasons.append(f"{kept} kept, but not in any file yet (list: skilld learnings)")
    if already := list(Counter(counts.said[: counts.said_since]).items()):
        places = (f"{place} ({count_times(number)})" for place, number in already[:_MAX_REASONS])
        reasons.append(f"said, but already in a file: {'; '.join(places)}")
    if counts.waiting:
        most, idle = pluralize(counts.batch_turns, "message"), pluralize(counts.idle_minutes, "minute")
        reasons.append(f"messages are judged once their session has {most}, ends, or is idle for {idle}")
    if counts.parked:
        reasons.append(f"{pluralize(counts.parked, 'batch', 'batches')} failed (why, and what to do: skilld status)")
    common = sorted(counts.refusals.items(), key=lambda item: -item[1])[:_MAX_REASONS]
    reasons += [f"{pluralize(number, 'edit')} refused: {why}" for why, number in common]
    if counts.spent and counts.pending:
        reasons.append(f"today's budget is spent ({counts.spent}); the rest is judged tomorrow")
    if paused_until:
        reasons.append(f"paused {paused_until}")
    return reasons


def _why_no_messages(counts: Counts, *, running: bool) -> str:
    if counts.ran and not counts.files:
        return "no session of any agent was found here"
    before = f" ({pluralize(counts.files, 'session file')} already existed, but only new messages count)"
    none = f"no messages since skilld first ran{before}" if counts.ran else "skilld has not run here yet"
    return f"{none}; to read the last 7 days{', stop skilld, then' if running else ''}: skilld run --once --backfill 7"


def _count_messages(counts: Counts) -> str:
    """Describe how many messages were read and what became of them, in numbers that add up."""
    fates = (
        (counts.judged, f"judged ({counts.taught:,} with a lasting instruction)" if counts.taught else "judged"),
        (counts.pending, "not judged yet"),
        (counts.waiting, "waiting for the rest of the session"),
        (counts.chatter, "skipped (no lasting instructions)"),
        (counts.opted_out, "skipped (their project opted out)"),
    )
    numbers = ", ".join(f"{number:,} {fate}" for number, fate in fates if number)
    since = f" since the newest proposal ({counts.since})" if counts.since else ""
    return f"{pluralize(counts.turns, 'message')} read{since}: {numbers}"


def repeats(found: Sequence[tuple[str, int]]) -> list[Check]:
    """Return a check that lists the rules the person had to repeat, if any, each with the number of sessions."""
    if not found:
        return []
    places = [f"{place} (in {pluralize(sessions, 'session')})" for place, sessions in found[:_MAX_REASONS]]
    return [Check("repeats", Verdict.OK, f"rules you had to repeat: {'; '.join(places)}", "skilld effect")]


# Checks of what blocks batches from being judged or proposals from being written.

_CAUSE_NAMES = {
    Cause.TRANSCRIPT: ("transcript", "transcripts"),
    Cause.REPOSITORY: ("repository", "repositories"),
    Cause.SKILL: ("skill", "skills"),
    Cause.ANSWER: ("model answer", "model answers"),
}
_RETRY_HINT = "to retry now: skilld retry"
# What may be wrong with a skill's file (skilld.skills.find), and the mode that fixes it.
_SKILL_MODES = {"read-only": "u+w", "belongs to another user": "", "cannot be read": "u+r"}


def surprises(found: Sequence[Context]) -> list[Check]:
    """Return one check for each agent that loads something unexpected in this folder."""
    checks = []
    for one in found:
        problems = [f"{s.path}: {s.why}{f' ({s.by})' if s.by else ''}" for s in one.surprises]
        problems += [f"{two.other} repeats {two.size} characters from {two.path}" for two in find_duplicates(one.files)]
        opposite = "says the opposite of"
        problems += [f"{n.path}:{n.line} {opposite} {n.other}:{n.other_line}" for n in contradictions(one.files)]
        if problems:
            more = f"; and {len(problems) - 1} more" if problems[1:] else ""
            remedy = f"See everything the agent loads: skilld context --agent {one.agent}"
            checks.append(Check(f"context {one.agent}", Verdict.WARN, problems[0] + more, remedy))
    return checks or [Check("context", Verdict.OK, "no surprises in what agents load in this folder")]


def no_common_file(found: Sequence[Context]) -> list[Check]:
    """Return a check if agents load different instruction files of one project, and none that all of them load.

    An instruction to one of them is then unknown to the others. One that loads none, and has a name of its own for such
    a file, is a remark.
    """
    every = {
        one.agent: {file.real for file in one.files if file.scope is Scope.PROJECT and one.is_inside(file)}
        for one in found
    }
    files = {agent: reals for agent, reals in every.items() if reals}
    if common := frozenset.intersection(*map(frozenset, files.values())) if files else ():
        without = [agent for agent in every if agent in NATIVE_NAMES and agent not in files]
        name = relpath(min(common), next(one.root for one in found if one.agent in files))
        detail = f"{name} is not loaded here by {join_words(without, 'or')}"
        return [Check("instructions", Verdict.OK, detail, _import_remedy(without, name))] if without else []
    if len(files) < 2:  # noqa: PLR2004 - it takes two agents
        return []
    names = {agent: ", ".join(sorted(Path(real).name for real in reals)) for agent, reals in files.items()}
    lists = "; ".join(f"{agent} loads {them}" for agent, them in names.items())
    missing = {real: [agent for agent in files if real not in files[agent]] for real in set().union(*files.values())}
    able = {real: agents for real, agents in missing.items() if set(agents) <= NATIVE_NAMES.keys()}
    remedy = "Write what all of them should know into a file that each loads: skilld context"
    if able:  # the one that the fewest would have to import
        shared = min(able, key=lambda real: (len(able[real]), real))
        remedy = _import_remedy(able[shared], relpath(shared, found[0].root))
    return [Check("instructions", Verdict.WARN, f"no single file is loaded by all agents here: {lists}", remedy)]


def _import_remedy(agents: Sequence[str], name: str) -> str:
    """Return the commands by which the agents' own files import a file."""
    native = [NATIVE_NAMES[agent] for agent in agents]
    imports = " && ".join(f"echo {shlex.quote(f'@{name}')} >> {own}" for own in native)
    return f"Have {join_words(native)} import {name}: {imports}"


def blocked(found: Sequence[BlockedWork]) -> list[Check]:
    """Return one check for each obstacle, and one for each kind of obstacle that does not occur."""
    checks = []
    for cause, (name, names) in _CAUSE_NAMES.items():
        mine = [one for one in found if one.cause == cause]
        if not mine:
            none = "all usable" if cause is Cause.ANSWER else "none blocked"
            checks.append(Check(names, Verdict.OK, none))
        for number, one in enumerate(mine, 1):
            title = names if len(mine) == 1 else f"{name} {number}"
            checks.append(Check(title, Verdict.WARN, _detail(one), _remedy(one)))
    return checks


def _detail(one: BlockedWork) -> str:
    problem = one.detail if one.place in one.detail else f"{one.place}: {one.detail}"
    waiting = pluralize(one.batches, "batch", "batches")
    ended = {Cause.TRANSCRIPT.value: "abandoned after a day", Cause.ANSWER.value: "failed"}
    state = "waiting for it" if one.waits else ended.get(one.cause, "blocked by it")
    return f"{problem}; {waiting} {state}; {pluralize(one.kept, 'learning')} kept"


def _remedy(one: BlockedWork) -> str:
    on_its_own = f"skilld will then retry on its own; {_RETRY_HINT}"
    if one.cause == Cause.TRANSCRIPT:
        return f"Restore the file. {on_its_own}" if one.waits else "Restore the file, then: skilld retry"
    if one.cause == Cause.ANSWER:
        return "To ask the model again: skilld retry"
    if one.remedy:
        return one.remedy
    if one.cause == Cause.SKILL and "several hard links" in one.detail:
        place = shell_quoted(Path(one.place))
        return f"cp {place} {place}.new && mv {place}.new {place}"
    for words, mode in _SKILL_MODES.items() if one.cause == Cause.SKILL else ():
        if words in one.detail:
            return access_remedy(Path(one.place), mode)
    return failure_remedy(one.detail, None, as_service=False) or f"Fix the cause. {on_its_own}"
