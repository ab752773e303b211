"""Runs a service manager's program and waits for its answer. The only place here that starts programs."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from skilld.service.values import ManagerError

# systemctl start waits until the daemon says that it is ready, which it puts off while it reads what was written.
_SECONDS = 600.0
WITHOUT = "Run it in a terminal instead: skilld run"


@dataclass(frozen=True, slots=True)
class Answer:
    """Exit status, and what was printed."""

    status: int
    out: str
    err: str


def ask(environment: Mapping[str, str], program: str, *arguments: str) -> Answer:
    """Run `program` of PATH with a time limit. Raises ManagerError if it is missing or does not end."""
    found = shutil.which(program, path=environment.get("PATH"))
    if found is None:
        raise ManagerError("No service manager found", f"{program} is not on PATH", WITHOUT)
    try:
        done = subprocess.run(
            [found, *arguments],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise ManagerError(
            "The service manager is not responding", f"{program} took longer than {_SECONDS:.0f} seconds", WITHOUT
        ) from None
    except OSError as error:
        raise ManagerError("Cannot reach the service manager", f"{found}: {error.strerror}", WITHOUT) from error
    return Answer(done.returncode, _text(done.stdout), _text(done.stderr))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").strip()
