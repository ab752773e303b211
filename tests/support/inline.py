"""Runs most verbs of skilld in the test's own process: a fifth of the time of a program of their own."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

from skilld.__main__ import main
from support.program import Program

# What starts processes, takes signals or sets up logging for good gets a process, as it has in life.
_APART = ("run", "demo")


class Inline(Program):
    """skilld on a home, as `Program`; its quick verbs run here, with nothing on standard input and no terminal."""

    def run(self, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        """Run one verb to its end and return what came of it."""
        if typed or not arguments or arguments[0] in _APART:
            return super().run(*arguments, typed=typed)
        out, err = _Stream(), _Stream()
        with (
            mock.patch.dict(os.environ, self.environment, clear=True),
            contextlib.chdir(self.home),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            Path(os.devnull).open(encoding="utf-8") as nothing,
            mock.patch.object(sys, "stdin", nothing),
            mock.patch.object(sys, "argv", ["skilld", *arguments]),
        ):
            try:
                code = main(arguments)
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
