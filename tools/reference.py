"""The command reference as Markdown, made from the parser of the command line. Pure: a parser in, text out.

The synopsis is written here and not taken from argparse, whose wording and wrapping change between Python versions.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator

Entry = tuple[str, str]  # what to type, what it does
_USUAL = 10  # verbs: what means the same in more of them is said once, whatever it means in others


def commands(parser: argparse.ArgumentParser) -> Iterator[tuple[argparse.ArgumentParser, str]]:
    """Yield the parser and the purpose of every verb, of verbs within verbs too, in the order they were added."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way to list what a parser takes
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - as above
            purposes = {choice.dest: choice.help for choice in action._choices_actions}  # noqa: SLF001 - as above
            names: dict[argparse.ArgumentParser, str] = {}
            for name, verb in action.choices.items():
                names.setdefault(verb, name)  # further names are aliases
            for verb, name in names.items():
                yield from list(commands(verb)) or [(verb, purposes.get(name) or verb.description or "")]


def arguments(verb: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return what a verb takes, without --help and what is hidden."""
    shown = verb._actions  # noqa: SLF001 - as above
    return [action for action in shown if action.help != argparse.SUPPRESS and action.dest != "help"]


def value(action: argparse.Action) -> str:
    """Return how the value of an argument is written: `DAYS`, `ID...`, or nothing for a switch."""
    if action.nargs == 0:
        return ""
    name = str(action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper()))
    return f"{name}..." if action.nargs in {"+", "*", argparse.REMAINDER} else name


def typed(action: argparse.Action) -> str:
    """Return an argument as a person types it: `--backfill DAYS`, `ID...`."""
    return " ".join(filter(None, [action.option_strings[-1] if action.option_strings else "", value(action)]))


def synopsis(verb: argparse.ArgumentParser) -> str:
    """Return the whole command: `skilld run [--once] [--backfill DAYS]`."""
    words = [verb.prog]
    for action in arguments(verb):
        must = action.required if action.option_strings else action.nargs not in {"?", "*", argparse.REMAINDER}
        words.append(typed(action) if must else f"[{typed(action)}]")
    return " ".join(words)


def explained(verb: argparse.ArgumentParser) -> list[Entry]:
    """Return the arguments of a verb that have a help text."""
    filled = {"prog": verb.prog}
    return [(typed(action), action.help % (vars(action) | filled)) for action in arguments(verb) if action.help]


def reference(parser: argparse.ArgumentParser) -> str:
    """Return a list of all commands with their arguments; what means the same wherever it stands is said at the end."""
    verbs = list(commands(parser))
    times = Counter(entry for verb, _ in verbs for entry in explained(verb))
    meanings = Counter(name for name, _ in times)
    alike = [one for one, number in times.items() if number > (1 if meanings[one[0]] == 1 else _USUAL)]
    lines = []
    for verb, purpose in verbs:
        lines.append(f"- `{synopsis(verb)}`: {purpose}".rstrip(": "))
        lines += [f"  - `{name}`: {text}" for name, text in explained(verb) if (name, text) not in alike]
    lines += [f"- `{name}`, unless described above: {text}" for name, text in alike]
    return "\n".join(lines) + "\n"
