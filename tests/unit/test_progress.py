"""The progress line of long work."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import pytest

from skilld.cli import progress as cli_progress
from skilld.cli.progress import Progress, progress_line
from support.rows import for_each


@for_each(
    ("done", "passed", "line"),
    [
        (0, 100.0, "Judging: 0 of 40"),
        (1, 2.0, "Judging: 1 of 40"),  # too early for a rate
        (10, 100.0, "Judging: 10 of 40, 6.0 a minute, about 5 min left"),
        (1, 600.0, "Judging: 1 of 40, 0.1 a minute, about 6 h left"),
        (20, 10.0, "Judging: 20 of 40, 2 a second, 10 s left"),
        (40, 40.0, "Judging: 40 of 40, 1 a second, 0 s left"),
    ],
)
def test_it_shows_progress_speed_and_time_left(done: int, passed: float, line: str) -> None:
    assert progress_line("Judging", done, 40, passed) == line


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_it_overwrites_itself_and_disappears(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(cli_progress, "time", SimpleNamespace(monotonic=lambda: 1000.0))
    progress = Progress("Reading")
    progress.clear()
    assert terminal.getvalue() == ""
    progress.show(1, 2)
    assert not progress.due
    progress.clear()
    assert terminal.getvalue().split("\r")[1].rstrip() == "Reading: 1 of 2"
    assert terminal.getvalue().endswith(" \r")


def test_nothing_is_shown_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress("Reading")
    assert not progress.due
    progress.show(1, 2)
    progress.clear()
    assert capsys.readouterr().err == ""
