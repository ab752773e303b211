"""`skilld status` and `cost`: what the daemon watches, what is waiting, what failed; calls, tokens and dollars."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from skilld import console
from skilld.agents import ADAPTERS
from skilld.classify.backends import OFFLINE, STARTED_WITHOUT
from skilld.classify.backends.choose import choose
from skilld.cli import common
from skilld.clock import local_day, local_minute, parse_time, rfc3339, time_ago
from skilld.daemon import judges
from skilld.daemon.lock import is_outdated, last_seen
from skilld.daemon.settings_cache import (
    BudgetLimits,
    ShownSettings,
    daemon_environment,
    daemon_settings,
    load_settings,
    settings_origin,
    shown_settings,
)
from skilld.errors import Exit, UsageError
from skilld.files import free_bytes
from skilld.git.staging_branch import STAGING_BRANCH
from skilld.ingest.discover import find_roots, gone_roots
from skilld.ingest.drift import drifts
from skilld.proposals.remarks import (
    describe_repeat,
    describe_standing,
    hours_left,
    recently_stale,
    staging_uses,
    unwanted_said_again,
)
from skilld.store import Store, meta
from skilld.store.batches import BUDGET_REASON, Delay
from skilld.store.budget import TEST_QUESTION, raise_command, spent_limit
from skilld.store.meta import DAEMON, MERGE_WARNINGS
from skilld.text import count_times, format_usd, pluralize
from skilld.types import State

_WEEK_SECONDS = 7 * 86400.0


def run(arguments: argparse.Namespace) -> int:
    """Run the verb. Returns 0, with --check also 1 or 4."""
    if arguments.check:
        return _check(as_json=arguments.json)
    shown = collect()
    if arguments.json:
        return common.write_json(shown)
    _print_status(shown, common.first_step_hint(common.store_or_empty()))
    return 0


def _check(*, as_json: bool) -> int:
    try:
        shown = collect()
    except UsageError as error:  # invalid settings, which the calling script did not cause
        shown = {"running": bool(common.daemon_pid())}
        needs = [{"what": "settings", "detail": error.cause, "remedy": error.remedy}]
    else:
        needs = _find_needs(shown) if shown["running"] else []
    code = Exit.FAILURE if needs else Exit.OK
    if not shown["running"]:
        code = Exit.NOT_RUNNING
        needs = [{"what": "daemon", "detail": "not running", "remedy": "skilld run"}, *needs]
    if as_json:
        common.write_json(shown | {"needs": needs})
        return code
    for one in needs:
        remedy = f" -> {one['remedy']}" if one["remedy"] else ""
        console.say(console.message(f"{one['what']}: {one['detail']}{remedy}"))
    if not needs:
        console.say("Nothing needs your attention.")
    return code


def _find_needs(shown: dict[str, Any]) -> list[dict[str, str]]:
    """Return what needs the person: open proposals, unavailable back-ends, failed checks of `doctor`.

    What resolves itself (a spent budget, a batch that is retried) or was chosen (a pause) is not included.
    """
    from skilld.cli.doctor import collect as examine

    needs = []
    if number := shown["proposals"]["open"]:
        needs.append({"what": "proposals", "detail": f"{number} open", "remedy": "skilld review"})
    needs += [
        {"what": f"judge {one['agent']}", "detail": one["why"], "remedy": one["remedy"]}
        for one in shown["backend"]["agents"]
        if not one["expected"]
    ]
    failed = [check for check in examine(ask=False)[0] if check.verdict == "fail"]
    return needs + [{"what": one.name, "detail": one.detail, "remedy": one.remedy} for one in failed]


def collect() -> dict[str, Any]:
    """Return everything `status --json` shows."""
    store = common.store_or_empty()
    running = bool(common.daemon_pid())
    settings, environment = _in_use(store, running=running)
    now = time.time()
    until = store.meta.get(meta.PAUSED_UNTIL)
    spending = _spending(store, settings.budget, now)
    return {
        "running": running,
        "paused": store.meta.paused(now),
        "paused_until": until if until is None or until == meta.FOREVER else rfc3339(float(until)),
        "backend": _judge(settings, environment)
        | {"agents": [asdict(one) for one in judges.judge_problems(store, settings.model, environment, now)]},
        "agents": _agents(store, settings),
        "turns": store.transcripts.turn_outcomes(),
        **_batches(store, spending["budget"]["spent"]),
        **_proposals(store, now),
        "learnings": store.learnings.count(),
        "unrated": [
            asdict(one) for one in store.overview.unrated(now - _WEEK_SECONDS, now - settings.idle_minutes * 60)
        ],
        **spending,
        "dead": judges.stall_reason(store, now) or "",
        "daemon": _daemon(store),
        "notices": store.meta.get(meta.NOTICE_ERROR),
        "snoozed_until": rfc3339(snoozed) if (snoozed := store.meta.get(meta.SNOOZED_UNTIL, 0.0)) > now else None,
        "rebuilt": store.meta.get(meta.LAST_REBUILD),
        "last_error": store.meta.get(meta.LAST_ERROR),
        "drift": [asdict(one) | {"told": one.message} for one in drifts(store.meta.get(meta.DRIFT, {}))],
    }


def _in_use(store: Store, *, running: bool) -> tuple[ShownSettings, Mapping[str, str]]:
    """Return the settings and variables of the running daemon, or of this shell, whose settings must be valid."""
    origin = settings_origin(common.places().settings_file, os.environ)
    settings = load_settings(store, origin) or shown_settings(common.settings())
    if not running:
        return settings, os.environ
    return daemon_settings(store) or settings, daemon_environment(store, os.environ)


def _judge(settings: ShownSettings, environment: Mapping[str, str]) -> dict[str, Any]:
    choice = choose(settings.model, settings.endpoint, None, 0, environment)  # only to name it
    return {"name": choice.name, "why": choice.why, "found": list(choice.found)}


def _proposals(store: Store, now: float) -> dict[str, Any]:
    return {
        "proposals": {state.value: store.proposals.count(state) for state in State},
        "dropped": [
            {"id": one.id, "hours": hours_left(store, one, now), "told": describe_standing(store, one, now)}
            for one in store.proposals.in_states([State.DROPPED])
        ],
        "stale": [{"id": one.id, "told": told} for one, told in recently_stale(store, now)],
        "staging_held": staging_uses(store),
        "said_again": [{"id": one.id, "told": describe_repeat(store, one)} for one in unwanted_said_again(store, now)],
        "rests_on": store.meta.get(MERGE_WARNINGS, {}),
    }


def _daemon(store: Store) -> dict[str, Any] | None:
    seen_at = last_seen(common.places().lock)
    told: dict[str, Any] | None = store.meta.get(DAEMON)
    shown = {name: value for name, value in told.items() if name != "variables"} if told else None
    return shown and shown | {"seen_at": rfc3339(seen_at) if seen_at else None}


def _batches(store: Store, spent: str) -> dict[str, Any]:
    delays = store.batches.standing_delays(spent)
    return {
        "batches": store.batches.counts(),
        "outcomes": store.batches.outcomes(),
        "parked": store.batches.parked(),
        "delayed": [{"why": one.why, "batches": one.batches, "next_try": rfc3339(one.next_try)} for one in delays],
    }


def _agents(store: Store, settings: ShownSettings) -> dict[str, Any]:
    summary = store.transcripts.summary()
    configured = {agent: [Path(one) for one in folders] for agent, folders in settings.roots.items()}
    roots = find_roots(common.home(), os.environ, configured)
    gone = {root.agent: what for root, what in gone_roots(store, roots)}
    found = {name: summary.get(name, {}) for name in ADAPTERS}
    return {
        name: {key: of_it.get(key, 0) for key in ("files", "turns", "malformed", "overlong")}
        | {"last_event_at": rfc3339(newest) if (newest := of_it.get("newest")) else None, "gone": gone.get(name)}
        for name, of_it in found.items()
    }


def _spending(store: Store, budget: BudgetLimits, now: float) -> dict[str, Any]:
    spent, tests = store.usage.on(local_day(now)), store.usage.on(local_day(now), TEST_QUESTION).calls
    tokens = spent.tokens_in + spent.tokens_out
    return {
        "spend_today": {"calls": spent.calls, "tokens": tokens, "usd": round(spent.usd, 6), "tests": tests},
        "budget": {**asdict(budget), "spent": spent_limit(spent, budget) or ""},
    }


def _print_status(shown: dict[str, Any], begin: str) -> None:
    """Print the status; `begin` says how to begin if skilld has never run here."""
    now = time.time()
    _print_running(shown, begin)
    console.say(f"judge     {shown['backend']['name']}: {shown['backend']['why']}")
    for one in shown["backend"]["agents"]:
        remedy = f". {one['remedy']}" if one["remedy"] else ""
        _print_more(f"{one['agent']}: {console.message(one['why'])}{remedy}", "" if one["expected"] else "yellow")
    for found in shown["backend"]["found"]:
        console.say(f"          {found}")
    _print_agents(shown["agents"], now)
    _print_turns(shown["turns"], shown["backend"]["name"])
    batches, unusable = shown["batches"], shown["outcomes"].get("failed", 0)
    skipped, failed = common.store_or_empty().batches.chatter_count(), batches["parked"] + unusable
    counted = f"{batches['done'] - unusable - skipped:,} judged" + f", {skipped:,} skipped" * bool(skipped)
    console.say(f"batches   {batches['pending']:,} waiting to be judged, {counted}, {failed:,} failed")
    _print_delays(shown, now)
    if unusable:
        _print_more(f"failed because the answer could not be used: {unusable:,}; to ask again: skilld retry", "")
    for parked in shown["parked"]:
        detail = parked["detail"] or ""
        then = _failure_remedy(detail, shown["daemon"]) or "try again: skilld retry"
        console.say(f"          failed {parked['id']}: {console.message(detail)}; {then[0].lower()}{then[1:]}")
    _print_proposals(shown)
    spent = shown["spend_today"]
    console.say(f"today     {_describe_today(**spent)}")
    if why := shown["budget"]["spent"]:
        console.say(f"budget    {_describe_spent(why)}", style="yellow")
    _print_daemon(shown["daemon"] or {}, shown["dead"], running=shown["running"])
    for drift in shown["drift"][:1]:
        message = f"{console.plain(drift['told'])} (skilld doctor shows a sample)"
        console.say(f"format    {message}", style="yellow")
    muted = parse_time(shown["snoozed_until"])
    off = f"off until {local_minute(muted)} (turn on: skilld snooze off)" if muted else ""
    if notices := "; ".join(filter(None, (shown["notices"], off))):
        console.say(f"notices   {console.plain(notices)}")
    if rebuilt := shown["rebuilt"]:
        when = time_ago(parse_time(rebuilt["at"]), now)
        console.say(f"database  rebuilt {when} from {rebuilt['from']}: {console.message(rebuilt['why'])}")
    error = shown["last_error"]
    if error and now - (parse_time(error["at"]) or now) < _WEEK_SECONDS:
        when = time_ago(parse_time(error["at"]), now)
        console.say(f"last error, {when}: {console.message(error['message'])}", style="yellow")


def _print_more(text: str, style: str = "yellow") -> None:
    """Print a further line below a row."""
    console.say(f"{'':10}{text}", 10, style=style)


def _low_disk() -> str:
    """Return a warning if skilld can hardly store anything any more; empty otherwise."""
    from skilld.health.machine_checks import MIN_FREE, MIN_FREE_REMEDY

    state = common.places().state
    free = free_bytes(state) if state.is_dir() else MIN_FREE
    return f"{free >> 20:,} MB free at {state}. {MIN_FREE_REMEDY}" if free < MIN_FREE else ""


def _print_running(shown: dict[str, Any], begin: str) -> None:
    """Print whether the daemon runs or is paused, and whether it was started before an upgrade."""
    from skilld.cli.service import service_manager
    from skilld.health.checks import OUTDATED, restart_remedy

    running = console.paint("running", "green") if shown["running"] else "not running (start it: skilld run)"
    ends = parse_time(shown["paused_until"])
    pause = f", paused {f'until {local_minute(ends)}' if ends else shown['paused_until']}" if shown["paused"] else ""
    console.say(f"{begin}{pause}" if begin else f"skilld is {running}{pause}")
    if shown["running"] and is_outdated(common.places().lock):
        again = restart_remedy(as_service=service_manager().state().running)
        _print_more(f"{OUTDATED}. {again}")


def _failure_remedy(detail: str, daemon: dict[str, Any] | None) -> str:
    from skilld.cli.service import service_manager
    from skilld.service.values import failure_remedy

    as_service = STARTED_WITHOUT in detail and service_manager().state().running
    return failure_remedy(detail, daemon, as_service=as_service)


def _print_delays(shown: dict[str, Any], now: float) -> None:
    """Print why batches wait and when they are tried again, unless the judge's or the budget's line says it."""
    told = [*(one["why"] for one in shown["backend"]["agents"]), BUDGET_REASON]
    goes_on = shown["running"] and not shown["paused"]
    for one in shown["delayed"]:
        if not any(why and why in one["why"] for why in told):
            delay = Delay(**one | {"next_try": parse_time(one["next_try"]) or now})
            _print_more(console.message(delay.describe(now, goes_on=goes_on)))


def _describe_today(calls: int, tokens: int, usd: float, tests: int) -> str:
    """Describe today's cost and how much of it was test questions; without dollars if no price is known."""
    money = f", {format_usd(usd)}" if usd or not tokens else ""
    which = "all of them" if tests == calls else f"{tests} of them"
    tested = f" ({which} to test the judge)" if tests else ""
    return f"{pluralize(calls, 'model call')}{tested}, {pluralize(tokens, 'token')}{money}"


def _describe_spent(why: str) -> str:
    return f"spent: {why}; the rest is on hold until tomorrow. To raise it: {raise_command(why)}"


def _print_turns(turns: dict[str, int], judge: str) -> None:
    """Print what became of the turns, so that a person who expected a proposal sees whether they were judged."""
    missed = turns["judged"] - turns["taught"]
    fates = {
        "judged": f"judged: {turns['taught']:,} with a lasting instruction, {missed:,} without",
        "chatter": "skipped (no lasting instructions)",
        "opted_out": "skipped because their project opted out",
        "pending": "in batches waiting to be judged",
        "waiting": "waiting for the session to continue or end",
    }
    lines = [f"{turns[fate]:,} {text}" for fate, text in fates.items() if turns[fate]]
    for label, text in zip(("turns", *[""] * len(lines)), lines, strict=False):
        console.say(f"{label:10}{text}", 10)
    if missed and judge == OFFLINE:
        hint = 'missing a rule? Say it again with "from now on", or choose a model: skilld setup, then skilld mine'
        _print_more(hint, "dim")


def _print_proposals(shown: dict[str, Any]) -> None:
    """Print the proposals, branches that must not be merged, and a skill without feedback."""
    states = shown["proposals"]
    replaced = len(common.store_or_empty().proposals.replaced_ids()) if states["reverted"] else 0
    said = f", {replaced:,} replaced by newer ones" if replaced else ""
    said += f", {states['said']:,} said again (skilld proposals --state said)" if states["said"] else ""
    review = " (skilld review)" if states["open"] else ""
    kept = " kept, not proposed (skilld learnings)" if shown["learnings"] else ""
    console.say(
        f"proposals {states['open']:,} open{review}, {states['accepted']:,} accepted, {states['rejected']:,} rejected, "
        f"{states['reverted'] - replaced:,} reverted{said}; {pluralize(shown['learnings'], 'learning')}{kept}",
        10,
    )
    for item in shown["dropped"]:
        _print_more(f"{item['id']} {item['told']}")
    for item in shown["stale"]:
        _print_more(f"{item['id']} no longer fits its file: {console.message(item['told'])}")
    for repo, held in shown["staging_held"].items():
        _print_more(f"{console.message(repo)}: {console.message(held)}")
    for item in shown["said_again"]:
        _print_more(f"{item['id']} {item['told']}")
    for repo, warning in shown["rests_on"].items():
        _print_more(f"{console.message(repo)}: {STAGING_BRANCH} {warning}")
        _print_more("Do not merge that branch: use skilld accept, which works on any branch.", "")
    for unrated in shown["unrated"][:1]:
        skill, session = console.plain(unrated["skill"]), console.plain(unrated["session_id"])
        said = f"skilld feedback {skill} --session {session} --helpful (or --unhelpful)"
        console.say(f"rate      did {skill} help? {said}", style="dim")


def _print_agents(agents: dict[str, Any], now: float) -> None:
    """Print what was read of each agent, and in one line how many others there are."""
    read = {name: facts for name, facts in agents.items() if facts["files"]}
    last = {name: f"last active {time_ago(parse_time(facts['last_event_at']), now)}" for name, facts in read.items()}
    rows = [
        (name, pluralize(facts["files"], "session file"), pluralize(facts["turns"], "turn"), last[name])
        for name, facts in read.items()
    ]
    console.table([(label, *row) for label, row in zip(("agents  ", *[""] * len(rows)), rows, strict=False)])
    for name, facts in agents.items():
        if facts["gone"]:
            _print_more(f"{name}: {console.message(facts['gone'])}. See skilld doctor.")
    if absent := len(agents) - len(rows):
        others = f"          {pluralize(absent, 'other')} without sessions here (list: skilld doctor)"
        console.say(others if rows else "agents    no sessions read yet", 10)


def _print_daemon(said: dict[str, Any], dead: str, *, running: bool) -> None:
    """Print why nothing is learned, where changes are not watched, and problems with the settings and files."""
    if dead:
        console.say(f"learning  nothing judged for a day: {console.message(dead)}", style="yellow")
    if full := _low_disk():
        console.say(f"disk      {console.message(full)}", 10, style="yellow")
    for path, why in (said.get("unreadable") or {}).items():
        console.say(f"cannot read {console.message(path)}: {console.message(why)}")
    if not running:
        return
    if unwatched := said.get("unwatched"):
        polled = f"polling {pluralize(unwatched, 'folder')} every 30 s"
        console.say(f"watching  the kernel's watch limit is reached: {polled}")
    if overflows := said.get("overflows"):
        console.say(f"watching  events were lost {count_times(overflows)}, so everything was rescanned")
    for folder in said.get("silent") or ():
        console.say(f"watching  no events from {console.message(folder)}; it is polled every 30 s")
    if settings := said.get("settings"):
        console.say(f"settings  {console.message(settings)}", style="yellow")


# `skilld cost`: calls, tokens and dollars per day, model and skill; the budget; batches that needed no call.


def run_cost(arguments: argparse.Namespace) -> int:
    """Run the verb."""
    shown = collect_cost()
    if arguments.json:
        return common.write_json(shown)
    rows = [
        (row["day"], row["model"], row["skill"] or "(no skill)", pluralize(row["calls"], "call"), used, price)
        for row in shown["days"]
        for used, price in [(pluralize(row["tokens"], "token"), format_price(**row))]
    ]
    console.table([tuple(console.plain(cell) for cell in row) for row in rows])
    if not rows:
        console.say("No model calls yet.")
    budget = shown["budget"]
    most = _describe_budget(budget)
    reached = f"Today it is {_describe_spent(budget['spent'])}" if budget["spent"] else "Not reached yet today."
    console.say(f"Daily budget: {most}. {reached}" if most else "Daily budget: no limit.")
    priced = any(row["usd"] and not row["model"].startswith("cli:") for row in shown["days"])
    if priced and common.settings().model_base_url:
        console.say("Dollars are list prices of the models, as the prices of your own server are not known.")
    if shown["waiting"]:
        console.say(f"{pluralize(shown['waiting'], 'batch', 'batches')} waiting to be judged.")
    if shown["spared"]:
        skipped = pluralize(shown["spared"], "batch", "batches")
        console.say(f"Skipped so far without a model call (no lasting instructions): {skipped}.")
    return 0


def _describe_budget(budget: dict[str, Any]) -> str:
    """Describe the daily limits (0: no limit); empty if there are none."""
    limits = (
        (budget["calls"], pluralize(budget["calls"], "call")),
        (budget["tokens"], pluralize(budget["tokens"], "token")),
        (budget["usd"], format_usd(budget["usd"])),
    )
    return ", ".join(text for limit, text in limits if limit)


def collect_cost() -> dict[str, Any]:
    """Return everything `cost --json` shows."""
    settings = common.settings()
    store = common.store_or_empty()
    days = [
        {key: row[key] for key in ("day", "model", "skill", "calls", "usd")}
        | {"tokens": row["tokens_in"] + row["tokens_out"], "tokens_in": row["tokens_in"]}
        for row in store.usage.rows()
    ]
    spent = spent_limit(store.usage.on(local_day(time.time())), settings.budget)
    return {
        "days": days,
        "budget": {**settings.budget.model_dump(), "spent": spent or ""},
        "waiting": store.batches.counts()["pending"],
        "spared": store.batches.chatter_count(),
    }


def format_price(model: str, tokens: int, usd: float, **_: object) -> str:
    """Return what a model's tokens cost: $0 means that the price is unknown, unless the model runs on this machine."""
    return "price unknown" if tokens and not usd and not model.startswith("ollama") else format_usd(usd)
