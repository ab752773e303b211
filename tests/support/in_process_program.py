"""Runs most skilld commands in the test's own process."""

from __future__ import annotations

import subprocess

from support.in_process import run_in_process
from support.program import Program

# What starts processes, takes signals or sets up logging for good gets a process, as it has in life.
_OWN_PROCESS = ("run", "demo")


class InProcessProgram(Program):
    """As `Program`, with the same environment and current folder; no terminal is there."""

    def run(self, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        """Run one command to its end with `typed` on standard input, and return the result."""
        if not arguments or arguments[0] in _OWN_PROCESS:
            return super().run(*arguments, typed=typed)
        return run_in_process(arguments, self.home, self.environment, typed)
