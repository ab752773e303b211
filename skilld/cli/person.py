"""Whether the person gave this command. The tree of processes is looked at once, when it is asked first."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from skilld.cli import common

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skilld.decide.who.judge import Agents, Doubt
    from skilld.decide.who.values import Process, Tree


def doubt() -> Doubt | None:
    """Return why this command is not taken for the person's; None where it is."""
    from skilld.decide.who.judge import judge
    from skilld.decide.who.values import Tree

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
    from skilld.decide.who.judge import agent_in

    return agent_in(tree(), os.environ, agents())


def by_the_daemon() -> bool:
    """Whether the daemon of this person started this process."""
    return _daemon(tree().chain) == 1


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
    from skilld.decide.who.judge import Agents
    from skilld.intake.agents.programs import PROGRAMS

    return Agents((one.title, one.names, one.packages, one.marks) for one in PROGRAMS)


@cache
def _looked_at(pid: int) -> Tree:
    from skilld.decide.who.tree import tree

    del pid  # of a process that was forked it is another tree
    return tree(agents().marks)
