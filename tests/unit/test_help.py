"""The help: commands in groups, an example for each that parses, 80 columns, suggestions for typos.

U2.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator

import pytest

from skilld.__main__ import main
from skilld.cli.commands import VERBS
from skilld.cli.examples import EXAMPLES
from skilld.cli.parser import GROUPS, build_parser
from support.rows import for_each
from support.tables import table_rows

COLUMNS = 80
SIX = ["setup", "run", "status", "review", "accept", "reject"]


def _commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _commands(inner)


PARSER = build_parser()  # 40 ms: one serves all, for none of them changes it
COMMANDS = {command.prog: command for command in _commands(PARSER)}


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))


def test_the_overview_shows_six_first_commands_every_command_once_and_three_examples() -> None:
    lines = PARSER.format_help().splitlines()
    assert [line.split()[0] for line in lines[6:12]] == SIX
    assert lines.index("Start:") < 24
    listed = [line.split()[0] for line in lines if line.startswith("  ") and line.split()[0] in VERBS]
    assert sorted(listed) == sorted(VERBS)
    assert [title for title in GROUPS if f"{title}:" not in lines] == []
    assert lines[-4] == "examples:"
    assert max(map(len, lines)) <= COLUMNS


def test_without_a_command_the_first_ones_are_shown_on_one_screen(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([])
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[0] for line in lines[6:12]] == SIX
    assert lines[-1] == "All commands: skilld --help"
    assert len(lines) < 24


@for_each("prog", COMMANDS)
def test_every_command_help_fits_80_columns_and_ends_with_an_example(prog: str) -> None:
    has_only_actions = prog == "skilld skills"
    said = COMMANDS[prog].format_help()
    assert max(map(len, said.splitlines())) <= COLUMNS
    assert ("\nexamples:\n  " in said) is not has_only_actions


@for_each(("prog", "typed"), [(prog, typed) for prog, found in EXAMPLES.items() for typed, _ in found])
def test_every_example_parses(prog: str, typed: str) -> None:
    assert prog in COMMANDS
    words = shlex.split(typed)
    if words[0] != "skilld":  # an example that hands the output of a command on
        assert f"$({prog})" in typed
        return
    words = words[: words.index("||")] if "||" in words else words
    assert PARSER.parse_args(words[1:]).run is not None
    assert prog == "skilld" or typed.startswith(prog)


def test_a_mistyped_command_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    for given, said in table_rows("help", "near misses"):
        with pytest.raises(SystemExit) as error:
            main(given.split(" "))
        assert error.value.code == 2
        assert capsys.readouterr().err.endswith(f"{said}\n")


def test_help_works_as_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    for given in (["help"], ["help", "accept"]):
        with pytest.raises(SystemExit) as error:
            main(given)
        assert error.value.code == 0
        assert capsys.readouterr().out.startswith(f"usage: {' '.join(['skilld', *given[1:]])} ")
