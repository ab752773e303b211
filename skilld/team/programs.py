"""Runs ssh-keygen, gh and glab: by absolute path, without a terminal to prompt on, within a time limit.

The only module of this package that starts programs. A repository cannot choose them: they are in an absolute folder of
PATH, and run in a folder of skilld's own.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from skilld.errors import RetryError, SkilldError
from skilld.text import safe_text
from skilld.values import value_class

_SECONDS = 60.0
MAX_OUTPUT = 8 << 20  # bytes of an answer that are read

# Turn off prompts, also those of other programs.
_SILENT_VARIABLES = {
    "SSH_ASKPASS_REQUIRE": "never",
    "GH_PROMPT_DISABLED": "1",
    "NO_PROMPT": "1",
    "GH_NO_UPDATE_NOTIFIER": "1",
}


@value_class
class ProgramResult:
    """Exit status and output; the error output is safe for display."""

    status: int
    out: bytes
    err: str


def run_program(
    program: str,
    arguments: list[str],
    environment: Mapping[str, str],
    folder: Path,
    *,
    stdin: bytes = b"",
) -> ProgramResult:
    """Run a program that `find_program` found, and return its answer whatever its status is.

    Raises RetryError if it does not end in time, SkilldError if it cannot be started.
    """
    try:
        done = subprocess.run(
            [program, *arguments],
            env={**environment, **_SILENT_VARIABLES, "LC_ALL": "C"},
            cwd=folder,
            input=stdin,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
            start_new_session=True,  # without it ssh-keygen asks for a passphrase on the terminal
        )
    except subprocess.TimeoutExpired:
        raise RetryError(f"{Path(program).name} did not respond", f"still running after {_SECONDS:g} s") from None
    except OSError as error:
        raise SkilldError(f"Cannot run {Path(program).name}", f"{program}: {error.strerror}") from error
    return ProgramResult(
        done.returncode, done.stdout[:MAX_OUTPUT], safe_text(done.stderr.decode("utf-8", "replace").strip())
    )
