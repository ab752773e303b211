"""A daemon in namespaces of its own, where anyone can set limits and mount things.

unshare(1) of util-linux makes them without being root, where the system allows user namespaces.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from support.program import Program
from support.waiting import LIMIT, wait_for

SKILLD = (sys.executable, "-m", "skilld")


@cache
def _possible(probe: str) -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(_unshare_command(probe, "true"), check=False, capture_output=True).returncode == 0


def _unshare_command(before: str, *command: str) -> list[str]:
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", f'{before}\nexec "$@"', "sh", *command]


def skip_unless(probe: str) -> None:
    """Skip the test where a shell in namespaces of its own cannot do this."""
    if not _possible(probe):
        pytest.skip(f"this system does not let a person do this apart from others: {probe}")


@contextmanager
def mount_point(program: Program, before: str) -> Iterator[Path]:
    """Run everything of `program` after the shell commands `before`, in namespaces that outlive it; yields their root.

    They last as long as the context. Without this they end with the daemon that was started in them.
    """
    with subprocess.Popen(_unshare_command(before, "cat"), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        try:
            holder.stdin.write(b"ready\n")
            holder.stdin.flush()
            assert holder.stdout.readline() == b"ready\n", before
            program.before = (*_enter(holder.pid), "--")
            yield Path(f"/proc/{holder.pid}/root")
        finally:
            program.before = ()
            holder.stdin.close()


def _enter(process: int) -> list[str]:
    return ["nsenter", "--target", str(process), "--user", "--preserve-credentials", "--mount"]


@contextmanager
def daemon(program: Program, before: str = "") -> Iterator[subprocess.Popen[bytes]]:
    """Run the daemon after the shell commands `before`, in namespaces of their own, while the context lasts."""
    command = [*program.before, *SKILLD, "run"]
    with (program.home / "skilld-run.log").open("ab") as output:
        process = subprocess.Popen(
            _unshare_command(before, *command) if before else command,
            cwd=program.home,
            env=program.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for("the daemon to follow", lambda: _has_swept(process, program), context=program.output)
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        process.wait(LIMIT)


def _has_swept(process: subprocess.Popen[bytes], program: Program) -> bool:
    assert process.poll() is None, f"it ended at once, exit {process.returncode}\n{program.output()}"
    log = Path(f"/proc/{process.pid}/root{program.home}/.local/state/skilld/skilld.log")
    return log.exists() and "daemon started" in log.read_text(encoding="utf-8")


def run_inside(process: subprocess.Popen[bytes], program: Program, *command: str) -> str:
    """Run a command where that daemon is, and return what it printed."""
    result = subprocess.run(
        [*_enter(process.pid), "--", *command],
        cwd="/",
        env=program.environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert result.returncode == 0, f"{' '.join(command)}: {result.stderr}"
    return result.stdout.strip()


def json_inside(process: subprocess.Popen[bytes], program: Program, verb: str) -> Any:
    """Return what a verb of skilld's says where that daemon is."""
    return json.loads(run_inside(process, program, *SKILLD, verb, "--json"))


def read_log(process: subprocess.Popen[bytes], program: Program) -> str:
    """Return the daemon's log, as it sees it."""
    return Path(f"/proc/{process.pid}/root{program.home}/.local/state/skilld/skilld.log").read_text(encoding="utf-8")


def tell(number: signal.Signals, *processes: int) -> None:
    """Send a signal to processes, those that are gone by now left out."""
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


def stop(*processes: int) -> None:
    """Stop processes, and return when none of them runs any more: the signal alone comes back at once."""
    tell(signal.SIGSTOP, *processes)
    wait_for("them to be stopped", lambda: not [process for process in processes if _states(process) - set("TZX")])


def _states(process: int) -> set[str]:
    """Return the states of the threads of a process, by proc(5); none where it is gone or there is no /proc."""
    found = set()
    for facts in Path(f"/proc/{process}/task").glob("*/stat"):
        with suppress(OSError):
            found.add(facts.read_text().rpartition(") ")[2][0])
    return found
