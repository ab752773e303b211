"""Child processes: the environment they get, what they print, the memory and the processor time they take.

Every child has a throw-away home and a bytecode cache of this run, as an installed program has one; nothing else of
the machine's own settings reaches it.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 600.0  # seconds


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield an empty folder that goes with the context."""
    with tempfile.TemporaryDirectory(prefix="skilld-bench-", ignore_cleanup_errors=True) as name:
        yield Path(name).resolve()


@cache
def bytecode() -> Path:
    """Return the bytecode cache of this run; it goes when the run ends."""
    folder = Path(tempfile.mkdtemp(prefix="skilld-bench-bytecode-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def environment(home: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return all variables of a child whose home is `home`."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TMPDIR": tempfile.gettempdir(),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]),
        "PYTHONPYCACHEPREFIX": str(bytecode()),
        "GIT_CONFIG_NOSYSTEM": "1",
        "SKILLD_MODEL": "offline",
        "SKILLD_NOTIFY__ENABLED": "false",
        **(more or {}),
    }


def python(arguments: Sequence[str], home: Path, more: Mapping[str, str] | None = None) -> str:
    """Run Python with `arguments` to its end and return what it printed. Raises RuntimeError if it fails."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env=environment(home, more),
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    if done.returncode:
        raise RuntimeError(f"python {' '.join(arguments)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def module(name: str, *arguments: object, home: Path) -> Any:  # noqa: ANN401 - JSON is Any
    """Run a module of this folder as a program of its own and return the JSON document it printed."""
    return json.loads(python(["-m", f"benchmarks.{name}", *map(str, arguments)], home))


def peak_memory() -> float:
    """Return the most memory this process has held so far, in MB (10^6 bytes).

    VmHWM, not ru_maxrss: that one counts the parent's memory too, from between fork and exec.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return _field(status, "VmHWM")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6  # bytes on macOS


def memory(pid: int) -> tuple[float, float]:
    """Return (RSS, PSS) of a process in MB. Linux only."""
    smaps = Path(f"/proc/{pid}/smaps_rollup")
    return _field(smaps, "Rss"), _field(smaps, "Pss")


def processor_seconds(pid: int) -> float:
    """Return the processor time all threads of a process have taken, to the nanosecond. Linux only."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def _field(path: Path, name: str) -> float:
    for line in path.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise ValueError(f"{path} has no {name}")
