"""The parser of all verbs. Building it imports nothing heavy: `skilld --help` answers at once."""

from __future__ import annotations

import argparse
from types import ModuleType
from typing import NoReturn

from skilld import __version__
from skilld.cli import (
    chat,
    config,
    cost,
    decide,
    demo,
    doctor,
    git,
    inspect,
    learnings,
    logs,
    mcp,
    mine,
    pause,
    proposals,
    recommend,
    record,
    retry,
    review,
    run,
    service,
    show,
    skills,
    status,
    suggest,
    sync,
    uninstall,
    why,
)
from skilld.cli import eval as evaluation
from skilld.text import safe_text

VERBS: dict[str, ModuleType] = {
    "run": run,
    "demo": demo,
    "status": status,
    "doctor": doctor,
    "logs": logs,
    "proposals": proposals,
    "show": show,
    "why": why,
    "review": review,
    "decide": decide,  # accept, reject, revert
    "git": git,
    "skills": skills,
    "learnings": learnings,
    "mine": mine,
    "recommend": recommend,
    "suggest": suggest,
    "record": record,  # and feedback
    "sync": sync,  # and unsync
    "mcp": mcp,
    "chat": chat,
    "inspect": inspect,
    "cost": cost,
    "eval": evaluation,
    "pause": pause,  # resume, snooze
    "retry": retry,
    "config": config,
    "service": service,
    "uninstall": uninstall,
}


class _Parser(argparse.ArgumentParser):
    """argparse repeats what it was given as it was given."""

    def error(self, message: str) -> NoReturn:
        """Tell what is wrong, harmless for the terminal, and exit."""
        super().error(safe_text(message, newlines=True))


def build_parser() -> argparse.ArgumentParser:
    """Return the parser; every verb sets `run`, a function of the parsed arguments that returns the exit code."""
    parser = _Parser(
        prog="skilld",
        description="Remembers what you teach your coding agents: small, quoted edits of the skill in use, "
        "proposed on the git branch skilld/staging.",
        epilog="Exit codes: 0 ok, 1 failure, 2 usage, 3 a bug, 4 daemon not running or already running, "
        "5 refused for safety, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"skilld {__version__}")
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in VERBS.values():
        module.add(verbs)
    return parser
