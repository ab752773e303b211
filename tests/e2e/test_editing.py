"""A text in the person's editor: its file is private, and gone however the program ends."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from skilld.cli import terminal
from skilld.errors import SkilldError
from skilld.paths import places
from support.waiting import wait_for

SECRET = "model_api_key = 'never-left-behind'"
_EDIT = f"from skilld.cli.terminal import edit; edit({SECRET!r}, name='config.toml')"


def _files() -> list[Path]:
    return [*places().edits.rglob("config.toml")]


@contextmanager
def _editing(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program that waits for an editor which never ends by itself."""
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nexec sleep 600\n")
    editor.chmod(0o755)
    environment = {**os.environ, "VISUAL": str(editor), "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", _EDIT], env=environment, start_new_session=True) as program:
        try:
            wait_for("the editor", lambda: any(file.stat().st_size for file in _files()))
            yield program
        finally:
            with suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_no_file(tmp_path: Path, number: signal.Signals) -> None:
    with _editing(tmp_path) as program:
        (file,) = _files()
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        assert file.is_relative_to(places().state)
        os.kill(program.pid, number)
        assert program.wait(30) != 0
        assert _files() == []
        assert [path for path in tmp_path.rglob("*") if path.is_file() and SECRET in path.read_text("latin-1")] == []


def test_what_a_killed_program_left_goes_with_the_next_start_but_no_open_edit(tmp_path: Path) -> None:
    with _editing(tmp_path) as program:
        terminal.remove_unfinished_edits()
        assert len(_files()) == 1
        program.kill()
        program.wait(30)
        assert len(_files()) == 1
        terminal.remove_unfinished_edits()
        assert _files() == []


def test_the_next_edit_removes_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with _editing(tmp_path) as program:
        program.kill()
        program.wait(30)
    monkeypatch.setenv("VISUAL", "true")
    assert terminal.edit("a", name="config.toml") == "a"
    assert _files() == []


@pytest.mark.parametrize(
    ("editor", "why"),
    [
        ("no-such-editor", "the editor no-such-editor cannot be started: No such file or directory"),
        ("/", "the editor / cannot be started: Permission denied"),
        ("false", "the editor false ended with status 1"),
        ("sh -c 'echo b > \"$0\"; exit 3'", "the editor sh ended with status 3"),
        ("rm", "the editor rm left no file"),
    ],
)
def test_an_editor_that_fails_is_an_error_and_not_a_text_without_changes(
    monkeypatch: pytest.MonkeyPatch, editor: str, why: str
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)
    with pytest.raises(SkilldError) as failed:
        terminal.edit("a")
    assert (failed.value.title, failed.value.cause) == ("Your text is unchanged", why)
    assert failed.value.remedy == "To choose another: export EDITOR=COMMAND"
    assert _files() == []
