"""Who may run which command: anything not listed here, including new verbs, is for the person alone.

A command is named as it is typed: verb, or verb and action.
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from skilld.cli import common
from skilld.cli.git import reads
from skilld.errors import RefusedError

if TYPE_CHECKING:
    from skilld.caller.judge import Agents, Doubt
    from skilld.caller.tree import Process, Tree


When = Callable[[argparse.Namespace], bool]


def _always(_: argparse.Namespace) -> bool:
    return True


def _dry(arguments: argparse.Namespace) -> bool:
    return bool(arguments.dry_run)


def _setup_asks_nothing(arguments: argparse.Namespace) -> bool:
    from skilld.cli.setup import asks_nothing

    return asks_nothing(arguments)


# What only reads, or does with these arguments.
READ_ONLY: Mapping[str, When] = {
    "completion": _always,
    "config": _always,
    "config get": _always,
    "config path": _always,
    "config show": _always,
    "consolidate": _dry,
    "context": _always,
    "cost": _always,
    "demo": _always,  # works in a home that it makes and removes
    "doctor": _always,
    "effect": lambda arguments: not arguments.mend,
    "eval": _always,
    "git": reads,
    "inspect": _always,
    "learnings": lambda arguments: not (arguments.forget or arguments.action),
    "logs": _always,
    "mcp": _always,
    "machines": _always,
    "machines status": _always,
    "mine": _dry,
    "proposals": _always,
    "recommend": _always,
    "record": lambda arguments: bool(arguments.stats),
    "report": lambda arguments: arguments.html is None,
    "service": _always,
    "service install": _dry,
    "service status": _always,
    "setup": _setup_asks_nothing,
    "show": _always,
    "skills diff": _always,
    "skills eval": _dry,
    "skills export": lambda arguments: arguments.out is None,
    "skills history": _always,
    "skills list": _always,
    "skills restore": lambda arguments: arguments.name is None,
    "skills share": _dry,
    "skills show": _always,
    "skills profile": _always,
    "skills test": _always,
    "skills use": _always,
    "status": _always,
    "statusline": _always,
    "suggest": _always,
    "sync": _dry,
    "team": _always,
    "team pr": _dry,
    "team status": _always,
    "trim": _dry,
    "uninstall": _dry,
    "unsync": _dry,
    "why": _always,
}

# What is started where nobody is at a terminal, and why it may be.
UNATTENDED: Mapping[str, str] = {
    "run": "the service manager starts it; it proposes edits but decides nothing",
    "record": "tools use it to report their tasks; skilld learns only from what the user says",
    "machines sync": "the daemon starts it; it syncs only the machines that the user has joined",
    "team sync": "a timer may start it; it shares only what the user accepted, with the team they joined",
    "mine": "a timer may start it; `skilld.cli.mine.refuse_others` limits what an agent can make it read",
}

# What `accept.by_agents` in the settings file leaves to agents.
DECISIONS = frozenset({"accept", "git", "reject", "restore", "revert", "review"})

_TITLES: Mapping[str, str] = {
    **dict.fromkeys(DECISIONS, "Only you can decide on proposals"),
    "config set": "Only you can change the settings",
    "config edit": "Only you can change the settings",
    "config unset": "Only you can change the settings",
    "setup": "Only you can choose who judges",
    "uninstall": "Only you can uninstall skilld",
}


def check(arguments: argparse.Namespace) -> None:
    """Raise RefusedError where the command is the person's and somebody else gave it."""
    command = name_of(arguments)
    reads_only = READ_ONLY.get(command)
    if command in UNATTENDED or (reads_only and reads_only(arguments)):
        return
    title = _TITLES.get(command, f"Only you can run skilld {command}")
    refuse_others(title, arguments.words, by_agents=command in DECISIONS)


def name_of(arguments: argparse.Namespace) -> str:
    """Return the command as it was typed."""
    return " ".join(part for part in (arguments.command, getattr(arguments, "action", None)) if part)


def refuse_others(title: str, words: Sequence[str], *, by_agents: bool = False) -> None:
    """Raise RefusedError with `title` where the person did not give this command; `words` are those it consists of."""
    from skilld import paths

    doubt = person_doubt()
    # Whoever moves the settings by a variable could name a file of their own.
    if doubt is None or (by_agents and not paths.moved() and common.settings().accept.by_agents):
        return
    raise RefusedError(title, doubt.words, remedy(doubt, words))


def remedy(doubt: Doubt, given: Sequence[str]) -> str:
    """Return what the person can do instead."""
    from skilld.caller.judge import Why

    words = common.as_text(shlex.join(["skilld", *given]))
    match doubt.why:
        case Why.AGENT:
            return f"A command run inside an agent counts as the agent's own. Run it in your own terminal: {words}"
        case Why.MARK:
            return f"Run it in a terminal that you opened yourself: {words}"
        case Why.NO_TERMINAL:
            return f"Run it in a terminal: {words}"
        case _:
            return (
                f"Run it in a terminal: {words}. If skilld does not recognize your terminal, add its "
                f"program name to accept.terminals in {common.places().settings_file}"
            )


# Whether the person gave this command. The tree of processes is looked at once, when it is asked first.


def person_doubt() -> Doubt | None:
    """Return why this command is not taken for the person's; None where it is."""
    from skilld.caller.judge import judge
    from skilld.caller.tree import Tree

    chain = tree().chain
    place = _daemon(chain)
    if place == 1:
        return None  # a person pressed a button of its notice, whoever started it
    seen = Tree(chain[:place], tree().foreground) if place else tree()
    if judge(seen, os.environ, agents()) is None:
        return None  # settings take 0.3 s to be read, and a person need not wait for more terminals
    return judge(seen, os.environ, agents(), common.settings().accept.terminals)


def an_agent() -> Doubt | None:
    """Return which agent is seen to give this command; None also where nobody can be seen."""
    from skilld.caller.judge import agent_in

    return agent_in(tree(), os.environ, agents())


def _daemon(chain: Sequence[Process]) -> int:
    """Return which process above this one is the running daemon; 0 where none is."""
    from skilld.daemon.lock import holder, is_held

    found = [place for place, one in enumerate(chain) if place and "skilld" in one.names and "run" in one.argv]
    if not found:
        return 0
    lock = common.places().lock
    return next((place for place in found if chain[place].pid == holder(lock) and is_held(lock)), 0)


def tree() -> Tree:
    """Return this process and those above it."""
    return _looked_at(os.getpid())


@cache
def agents() -> Agents:
    """Return the programs of agents."""
    from skilld.agents.programs import PROGRAMS
    from skilld.caller.judge import Agents

    return Agents((one.title, one.names, one.packages, one.marks) for one in PROGRAMS)


@cache
def _looked_at(pid: int) -> Tree:
    from skilld.caller.tree import tree

    del pid  # of a process that was forked it is another tree
    return tree(agents().marks)
