"""`skilld completion SHELL`, and the completions themselves: commands, options, IDs, names.

The shell calls skilld itself, through argcomplete; which argument takes what is read off its metavar.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from skilld import console
from skilld.cli import common, inventory

SHELLS = ("bash", "zsh", "fish")
_ASKED = "_ARGCOMPLETE"  # set by the shell's part of argcomplete
_SAFE = re.compile(r"[\w.:@+/-]+")  # a name that needs no quoting in any shell
_MAX_SUMMARY = 60  # characters

Found = Mapping[str, str] | Iterable[str]  # what completes, with what it is where that helps


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    parser = common.verb(verbs, "completion", run, "print a shell completion script for skilld")
    parser.add_argument(
        "shell", metavar="SHELL", nargs="?", choices=SHELLS, help=f"{', '.join(SHELLS)} (default: the shell you use)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    from argcomplete.shell_integration import shellcode

    yours = Path(os.environ.get("SHELL", "")).name
    console.line(shellcode(["skilld"], shell=arguments.shell or (yours if yours in SHELLS else "bash")))
    return 0


def asked() -> bool:
    """Whether the shell asks what completes a line."""
    return _ASKED in os.environ


def answer() -> None:
    """Tell the shell what completes the line that it has, and end the process."""
    import argcomplete

    from skilld.cli.parser import build_parser

    words = os.environ.get("COMP_LINE", "")[: int(os.environ.get("COMP_POINT") or 0)].split(" ")
    parser = build_parser(words[1]) if len(words) > 2 else build_parser()  # noqa: PLR2004 - a verb and a space behind it
    _complete(parser)
    argcomplete.autocomplete(parser, always_complete_options=False)


def _complete(parser: argparse.ArgumentParser) -> None:
    """Say of each argument what completes it."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way to list them
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - as above
            for below in action.choices.values():
                _complete(below)
        elif found := _BY_PLACE.get((parser.prog, str(action.metavar))) or _BY_METAVAR.get(str(action.metavar)):
            setattr(action, "completer", _quiet(found))  # noqa: B010 - where argcomplete looks, which mypy does not know


def _quiet(found: Callable[[argparse.Namespace], Found]) -> Callable[..., Found]:
    """Return the completer; what it cannot find out completes nothing, and no message spoils the line."""

    def completer(parsed_args: argparse.Namespace, **_: Any) -> Found:  # noqa: ANN401 - what argcomplete adds
        try:
            return found(parsed_args)
        except Exception:  # noqa: BLE001 - whatever it is: the person has pressed Tab
            return ()

    return completer


def _proposals(*states: str) -> Callable[[argparse.Namespace], Found]:
    def found(_: argparse.Namespace) -> Found:
        from skilld.types import State

        among = [State(state) for state in states] if states else list(State)
        listed = common.stored().proposals.in_states(among)
        return {one.id: f"{one.skill}: {console.plain(one.summary)[:_MAX_SUMMARY]}" for one in listed}

    return found


def _learnings(_: argparse.Namespace) -> Found:
    return {one.id: console.plain(one.change)[:_MAX_SUMMARY] for one in common.stored().learnings.all()}


def _skills(_: argparse.Namespace) -> Found:
    return sorted({skill.name for skill in inventory.all_skills([Path.cwd()]) if _SAFE.fullmatch(skill.name)})


def _agents(_: argparse.Namespace) -> Found:
    from skilld.agents import ADAPTERS

    return list(ADAPTERS)


def _models(_: argparse.Namespace) -> Found:
    from skilld.classify.backends.choose import PROVIDERS
    from skilld.settings import OWN_MODELS

    return [*OWN_MODELS, *PROVIDERS.values()]


def _settings(_: argparse.Namespace) -> Found:
    from skilld.settings import keys

    return keys()


def _values(arguments: argparse.Namespace) -> Found:
    from skilld.settings import choices

    return _models(arguments) if arguments.key == "model" else choices(arguments.key)


def _states(_: argparse.Namespace) -> Found:
    from skilld.types import State

    return [state.value for state in State]


_VERBS_OF_SKILLS = (
    *("show", "history", "diff", "test", "use", "enable", "disable"),
    *("pin", "unpin", "archive", "restore", "export", "share", "delete"),
)
_BY_METAVAR = {"AGENT": _agents, "KEY": _settings, "MODEL": _models, "SKILL": _skills, "STATE": _states}
_BY_PLACE = {
    ("skilld accept", "ID"): _proposals("open"),
    ("skilld reject", "ID"): _proposals("open"),
    ("skilld review", "ID"): _proposals("open"),
    ("skilld revert", "ID"): _proposals("accepted"),
    ("skilld restore", "ID"): _proposals("dropped"),
    ("skilld show", "ID"): _proposals(),
    ("skilld learnings", "ID"): _learnings,
    ("skilld config set", "VALUE"): _values,
    ("skilld chat", "NAME"): _skills,
    ("skilld consolidate", "NAME"): _skills,
    **{(f"skilld skills {verb}", "NAME"): _skills for verb in _VERBS_OF_SKILLS},
}
