"""`skilld completion SHELL`, and the completions themselves: commands, options, IDs, names.

The shell calls skilld itself, through argcomplete. What completes an argument follows from its metavar.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from skilld import console
from skilld.cli import common
from skilld.cli.commands import SHELLS

_REQUEST_VARIABLE = "_ARGCOMPLETE"  # set by argcomplete's shell function
_SHELL_SAFE_PATTERN = re.compile(r"[\w.:@+/-]+")  # a name that needs no quoting in any shell
_MAX_SUMMARY = 60  # characters

Candidates = Mapping[str, str] | Iterable[str]  # completions, with descriptions if they help


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    from argcomplete.shell_integration import shellcode

    yours, on_path = Path(os.environ.get("SHELL", "")).name, common.command_name() == "skilld"
    shell = arguments.shell or (yours if yours in SHELLS else "bash")
    # Behind an alias the shell's function would not find the program by its name.
    script = None if on_path else str(common.own_executable())
    console.line(shellcode(["skilld"], shell=shell, argcomplete_script=script))
    return 0


def is_requested() -> bool:
    """Whether the shell is asking for completions."""
    return _REQUEST_VARIABLE in os.environ


def print_completions() -> None:
    """Print the completions of the shell's current line, and exit."""
    import argcomplete

    from skilld.cli.parser import build_parser

    words = os.environ.get("COMP_LINE", "")[: int(os.environ.get("COMP_POINT") or 0)].split(" ")
    parser = build_parser(words[1]) if len(words) > 2 else build_parser()  # noqa: PLR2004 - a verb and a space after it
    _attach_completers(parser)
    argcomplete.autocomplete(parser, always_complete_options=False)


def _attach_completers(parser: argparse.ArgumentParser) -> None:
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way to list them
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - as above
            for below in action.choices.values():
                _attach_completers(below)
            continue
        metavar = str(action.metavar)
        found = _COMPLETERS_BY_ARGUMENT.get((parser.prog, metavar)) or _COMPLETERS_BY_METAVAR.get(metavar)
        if found and not action.choices:  # which argcomplete offers by itself
            setattr(action, "completer", _never_raising(found))  # noqa: B010 - where argcomplete looks, which mypy does not know


def _never_raising(found: Callable[[argparse.Namespace], Candidates]) -> Callable[..., Candidates]:
    """Wrap a completer so that an error yields no completions, and no message on the person's line."""

    def completer(parsed_args: argparse.Namespace, **_: Any) -> Candidates:  # noqa: ANN401 - what argcomplete adds
        try:
            return found(parsed_args)
        except Exception:  # noqa: BLE001 - whatever it is: the person has pressed Tab
            return ()

    return completer


def _proposals(*states: str) -> Callable[[argparse.Namespace], Candidates]:
    def found(_: argparse.Namespace) -> Candidates:
        from skilld.types import State

        among = [State(state) for state in states] if states else list(State)
        listed = common.store_or_empty().proposals.in_states(among)
        return {one.id: f"{one.skill}: {console.plain(one.summary)[:_MAX_SUMMARY]}" for one in listed}

    return found


def _learnings(_: argparse.Namespace) -> Candidates:
    return {one.id: console.plain(one.change)[:_MAX_SUMMARY] for one in common.store_or_empty().learnings.all()}


def _skills(_: argparse.Namespace) -> Candidates:
    from skilld.cli import inventory

    return sorted({one.name for one in inventory.all_skills([Path.cwd()]) if _SHELL_SAFE_PATTERN.fullmatch(one.name)})


def _models(_: argparse.Namespace) -> Candidates:
    from skilld.classify.backends.choose import PROVIDERS
    from skilld.settings import BUILT_IN_MODELS

    return [*BUILT_IN_MODELS, *PROVIDERS.values()]


def _values(arguments: argparse.Namespace) -> Candidates:
    from skilld.settings import setting_choices

    return _models(arguments) if arguments.key == "model" else setting_choices(arguments.key)


_VERBS_OF_SKILLS = (
    *("show", "history", "diff", "test", "eval", "use", "enable", "disable"),
    *("archive", "restore", "export", "share", "delete"),
)
_COMPLETERS_BY_METAVAR: dict[str, Callable[[argparse.Namespace], Candidates]] = {
    "AGENT": lambda _: list(import_module("skilld.agents").ADAPTERS),
    "KEY": lambda _: import_module("skilld.settings").setting_keys(),
    "MODEL": _models,
    "SKILL": _skills,
    "STATE": lambda _: [*import_module("skilld.types").State, "all"],
}
_COMPLETERS_BY_ARGUMENT = {
    ("skilld accept", "ID"): _proposals("open"),
    ("skilld reject", "ID"): _proposals("open"),
    ("skilld review", "ID"): _proposals("open"),
    ("skilld revert", "ID"): _proposals("accepted"),
    ("skilld restore", "ID"): _proposals("dropped", "rejected", "stale"),
    ("skilld show", "ID"): _proposals(),
    ("skilld learnings", "ID"): _learnings,
    ("skilld config set", "VALUE"): _values,
    ("skilld suggest", "AGENT"): lambda _: list(import_module("skilld.cli.recommend").HOOKS),
    ("skilld chat", "NAME"): _skills,
    ("skilld consolidate", "NAME"): _skills,
    **{(f"skilld skills {verb}", "NAME"): _skills for verb in _VERBS_OF_SKILLS},
}
