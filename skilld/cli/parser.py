"""The parser of all verbs. Building it imports nothing heavy: `skilld --help` answers at once."""

from __future__ import annotations

import argparse
import re
import sys
from importlib import import_module
from typing import NoReturn

from skilld import __version__
from skilld.errors import Exit
from skilld.git import STAGING_BRANCH
from skilld.text import safe_text

# Modules of skilld.cli in the order of the help, each with its verbs.
MODULES = {
    "run": ("run",),
    "setup": ("setup",),
    "demo": ("demo",),
    "status": ("status", "cost"),
    "doctor": ("doctor",),
    "logs": ("logs",),
    "proposals": ("proposals", "show", "why"),
    "review": ("review",),
    "decide": ("accept", "reject", "restore", "revert"),
    "git": ("git",),
    "skills": ("skills",),
    "consolidate": ("consolidate",),
    "effect": ("effect",),
    "learnings": ("learnings",),
    "mine": ("mine",),
    "recommend": ("recommend", "suggest"),
    "record": ("record", "feedback"),
    "sync": ("sync", "unsync"),
    "mcp": ("mcp",),
    "chat": ("chat",),
    "inspect": ("inspect",),
    "context": ("context",),
    "eval": ("eval",),
    "pause": ("pause", "resume", "snooze", "retry"),
    "config": ("config",),
    "service": ("service",),
    "uninstall": ("uninstall",),
}
VERBS = {verb: module for module, verbs in MODULES.items() for verb in verbs}
# What argparse says, in the words of Python 3.11 to 3.14.
_NO_COMMAND = re.compile("the following arguments are required: (?:COMMAND|ACTION)")
_NO_SUCH_COMMAND = re.compile(r"argument (?:COMMAND|ACTION): invalid choice: (.*) \(choose from ([^()]*+)\)", re.DOTALL)


class _Parser(argparse.ArgumentParser):
    """argparse repeats what it was given as it was given, and for an unknown command lists all there are."""

    def error(self, message: str) -> NoReturn:
        """Tell what is wrong, harmless for the terminal, and exit; without a command, what there is."""
        if _NO_COMMAND.fullmatch(message):
            self.print_help(sys.stderr)
            self.exit(Exit.USAGE)
        if found := _NO_SUCH_COMMAND.fullmatch(message):
            from difflib import get_close_matches

            near = get_close_matches(found[1].strip("'\""), re.findall(r"[\w-]+", found[2]), n=1)
            said = f"; did you mean {near[0]}?" if near else "."
            message = f"there is no command {found[1]}{said} All of them: {self.prog} --help"
        super().error(safe_text(message, newlines=True))


def build_parser(verb: str = "") -> argparse.ArgumentParser:
    """Return the parser; every verb sets `run`, a function of the parsed arguments that returns the exit code.

    Given the verb to be parsed, the modules of others are left out: they take 0.7 MB, which the daemon would hold for
    good.
    """
    parser = _Parser(
        prog="skilld",
        description="Remembers what you teach your coding agents: small, quoted edits of the skill in use, "
        f"proposed on the git branch {STAGING_BRANCH}.",
        epilog="Exit codes: 0 ok, 1 failure, 2 usage, 3 a bug, 4 daemon not running or already running, "
        "5 refused for safety, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"skilld {__version__}")
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for name in (VERBS[verb],) if verb in VERBS else MODULES:
        import_module(f"skilld.cli.{name}").add(verbs)
    return parser
