"""The parser for all verbs. Building it imports nothing heavy, so `skilld --help` answers at once."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import NoReturn

from skilld import __version__
from skilld.cli.commands import VERBS
from skilld.cli.examples import format_examples
from skilld.errors import Exit
from skilld.git.staging_branch import STAGING_BRANCH
from skilld.text import safe_text, shorten_arguments

# The verbs as the help groups them.
GROUPS = {
    "Most used": ("setup", "run", "status", "review", "accept", "reject"),
    "Start": ("demo", "doctor", "config", "completion", "statusline"),
    "Decide": ("proposals", "show", "why", "revert", "restore"),
    "Your instructions": (
        *("context", "effect", "report", "trim", "learnings", "skills"),
        *("consolidate", "feedback", "git", "team", "machines"),
    ),
    "Past sessions": ("mine", "inspect", "record", "eval"),
    "Agents": ("sync", "unsync", "suggest", "recommend", "mcp", "chat"),
    "Service": ("service", "logs", "cost", "pause", "resume", "snooze", "retry", "uninstall"),
}
_MIN_LIKENESS = 0.7  # of a suggestion with another first letter; "bogus" is like "logs" by 0.67
_OVERVIEW_GROUPS = 2  # shown if no command is given
ABOUT = (
    "Remembers what you tell your coding agents: skilld proposes small edits to the\n"
    f"files they load, each quoting your words, on the git branch {STAGING_BRANCH}."
)
EXIT_CODES = """\
exit codes:
  0 success   1 failed   2 usage error   3 internal error
  4 daemon not running, or already running   5 refused for safety
  130 interrupted
"""
# argparse's messages, as worded in Python 3.11 to 3.14.
_NO_COMMAND = re.compile("the following arguments are required: (?:COMMAND|ACTION)")
_NO_SUCH_COMMAND = re.compile(r"argument (?:COMMAND|ACTION): invalid choice: (.*) \(choose from ([^()]*+)\)", re.DOTALL)
_NO_SUCH_OPTION = re.compile(r"unrecognized arguments: (--?[\w-]+)\b.*", re.DOTALL)


# argparse looks for translations of its words, and there are none: a twelfth of the time of --help.
argparse._ = lambda text: text  # type: ignore[attr-defined]


class _Parser(argparse.ArgumentParser):
    """A parser that suggests the nearest command or option, and makes its arguments safe to print."""

    _arguments: Sequence[str] = ()

    def format_help(self) -> str:
        """Return the help, with examples at the end."""
        return super().format_help() + format_examples(self.prog)

    def without_command(self) -> str:
        """Return what is shown if no command is given."""
        return self.format_help()

    def error(self, message: str) -> NoReturn:
        """Print what is wrong, safe for the terminal, or the commands if none was given; and exit."""
        message = shorten_arguments(message, self._arguments)
        if _NO_COMMAND.fullmatch(message):
            known = self._options()
            unknown = [one for one in self._arguments if one.partition("=")[0] not in known]
            if not unknown:
                sys.stderr.write(self.without_command())
                self.exit(Exit.USAGE)
            message = f"unrecognized arguments: {unknown[0]}"
        if found := _NO_SUCH_COMMAND.fullmatch(message):
            near = _suggestion(found[1].strip("'\""), [*re.findall(r"[\w-]+", found[2]), *self._options()])
            message = f"{found[1]} is not a {self.prog} command.{near} See: {self.prog} --help"
            self.exit(Exit.USAGE, f"skilld: {safe_text(message, newlines=True)}\n")
        if found := _NO_SUCH_OPTION.fullmatch(message):
            message += f".{_suggestion(found[1], self._options())}".rstrip(".")
        super().error(safe_text(message, newlines=True))

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Refuse unknown arguments here: the parent parser knows neither this command's options nor its usage."""
        self._arguments = list(args or ())
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, unknown

    def _options(self) -> list[str]:
        shown_ones = (action for action in self._actions if action.help != argparse.SUPPRESS)
        return [option for action in shown_ones for option in action.option_strings]


class _Overview(_Parser):
    """The parser of `skilld` itself; its help lists the verbs in groups."""

    def format_help(self) -> str:
        """Return the overview."""
        more = "  skilld COMMAND --help  what a command does, and its options\n  skilld --version\n"
        return "\n".join([*self._groups(len(GROUPS)), "", f"more:\n{more}\n{EXIT_CODES}"]) + format_examples(self.prog)

    def without_command(self) -> str:
        """Return the first groups of commands, which fit on one screen."""
        return "\n".join([*self._groups(_OVERVIEW_GROUPS), "", "All commands: skilld --help", ""])

    def _groups(self, number: int) -> list[str]:
        (verbs,) = (action for action in self._actions if isinstance(action, argparse._SubParsersAction))  # noqa: SLF001 - argparse has no public way to list verbs
        purposes = {choice.dest: choice.help for choice in verbs._choices_actions}  # noqa: SLF001 - as above
        width = max(map(len, purposes))
        lines = ["usage: skilld COMMAND [OPTIONS]", "", ABOUT]
        for title, group in list(GROUPS.items())[:number]:
            lines += ["", f"{title}:", *(f"  {verb:{width}}  {purposes[verb]}" for verb in group if verb in purposes)]
        return lines


# Names of commands and options in other programs, and ours.
_FOREIGN_NAMES = {
    "undo": "revert or restore",
    "list": "proposals",
    "ls": "proposals",
    "drop": "reject",
    "merge": "accept",
    "start": "run or service start",
    "stop": "pause or service stop",
    "get": "show",
    "import": "skills import",
    "export": "skills export",
    "share": "skills share",
    "archive": "skills archive",
    "--reason": "--why",
    "--all": "--state all",
    "-m": "--why",
    "version": "--version",
    "-v": "--version",
    "-V": "--version",
}


def _suggestion(given: str, known: list[str]) -> str:
    from difflib import get_close_matches

    meant = _FOREIGN_NAMES.get(given, "")
    if meant.partition(" ")[0] in known:
        return f" Did you mean {meant}?"
    by_name = {one.lstrip("-"): one for one in known if one.startswith("-") == given.startswith("-")}
    name = given.lstrip("-")
    near = get_close_matches(name, by_name, n=1, cutoff=_MIN_LIKENESS)
    near += [one for one in get_close_matches(name, by_name) if one[0] == name[0]]  # first letters are seldom wrong
    return f" Did you mean {by_name[near[0]]}?" if near else ""


def build_parser(verb: str = "") -> argparse.ArgumentParser:
    """Return the parser; every verb sets `run`, a function of the parsed arguments that returns the exit code.

    Given the verb to be parsed, no other verb's parser is made.
    """
    parser = _Overview(prog="skilld")
    parser.add_argument("--version", action="version", version=f"skilld {__version__}")
    verbs = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", required=True, parser_class=_Parser
    )
    for name in (verb,) if verb in VERBS else VERBS:
        VERBS[name].add_to(verbs, name)
    return parser
