"""Loaded by every Python of a fault test before anything else: a kill at a counted step, and a clock that can be set.

Python imports a module of this name at its start, and workers inherit PYTHON* variables: so skilld itself holds no
line of this. PYTHONFAULTS names a folder; it is read late, since most processes are forks of one that has imported
skilld (support/warm.py). Every step that touches the world is written to `steps` there; before the
step that `kill` names ("daemon 12": the twelfth of that process) the process kills itself; before the one that `abort`
names it ends as a program with a bug does. `clock` holds seconds by
which the wall clock is off; monotonic time stays.
"""

from __future__ import annotations

import datetime as dt
import functools
import importlib.abc
import importlib.machinery
import itertools
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

# Module -> what of it touches the world. A name that is gone fails the test that looks for it in `steps`.
STEPS = {
    "skilld.store.connection": ("Connection.execute",),
    "skilld.ingest.tail": ("read_new",),
    "skilld.worker.spawn": ("Worker.do", "_send", "_exchange"),
    "skilld.git.run": ("execute",),
    "skilld.pipeline.messages": ("read_batch",),
    "skilld.jobs.analyse": ("Analysis.result",),
}
_READS = ("SELECT", "PRAGMA", "BEGIN", "ROLLBACK")


def _folder() -> Path:
    return Path(os.environ["PYTHONFAULTS"])


def _changes_nothing(arguments: Sequence[Any]) -> bool:
    """Whether a call is a statement that leaves no trace on disk: a question, or one inside a transaction."""
    connection, *rest = arguments or (None,)
    if not rest or not isinstance(connection, sqlite3.Connection):
        return False
    word = str(rest[0]).split(maxsplit=1)[0]
    return word in _READS or (connection.in_transaction and word != "COMMIT")


class _Steps:
    """Counts the steps of this process, from its first one on."""

    def __init__(self) -> None:
        self._process = 0

    def _begin(self) -> None:
        self._who = "worker" if "skilld.worker" in sys.orig_argv else "daemon"
        self._numbers = itertools.count(1)
        self._ends = {}
        for name in ("kill", "abort"):
            with suppress(FileNotFoundError):
                self._ends[name] = (_folder() / name).read_text(encoding="utf-8")
        self._process = os.getpid()

    def reach(self, name: str) -> None:
        """Note a step, and end here if it is the one."""
        if self._process != os.getpid():
            self._begin()
        step = f"{self._who} {next(self._numbers)}"
        with (_folder() / "steps").open("a", encoding="utf-8") as steps:
            steps.write(f"{step} {name} {os.getpid()}\n")
        if step == self._ends.get("kill"):
            os.kill(os.getpid(), signal.SIGKILL)
        if step == self._ends.get("abort"):
            os.abort()

    def counted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return `function` as a step."""

        @functools.wraps(function)
        def step(*arguments: Any, **named: Any) -> Any:
            if not _changes_nothing(arguments):
                self.reach(name)
            return function(*arguments, **named)

        return step


class _Finder(importlib.abc.MetaPathFinder):
    """Makes steps of the functions named above when their module is imported."""

    def __init__(self, steps: _Steps) -> None:
        self._steps = steps

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target) if fullname in STEPS else None
        if spec is not None and spec.loader is not None:
            loader, execute = spec.loader, spec.loader.exec_module

            def load(module: ModuleType) -> None:
                execute(module)
                for name in STEPS[fullname]:
                    owner = functools.reduce(getattr, name.split(".")[:-1], module)
                    last = name.rpartition(".")[2]
                    setattr(owner, last, self._steps.counted(f"{fullname}.{name}", getattr(owner, last)))

            loader.exec_module = load  # type: ignore[method-assign]
        return spec


def _offset() -> float:
    try:
        return float((_folder() / "clock").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # absent, or being written
        return 0.0


class _Datetime(dt.datetime):
    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> _Datetime:
        return cls.fromtimestamp(time.time(), tz)


def _set_clock() -> None:
    real = time.time
    time.time = lambda: real() + _offset()
    dt.datetime = _Datetime  # type: ignore[misc]


if "PYTHONFAULTS" in os.environ:
    sys.meta_path.insert(0, _Finder(_Steps()))
    _set_clock()
