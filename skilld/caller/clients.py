"""Finds running agents and their folders: from /proc on Linux, from `ps` and `lsof` elsewhere."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

from skilld.caller.programs import agent_title
from skilld.caller.tree import all_processes, read_output
from skilld.values import value_class

_PROC = Path("/proc")
_LSOF, _PS = "/usr/sbin/lsof", "/bin/ps"


@value_class
class Client:
    """A process of the agent with this title, working in `folder`."""

    pid: int
    title: str
    folder: str


def find_clients() -> list[Client]:
    """Return the running clients, each once even if it has several processes; none if processes cannot be seen."""
    everyone = all_processes()
    titles = {one.pid: title for one in everyone if (title := agent_title(one))}
    first = [one.pid for one in everyone if one.pid in titles and titles.get(one.parent) != titles[one.pid]]
    return [Client(pid, titles[pid], folder) for pid, folder in _working_folders(first).items()]


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not.

    tmux sometimes leaves zombies for minutes (3.3a, measured), and signal 0 reaches them, too.
    """
    if _PROC.joinpath("self/stat").exists():
        with suppress(OSError):
            stat = _PROC.joinpath(str(pid), "stat").read_bytes()
            return stat[stat.rindex(b")") + 2 :][:1] not in {b"Z", b"X"}
        return False
    try:
        os.kill(pid, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return not _output_of([_PS, "-o", "stat=", "-p", str(pid)]).startswith("Z")


def _working_folders(pids: list[int]) -> dict[int, str]:
    """Return the working folder of each process that shows it; the user's own do."""
    if not _PROC.joinpath("self").exists():
        return _lsof_folders(pids) if pids else {}
    found = {}
    for pid in pids:
        with suppress(OSError):
            found[pid] = str(_PROC.joinpath(str(pid), "cwd").readlink())
    return found


def _lsof_folders(pids: list[int]) -> dict[int, str]:
    command = [_LSOF, "-a", "-d", "cwd", "-F", "pn", "-p", ",".join(map(str, pids))]
    return parse_lsof(_output_of(command))


def _output_of(command: list[str]) -> str:
    try:
        return read_output(command)
    except (OSError, subprocess.TimeoutExpired):
        return ""


def parse_lsof(text: str) -> dict[int, str]:
    """Return the folders that `lsof -d cwd -F pn` shows: a line `p` with the process, then one `n` with the name."""
    found: dict[int, str] = {}
    pid = 0
    for line in text.splitlines():
        if line[:1] == "p" and line[1:].isdigit():
            pid = int(line[1:])
        elif line[:1] == "n":
            found[pid] = line[1:]
    return found
