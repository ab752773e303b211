"""One run of a program within limits of time and output size, leaving nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from skilld.classify.backends.agent_cli import process
from skilld.classify.backends.agent_cli.process import MAX_OUTPUT, ExitResult, RunResult, run
from support.late_clock import LateClock
from support.processes import processes_of
from support.waiting import LIMIT, wait_for

ROOT = Path(__file__).parents[2]
IMPORTS = "import os, signal, subprocess, sys, time; "
READY = "print('ready', flush=True); open('ready', 'w').close()"  # its time is up when it has got so far


def start(home: Path, code: str, *, text: str = "", seconds: float = LIMIT, noise: bytes = b"") -> RunResult:
    """Run a line of Python as the program."""
    (home / "room").mkdir()
    return run(
        [sys.executable, "-c", IMPORTS + code],
        text,
        folder=home / "room",
        cwd=home,
        environment={"HOME": str(home)},
        seconds=seconds,
        noise=noise,
    )


@pytest.fixture
def until_ready(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the time of the program be up once it is ready."""
    monkeypatch.setattr(process, "time", LateClock((home / "ready").exists))


def test_output_status_and_last_stderr_line_are_returned(home: Path) -> None:
    result = start(home, "print('out'); sys.stderr.write('x' * 100_000 + 'why'); sys.exit(7)")
    assert (result.ended, result.status, result.output) == (ExitResult.BY_ITSELF, 7, b"out\n")
    assert result.complaint.endswith("xwhy")
    assert len(result.complaint) == 64 << 10


def test_long_input_and_output_do_not_deadlock(home: Path) -> None:
    text = "a line of text, ä\n" * 100_000
    result = start(home, "print('x' * 1_000_000, flush=True); sys.stdout.write(sys.stdin.read())", text=text)
    assert result.output == b"x" * 1_000_000 + b"\n" + text.encode()


def test_a_split_character_does_no_harm(home: Path) -> None:
    assert start(home, "sys.stdout.write(sys.stdin.read())", text="a \ud83d b").output == b"a ? b"


def test_stderr_noise_is_dropped_and_not_counted(home: Path) -> None:
    code = "[print('NOISE' + 'x' * 100_000) for _ in range(100)]; print('a'); print('NOISE'); sys.stdout.write('end')"
    assert start(home, code, noise=b"NOISE").output == b"a\nend"


@pytest.mark.parametrize("piece", ["'x' * 65536", "'x\\n' * 32768"])
def test_too_much_output_kills_the_program(home: Path, piece: str) -> None:
    result = start(home, f"[sys.stdout.write({piece}) for _ in iter(int, 1)]")
    assert result.ended is ExitResult.OVER_SIZE
    assert MAX_OUTPUT < len(result.output) <= MAX_OUTPUT + 65536 + 1
    assert processes_of(home) == {}


def test_too_much_stderr_does_not_kill_the_program(home: Path) -> None:
    result = start(home, f"sys.stderr.write('x' * {2 * MAX_OUTPUT}); print('out')")
    assert (result.ended, result.output) == (ExitResult.BY_ITSELF, b"out\n")


@pytest.mark.usefixtures("until_ready")
def test_a_program_is_asked_to_end_before_it_is_killed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_GRACE_SECONDS", LIMIT)
    code = (
        "signal.signal(signal.SIGTERM, lambda *_: (open('asked', 'w').close(), os._exit(0))); "
        f"{READY}; time.sleep(1000)"
    )
    result = start(home, code)
    assert (result.ended, result.output) == (ExitResult.OVER_TIME, b"ready\n")
    assert (home / "asked").exists()


@pytest.mark.usefixtures("until_ready")
def test_a_program_that_ignores_sigterm_is_killed_with_its_children(home: Path) -> None:
    code = (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); subprocess.Popen(['sleep', '1000']); "
        f"{READY}; os.close(1); os.close(2); time.sleep(1000)"
    )
    result = start(home, code)
    assert (result.ended, result.output) == (ExitResult.OVER_TIME, b"ready\n")
    wait_for("all of it to end", lambda: processes_of(home) == {})


def test_background_children_neither_delay_the_answer_nor_survive(home: Path) -> None:
    result = start(home, "subprocess.Popen(['sleep', '1000']); print('out')", seconds=1000)
    assert (result.ended, result.output) == (ExitResult.BY_ITSELF, b"out\n")
    wait_for("the rest to end", lambda: processes_of(home) == {})


@pytest.mark.parametrize("group", [True, False], ids=["with its group", "alone"])
def test_nothing_survives_when_we_are_killed(home: Path, *, group: bool) -> None:
    arguments = {"folder": str(home / "room"), "cwd": str(home), "environment": {"HOME": str(home)}, "seconds": 1000}
    child = ["sh", "-c", "touch started; sleep 1000 & wait"]
    code = (
        "import json, sys; from pathlib import Path; from skilld.classify.backends.agent_cli.process import run; "
        "given = json.loads(sys.argv[1]); run(json.loads(sys.argv[2]), '', **given | {'folder': Path(given['folder'])})"
    )
    (home / "room" / "work").mkdir(parents=True)
    command = [sys.executable, "-c", code, json.dumps(arguments), json.dumps(child)]
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
    try:
        wait_for("the program to run", (home / "started").exists)
    finally:
        if group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()
    wait_for("all of it to end", lambda: processes_of(home) == {})
    wait_for("its folder to go", lambda: not (home / "room").exists())


def test_a_program_that_cannot_start_leaves_nothing(home: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run(["/nowhere/at/all"], "", folder=home, cwd=home, environment={"HOME": str(home)}, seconds=5)
    assert home.exists()
