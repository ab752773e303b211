"""This process and its ancestors, as the kernel shows them: from /proc on Linux, from `ps` elsewhere.

Only looks. What cannot be looked at ends the chain, and who judges it then knows no more.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path, PurePath
from re import compile as pattern

# What runs a script: the script is the program then.
_INTERPRETERS = pattern(
    r"(?:node|nodejs|bun|deno|npm|npx|pnpm|yarn|uv|uvx|pipx|ruby|perl|(?:electron|python|pypy)[\d.]*)"
)
_WITH_VALUE = frozenset({"-r", "--require", "--import", "--loader", "--experimental-loader", "-W", "-X", "-C"})
_INLINE = frozenset({"-c", "-e", "-p", "--eval", "--print"})  # what follows is a program, not the name of one
# What stands before the script: words of theirs, and programs that run others.
_RUNS = frozenset({"exec", "run", "x", "dlx", "tool", "npm", "npx", "npm-cli.js", "npx-cli.js", "pnpm", "yarn"})
_COMM = 15  # bytes of a program's name that Linux keeps


@dataclass(frozen=True, slots=True)
class Process:
    """One process. `terminal` is its controlling terminal, in any form that tells two apart; empty if it has none.

    `session` is the process that leads its session. `foreground` is the process group that has the terminal now. `exe`
    is the path of its program (empty if it cannot be read), `comm` the name that the kernel keeps. `marks` are the
    variables of agents that it was started with.
    """

    pid: int
    parent: int
    session: int = 0
    terminal: str = ""
    foreground: int = 0
    exe: str = ""
    comm: str = ""
    argv: tuple[str, ...] = ()
    marks: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """Every name it goes by, in small letters: of its program, of the script it runs, and as it calls itself."""
        paths = [self.exe, self.comm, _said(self.argv), *self.scripts]
        found = {PurePath(path).name.lower().removeprefix("-") for path in paths}
        found |= {name.removesuffix(ending) for name in found for ending in (".js", ".mjs", ".cjs", ".py", ".exe")}
        return frozenset(found - {""})

    @property
    def scripts(self) -> tuple[str, ...]:
        """The words up to the script that an interpreter runs; none if it is no interpreter."""
        own = {PurePath(self.exe).name.lower(), PurePath(_said(self.argv)).name.lower(), self.comm.lower()}
        if not any(_INTERPRETERS.fullmatch(name) for name in own):
            return ()
        found: list[str] = []
        before = ""
        for word in " ".join(self.argv[:1]).split()[1:] or self.argv[1:]:
            if word in _INLINE:
                break
            before, option = word, before
            if word.startswith("-") or option in _WITH_VALUE:
                continue
            found.append(word)
            if PurePath(word).name not in _RUNS:
                break
        return tuple(found)

    @property
    def shown(self) -> str:
        """What a person calls it."""
        scripts = self.scripts
        return PurePath(scripts[-1] if scripts else _said(self.argv) or self.exe or self.comm).name or self.comm


@dataclass(frozen=True, slots=True)
class Tree:
    """This process and those above it, the nearest first; and the leader of the group that has its terminal.

    The chain ends at a process whose parent is 0, or at one whose parent cannot be looked at.
    """

    chain: tuple[Process, ...]
    foreground: Process | None = None


def same_name(name: str, comm: str) -> bool:
    """Whether the kernel may have cut `name` to `comm`."""
    return name == comm or (len(comm.encode()) == _COMM and name.startswith(comm))


def _said(argv: tuple[str, ...]) -> str:
    """Return how a process calls itself, without what it adds: "sshd: ada@pts/0", "tmux: server", "bash (qterm)"."""
    first = argv[0] if argv else ""
    return first if first.startswith("/") and ": " not in first else first.split(": ")[0].split(" ")[0]


_PROC = Path("/proc")
_MAX_ANCESTORS = 200  # processes above one another: there is no such tree, but a loop must end
_MAX_ENVIRONMENT = 1 << 20  # bytes of a process's environment
_PS = "/bin/ps"  # not by PATH, which the command's environment names
_SECONDS = 20.0
_OFF = frozenset({b"", b"0", b"false"})

Look = Callable[[int], Process | None]


def tree(marks: Collection[str]) -> Tree:
    """Return the tree of this process; `marks` are the variables to look for in those above it."""
    return _from_proc(marks) if Path("/proc/self/stat").exists() else _from_ps()


def processes() -> list[Process]:
    """Return all processes that can be looked at."""
    if not Path("/proc/self/stat").exists():
        return list(_table().values())
    looks = (_look(folder, frozenset()) for folder in _PROC.iterdir() if folder.name.isdigit())
    return [found for found in looks if found is not None]


def _from_proc(marks: Collection[str]) -> Tree:
    wanted = frozenset(mark.encode() for mark in marks)
    # Not getpid(): in a namespace of its own that is another process's number here.
    try:
        own = int(_PROC.joinpath("self").readlink().name)
    except (OSError, ValueError):
        return Tree(())
    return _climb(own, lambda pid: _look(_PROC / str(pid), wanted))


def _from_ps() -> Tree:
    return _climb(os.getpid(), _table().get)


def _table() -> dict[int, Process]:
    return from_ps(_ps("pid=,ppid=,tpgid=,tty=,comm="), _ps("pid=,args="), _session)


def _climb(own: int, look: Look) -> Tree:
    chain: list[Process] = []
    pid = own
    while pid and len(chain) < _MAX_ANCESTORS and (found := look(pid)) is not None:
        chain.append(found)
        pid = found.parent
    foreground = chain[0].foreground if chain else 0
    in_chain = foreground in {process.pid for process in chain}
    return Tree(tuple(chain), look(foreground) if foreground > 0 and not in_chain else None)


def _look(folder: Path, marks: frozenset[bytes]) -> Process | None:
    """Return one process of /proc; None if it is gone, or hidden."""
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
            pairs = (pair.partition(b"=") for pair in file.read(_MAX_ENVIRONMENT).split(b"\0"))
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
