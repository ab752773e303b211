"""The doctor's checks of the agents and their transcripts. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skilld.clock import time_ago
from skilld.files import access_remedy, shell_quoted
from skilld.health.values import Agent, Check, Verdict
from skilld.text import pluralize

NOT_INSTALLED = "not installed"
_MAX_MALFORMED_SHARE = 0.2  # of lines: a larger share means a new format, not damage
_LINK_REMEDY = "Move the sessions to where the link is, or make the agent's whole folder a link."


def agents(found: Sequence[Agent], now: float, *, is_set_up: bool = True) -> list[Check]:
    """Return one check for each agent, and one if there are no sessions of any: failed once skilld `is_set_up`."""
    checks = [_check_agent(agent, now) for agent in found]
    if any(agent.exists or agent.chosen_by for agent in found):
        return checks
    titles = ", ".join(agent.title for agent in found)
    command = f"skilld config set roots.{found[0].name} FOLDER"
    remedy = f"Use a coding agent ({titles}), or set the folder that holds its sessions: {command}"
    none = Check("agents", Verdict.FAIL if is_set_up else Verdict.WARN, "no coding agent sessions found", remedy)
    return [none, *checks]


def _check_agent(agent: Agent, now: float) -> Check:
    name = f"agent {agent.name}"
    places = ", ".join(map(str, agent.folders))
    if agent.unreadable:
        folder = agent.unreadable[0]
        return Check(name, Verdict.FAIL, f"cannot read {folder}", access_remedy(folder, "u+rx"))
    if not agent.exists and agent.chosen_by:
        which = "which does not exist" if len(agent.folders) == 1 else "which do not exist"
        detail = f"{agent.chosen_by} points to {places}, {which}"
        return Check(name, Verdict.FAIL, detail, f"Fix {agent.chosen_by}, or remove it.")
    if agent.gone:
        return Check(name, Verdict.WARN, agent.gone[0].what, agent.gone[0].remedy)
    if not agent.exists:
        state = "no sessions yet" if agent.installed else NOT_INSTALLED
        return Check(name, Verdict.SKIP, f"{state}; skilld watches for {places}")
    return _check_transcripts(agent, name, now)


def _check_transcripts(agent: Agent, name: str, now: float) -> Check:
    if agent.linked:
        return Check(name, Verdict.WARN, describe_links(agent.linked), _LINK_REMEDY)
    if not agent.files:
        return Check(name, Verdict.WARN, f"no sessions yet in {', '.join(map(str, agent.folders))}")
    if agent.turns + agent.malformed and agent.malformed > _MAX_MALFORMED_SHARE * (agent.turns + agent.malformed):
        unread = pluralize(agent.malformed, "line")
        detail = f"{unread} unreadable, {pluralize(agent.turns, 'turn')} read; skilld was tested with {agent.verified}"
        return Check(name, Verdict.WARN, detail, "See what skilld reads: skilld inspect FILE")
    number = pluralize(agent.files, "session file")
    if agent.foreign:
        detail = f"{agent.foreign} of {number} not read: they belong to another user"
        return Check(name, Verdict.WARN, detail, f"Run skilld as the user who runs {agent.title}")
    if agent.exposed:
        path = agent.exposed[0]
        more = f" (and {len(agent.exposed) - 1} more)" if agent.exposed[1:] else ""
        return Check(name, Verdict.WARN, f"any user can change {path}{more}", f"chmod -R o-w {shell_quoted(path)}")
    return Check(name, Verdict.OK, f"{number}, last activity {time_ago(agent.newest, now)}")


def describe_links(links: Sequence[Path]) -> str:
    """Return which links lead to sessions that are not read."""
    more = f" (and {len(links) - 1} more)" if links[1:] else ""
    return f"{links[0]} is a link, so the sessions behind it are not read{more}"
