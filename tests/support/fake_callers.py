"""Fake callers for tests: the processes above a command that somebody types in a terminal.

The terminal is real as far as the kernel goes (a pty that controls the session of the command) and false by its name:
it is a Python called `xterm`. It is nobody's child, so that whoever runs the tests, an agent perhaps, is not above it.
Standard input and output stay those of the test. That a program can lie about its name is in SECURITY.md.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

from skilld.caller.tree import Process, Tree

_PYTHON = Path(sys.executable)
_SCRIPT = Path(__file__).with_name("fake_terminal.py")


@cache
def python_called(name: str, python: Path = _PYTHON) -> Path:
    """Return a Python under another name, with the libraries of the real one."""
    folder = Path(tempfile.mkdtemp(prefix="skilld-called-"))
    folder.chmod(0o755)  # for tests that go on as another user
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / name
    path.symlink_to(python.resolve())
    return path


def in_terminal(name: str = "xterm", python: Path = _PYTHON) -> tuple[str, ...]:
    """Return the prefix that runs a command as if typed in a terminal; the exit code is the command's."""
    return (str(python_called(name, python)), "-IS", str(_SCRIPT))


def terminal_process_tree() -> Tree:
    """Return the tree of a command that was typed in a terminal of the desktop."""
    own = Process(os.getpid(), 101, session=102, terminal="34816", comm="skilld", argv=("skilld",))
    shell = Process(101, 100, session=101, terminal="34816", comm="bash", argv=("-bash",))
    window = Process(100, 1, session=100, comm="xterm", exe="/usr/bin/xterm", argv=("xterm",))
    return Tree((own, shell, window, Process(1, 0, session=1, comm="systemd", argv=("/sbin/init",))))
