"""Runs most skilld commands in the test's own process, in a fifth of the time of a separate program."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from unittest.mock import patch

from skilld.__main__ import main
from support.program import Program

# What starts processes, takes signals or sets up logging for good gets a process, as it has in life.
_OWN_PROCESS = ("run", "demo")


class InProcessProgram(Program):
    """As `Program`, with the same environment and current folder; no terminal is there."""

    def run(self, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        """Run one command to its end with `typed` on standard input, and return the result."""
        if not arguments or arguments[0] in _OWN_PROCESS:
            return super().run(*arguments, typed=typed)
        out, err = _Stream(), _Stream()
        with (
            patch.dict(os.environ, self.environment, clear=True),
            patch.object(sys, "stdin", io.StringIO(typed)),
            patch.object(sys, "argv", ["skilld", *arguments]),
            chdir(self.home),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            try:
                code = int(main(arguments))
            except SystemExit as end:  # argparse's own way out
                code = int(str(end.code or 0))
        return subprocess.CompletedProcess(["skilld", *arguments], code, out.text(), err.text())


class _Stream(io.TextIOWrapper):
    """A stream of UTF-8, as a program's output is where LANG says so."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="surrogateescape", newline="")

    def text(self) -> str:
        """Return what was written."""
        self.flush()
        written = self.buffer
        assert isinstance(written, io.BytesIO)
        return written.getvalue().decode("utf-8", "surrogateescape")
