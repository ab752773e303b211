"""This process and those above it, as the kernel shows them: from /proc on Linux, from `ps` elsewhere.

Only looks. What cannot be looked at ends the chain, and who judges it then knows no more.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Collection
from pathlib import Path

from skilld.decide.who.values import Process, Tree

_PROC = Path("/proc")
_LONGEST = 200  # processes above one another: there is no such tree, but a loop must end
_MOST = 1 << 20  # bytes of a process's environment
_PS = "/bin/ps"  # not by PATH, which the command's environment names
_SECONDS = 20.0
_OFF = frozenset({b"", b"0", b"false"})

Look = Callable[[int], Process | None]


def tree(marks: Collection[str]) -> Tree:
    """Return the tree of this process; `marks` are the variables to look for in those above it."""
    return _from_proc(marks) if Path("/proc/self/stat").exists() else _from_ps()


def _from_proc(marks: Collection[str]) -> Tree:
    wanted = frozenset(mark.encode() for mark in marks)
    # Not getpid(): in a namespace of its own that is another process's number here.
    try:
        own = int(_PROC.joinpath("self").readlink().name)
    except (OSError, ValueError):
        return Tree(())
    return _climb(own, lambda pid: _look(_PROC / str(pid), wanted))


def _from_ps() -> Tree:
    table = from_ps(_ps("pid=,ppid=,tpgid=,tty=,comm="), _ps("pid=,args="), _session)
    return _climb(os.getpid(), table.get)


def _climb(own: int, look: Look) -> Tree:
    chain: list[Process] = []
    pid = own
    while pid and len(chain) < _LONGEST and (found := look(pid)) is not None:
        chain.append(found)
        pid = found.parent
    foreground = chain[0].foreground if chain else 0
    in_chain = foreground in {process.pid for process in chain}
    return Tree(tuple(chain), look(foreground) if foreground > 0 and not in_chain else None)


def _look(folder: Path, marks: frozenset[bytes]) -> Process | None:
    """Return one process of /proc; None where it is gone, or hidden."""
    try:
        stat = (folder / "stat").read_bytes()
        argv = (folder / "cmdline").read_bytes()
    except OSError:
        return None
    comm = stat[stat.index(b"(") + 1 : stat.rindex(b")")]
    fields = stat[stat.rindex(b")") + 2 :].split()
    parent, session, terminal, foreground = (int(fields[place]) for place in (1, 3, 4, 5))
    return Process(
        pid=int(folder.name),
        parent=parent,
        session=session,
        terminal=str(terminal) if terminal else "",
        foreground=foreground,
        exe=_exe(folder),
        comm=os.fsdecode(comm),
        argv=tuple(os.fsdecode(word) for word in argv.rstrip(b"\0").split(b"\0")) if argv else (),
        marks=_marks(folder, marks),
    )


def _exe(folder: Path) -> str:
    try:
        return str((folder / "exe").readlink()).removesuffix(" (deleted)")
    except OSError:
        return ""


def _marks(folder: Path, wanted: frozenset[bytes]) -> frozenset[str]:
    try:
        with (folder / "environ").open("rb") as file:
            pairs = (pair.partition(b"=") for pair in file.read(_MOST).split(b"\0"))
            return frozenset(os.fsdecode(name) for name, _, value in pairs if name in wanted and value not in _OFF)
    except OSError:  # another user's
        return frozenset()


def from_ps(table: str, words: str, session: Callable[[int], int]) -> dict[int, Process]:
    """Return the processes that `ps -axww` shows with pid, ppid, tpgid, tty, comm and with pid, args.

    `comm` is the whole path on macOS, and may have blanks. `session` gives the leader of a process's session.
    """
    arguments = dict(_first_number(line) for line in words.splitlines() if line.strip())
    found = {}
    for line in table.splitlines():
        parts = line.split(None, 4)
        if len(parts) < 5 or not parts[0].isdigit():  # noqa: PLR2004 - a process without a name is going away
            continue
        pid, exe = int(parts[0]), parts[4].strip()
        said = arguments.get(pid, "")
        # The program's own path may have blanks; the words behind it are told apart by blanks alone.
        rest = said.removeprefix(exe).split() if said.startswith(exe) else said.split()[1:]
        first = exe if said.startswith(exe) else said.split(" ")[0]
        found[pid] = Process(
            pid=pid,
            parent=int(parts[1]),
            session=session(pid),
            terminal="" if parts[3] in {"?", "??", "-"} else parts[3],
            foreground=int(parts[2]),
            exe=exe,
            comm=exe.rpartition("/")[2],
            argv=(first, *rest),
        )
    return found


def _first_number(line: str) -> tuple[int, str]:
    number, _, rest = line.strip().partition(" ")
    return (int(number) if number.isdigit() else 0), rest.strip()


def _ps(columns: str) -> str:
    command = [_PS, "-axww", "-o", columns]
    done = subprocess.run(
        command, env={"LC_ALL": "C"}, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=_SECONDS
    )
    return done.stdout.decode("utf-8", "replace")


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0
