"""Who judges a session, and which agents cannot at the moment: not logged in, or at their limit.

The state of an agent is stored, so that it is not asked in vain for every batch, and each problem is reported once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from skilld.agents import ADAPTERS
from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.backends.agent_cli.clients import client_of
from skilld.classify.backends.choose import AGENT, Choice, choose, choose_for_agent
from skilld.clock import local_minute, parse_time
from skilld.store import Store
from skilld.store.meta import ANNOUNCED_JUDGES, STALL_REPORTED, UNAVAILABLE_JUDGES
from skilld.values import value_class

if TYPE_CHECKING:
    from skilld.protocol import BatchResult
    from skilld.settings import Settings

SETUP_CAUSE = "setup"  # the cause of the notice that asks for a choice
SETUP_TEXT = "Until you choose a judge, skilld recognizes only explicit wording. In a terminal, run: skilld setup"
LIMIT_REASON = "it has reached its usage limit"  # in the detail of each batch that waits for a limit to reset
_OFFLINE_PREFIX = "its sessions are judged without a model, by explicit wording only, because "
_RECHECK_SECONDS = 3600.0  # until an agent without a login is asked again
_BACKOFF_SECONDS = 60.0  # if an agent does not say when its limit resets; doubled each time
_MAX_BACKOFF_SECONDS = 3600.0
_MIN_REPORTED_SECONDS = 600.0  # a limit that resets sooner is not reported


@value_class
class Absence:
    """Why an agent is not asked until a Unix time. `times` counts the failed tries in a row."""

    why: str
    remedy: str
    limit: bool
    since: float
    until: float
    times: int = 1


@value_class
class JudgeProblem:
    """An agent whose sessions are judged offline, or wait, and why; `expected`: skilld can ask no such agent."""

    agent: str
    why: str
    remedy: str
    expected: bool = False


def choose_judge(store: Store, settings: Settings, environment: Mapping[str, str], agent: str, now: float) -> Choice:
    """Return the back-end for a session of `agent`; offline if that agent has no working login."""
    from skilld.settings import choose_back_end

    found = choose_back_end(settings, environment, agent)
    absent = _current_absences(store, now).get(found.spec.model)
    if found.spec.or_offline and absent and not absent.limit:
        return Choice(Spec(OFFLINE), absent.why, remedy=absent.remedy)
    return found


def current_limit(store: Store, model: str, now: float) -> Absence | None:
    """Return the limit because of which a model cannot be asked now, if any."""
    absent = _current_absences(store, now).get(model)
    return absent if absent and absent.limit else None


def own_judges(
    store: Store, settings: Settings, environment: Mapping[str, str], now: float
) -> tuple[dict[str, Spec], dict[str, str]]:
    """Return the agents that can be asked now, those with most turns first, and why others cannot, with the remedy.

    Both are empty unless each session is judged by its own agent.
    """
    if settings.model != AGENT:
        return {}, {}
    turns = {name: facts["turns"] or 0 for name, facts in store.transcripts.summary().items()}
    can, cannot = dict[str, Spec](), dict[str, str]()
    for name in sorted(ADAPTERS, key=lambda one: -turns.get(one, 0)):
        found = choose_judge(store, settings, environment, name, now)
        limit = current_limit(store, found.spec.model, now)
        if found.spec.model != OFFLINE and limit is None:
            can[name] = found.spec
        else:
            why, remedy = (limit.why, limit.remedy) if limit else (found.why, found.remedy)
            cannot[name] = ". ".join(part for part in (why, remedy) if part)
    return can, cannot


def record_outcome(store: Store, result: BatchResult, now: float) -> float | None:
    """Record whether a batch's agent could be asked. Return until when the batch waits for a limit to reset."""
    absences = _known_absences(store)
    if result.away is None:
        if result.usage.calls and result.model in absences:
            del absences[result.model]
            store.meta.set(UNAVAILABLE_JUDGES, {model: asdict(absent) for model, absent in absences.items()})
        return None
    away, before = result.away, absences.get(result.model)
    again = before is not None and before.limit == away.limit
    times = before.times + 1 if before and again else 1
    wait = _RECHECK_SECONDS
    if away.limit:
        wait = (
            max(away.after or 0.0, 1.0)
            if away.after
            else min(_BACKOFF_SECONDS * 2 ** min(times - 1, 10), _MAX_BACKOFF_SECONDS)
        )
    why = f"{LIMIT_REASON}; skilld will ask again at {local_minute(now + wait)}" if away.limit else away.why
    since = before.since if before and again else now
    absences[result.model] = Absence(why, away.remedy, away.limit, since, now + wait, times)
    store.meta.set(UNAVAILABLE_JUDGES, {model: asdict(absent) for model, absent in absences.items()})
    return now + wait if away.limit else None


def _known_absences(store: Store) -> dict[str, Absence]:
    """Return the judges that could not be asked and have not answered since, by model string."""
    return {model: Absence(**fields) for model, fields in store.meta.get(UNAVAILABLE_JUDGES, {}).items()}


def _current_absences(store: Store, now: float) -> dict[str, Absence]:
    """Return the judges that must not be asked now, by model string. A clock that was set back ends an absence."""
    return {model: absent for model, absent in _known_absences(store).items() if absent.since <= now < absent.until}


def judge_problems(store: Store, model: str, env: Mapping[str, str], now: float | None) -> Iterator[JudgeProblem]:
    """Yield the problems of agents with transcripts whose sessions are judged offline or wait.

    Without `now`, include agents whose limit should have reset but that have not answered since.
    """
    absent = {
        name: one
        for name, one in _known_absences(store).items()
        if now is None or not one.limit or one.since <= now < one.until
    }
    if model != AGENT:
        if one := absent.get(model):
            yield JudgeProblem(model, one.why, one.remedy)
        return
    for name, facts in store.transcripts.summary().items():
        if name not in ADAPTERS or not facts["turns"]:
            continue
        found = choose_for_agent(name, 0, env)
        title = ADAPTERS[name].INFO.title
        if found.spec.model == OFFLINE:
            yield JudgeProblem(title, _OFFLINE_PREFIX + found.why, found.remedy, client_of(name) is None)
        elif one := absent.get(found.spec.model):
            yield JudgeProblem(title, one.why if one.limit else _OFFLINE_PREFIX + one.why, one.remedy)


def unreported_problems(
    store: Store, model: str, environment: Mapping[str, str], now: float, *, unattended: bool
) -> Iterator[tuple[str, str]]:
    """Yield (cause, text) of unreported problems; `unattended`: nobody could be asked in a terminal."""
    announced = set(store.meta.get(ANNOUNCED_JUDGES, ()))
    unasked = unattended and model == "auto" and SETUP_CAUSE not in announced
    if unasked and choose(model, None, None, 0, environment).spec.model == OFFLINE:
        yield SETUP_CAUSE, SETUP_TEXT
    found = {_cause_of(line): line for line in judge_problems(store, model, environment, now)}
    if back := announced - {SETUP_CAUSE} - set(map(_cause_of, judge_problems(store, model, environment, None))):
        store.meta.set(ANNOUNCED_JUDGES, sorted(announced - back))  # to be reported if it is lost again
    waits = {
        one.why
        for one in _current_absences(store, now).values()
        if one.limit and one.until - one.since < _MIN_REPORTED_SECONDS
    }
    for cause, line in found.items():
        if cause not in announced and line.why not in waits:
            yield cause, ". ".join(part for part in (f"{line.agent}: {line.why}", line.remedy) if part)


def _cause_of(line: JudgeProblem) -> str:
    return f"judge {line.agent}"


def mark_reported(store: Store, causes: tuple[str, ...]) -> None:
    """Record that a notice reports these causes; those that are not about judges are ignored."""
    if ours := _judge_causes(causes):
        store.meta.set(ANNOUNCED_JUDGES, sorted(ours.union(store.meta.get(ANNOUNCED_JUDGES, ()))))


def mark_unreported(store: Store, causes: tuple[str, ...]) -> None:
    """Mark these causes as unreported, because their notice could not be shown."""
    if ours := _judge_causes(causes):
        store.meta.set(ANNOUNCED_JUDGES, sorted(set(store.meta.get(ANNOUNCED_JUDGES, ())) - ours))


def _judge_causes(causes: tuple[str, ...]) -> set[str]:
    return {cause for cause in causes if cause == SETUP_CAUSE or cause.startswith("judge ")}


# A stall: batches were closed, and none could be judged for a day. It is reported once.

_DAY_SECONDS = 86400.0


def stall_reason(store: Store, now: float) -> str | None:
    """Return why nothing was judged for a day although batches wait; None if all is well, or paused."""
    oldest, why = store.batches.unjudged_since()
    since = max(parse_time(oldest) or now, parse_time(store.batches.last_judged_at()) or 0.0)
    if oldest is None or now - since < _DAY_SECONDS or store.meta.paused(now):
        return None
    return why or "no batches were completed"


def new_stall(store: Store, now: float) -> str | None:
    """Return the reason of a new stall, only once until something is judged again."""
    why = stall_reason(store, now)
    if bool(why) == bool(store.meta.get(STALL_REPORTED)):
        return None
    store.meta.set(STALL_REPORTED, bool(why))
    return why
