"""The facts behind the checks, from the store, the settings, the processes and the service manager. Reads only."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilld import __version__
from skilld.daemon.budget import why_spent
from skilld.daemon.lock import is_held
from skilld.daemon.roots import Surroundings
from skilld.doctor.gather_agents import agents
from skilld.doctor.gather_blocked import blocked
from skilld.doctor.gather_machine import database, machine, rebuilt
from skilld.doctor.gather_model import model
from skilld.doctor.values import Counts, Daemon, Facts, Service, Trouble
from skilld.errors import SkilldError
from skilld.paths import Places
from skilld.service.environment import needed, only_here
from skilld.service.values import ServiceManager
from skilld.settings import Settings, load
from skilld.store import Store
from skilld.store.meta import DAEMON, FOREVER, LAST_ERROR, NOTICES, PAUSED_UNTIL
from skilld.times import day, rfc3339, seconds
from skilld.types import Cause, State


@dataclass(frozen=True, slots=True)
class Here:
    """Where to look: skilld's folders, whose machine it is, its service manager (`platform` is `sys.platform`)."""

    places: Places
    around: Surroundings
    manager: ServiceManager
    platform: str


def gather(here: Here, now: float, *, ask: bool) -> Facts:
    """Return all facts. With `ask` the back-end is asked a real question, which costs what a small one costs."""
    settings, bad_settings = _settings(here.places)
    with ExitStack() as opened:
        store, bad_store = database(here.places)
        if store is not None:
            opened.callback(store.close)
        found = agents(here.around, settings.roots if settings else {}, store)
        paused = _paused(store, now)
        said = store.meta.get(DAEMON) if store else None
        return Facts(
            machine=machine(
                here.places,
                found,
                bad_settings,
                bad_store,
                now,
                rebuilt=rebuilt(store, now),
                repositories=_repositories(store),
            ),
            agents=tuple(found),
            daemon=Daemon(
                running=is_held(here.places.lock),
                said=said,
                seen_at=seconds((said or {}).get("seen_at")),
                paused_until=paused,
                version=__version__,
                last_error=str((store.meta.get(LAST_ERROR) or {}).get("message", "")) if store else "",
                parked=tuple(str(item["detail"] or "") for item in store.batches.parked()) if store else (),
            ),
            service=_service(here, settings),
            model=model(settings, here.around.environment, store, now, ask=ask) if settings else None,
            spent=why_spent(store.usage.on(day(now)), settings.budget) if store and settings else "",
            notices=_notices(settings, store, here),
            counts=_counts(store, settings) if store else None if bad_store else Counts(),
            blocked=tuple(blocked(store.batches.obstructed(), now)) if store else (),
        )


def _repositories(store: Store | None) -> list[Path]:
    """Return where open proposals are, and where some could not be written."""
    if store is None:
        return []
    open_ones = [Path(proposal.repo) for proposal in store.proposals.in_states([State.OPEN]) if proposal.repo]
    met = [one.obstacle for one in store.batches.obstructed() if one.obstacle]
    return [*open_ones, *(Path(found.place) for found in met if found.cause is Cause.REPOSITORY and found.place)]


def _settings(places: Places) -> tuple[Settings | None, Trouble | None]:
    try:
        return load(places.settings_file), None
    except SkilldError as error:
        return None, Trouble(str(error), error.remedy)


def _paused(store: Store | None, now: float) -> str:
    until = store.meta.get(PAUSED_UNTIL) if store else None
    if until is None or store is None or not store.meta.paused(now):
        return ""
    return FOREVER if until == FOREVER else f"until {rfc3339(float(until))}"


def _service(here: Here, settings: Settings | None) -> Service:
    state = here.manager.state()
    return Service(
        manager=state.manager,
        installed=state.installed,
        enabled=state.enabled,
        running=state.running,
        state=state.state,
        restarts=state.restarts,
        program=state.program,
        program_there=Path(state.program).is_file() if state.program else True,
        says=state.says,
        misses=_misses(here, settings) if state.running and settings else (),
    )


def _misses(here: Here, settings: Settings) -> tuple[str, ...]:
    wanted = needed(here.around.environment, settings.model, has_key=settings.model_api_key is not None)
    try:
        given = {**here.manager.variables(wanted), **here.manager.own_variables()}
    except SkilldError:
        return ()
    return tuple(only_here(wanted, given))


def _notices(settings: Settings | None, store: Store | None, here: Here) -> str | None:
    if settings is None or not settings.notify.enabled:
        return None
    if why := str((store.meta.get(NOTICES) if store else "") or ""):
        return why
    return "" if here.platform == "darwin" or _session_bus(here.around.environment) else "there is no session bus"


def _session_bus(environment: Mapping[str, str]) -> bool:
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    return bool(environment.get("DBUS_SESSION_BUS_ADDRESS")) or (bool(runtime) and Path(runtime, "bus").exists())


def _counts(store: Store, settings: Settings | None) -> Counts:
    turns = store.transcripts.turn_counts()
    batches = store.batches.counts()
    more: dict[str, Any] = {}
    if settings is not None:
        more = {"batch_turns": settings.batch.turns, "idle_minutes": settings.batch.idle_minutes}
    return Counts(
        files=sum(facts["files"] for facts in store.transcripts.summary().values()),
        turns=turns["seen"],
        with_skill=turns["seen"] - store.transcripts.turns_without_skill(),
        chatter=turns["chatter"],
        waiting=turns["waiting"],
        pending=batches["pending"],
        parked=batches["parked"],
        outcomes=store.batches.outcomes(),
        refusals=store.batches.refusals(),
        learnings=store.learnings.count(),
        proposals=sum(store.proposals.count(state) for state in State),
        **more,
    )
