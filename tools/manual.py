"""The man page, made from the parser of the command line. Pure: a parser in, roff out (man(7)).

argparse-manpage was tried: its page has no groups, no examples and no purpose beside the name.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from skilld import __version__
from skilld.cli.examples import EXAMPLES
from skilld.cli.parser import ABOUT, EXIT_CODES, GROUPS
from tools.reference import commands, explained, synopsis

_FILES = (
    ("~/.config/skilld/config.toml", "settings; see skilld config edit"),
    ("~/.local/state/skilld/", "the database, its journal and the log"),
    ("~/.local/share/skilld/", "the repository of skills that lie outside any other"),
)
_VARIABLES = (
    ("SKILLD_*", "a setting for one command: SKILLD_BATCH__TURNS=3 is batch.turns"),
    ("NO_COLOR", "print no colours"),
    ("COLUMNS", "the width to print for"),
    ("VISUAL, EDITOR", "the editor for texts and settings"),
    ("XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_DATA_HOME", "where the files above are"),
)


def manual(parser: argparse.ArgumentParser) -> str:
    """Return the page."""
    lines = [f'.TH SKILLD 1 "" "skilld {__version__}" "User Commands"', ".SH NAME"]
    lines += [r"skilld \- remembers what you tell your coding agents", ".SH SYNOPSIS", ".B skilld"]
    lines += [r"\fICOMMAND\fR [\fIOPTIONS\fR]", ".SH DESCRIPTION", *_text(ABOUT)]
    known = list(commands(parser))
    for title, verbs in GROUPS.items():
        lines.append(f".SH {title.upper()}")
        for verb in verbs:
            for command, purpose in known:
                if command.prog.split()[1] == verb:
                    lines += _command(command, purpose)
    lines += [".SH EXIT STATUS", ".nf", *_text(EXIT_CODES.partition("\n")[2]), ".fi"]
    for title, pairs in (("FILES", _FILES), ("ENVIRONMENT", _VARIABLES), ("EXAMPLES", EXAMPLES["skilld"])):
        lines.append(f".SH {title}")
        for name, text in pairs:
            lines += [".TP", f".B {_escaped(name)}", _escaped(text)]
    return "\n".join(lines) + "\n"


def _command(command: argparse.ArgumentParser, purpose: str) -> Iterator[str]:
    yield from (".TP", f".B {_escaped(synopsis(command))}", _escaped(f"{purpose[:1].upper()}{purpose[1:]}."))
    if arguments := explained(command):
        yield ".RS"
        for name, text in arguments:
            yield from (".TP", f".B {_escaped(name)}", _escaped(text))
        yield ".RE"


def _text(text: str) -> Iterator[str]:
    return (_escaped(line) for line in text.strip("\n").split("\n"))


def _escaped(line: str) -> str:
    """Return a line that roff prints as it is: hyphens that can be copied, and no request at its start."""
    line = line.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace("`", r"\(ga")
    return rf"\&{line}" if line.startswith(".") else line
