"""Who may run which command: only the person may run a command that is not listed here, such as a new verb.

A command is named as it is typed: verb, or verb and action.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from skilld.cli import common
from skilld.cli.git import is_read_only
from skilld.errors import RefusedError
from skilld.files import shell_command

if TYPE_CHECKING:
    from skilld.caller.judge import Doubt
    from skilld.caller.tree import Process, Tree


def _always(_: argparse.Namespace) -> bool:
    return True


def _is_dry_run(arguments: argparse.Namespace) -> bool:
    return bool(arguments.dry_run)


# Commands that only read, at least with these arguments.
_READERS = (
    *("completion", "config", "config get", "config path", "config show", "context", "cost"),
    *("demo", "doctor", "eval", "inspect", "logs", "mcp", "machines status"),  # demo has a home of its own
    *("proposals", "recommend", "service", "service status", "show", "status", "statusline", "suggest"),
    *("skills diff", "skills history", "skills list", "skills profile", "skills show", "skills test", "skills use"),
    *("team status", "why"),
)
_WITH_DRY_RUN = (
    *("consolidate", "mine", "service install", "skills eval", "skills share", "sync", "team pr", "trim"),
    *("uninstall", "unsync"),
)
READ_ONLY: Mapping[str, Callable[[argparse.Namespace], bool]] = {
    **dict.fromkeys(_READERS, _always),
    **dict.fromkeys(_WITH_DRY_RUN, _is_dry_run),
    "effect": lambda arguments: not arguments.mend,
    "git": is_read_only,
    "learnings": lambda arguments: not (arguments.forget or arguments.action),
    "record": lambda arguments: bool(arguments.stats),
    "report": lambda arguments: arguments.html is None,
    "setup": lambda arguments: bool(import_module("skilld.cli.setup").asks_nothing(arguments)),
    "skills export": lambda arguments: arguments.out in {None, "-"},
    "skills restore": lambda arguments: arguments.name is None,
}

# Commands that may be started without a terminal, and why.
UNATTENDED: Mapping[str, str] = {
    "run": "the service manager starts it; `skilld.cli.run.check_caller` limits what an agent can choose for it",
    "record": "tools use it to report their tasks; skilld learns only from what the user says",
    "machines sync": "the daemon starts it; it syncs only the machines that the user has joined",
    "team sync": "a timer may start it; it shares only what the user accepted, with the team they joined",
    "mine": "a timer may start it; `skilld.cli.mine.check_caller` limits what an agent can make it read",
}

# What the setting `accept.by_agents` allows agents to do.
DECISIONS = frozenset({"accept", "git", "reject", "restore", "revert", "review"})

_TITLES: Mapping[str, str] = {
    **dict.fromkeys(DECISIONS, "Only you can decide on proposals"),
    **dict.fromkeys(("config set", "config edit", "config unset"), "Only you can change the settings"),
    "setup": "Only you can choose who judges",
    "uninstall": "Only you can uninstall skilld",
}


def check(arguments: argparse.Namespace) -> None:
    """Raise RefusedError if only the person may run this command and another program gave it.

    If its words are invalid, raise the error that the command would end with: its `check_words`, which changes nothing.
    """
    command = command_of(arguments)
    reads_only = READ_ONLY.get(command)
    if command in UNATTENDED or (reads_only and reads_only(arguments)):
        return
    title = _TITLES.get(command, f"Only you can run skilld {command}")
    try:
        require_person(title, arguments.words, by_agents=command in DECISIONS)
    except RefusedError:
        # What fails for its words would also fail in the terminal that the remedy names.
        getattr(arguments, "check_words", lambda _: None)(arguments)
        raise


def command_of(arguments: argparse.Namespace) -> str:
    """Return the command as it was typed."""
    return " ".join(part for part in (arguments.command, getattr(arguments, "action", None)) if part)


def require_person(title: str, words: Sequence[str], *, by_agents: bool = False) -> None:
    """Raise RefusedError with `title` if the person did not give this command, which consists of `words`."""
    from skilld import paths

    doubt = person_doubt()
    # Not if a variable names the settings file: that could be anybody's own file.
    if doubt is None or (by_agents and not paths.is_relocated() and common.settings().accept.by_agents):
        return
    raise RefusedError(title, doubt.words, remedy(doubt, words))


def remedy(doubt: Doubt, given: Sequence[str]) -> str:
    """Return what the person can do instead."""
    from skilld.caller.judge import DoubtKind

    # A command that sets an API key reads it instead, so that it is not shown.
    shown = ["-" if before == "model_api_key" else word for before, word in zip(("", *given), given, strict=False)]
    words = shell_command(["skilld", *shown])
    match doubt.why:
        case DoubtKind.AGENT:
            return f"A command run inside an agent counts as the agent's own. Run it in your own terminal: {words}"
        case DoubtKind.MARK:
            return f"Run it in a terminal that you opened yourself: {words}"
        case DoubtKind.NO_TERMINAL:
            return f"Run it in a terminal: {words}"
        case _:
            own = f"add its program name to accept.terminals in {common.places().settings_file}"
            return f"Run it in a terminal: {words}. If skilld does not recognize your terminal, {own}"


# Whether the person gave this command. The process tree is read once, when it is first needed.


def person_doubt() -> Doubt | None:
    """Return why this command may not be the person's; None if it is."""
    from skilld.caller.judge import judge_caller
    from skilld.caller.tree import Tree

    chain = process_tree().chain
    place = _daemon_index(chain)
    if place == 1:
        return None  # a person pressed a button of the daemon's notice, whoever started the daemon
    seen = Tree(chain[:place], process_tree().foreground) if place else process_tree()
    if judge_caller(seen, os.environ) is None:
        return None  # reading the settings for more terminals would take 0.3 s
    return judge_caller(seen, os.environ, common.settings().accept.terminals)


def calling_agent() -> Doubt | None:
    """Return the agent that visibly gave this command; None if there is none or nothing can be seen."""
    from skilld.caller.judge import find_agent

    return find_agent(process_tree(), os.environ)


def _daemon_index(chain: Sequence[Process]) -> int:
    """Return the position in the chain of the running daemon; 0 if it is not an ancestor of this process."""
    from skilld.daemon.lock import holder, is_held

    found = [place for place, one in enumerate(chain) if place and "skilld" in one.names and "run" in one.argv]
    if not found:
        return 0
    lock = common.places().lock
    return next((place for place in found if chain[place].pid == holder(lock) and is_held(lock)), 0)


def process_tree() -> Tree:
    """Return this process and its ancestors."""
    return _process_tree_of(os.getpid())


@cache
def _process_tree_of(pid: int) -> Tree:
    from skilld.caller.programs import AGENT_VARIABLES
    from skilld.caller.tree import process_tree

    del pid  # the cache key: a forked process has another tree
    return process_tree(AGENT_VARIABLES)
