"""What the command line is declared with: verbs, their arguments, and the arguments' types. Imports nothing heavy."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from skilld.values import value_class

_DAYS_PER_UNIT = {"h": 1 / 24, "d": 1.0, "w": 7.0}
MAX_DAYS = 36_500


@value_class
class Argument:
    """One argument: its names as argparse takes them, and the settings for it."""

    names: tuple[str, ...]
    settings: Mapping[str, Any]


@value_class
class OneOf:
    """Arguments that exclude each other; one of them must be given if `required`."""

    arguments: tuple[Argument, ...]
    required: bool


class Verb:
    """A command: the function that carries it out, its purpose, its arguments and its actions.

    `run` names that function as MODULE.FUNCTION below skilld.cli; it is imported when it is called, and without one an
    action must be given. `check`, named in the same way, raises the error that these arguments would end with, and
    changes nothing. A verb that `stays` looks at git anew again and again.
    """

    def __init__(
        self,
        run: str,
        purpose: str,
        *arguments: Argument | OneOf,
        actions: Mapping[str, Verb] | None = None,
        check: str = "",
        description: str = "",
        epilog: str | None = None,
        stays: bool = False,
    ) -> None:
        self.purpose = purpose
        self.run, self.check, self._stays = run, check, stays
        self._arguments, self.actions = arguments, actions or {}
        self._description, self._epilog = description or f"{purpose[0].upper()}{purpose[1:]}.", epilog

    def add_to(self, verbs: Any, name: str) -> None:  # noqa: ANN401 - argparse's own type for this is private
        """Add the verb to argparse's subparsers; what it returns is the exit code."""
        parser = verbs.add_parser(name, help=self.purpose, description=self._description, epilog=self._epilog)
        parser.set_defaults(stays=self._stays)
        if self.run:
            parser.set_defaults(run=partial(_call, self.run))
        if self.check:
            parser.set_defaults(check_words=partial(_call, self.check))
        for one in self._arguments:
            if isinstance(one, Argument):
                parser.add_argument(*one.names, **one.settings)
                continue
            group = parser.add_mutually_exclusive_group(required=one.required)
            for each in one.arguments:
                group.add_argument(*each.names, **each.settings)
        if self.actions:
            actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action", required=not self.run)
            for action, verb in self.actions.items():
                verb.add_to(actions, action)


def _call(place: str, arguments: argparse.Namespace) -> Any:  # noqa: ANN401 - of a check, nothing of use
    module, _, function = place.rpartition(".")
    return getattr(import_module(f"skilld.cli.{module}"), function)(arguments)


def argument(form: str, about: str = argparse.SUPPRESS, **settings: Any) -> Argument:  # noqa: ANN401 - argparse's
    """Return an argument from its form in the help: "name NAME", "ids ID*", "-o --out FILE".

    An option without a metavar is a flag, unless it has choices. Without a text `about` it, it is not in the help.
    """
    words = form.split()
    names = tuple(one for one in words if one.startswith("-")) or (words[0],)
    if metavar := " ".join(words[len(names) :]):
        settings["metavar"] = metavar.rstrip("*+?")
        if metavar != settings["metavar"]:
            settings["nargs"] = metavar[-1]
    elif form.startswith("-") and "choices" not in settings:
        settings.setdefault("action", "store_true")
    return Argument(names, {"help": about, **settings})


def one_of(*arguments: Argument, required: bool = False) -> OneOf:
    """Return arguments that exclude each other."""
    return OneOf(arguments, required)


def parse_number(text: str, limit: float = math.inf, *, zero: bool = True) -> float:
    """Parse the number given to an option. Raises ArgumentTypeError if it is not a number or out of bounds."""
    with suppress(ValueError):
        if 0 <= (found := float(text)) <= limit and found != math.inf and (found or zero):
            return found
    bound = "of at least 0" if zero else "greater than 0"
    raise argparse.ArgumentTypeError(f"must be a number {bound}" + (f" and at most {limit:g}" * (limit != math.inf)))


def parse_days(text: str) -> float:
    """Parse how many days to look back, given as 7, 7d, 36h or 2w; at most a hundred years."""
    unit = _DAYS_PER_UNIT.get(text[-1:], 0.0)
    try:
        return min(parse_number(text[:-1] if unit else text, MAX_DAYS, zero=False) * (unit or 1.0), MAX_DAYS)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}, in days, or like 36h or 2w") from None


def parse_count(text: str) -> int:
    """Parse a whole number from 1 to 999,999,999."""
    if not re.fullmatch(r"\d{1,9}", text, re.ASCII) or not int(text):
        raise argparse.ArgumentTypeError("must be a whole number greater than 0 and at most 999999999")
    return int(text)


def parse_count_or_zero(text: str) -> int:
    """Parse a whole number of at least 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError("must be a whole number, at least 0")
    return int(text)


def parse_counts(text: str) -> list[int]:
    """Parse whole numbers greater than 0, separated by commas or blanks."""
    parts = text.replace(",", " ").split()
    if not parts or not all(part.isascii() and part.isdigit() and int(part) for part in parts):
        raise argparse.ArgumentTypeError("must be one or more numbers, such as 1,3")
    return [int(part) for part in parts]


# Arguments of several verbs.

JSON = argument("--json", "print one JSON document")
PROJECT = argument("--project FOLDER", "the project's folder (default: the current one)", type=Path, default=Path())
SKILL = argument("name NAME", "the skill's name or path")
YES = argument("--yes", "do not ask for confirmation")
YES_UNUSED = argument("--yes")  # accepted where nothing is asked
UNASKED = argument("--unasked")  # started by the daemon
