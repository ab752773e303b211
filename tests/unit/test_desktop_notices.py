"""What a button starts: which terminal, with which arguments, and what a failure says."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from skilld.notify import desktop
from skilld.notify.desktop import Desktop
from skilld.notify.notice import Notice, buttons, escape
from skilld.types import Op, Operation
from support.proposals import make_proposal
from support.waiting import LIMIT, pause

PROPOSAL = make_proposal()
COMMAND = ["python", "-m", "skilld", "review"]


def test_a_button_decides_one_proposal_and_accepts_no_flagged_one() -> None:
    one = replace(PROPOSAL, flags=())
    assert [action for action, _ in buttons([one])] == ["review", "accept", "reject"]
    assert [action for action, _ in buttons([replace(one, flags=("look",))])] == ["review", "reject"]
    new = replace(one, operations=(Operation(Op.CREATE, "", "text"),))
    assert [action for action, _ in buttons([new])] == ["review", "reject"]
    assert buttons([one, one]) == (("review", "Review"),)
    assert buttons([]) == ()


def _program(folder: Path, name: str, text: str = "exit 0") -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_the_persons_terminal_takes_precedence_over_the_systems(tmp_path: Path) -> None:
    _program(tmp_path, "x-terminal-emulator")
    mine = _program(tmp_path, "mine")
    environment = {"PATH": str(tmp_path), "DISPLAY": ":0"}
    usual = [str(tmp_path / "x-terminal-emulator"), "-e", *COMMAND]
    assert desktop.terminal_command(COMMAND, environment, "linux") == usual
    assert desktop.terminal_command(COMMAND, environment | {"TERMINAL": "gone"}, "linux") == usual
    found = desktop.terminal_command(COMMAND, environment | {"TERMINAL": "mine --big"}, "linux")
    assert found == [str(mine), "--big", "-e", *COMMAND]


def test_a_terminal_behind_a_symlink_gets_the_arguments_it_expects(tmp_path: Path) -> None:
    _program(tmp_path, "gnome-terminal")
    (tmp_path / "x-terminal-emulator").symlink_to("gnome-terminal")
    found = desktop.terminal_command(COMMAND, {"PATH": str(tmp_path), "WAYLAND_DISPLAY": "w"}, "linux")
    assert found == [str(tmp_path / "x-terminal-emulator"), "--", *COMMAND]


def test_without_a_display_no_terminal_is_tried(tmp_path: Path) -> None:
    _program(tmp_path, "x-terminal-emulator")
    assert desktop.terminal_command(COMMAND, {"PATH": str(tmp_path)}, "linux") is None


def test_on_macos_the_command_is_one_quoted_argument() -> None:
    found = desktop.terminal_command(["/a b/python", "review", "x'y"], {}, "darwin")
    assert found is not None
    assert found[0] == "osascript"
    assert found[-2:] == ["--", "'/a b/python' review 'x'\"'\"'y'"]


def test_a_terminal_that_cannot_start_is_reported_with_its_command(tmp_path: Path) -> None:
    broken = _program(tmp_path, "broken", "exit 1")
    environment = {"PATH": os.environ["PATH"], "DISPLAY": ":99", "TERMINAL": str(broken)}
    assert desktop.open_review([], environment) == "no terminal was found. Run: skilld review"


def test_a_failed_decision_reports_its_own_reason(home: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path)}
    settings = home / ".config/skilld/config.toml"  # this is no daemon, whose decision is the person's
    settings.parent.mkdir(parents=True)
    settings.write_text("accept.by_agents = true\n", encoding="utf-8")
    why = desktop.run_decision("accept", "0123abcd", environment)
    assert why == "No such proposal: 0123abcd List them: skilld proposals --state all"


@pytest.fixture
def osascript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put in front of PATH a stand-in that writes down its arguments."""
    _program(tmp_path, "osascript", f'printf "%s\\0" "$@" > {tmp_path}/arguments')
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path / "arguments"


def test_on_macos_a_notice_passes_its_text_to_a_constant_script(osascript: Path) -> None:
    evil = '" with title "x\n$(touch owned)'
    assert asyncio.run(desktop.show_with_osascript("skilld", evil)) is None
    assert osascript.read_text().split("\0")[:-1] == [
        *("-e", "on run argv"),
        *("-e", "display notification (item 2 of argv) with title (item 1 of argv)"),
        *("-e", "end run"),
        *("--", "skilld", evil),
    ]


def test_on_macos_a_hanging_notice_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(tmp_path, "osascript", "exec sleep 60")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    async def show() -> None:
        await asyncio.wait_for(desktop.show_with_osascript("skilld", "x"), 0.2)

    with pytest.raises(TimeoutError):
        asyncio.run(show())


def test_library_loading_time_does_not_count_against_the_notification_service(monkeypatch: pytest.MonkeyPatch) -> None:
    async def get_capabilities() -> None:
        raise ConnectionRefusedError

    def load() -> SimpleNamespace:
        pause(0.5)
        return SimpleNamespace(get_capabilities=get_capabilities)

    monkeypatch.setattr(desktop, "_SHOW_SECONDS", 0.1)
    monkeypatch.setattr(desktop, "_load_notifier", load)
    assert Desktop().show(Notice("x")).result(LIMIT) == "no notification service"


def test_without_a_bus_the_bell_rings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    rung: list[str] = []
    why = Desktop(lambda: rung.append("bell")).show(Notice("x")).result(LIMIT)
    assert (why or "").startswith("no notification service")
    assert rung == ["bell"]


def test_on_macos_the_system_shows_the_notice_verbatim(osascript: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert Desktop().show(Notice(escape("don't <b>"))).result(LIMIT) is None
    assert osascript.read_text().split("\0")[-2] == "don't <b>"
