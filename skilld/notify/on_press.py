"""What the buttons of a notice do: run skilld's own verb as the person would, or open the review in a terminal.

Takes an action, ids and an environment; gives why it did not work, or nothing. Blocks: call it on a thread of its own.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from skilld.notify import desktop

# What the buttons of a notice do: run skilld's own verb as the person would, or open the review in a terminal.
#
# Takes an action, ids and an environment; gives why it did not work, or nothing. Blocks: call it on a thread of its
# own.

_SECONDS = 120.0  # a commit may run hooks, and ask for the key's passphrase
_AT_ONCE = 3.0  # a terminal that cannot start has ended by then
# How a terminal is told what to run, where it is not by -e.
_BEFORE_COMMAND = {"gnome-terminal": ["--"], "ptyxis": ["--"], "wezterm": ["start", "--"]}


def decide(verb: str, proposal: str, environment: Mapping[str, str]) -> str:
    """Run `skilld accept` or `skilld reject`; return why it did not work, as it says itself, or nothing."""
    try:
        done = subprocess.run(
            [*_skilld(), verb, proposal],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {_SECONDS:.0f} seconds"
    except OSError as error:
        return error.strerror or type(error).__name__
    if done.returncode == 0:
        return ""
    said = [line for line in done.stderr.splitlines() if line.strip()]
    return " ".join(line.strip().removeprefix("skilld: ") for line in said) or f"exit code {done.returncode}"


def review(proposals: Sequence[str], environment: Mapping[str, str]) -> str:
    """Open the review in a terminal; return what to type instead where there is none, or nothing."""
    by_hand = "no terminal to open. Run: skilld review"
    command = terminal_command([*_skilld(), "review", *proposals], environment, sys.platform)
    if command is None:
        return by_hand
    try:
        window = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return by_hand
    try:
        return by_hand if window.wait(_AT_ONCE) else ""
    except subprocess.TimeoutExpired:
        window.wait()  # until the person closes it: nothing else reaps it
        return ""


def terminal_command(command: Sequence[str], environment: Mapping[str, str], platform: str) -> list[str] | None:
    """Return the program that opens a terminal in which `command` runs, or None where none can be opened."""
    if platform == "darwin":
        return desktop.window(shlex.join(command))
    if not (environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")):
        return None
    for wanted in (shlex.split(environment.get("TERMINAL", "")), ["x-terminal-emulator"]):
        if wanted and (found := shutil.which(wanted[0], path=environment.get("PATH"))):
            return [found, *wanted[1:], *_BEFORE_COMMAND.get(Path(found).resolve().name, ["-e"]), *command]
    return None


def _skilld() -> list[str]:
    return [sys.executable, "-P", "-m", "skilld"]
