"""Who judges a session, and which agents cannot at the moment: not logged in, or at their limit.

What was found out about an agent is kept, so that neither every batch nor every start asks it in vain, and each such
thing is told once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from skilld.agents import ADAPTERS
from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.backends.choose import AGENT, Choice, choose, own
from skilld.clock import rfc3339, seconds
from skilld.store import Store
from skilld.store.meta import ANNOUNCED_JUDGES, STALL_REPORTED, UNAVAILABLE_JUDGES

if TYPE_CHECKING:
    from skilld.protocol import BatchResult
    from skilld.settings import Settings

SETUP = "setup"  # what the notice that asks for an answer is told under
ASK = "Until you choose a judge, skilld recognizes only explicit wording. In a terminal, run: skilld setup"
_OFFLINE = "its sessions are judged without a model, by explicit wording only, because "
_LOOK_AGAIN = 3600.0  # seconds after which an agent without a login is asked again
_BACK_OFF = 60.0  # where an agent at its limit does not say when that resets; doubled each time
_MAX_BACK_OFF = 3600.0
_WORTH_TELLING = 600.0  # a limit that resets sooner is nobody's business


@dataclass(frozen=True, slots=True)
class Absence:
    """Why an agent is not asked until a Unix time. `times` is how often running it said so."""

    why: str
    remedy: str
    limit: bool
    since: float
    until: float
    times: int = 1


@dataclass(frozen=True, slots=True)
class Line:
    """One thing to tell of who judges: an agent whose sessions are judged offline, or wait."""

    agent: str
    why: str
    remedy: str


def choice(store: Store, settings: Settings, environment: Mapping[str, str], agent: str, now: float) -> Choice:
    """Return the back-end for a session of `agent`; offline where that agent was found to have no working login."""
    from skilld.settings import choice_of

    found = choice_of(settings, environment, agent)
    absent = _absent(store, now).get(found.spec.model)
    if found.spec.or_offline and absent and not absent.limit:
        return Choice(Spec(OFFLINE), absent.why, remedy=absent.remedy)
    return found


def limited(store: Store, model: str, now: float) -> Absence | None:
    """Return the limit that keeps a model from being asked now, if any."""
    absent = _absent(store, now).get(model)
    return absent if absent and absent.limit else None


def took(store: Store, result: BatchResult, now: float) -> float | None:
    """Take in whether a batch's agent could be asked. Returns until when the batch waits for its limit to reset."""
    known = _known(store)
    if result.away is None:
        if result.usage.calls and result.model in known:
            del known[result.model]
            store.meta.set(UNAVAILABLE_JUDGES, {model: asdict(absent) for model, absent in known.items()})
        return None
    away, before = result.away, known.get(result.model)
    again = before is not None and before.limit == away.limit
    times = before.times + 1 if before and again else 1
    wait = _LOOK_AGAIN
    if away.limit:
        wait = max(away.after or 0.0, 1.0) if away.after else min(_BACK_OFF * 2 ** min(times - 1, 10), _MAX_BACK_OFF)
    why = f"it has reached its usage limit; skilld will ask again at {rfc3339(now + wait)}" if away.limit else away.why
    since = before.since if before and again else now
    known[result.model] = Absence(why, away.remedy, away.limit, since, now + wait, times)
    store.meta.set(UNAVAILABLE_JUDGES, {model: asdict(absent) for model, absent in known.items()})
    return now + wait if away.limit else None


def _known(store: Store) -> dict[str, Absence]:
    """Return by model string who could not be asked and has not answered since."""
    return {model: Absence(**fields) for model, fields in store.meta.get(UNAVAILABLE_JUDGES, {}).items()}


def _absent(store: Store, now: float) -> dict[str, Absence]:
    """Return by model string who is not to be asked now. A clock that was set back ends an absence."""
    return {model: absent for model, absent in _known(store).items() if absent.since <= now < absent.until}


def lines(store: Store, model: str, environment: Mapping[str, str], now: float | None) -> Iterator[Line]:
    """Yield the agents of which something was read and whose sessions are judged offline, or wait, and why.

    Without `now` also those whose limit should be over and that have not answered since.
    """
    absent = {
        name: one for name, one in _known(store).items() if now is None or not one.limit or one.since <= now < one.until
    }
    if model != AGENT:
        if one := absent.get(model):
            yield Line(model, one.why, one.remedy)
        return
    for name, facts in store.transcripts.summary().items():
        if name not in ADAPTERS or not facts["turns"]:
            continue
        found = own(name, 0, environment)
        title = ADAPTERS[name].INFO.title
        if found.spec.model == OFFLINE:
            yield Line(title, _OFFLINE + found.why, found.remedy)
        elif one := absent.get(found.spec.model):
            yield Line(title, one.why if one.limit else _OFFLINE + one.why, one.remedy)


def news(
    store: Store, model: str, environment: Mapping[str, str], now: float, *, unattended: bool
) -> Iterator[tuple[str, str]]:
    """Yield (cause, text) of what was not told yet; `unattended` says that nobody could be asked in a terminal."""
    said = set(store.meta.get(ANNOUNCED_JUDGES, ()))
    unasked = unattended and model == "auto" and SETUP not in said
    if unasked and choose(model, None, None, 0, environment).spec.model == OFFLINE:
        yield SETUP, ASK
    found = {_cause(line): line for line in lines(store, model, environment, now)}
    if back := said - {SETUP} - set(map(_cause, lines(store, model, environment, None))):
        store.meta.set(ANNOUNCED_JUDGES, sorted(said - back))  # should it be lost again, that is news
    waits = {one.why for one in _absent(store, now).values() if one.limit and one.until - one.since < _WORTH_TELLING}
    for cause, line in found.items():
        if cause not in said and line.why not in waits:
            yield cause, ". ".join(part for part in (f"{line.agent}: {line.why}", line.remedy) if part)


def _cause(line: Line) -> str:
    return f"judge {line.agent}"


def told(store: Store, causes: tuple[str, ...]) -> None:
    """Take in that a notice tells of these causes; those of others are passed over."""
    if ours := _ours(causes):
        store.meta.set(ANNOUNCED_JUDGES, sorted(ours.union(store.meta.get(ANNOUNCED_JUDGES, ()))))


def untold(store: Store, causes: tuple[str, ...]) -> None:
    """Take in that the notice which was to tell of these causes could not be shown."""
    if ours := _ours(causes):
        store.meta.set(ANNOUNCED_JUDGES, sorted(set(store.meta.get(ANNOUNCED_JUDGES, ())) - ours))


def _ours(causes: tuple[str, ...]) -> set[str]:
    return {cause for cause in causes if cause == SETUP or cause.startswith("judge ")}


# Learning is dead: people talk, batches are closed, and for a day none could be judged. Says so, once.

_DAY = 86400.0


def stall_reason(store: Store, now: float) -> str | None:
    """Return why nothing was judged for a day although something waits to be; None if all is well, or paused."""
    oldest, why = store.batches.unjudged_since()
    since = max(seconds(oldest) or now, seconds(store.batches.last_judged_at()) or 0.0)
    if oldest is None or now - since < _DAY or store.meta.paused(now):
        return None
    return why or "no batches were completed"


def new_stall(store: Store, now: float) -> str | None:
    """Return the same, once until something is judged again."""
    why = stall_reason(store, now)
    if bool(why) == bool(store.meta.get(STALL_REPORTED)):
        return None
    store.meta.set(STALL_REPORTED, bool(why))
    return why
