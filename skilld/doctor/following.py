"""Checks of what is followed and by whom: agents, the daemon, its service, batches that were given up. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from skilld.doctor.values import Agent, Check, Daemon, Service, Verdict
from skilld.files import in_shell
from skilld.text import counted
from skilld.times import ago

_SILENT = 120.0  # seconds: the daemon says something every 20
_OFTEN = 3  # restarts that are no accident any more
_STRANGE = 0.2  # of lines: so many that cannot be read are another format, not damage


def agents(found: Sequence[Agent], now: float) -> list[Check]:
    """Return one check for each agent, and one for there being any."""
    checks = [_agent(agent, now) for agent in found]
    if any(agent.there or agent.chosen for agent in found):
        return checks
    titles = ", ".join(agent.title for agent in found)
    nobody = Check(
        "agents",
        Verdict.FAIL,
        "no folder with sessions of a coding agent is here",
        f"Use one ({titles}), or say where its folder is: skilld config set roots.{found[0].name} FOLDER",
    )
    return [nobody, *checks]


def _agent(agent: Agent, now: float) -> Check:
    name = f"agent {agent.name}"
    places = ", ".join(map(str, agent.folders))
    if agent.unreadable:
        folder = agent.unreadable[0]
        return Check(name, Verdict.FAIL, f"{folder} cannot be read", f"chmod u+rx {in_shell(folder)}")
    if not agent.there and agent.chosen:
        remedy = f"Correct {agent.chosen}, or do without it."
        return Check(name, Verdict.FAIL, f"{agent.chosen} leads to {places}, which is not there", remedy)
    if not agent.there:
        return Check(name, Verdict.SKIP, f"not here; watched for: {places}")
    if not agent.files:
        return Check(name, Verdict.WARN, f"no session yet in {places}")
    if agent.turns + agent.malformed and agent.malformed > _STRANGE * (agent.turns + agent.malformed):
        unread = counted(agent.malformed, "line")
        detail = f"{unread} could not be read, {agent.turns} turns could; checked with {agent.verified}"
        return Check(name, Verdict.WARN, detail, "See what is read: skilld inspect FILE")
    number = counted(agent.files, "session file")
    return Check(name, Verdict.OK, f"{number}, the last event {ago(agent.newest, now)}")


def daemon(facts: Daemon, service: Service, now: float) -> list[Check]:
    """Return the checks of the daemon, of a pause, and of batches that were given up."""
    return [_running(facts, service, now), _pause(facts), _batches(facts)]


def _running(facts: Daemon, service: Service, now: float) -> Check:
    if not facts.running:
        remedy = (
            "skilld service start" if service.installed else "skilld service install (or in a terminal: skilld run)"
        )
        return Check("daemon", Verdict.FAIL, "it does not run", remedy)
    again = "skilld service stop, then skilld service start" if service.running else "End it, then: skilld run"
    if facts.seen_at is not None and now - facts.seen_at > _SILENT:
        return Check("daemon", Verdict.FAIL, f"it hangs: it last said something {ago(facts.seen_at, now)}", again)
    said = facts.said or {}
    if said and said.get("version") != facts.version:
        detail = f"it is version {said.get('version')}, and {facts.version} is installed"
        return Check("daemon", Verdict.WARN, detail, again)
    if unwatched := said.get("unwatched"):
        return Check(
            "daemon", Verdict.WARN, f"it polls {counted(unwatched, 'folder')} that the kernel lets it not watch"
        )
    return Check("daemon", Verdict.OK, f"it runs, version {facts.version}")


def _pause(facts: Daemon) -> Check:
    if facts.paused_until:
        return Check("pause", Verdict.WARN, f"skilld is paused: {facts.paused_until}", "skilld resume")
    return Check("pause", Verdict.OK, "it is not paused")


def _batches(facts: Daemon) -> Check:
    if facts.parked:
        detail = f"{len(facts.parked)} parked; the last: {facts.parked[-1]}"
        return Check("batches", Verdict.FAIL, detail, "Mend the cause, then: skilld retry")
    last = f"; the last error: {facts.last_error}" if facts.last_error else ""
    return Check("batches", Verdict.OK, f"none was given up{last}")


def service(facts: Service) -> Check:
    """Return the check of the service: the first of these that holds."""
    state = facts.state or "stopped"
    rules = (
        (not facts.installed, Verdict.SKIP, "not installed; to have it always: skilld service install", ""),
        (
            not facts.program_there,
            Verdict.FAIL,
            f"it starts {facts.program}, which is gone",
            "skilld service install",
        ),
        (state == "unknown", Verdict.WARN, f"{facts.manager} does not answer: {facts.says}", ""),
        (not facts.running and state.startswith("failed"), Verdict.FAIL, f"it {state}", "See why: skilld logs"),
        (
            facts.restarts > _OFTEN,
            Verdict.WARN,
            f"it was started again {facts.restarts} times",
            "See why: skilld logs",
        ),
        (not facts.running, Verdict.WARN, f"it is {state}", "skilld service start"),
        (
            bool(facts.misses),
            Verdict.WARN,
            f"it runs without {', '.join(facts.misses)}, which this shell has",
            "skilld service install --environment keep",
        ),
        (not facts.enabled, Verdict.WARN, "it does not start by itself", "skilld service install"),
        (True, Verdict.OK, f"{facts.manager} runs it", ""),
    )
    return next(Check("service", verdict, detail, remedy) for holds, verdict, detail, remedy in rules if holds)
