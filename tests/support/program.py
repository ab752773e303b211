"""Runs skilld as a person does: as a separate program, on a home of the test's own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any

import pytest

from support import warm
from support.fake_callers import in_terminal
from support.in_process import run_in_process
from support.processes import processes_of
from support.waiting import LIMIT, wait_for

_SKILLD = (sys.executable, "-m", "skilld")
# Keeps what it read from a home, takes signals, becomes another program, or has a screen or a protocol on its streams.
_OWN_PROCESS = ("run", "demo", "mcp", "review", "git")
_ONCE = ("run", "--once")  # ends by itself, and its workers are processes all the same
_MAY_BE_KILLED = ("team", "pr")  # by the stand-in for a host's program that it starts
_KEEP_OUT = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")  # as `warm_server.keep_out` does


class Program:
    """skilld on `home`, with the offline back-end unless `settings` (SKILLD_* variables) say otherwise."""

    def __init__(self, home: Path, settings: Mapping[str, str] | None = None) -> None:
        self.home = home
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(home / ".runtime"),  # else the person's own service manager would be asked
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(warm.REPOSITORY),
            "GIT_CONFIG_NOSYSTEM": "1",
            "SKILLD_MODEL": "offline",
            **(settings or {}),
        }
        self.typed_in = in_terminal()  # what stands between a verb and whoever runs the tests
        self.before: tuple[str, ...] = ()  # a command that runs the one behind it, somewhere else
        self.is_kept_out = False
        self.is_started = False  # what a daemon starts to check rules looks whether a `run` is above it
        self._output = home / "skilld-run.log"

    def keep_out(self) -> None:
        """From now on, run without root's right to read and write everything, like any other user."""
        if os.geteuid() == 0 and sys.platform == "darwin":
            pytest.skip("root cannot be kept out")
        self.is_kept_out = os.geteuid() == 0

    def run(self, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        """Run one command to its end with `typed` on standard input, and return the result."""
        return self._process(arguments, typed, {})

    def run_dialog(self, verb: Sequence[str], *answers: str, **variables: str) -> str:
        """Answer a command's questions and return what it printed; a failure or a terminal escape fails the test."""
        result = self._process(verb, "".join(f"{answer}\n" for answer in answers), variables)
        assert (result.returncode, result.stderr) == (0, "")
        assert "\x1b" not in result.stdout
        return result.stdout

    def _process(
        self, arguments: Sequence[str], typed: str, variables: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        environment = {**self.environment, **variables}
        if self.typed_in == in_terminal() and not self.before and warm.fits(environment, typed):
            if self._can_be_ours(arguments, environment):
                return run_in_process(arguments, self.home, environment, typed)
            command, out = ("skilld", *arguments), self.is_kept_out
            return warm.run(command, self.home, environment, typed=typed, timeout=3 * LIMIT, kept_out=out)
        return subprocess.run(
            [*self.typed_in, *self._around(), *_SKILLD, *arguments],
            cwd=self.home,
            env=environment,
            input=typed,
            capture_output=True,
            text=True,
            timeout=3 * LIMIT,  # `run --once` does all that there is to do
            check=False,
        )

    def _around(self) -> tuple[str, ...]:
        return (*self.before, *(_KEEP_OUT if self.is_kept_out else ()))

    def _can_be_ours(self, arguments: Sequence[str], environment: Mapping[str, str]) -> bool:
        """Whether the test's process may run a command that a fork could replace."""
        is_ours = environment["PYTHONPATH"] == str(warm.REPOSITORY) and current_thread() is main_thread()
        verb = arguments[0] if arguments else ""
        is_ours = is_ours and (verb not in _OWN_PROCESS or (arguments[:2] == _ONCE and not self.is_started))
        return is_ours and arguments[:2] != _MAY_BE_KILLED and not self.is_kept_out

    def json(self, *arguments: str) -> Any:
        """Run one verb with `--json` and return its document; a failure fails the test, except what doctor finds."""
        result = self.run(*arguments, "--json")
        assert result.returncode in ({0, 1} if arguments[0] == "doctor" else {0}), (
            f"skilld {' '.join(arguments)}: exit {result.returncode}\n{result.stdout}{result.stderr}"
        )
        return json.loads(result.stdout)

    @contextmanager
    def daemon(self, *, anew: bool = False) -> Iterator[warm.Process]:
        """Run `skilld run` while the context lasts; it must have looked once, and end with its children when asked.

        What is said before its first look would count as said before skilld was installed.
        """
        with self._output.open("ab") as output:
            process = self.start("run", output=output.fileno(), anew=anew)
        try:
            wait_for("skilld run to be up", lambda: self._is_up(process), every=0.2, context=self.output)
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(LIMIT)
            except subprocess.TimeoutExpired as late:
                process.kill()
                raise AssertionError(f"skilld run did not end {LIMIT:g} s after SIGTERM\n{self.output()}") from late

    def start(
        self, *arguments: str, output: int = subprocess.DEVNULL, anew: bool = False, folder: Path | None = None
    ) -> warm.Process:
        """Start a verb that nobody types, in the home or `folder`; what it prints goes to `output`. Returns at once.

        With `anew` it is not a fork, for tests of what it imports and how much memory it takes.
        """
        if not (anew or self.before) and warm.fits(self.environment):
            command, out = ("skilld", *arguments), self.is_kept_out
            return warm.start(command, folder or self.home, self.environment, output, kept_out=out)
        return subprocess.Popen(
            [*self._around(), *_SKILLD, *arguments],
            cwd=folder or self.home,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )

    def output(self) -> str:
        """Return what the daemon has printed."""
        return self._output.read_text(errors="replace") if self._output.exists() else ""

    def _processes(self) -> list[int]:
        return [process for process, command in processes_of(self.home).items() if b"\0-m\0skilld" in command]

    def _is_up(self, process: warm.Process) -> bool:
        assert process.poll() is None, f"skilld run ended at once, exit {process.returncode}\n{self.output()}"
        status = self.json("status")
        return bool(status["running"] and status["daemon"] and status["daemon"]["pid"] == process.pid)
