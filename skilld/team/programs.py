"""Runs ssh-keygen, gh and glab: by absolute path, without a terminal to prompt on, within a time limit.

The only place of this room that starts programs. None of them is one that a repository could choose: they stand in an
absolute folder of PATH, and run in a folder of skilld's own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skilld.errors import RetryError, SkilldError
from skilld.text import safe_text

SECONDS = 60.0
MAX_OUTPUT = 8 << 20  # bytes of an answer that are read

# What would ask the person something, or have another program do so.
_SILENT = {"SSH_ASKPASS_REQUIRE": "never", "GH_PROMPT_DISABLED": "1", "NO_PROMPT": "1", "GH_NO_UPDATE_NOTIFIER": "1"}


@dataclass(frozen=True, slots=True)
class Answer:
    """Exit status, and what was printed; errors harmless for display."""

    status: int
    out: bytes
    err: str


def find(name: str, environment: Mapping[str, str]) -> str:
    """Return the absolute path of a program; empty where it is in no absolute folder of PATH."""
    folders = [one for one in environment.get("PATH", os.defpath).split(os.pathsep) if Path(one).is_absolute()]
    return shutil.which(name, path=os.pathsep.join(folders)) or ""


def ask(
    program: str,
    arguments: list[str],
    environment: Mapping[str, str],
    folder: Path,
    *,
    stdin: bytes = b"",
    seconds: float = SECONDS,
) -> Answer:
    """Run a program that `find` found, and return its answer whatever its status is.

    Raises RetryError where it does not end in time, SkilldError where it cannot be started.
    """
    try:
        done = subprocess.run(
            [program, *arguments],
            env={**environment, **_SILENT, "LC_ALL": "C"},
            cwd=folder,
            input=stdin,
            capture_output=True,
            check=False,
            timeout=seconds,
            start_new_session=True,  # without it ssh-keygen asks for a passphrase on the terminal
        )
    except subprocess.TimeoutExpired:
        raise RetryError(f"{Path(program).name} did not respond", f"still running after {seconds:g} s") from None
    except OSError as error:
        raise SkilldError(f"Cannot run {Path(program).name}", f"{program}: {error.strerror}") from error
    return Answer(done.returncode, done.stdout[:MAX_OUTPUT], safe_text(done.stderr.decode("utf-8", "replace").strip()))
