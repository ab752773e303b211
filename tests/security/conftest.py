"""A home, a project with a skill, and skilld as a program; and a line at the end that says how much was fuzzed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from support.program import Program
from support.program_fixtures import project

__all__ = ["project"]  # fixtures of others, given on to the tests here

_COUNTS = pytest.StashKey[dict[str, str]]()


@pytest.fixture
def program(home: Path) -> Program:
    """Return skilld on the test's home, offline, without notices, started once: what is said from now on is new."""
    made = Program(home, {"SKILLD_NOTIFY__ENABLED": "false"})
    assert made.run("run", "--once").returncode == 0
    return made


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Return what takes a test's count, to be shown when all tests are over."""
    counts = request.config.stash.setdefault(_COUNTS, {})

    def keep(count: str) -> None:
        counts[request.node.name] = count

    return keep


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Show the counts."""
    for name, count in config.stash.get(_COUNTS, {}).items():
        terminalreporter.write_line(f"{name}: {count}")
