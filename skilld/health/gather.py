"""Gathers the facts for the checks from the store, settings, processes and the service manager. Reads only."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skilld import __version__
from skilld.agents import ADAPTERS
from skilld.agents.programs import program_names
from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.backends.agent_cli.clients import CLIENTS, PREFIX, parse_model
from skilld.classify.backends.choose import PROVIDERS
from skilld.classify.backends.names import find_problem
from skilld.classify.question_jobs import TestBackend
from skilld.clock import local_day, local_minute, parse_time
from skilld.daemon.judges import judge_problems
from skilld.daemon.lock import is_held, is_outdated, last_seen
from skilld.errors import SkilldError
from skilld.files import access_remedy, find_program, first_program
from skilld.git.environment import scrub_environment
from skilld.health.values import Agent, BlockedWork, Counts, Daemon, Disk, Facts, Machine, Model, Service, Trouble
from skilld.ingest.discover import Host, Root, find_links, find_roots, find_transcripts
from skilld.ingest.drift import drifts
from skilld.ingest.gone import gone_remedy, gone_roots
from skilld.paths import Places, check_private, private_dir
from skilld.proposals.remarks import current_conflicts, remake_status
from skilld.protocol import Job
from skilld.service.values import ServiceManager, lacking_keys, missing_variables, needed_variables
from skilld.settings import Settings, choose_back_end, load_file
from skilld.store import Store, meta
from skilld.store.batches import REMAKE_PREFIX, Delay, Obstacle, StoredBatch
from skilld.store.budget import TEST_QUESTION, Account, spent_limit
from skilld.store.connection import is_remote
from skilld.store.corruption import missing_reason
from skilld.store.meta import DAEMON, DRIFT, FOREVER, INSTALLED_AT, LAST_ERROR, LAST_REBUILD, NOTICE_ERROR, PAUSED_UNTIL
from skilld.text import pluralize
from skilld.types import Cause, Outcome, State
from skilld.worker.spawn import Worker


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
                foreign=sum(map(_is_foreign, seen)),
                linked=tuple(link for root in there for link in find_links(root)),
                exposed=tuple(_exposed_paths(seen)),
            )
        )
    return found


def _is_foreign(path: Path) -> bool:
    with suppress(OSError):
        return path.stat().st_uid != os.geteuid()
    return False


def _exposed_paths(transcripts: Iterable[Path]) -> list[Path]:
    """Return the folders of transcripts, or else the transcripts, that any user can change."""
    transcripts = list(transcripts)
    folders = list(filter(_is_exposed, dict.fromkeys(path.parent for path in transcripts)))
    return [*folders, *(path for path in transcripts if path.parent not in folders and _is_exposed(path))]


def _is_exposed(path: Path) -> bool:
    with suppress(OSError):
        mode = path.stat().st_mode
        return bool(mode & stat.S_IWOTH) and not mode & stat.S_ISVTX
    return False


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
_WATCH_LIMIT_FILE = Path("/proc/sys/fs/inotify/max_user_watches")


def open_database(places: Places) -> tuple[Store, Trouble | None]:
    """Return the open store, and what is wrong with it; an empty store if it is damaged or skilld has never run."""
    if not os.path.lexists(places.database) and not missing_reason(places.database):
        return Store.empty(places.database), None
    try:
        return Store.open_checked(places.database), None
    except SkilldError as error:
        return Store.empty(places.database), Trouble(str(error), error.remedy)


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
            if path.exists() and not os.access(path, os.R_OK | os.W_OK | os.X_OK):
                return Trouble(f"no access to {path}", access_remedy(path, "u+rwx"))
    except SkilldError as error:
        return Trouble(str(error), error.remedy)
    except OSError as error:
        return Trouble(f"{error.filename}: {error.strerror}")
    return None


def _git_version() -> str | Trouble:
    scrub_environment()
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
            found.setdefault(there.stat().st_dev, Disk(there, what, _free_bytes(there)))
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


def _free_bytes(folder: Path) -> int:
    facts = os.statvfs(folder)
    # Without free inodes nothing can be written either; a file system that does not count them has 0 of 0.
    return facts.f_bavail * facts.f_frsize if facts.f_favail or not facts.f_files else 0


def _watch_limit() -> int | None:
    try:
        return int(_WATCH_LIMIT_FILE.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


_RETRY_REMEDY = "Try again later. If it still fails, check the settings: skilld config show"


def model_facts(settings: Settings, environment: Mapping[str, str], store: Store, now: float, *, ask: bool) -> Model:
    """Return the facts of the back-end. With `ask` a worker asks it one question, whose cost is booked."""
    key, url = settings.model_api_key, settings.model_base_url
    choice = choose_back_end(settings, environment)
    missing = _missing_requirement(choice.spec.model, environment, has_key=bool(key or url))
    specs = [choose_back_end(settings, environment, name).spec for name in ADAPTERS] if choice.agent else [choice.spec]
    asked = [spec for spec in specs if ask and missing is None and spec.model != OFFLINE]
    told: list[Trouble | str] = []
    if asked:
        with _books(store) as books:
            account = Account(books, settings.budget, TEST_QUESTION)
            told = [_test_model(spec, settings, environment, account, named=choice.agent) for spec in asked]
    troubles = [one for one in told if isinstance(one, Trouble)]
    answer = troubles[0] if troubles else ("; ".join(map(str, told)) or None)
    also = tuple(one for one in told if isinstance(one, str)) if troubles else ()
    absent = [*judge_problems(store, settings.model, environment, now)]
    agents = tuple((one.agent, Trouble(one.why, one.remedy)) for one in absent if not one.expected)
    unasked = tuple(one.agent for one in absent if one.expected)
    if choice.agent and not agents and all(spec.model == OFFLINE for spec in specs):
        why = f"judged without a model, because none of these is on PATH: {', '.join(CLIENTS)}"
        agents = (("Every session", Trouble(why, "Install one of them, or choose another judge: skilld setup")),)
    return Model(choice.name, choice.why, choice.found, missing, answer, agents, unasked, (*troubles[1:], *also))


@contextmanager
def _books(store: Store) -> Iterator[Store]:
    """Give the store in which to book a call: a new database on disk if skilld has never run here."""
    if os.path.lexists(store.path) or missing_reason(store.path):
        yield store
        return
    private_dir(store.path.parent)
    with closing(Store.open(store.path)) as new:
        yield new


def _test_model(
    spec: Spec, settings: Settings, environment: Mapping[str, str], account: Account, *, named: bool
) -> Trouble | str:
    """Return the result of one test question, with the agent's name if `named`."""
    if spent := account.spent_limit():
        return Trouble(f"not tested because the budget is spent: {spent}", "skilld cost")
    told = _ask_model(spec, settings, environment, account)
    if not named:
        return told
    if isinstance(told, Trouble):
        return replace(told, what=_name_client(spec.model, told.what))
    return f"{parse_model(spec.model)[0].title} answered a test question{told}"


def _name_client(model: str, what: str) -> str:
    """Return what is wrong with a judging agent, preceded by the agent's name."""
    title = parse_model(model)[0].title if model.startswith(PREFIX) else ""
    return f"{title}: {what}" if title and title not in what else what


def _missing_requirement(name: str, environment: Mapping[str, str], *, has_key: bool) -> Trouble | None:
    if name.startswith(PREFIX):
        client, _ = parse_model(name)
        if find_program(client.program, environment) is None:
            return Trouble(
                f"{client.program} is not on PATH", f"Install {client.title}, or choose another judge: skilld setup"
            )
        return None
    if name != OFFLINE and not has_key and (found := find_problem(name)) and found.certain:
        return Trouble(found.what, found.remedy or "Choose another judge: skilld setup")
    provider = name.partition("/")[0]
    variables = [variable for variable, model in PROVIDERS.items() if model.partition("/")[0] == provider]
    if not variables or has_key or any(environment.get(variable) for variable in variables):
        return None
    return Trouble(f"{variables[0]} is not set", f"export {variables[0]}=KEY, or: skilld config set model_api_key -")


def _ask_model(spec: Spec, settings: Settings, env: Mapping[str, str], account: Account) -> Trouble | str:
    with Worker(env) as worker:
        result = worker.do(Job(TestBackend(spec), 0o077), settings.worker.seconds, charge=account.charge)
    if result.outcome is Outcome.NOTHING:
        return f" ({pluralize(result.usage.tokens_in + result.usage.tokens_out, 'token')})"
    return Trouble(result.detail, result.remedy or _RETRY_REMEDY)


_REPORTED_SECONDS = 30 * 86400.0  # how long a missing transcript or an unusable answer is reported


def blocked_work(batches: Sequence[StoredBatch], now: float) -> Iterator[BlockedWork]:
    """Yield what blocks these batches (newest first), once per cause and place; `now` is a Unix time."""
    groups: dict[tuple[Cause, str], list[tuple[StoredBatch, Obstacle]]] = {}
    for batch in batches:
        if batch.obstacle is not None and _is_reported(batch, batch.obstacle, now):
            groups.setdefault((batch.obstacle.cause, batch.obstacle.place), []).append((batch, batch.obstacle))
    for (cause, place), found in groups.items():
        newest, obstacle = found[0]
        yield BlockedWork(
            cause=cause.value,
            place=place,
            detail=newest.detail,
            remedy=obstacle.remedy,
            waits=newest.state in {"pending", "running"},
            batches=len(found),
            kept=sum(len(one.kept) for _, one in found),
        )


def _list_delays(store: Store, spent: str) -> tuple[Delay, ...]:
    return tuple(one for one in store.batches.delays() if not (one.blocked or (spent and spent in one.why)))


def _is_reported(batch: StoredBatch, obstacle: Obstacle, now: float) -> bool:
    if obstacle.cause is Cause.SKILL:  # if nothing was kept, nothing is lost
        return bool(obstacle.kept)
    if obstacle.cause in {Cause.TRANSCRIPT, Cause.ANSWER}:
        return now - (parse_time(batch.created_at) or now) < _REPORTED_SECONDS
    return obstacle.cause is Cause.REPOSITORY


@dataclass(frozen=True, slots=True)
class HealthContext:
    """What the facts are gathered from: skilld's folders, the machine, its service manager, `sys.platform`."""

    places: Places
    host: Host
    manager: ServiceManager
    platform: str


def gather(context: HealthContext, now: float, *, ask: bool) -> Facts:
    """Return all facts. With `ask` the back-end is asked a short real question, which costs money."""
    settings, bad_settings = _load_settings(context.places)
    exposed = _permission_problem(context.places)  # before the database is opened, and its log deleted
    opened, bad_store = open_database(context.places)
    with closing(opened) as store:
        found = agent_facts(context.host, settings.roots if settings else {}, store)
        status = store.meta.get(DAEMON)
        spent = spent_limit(store.usage.on(local_day(now)), settings.budget) if settings else None
        return Facts(
            machine=Machine(
                now=now,
                settings=bad_settings,
                permissions=exposed,
                store=bad_store,
                git=_git_version(),
                disks=_disks(context.places, _repositories(store)),
                watch_limit=_watch_limit(),
                folders=sum(agent.watched for agent in found),
                remote=tuple(one for agent in found for one in agent.folders if one.is_dir() and is_remote(one)),
                rebuilt=describe_rebuild(store, now),
            ),
            agents=tuple(found),
            daemon=Daemon(
                running=is_held(context.places.lock),
                status=status,
                seen_at=last_seen(context.places.lock),
                outdated=is_outdated(context.places.lock),
                paused_until=_describe_pause(store, now),
                version=__version__,
                last_error=str((store.meta.get(LAST_ERROR) or {}).get("message", "")),
                ran_once_at=store.meta.get(meta.RAN_ONCE_AT),
                delayed=_list_delays(store, spent or ""),
                parked=tuple(str(item["detail"] or "") for item in store.batches.parked()),
                unusable=store.batches.outcomes().get("failed", 0),
                lacking=_lacking_keys(context, settings, status),
                stale=tuple(_stale_proposals(store)),
            ),
            service=_service_facts(context, settings),
            model=model_facts(settings, context.host.environment, store, now, ask=ask) if settings else None,
            spent=spent,
            notices=_notice_problem(settings, store, context),
            counts=None if bad_store else count_turns(store, settings),
            blocked=tuple(blocked_work(store.batches.with_obstacle(), now)),
            contradicted=tuple(_contradicted(store)),
            damaged=tuple(_damaged_branches(store, context.places)),
            repeated=_repeated_rules(store),
            drift=tuple(_format_drift(store)),
        )


def _lacking_keys(context: HealthContext, settings: Settings | None, status: dict[str, Any] | None) -> tuple[str, ...]:
    if settings is None or settings.model_api_key or settings.model_base_url:
        return ()
    return tuple(lacking_keys(context.host.environment, settings.model, status))


def _contradicted(store: Store) -> Iterator[str]:
    for proposal in store.proposals.open():
        for one in current_conflicts(proposal)[:1]:
            yield f"{proposal.id}: {one.path}:{one.line} contradicts this proposal"


def _repeated_rules(store: Store) -> tuple[tuple[str, int], ...]:
    """Return the repeated rules with their number of sessions, as in `effect` and `report`, the most repeated first."""
    from skilld.effect.outcomes import collect, sessions_with_repeats  # late: the daemon and setup do not need it

    found = ((one.rule, one.after.repeats) for one in collect(store, sessions_with_repeats(store)))
    repeated = [(f"{rule.path}:{rule.line}", sessions) for rule, sessions in found if sessions]
    return tuple(sorted(repeated, key=lambda one: -one[1]))


def _format_drift(store: Store) -> Iterator[str]:
    for one in drifts(store.meta.get(DRIFT, {})):
        yield one.message if one.sample is None else f"{one.message}: {json.dumps(one.sample)}"


def _stale_proposals(store: Store) -> Iterator[str]:
    for proposal in store.proposals.in_states([State.STALE]):
        batch = store.batches.get(REMAKE_PREFIX + proposal.id)
        if batch is not None and batch.state != "done":
            yield f"{proposal.id}: {remake_status(store, proposal)}"


def _damaged_branches(store: Store, places: Places) -> Iterator[Trouble]:
    """Yield the staging branches with open or stale proposals that lack an object, each with its remedy."""
    from skilld.git.repo import open_repo  # imported late: most checks do not need it
    from skilld.proposals.branch import find_missing_object

    scrub_environment()
    repos = {Path(one.repo) for one in store.proposals.in_states([State.OPEN, State.STALE]) if one.commit}
    for repo in sorted(one for one in repos if one.parent != places.repositories):
        with suppress(SkilldError, OSError):
            if found := find_missing_object(open_repo(repo)):
                yield Trouble(*found)


def _repositories(store: Store) -> list[Path]:
    """Return the repositories of open proposals, and those where some could not be written."""
    open_ones = [Path(proposal.repo) for proposal in store.proposals.open() if proposal.repo]
    met = [one.obstacle for one in store.batches.with_obstacle() if one.obstacle]
    return [*open_ones, *(Path(found.place) for found in met if found.cause is Cause.REPOSITORY and found.place)]


def _load_settings(places: Places) -> tuple[Settings | None, Trouble | None]:
    try:
        return load_file(places.settings_file), None
    except SkilldError as error:
        return None, Trouble(str(error), error.remedy)


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
        learnings=sum(one.created_at > since for one in store.learnings.all()),
        since=since,
        said=tuple(f"{one.note} ({one.path})" for one in reversed(repeated)),
        said_since=sum(one.created_at > since for one in repeated),
        **more,
    )
