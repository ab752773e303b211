"""Runs verbs in this process, where starting a program for each of a dozen would be most of a test's time."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from unittest.mock import patch

from skilld.__main__ import main
from support.program import Program


class InProcess(Program):
    """As `Program`, with the same environment and current folder; no terminal is there."""

    def run(self, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        """Run one verb to its end, with `typed` on its standard input, and return what came of it."""
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
        with (
            patch.dict(os.environ, self.environment, clear=True),
            patch.object(sys, "stdin", io.StringIO(typed)),
            chdir(self.home),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            try:
                code = int(main(arguments))
            except SystemExit as end:  # argparse's own way out
                code = int(str(end.code))
        texts = []
        for stream in (out, err):
            stream.flush()
            stream.seek(0)
            texts.append(stream.read())
        return subprocess.CompletedProcess(arguments, code, *texts)
