"""Gathers the facts for the checks from the store, settings, processes and the service manager. Reads only."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from skilld import __version__
from skilld.agents import ADAPTERS
from skilld.caller.programs import program_names
from skilld.clock import local_day, local_minute, parse_time
from skilld.daemon.lock import is_held, is_outdated, last_seen
from skilld.errors import SkilldError
from skilld.files import access_remedy, first_program, free_bytes
from skilld.health.judge_facts import judge_facts, settings_in_use
from skilld.health.values import (
    Agent,
    BlockedWork,
    Check,
    Counts,
    Daemon,
    Disk,
    Facts,
    Machine,
    Service,
    Trouble,
    Verdict,
)
from skilld.ingest.discover import Host, Root, find_links, find_roots, find_transcripts, gone_remedy, gone_roots
from skilld.ingest.drift import drifts
from skilld.paths import Places, access_error, check_private
from skilld.proposals.remarks import current_conflicts, remake_status
from skilld.service.install import ServiceManager
from skilld.service.values import lacking_keys, missing_variables, needed_variables
from skilld.settings import Settings, load_file
from skilld.store import Store, meta
from skilld.store.batches import REMAKE_PREFIX, Obstacle, StoredBatch
from skilld.store.budget import spent_limit
from skilld.store.connection import is_remote
from skilld.store.corruption import missing_reason
from skilld.store.meta import DAEMON, DRIFT, FOREVER, INSTALLED_AT, LAST_ERROR, LAST_REBUILD, NOTICE_ERROR, PAUSED_UNTIL
from skilld.types import Cause, State
from skilld.values import value_class


def agent_facts(host: Host, configured: Mapping[str, Sequence[Path]], store: Store) -> list[Agent]:
    """Return the facts of each agent that skilld knows."""
    read = store.transcripts.summary()
    found = []
    for name, adapter in ADAPTERS.items():
        info = adapter.INFO
        stores = [root for root in find_roots(host.home, host.environment, configured) if root.agent == name]
        there = [root for root in stores if os.path.lexists(root.folder)]
        seen = {path: facts.st_mtime for root in there for path, facts in find_transcripts(root)}
        own = (variable for variable in info.variables if not variable.startswith("XDG_"))
        variable = next((variable for variable in own if host.environment.get(variable)), "")
        found.append(
            Agent(
                name=name,
                title=info.title,
                folders=tuple(root.folder for root in stores),
                chosen_by=f"the roots.{name} setting" if name in configured else variable,
                exists=bool(there),
                unreadable=tuple(filter(None, (_inaccessible_folder(root.folder) for root in stores))),
                gone=tuple(Trouble(what, gone_remedy(root)) for root, what in gone_roots(store, stores)),
                files=len(seen),
                newest=max(seen.values(), default=None),
                turns=read.get(name, {}).get("turns") or 0,
                malformed=read.get(name, {}).get("malformed") or 0,
                verified=info.verified,
                watched=sum(_count_watched(root) for root in there),
                installed=first_program(program_names(info.title), host.environment) is not None,
                foreign=sum(_owner_and_mode(path)[0] != os.geteuid() for path in seen),
                linked=tuple(link for root in there for link in find_links(root)),
                exposed=tuple(_exposed_paths(seen)),
            )
        )
    return found


def _owner_and_mode(path: Path) -> tuple[int, int]:
    """Return a path's owner and mode; ours, without any rights, if it is gone."""
    with suppress(OSError):
        facts = path.stat()
        return facts.st_uid, facts.st_mode
    return os.geteuid(), 0


def _exposed_paths(transcripts: Iterable[Path]) -> list[Path]:
    """Return the folders of transcripts, or else the transcripts, that any user can change."""
    transcripts = list(transcripts)
    folders = list(filter(_is_exposed, dict.fromkeys(path.parent for path in transcripts)))
    return [*folders, *(path for path in transcripts if path.parent not in folders and _is_exposed(path))]


def _is_exposed(path: Path) -> bool:
    return _owner_and_mode(path)[1] & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH


def _count_watched(root: Root) -> int:
    """Return how many folders are watched below a root; for a flat or sparse one only the root itself."""
    return 1 if root.is_flat or root.is_sparse else sum(1 for _ in os.walk(root.folder))


def _inaccessible_folder(folder: Path) -> Path | None:
    """Return the folder that cannot be entered: this one, or one above it; None if all can."""
    for path in (*reversed(folder.parents), folder):
        try:
            if path.is_dir() and not os.access(path, os.X_OK if path != folder else os.R_OK | os.X_OK):
                return path
        except PermissionError:
            return path
    return None


_RECENT_SECONDS = 7 * 86400.0
_WATCH_SETTINGS = "fs.inotify.max_user_watches", "user.max_inotify_watches"  # the smaller one holds


def open_database(places: Places) -> tuple[Store, Trouble | None]:
    """Return the open store, and what is wrong with it; an empty store if it is damaged or skilld has never run."""
    try:
        if not os.path.lexists(places.database) and not missing_reason(places.database):
            return Store.empty(places.database), None
        return Store.open_checked(places.database), None
    except (SkilldError, OSError) as error:
        known = error if isinstance(error, SkilldError) else access_error(error)
        return Store.empty(places.database), Trouble(str(known), known.remedy)


def describe_rebuild(store: Store, now: float) -> str:
    """Describe when, from what and why the database was rebuilt; empty if that is over a week ago."""
    rebuild = store.meta.get(LAST_REBUILD)
    if not rebuild or now - (parse_time(rebuild["at"]) or 0.0) > _RECENT_SECONDS:
        return ""
    return f"rebuilt from {rebuild['from']} at {rebuild['at']}: {rebuild['why']}"


def _permission_problem(places: Places) -> Trouble | None:
    try:
        if places.state.exists():
            check_private(places)
        for path in (places.state, places.config, places.data):
            there = next(one for one in (path, *path.parents) if os.path.lexists(one))
            if not os.access(there, os.R_OK * (there == path) | os.W_OK | os.X_OK):
                what = f"no access to {path}" if there == path else f"cannot create {path}"
                return Trouble(what, access_remedy(there, "u+rwx"))
    except (SkilldError, OSError) as error:
        known = error if isinstance(error, SkilldError) else access_error(error)
        return Trouble(str(known), known.remedy)
    return None


def _git_version() -> str | Trouble:
    from skilld.git.run import Git  # only now: without git, GitPython must first be told to be quiet

    try:
        return Git(Path("/")).run("version").decode("utf-8", "replace")
    except SkilldError as error:
        return Trouble(str(error), error.remedy)


def _disks(places: Places, repositories: Sequence[Path]) -> tuple[Disk, ...]:
    """Return the disks that skilld writes to, each once, except those that cannot be examined."""
    written = [(places.state, "its state"), (places.data, "its own repositories")]
    git_folders = [folder for folder in map(_git_folder, repositories) if folder is not None]
    found: dict[int, Disk] = {}
    for folder, what in (*written, *((repository, "proposals") for repository in (*repositories, *git_folders))):
        try:
            there = next(path for path in (folder, *folder.parents) if path.is_dir())
            found.setdefault(there.stat().st_dev, Disk(there, what, free_bytes(there)))
        except (OSError, StopIteration):
            continue
    return tuple(found.values())


def _git_folder(path: Path) -> Path | None:
    """Return the `.git` folder above a path, which may be on another disk."""
    found = (folder / ".git" for folder in (path, *path.parents))
    try:
        return next((git for git in found if git.is_dir()), None)
    except OSError:
        return None


def _watch_limit() -> tuple[int | None, str]:
    """Return how many folders the kernel lets this user watch, and the setting that limits it."""
    found = []
    for name in _WATCH_SETTINGS:
        with suppress(OSError, ValueError):
            found.append((int(Path("/proc/sys", *name.split(".")).read_text(encoding="ascii")), name))
    return min(found, default=(None, _WATCH_SETTINGS[0]))


_REPORTED_SECONDS = 30 * 86400.0  # how long a missing transcript or an unusable answer is reported


def blocked_work(batches: Sequence[StoredBatch], now: float) -> Iterator[BlockedWork]:
    """Yield what blocks these batches (newest first), once per cause and place; `now` is a Unix time."""
    groups: dict[tuple[Cause, str], list[tuple[StoredBatch, Obstacle]]] = {}
    for batch in batches:
        if batch.obstacle is not None and _is_reported(batch, batch.obstacle, now):
            groups.setdefault((batch.obstacle.cause, batch.obstacle.place), []).append((batch, batch.obstacle))
    for (cause, place), found in groups.items():
        newest, obstacle = found[0]
        kept, waits = sum(len(one.kept) for _, one in found), newest.state in {"pending", "running"}
        yield BlockedWork(cause.value, place, newest.detail, obstacle.remedy, waits, len(found), kept)


def _is_reported(batch: StoredBatch, obstacle: Obstacle, now: float) -> bool:
    if obstacle.cause is Cause.SKILL:  # if nothing was kept, nothing is lost
        return bool(obstacle.kept)
    if obstacle.cause in {Cause.TRANSCRIPT, Cause.ANSWER}:
        return now - (parse_time(batch.created_at) or now) < _REPORTED_SECONDS
    return obstacle.cause is Cause.REPOSITORY


@value_class
class HealthContext:
    """What the facts are gathered from: skilld's folders, the machine, its service manager, `sys.platform`."""

    places: Places
    host: Host
    manager: ServiceManager
    platform: str


def gather(context: HealthContext, now: float, *, ask: bool) -> Facts:
    """Return all facts. With `ask` the back-end is asked a short real question, which costs money."""
    settings, bad_settings = None, None
    try:
        settings = load_file(context.places.settings_file)
    except SkilldError as error:
        bad_settings = Trouble(str(error), error.remedy)
    exposed = _permission_problem(context.places)  # before the database is opened, and its log deleted
    opened, bad_store = open_database(context.places)
    running = is_held(context.places.lock)
    with closing(opened) as store:
        found = agent_facts(context.host, settings.roots if settings else {}, store)
        status = store.meta.get(DAEMON)
        used = settings and settings_in_use(settings, store, running=running)
        spent = spent_limit(store.usage.on(local_day(now)), used.budget) if used else None
        env, troubles = context.host.environment, (bad_settings, exposed, bad_store)
        # Another check tells of the budget.
        delays = [one for one in store.batches.standing_delays(None) if not one.blocked]
        return Facts(
            machine=_machine_facts(
                context.places, store, found, status if running else None, troubles=troubles, now=now
            ),
            agents=tuple(found),
            daemon=Daemon(
                running=running,
                status=status,
                seen_at=last_seen(context.places.lock),
                outdated=is_outdated(context.places.lock),
                paused_until=_describe_pause(store, now),
                version=__version__,
                last_error=str((store.meta.get(LAST_ERROR) or {}).get("message", "")),
                ran_once_at=store.meta.get(meta.RAN_ONCE_AT),
                delayed=tuple(delays),
                parked=tuple(str(item["detail"] or "") for item in store.batches.parked()),
                unusable=store.batches.outcomes().get("failed", 0),
                lacking=_lacking_keys(context, used, status),
                stale=tuple(_stale_proposals(store)),
                is_set_up=bool(bad_store or status) or _is_set_up(store, context.places),
            ),
            service=_service_facts(context, settings),
            model=judge_facts(settings, env, store, now, running=running, ask=ask) if settings else None,
            spent=spent,
            notices=_notice_problem(settings, store, context),
            counts=None if bad_store else count_turns(store, settings),
            blocked=tuple(blocked_work(store.batches.with_obstacle(), now)),
            repeated=_repeated_rules(store),
            found=(*_contradictions(store), *_damaged_branches(store, context.places), *_format_drift(store)),
        )


def _is_set_up(store: Store, places: Places) -> bool:
    return store.meta.get(INSTALLED_AT) is not None or places.settings_file.exists()


def _machine_facts(
    places: Places,
    store: Store,
    agents: Sequence[Agent],
    status: Mapping[str, Any] | None,
    *,
    troubles: tuple[Trouble | None, Trouble | None, Trouble | None],
    now: float,
) -> Machine:
    """Return the facts of the machine; `status` is the running daemon's, `troubles` settings, permissions, store."""
    limit, setting = _watch_limit()
    known = status or {}
    return Machine(
        now,
        *troubles,
        git=_git_version(),
        disks=_disks(places, _repositories(store)),
        watch_limit=limit,
        watch_setting=setting,
        folders=sum(agent.watched for agent in agents),
        unwatched=known.get("unwatched", 0),
        no_watches=not known.get("watched", 1),
        remote=tuple(one for agent in agents for one in agent.folders if one.is_dir() and is_remote(one)),
        rebuilt=describe_rebuild(store, now),
    )


def _lacking_keys(context: HealthContext, settings: Settings | None, status: dict[str, Any] | None) -> tuple[str, ...]:
    if settings is None or settings.model_api_key or settings.model_base_url or (status or {}).get("has_key"):
        return ()
    return tuple(lacking_keys(context.host.environment, settings.model, status))


def _contradictions(store: Store) -> Iterator[Check]:
    """Yield a check if something that is loaded contradicts an open proposal."""
    found = [(proposal.id, one) for proposal in store.proposals.open() for one in current_conflicts(proposal)[:1]]
    if found:
        name, line = found[0]
        more = f"; and {len(found) - 1} more" if found[1:] else ""
        detail = f"{name}: {line.path}:{line.line} contradicts this proposal{more}"
        yield Check("contradictions", Verdict.WARN, detail, f"See the proposal: skilld show {name}")


def _repeated_rules(store: Store) -> tuple[tuple[str, int], ...]:
    """Return the repeated rules with their number of sessions, as in `effect` and `report`, the most repeated first."""
    from skilld.effect.outcomes import collect, sessions_with_repeats  # late: the daemon and setup do not need it

    found = ((one.rule, one.after.repeats) for one in collect(store, sessions_with_repeats(store)))
    repeated = [(f"{rule.path}:{rule.line}", sessions) for rule, sessions in found if sessions]
    return tuple(sorted(repeated, key=lambda one: -one[1]))


def _format_drift(store: Store) -> Iterator[Check]:
    """Yield a check for each change in the format that a client's new version writes, with the shape of a sample."""
    report = "Attach this line to a bug report (it contains field names only)"
    remedy = f"{report}. To see each record: skilld inspect --explain FILE"
    for one in drifts(store.meta.get(DRIFT, {})):
        detail = one.message if one.sample is None else f"{one.message}: {json.dumps(one.sample)}"
        yield Check("format", Verdict.WARN, detail, remedy)


def _stale_proposals(store: Store) -> Iterator[str]:
    for proposal in store.proposals.in_states([State.STALE]):
        batch = store.batches.get(REMAKE_PREFIX + proposal.id)
        if batch is not None and batch.state != "done":
            yield f"{proposal.id}: {remake_status(store, proposal)}"


def _damaged_branches(store: Store, places: Places) -> Iterator[Check]:
    """Yield a check for each staging branch with open or stale proposals that lacks an object."""
    from skilld.git.repo import open_repo  # imported late: most checks do not need it
    from skilld.proposals.branch import find_missing_object

    repos = {Path(one.repo) for one in store.proposals.in_states([State.OPEN, State.STALE]) if one.commit}
    for repo in sorted(one for one in repos if one.parent != places.repositories):
        with suppress(SkilldError, OSError):
            if found := find_missing_object(open_repo(repo)):
                yield Check("staging branch", Verdict.FAIL, *found)


def _repositories(store: Store) -> list[Path]:
    """Return the repositories of open proposals, and those where some could not be written."""
    open_ones = [Path(proposal.repo) for proposal in store.proposals.open() if proposal.repo]
    met = [one.obstacle for one in store.batches.with_obstacle() if one.obstacle]
    return [*open_ones, *(Path(found.place) for found in met if found.cause is Cause.REPOSITORY and found.place)]


def _describe_pause(store: Store, now: float) -> str:
    until = store.meta.get(PAUSED_UNTIL)
    if until is None or not store.meta.paused(now):
        return ""
    return FOREVER if until == FOREVER else f"until {local_minute(float(until))}"


def _service_facts(context: HealthContext, settings: Settings | None) -> Service:
    state = context.manager.state()
    misses = _missing_variables(context, settings) if state.running and settings else ()
    return Service(state, not state.program or Path(state.program).is_file(), misses)


def _missing_variables(context: HealthContext, settings: Settings) -> tuple[str, ...]:
    wanted = needed_variables(context.host.environment, settings.model, has_key=settings.model_api_key is not None)
    try:
        given = {**context.manager.variables(wanted), **context.manager.own_variables()}
    except SkilldError:
        return ()
    return tuple(missing_variables(wanted, given))


def _notice_problem(settings: Settings | None, store: Store, context: HealthContext) -> str | None:
    if settings is None or not settings.notify.enabled:
        return None
    if why := str(store.meta.get(NOTICE_ERROR) or ""):
        return why
    return "" if context.platform == "darwin" or _has_session_bus(context.host.environment) else "no D-Bus session bus"


def _has_session_bus(environment: Mapping[str, str]) -> bool:
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    return bool(environment.get("DBUS_SESSION_BUS_ADDRESS")) or (bool(runtime) and Path(runtime, "bus").exists())


def count_turns(store: Store, settings: Settings | None) -> Counts:
    """Count the turns since the newest proposal by what became of them."""
    since = store.proposals.newest_at()
    turns, repeated = store.transcripts.turn_outcomes(since), store.proposals.in_states([State.SAID])
    more: dict[str, Any] = {}
    if settings is not None:
        more = {"batch_turns": settings.batch.turns, "idle_minutes": settings.batch.idle_minutes}
        more["spent"] = spent_limit(store.usage.on(local_day(time.time())), settings.budget) or ""
    return Counts(
        ran=store.meta.get(INSTALLED_AT) is not None,
        files=sum(facts["files"] for facts in store.transcripts.summary().values()),
        turns=turns["seen"],
        judged=turns["judged"],
        taught=turns["taught"],
        pending=turns["pending"],
        waiting=turns["waiting"],
        chatter=turns["chatter"],
        opted_out=turns["opted_out"],
        parked=store.batches.counts()["parked"] + store.batches.outcomes().get("failed", 0),
        refusals=store.batches.refusals(since),
        learnings=sum(one.created_at > since for one in store.learnings.said()),
        since=since,
        said=tuple(f"{one.note} ({one.path})" for one in reversed(repeated)),
        said_since=sum(one.created_at > since for one in repeated),
        **more,
    )
