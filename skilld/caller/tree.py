"""This process and its ancestors, as the kernel shows them: from /proc on Linux, from `ps` elsewhere.

Reads only. The chain ends at a process that cannot be read.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Collection
from pathlib import Path, PurePath
from re import compile as pattern

from skilld.values import value_class

# Interpreters: the program is the script that they run.
_INTERPRETERS = pattern(
    r"(?:node|nodejs|bun|deno|npm|npx|pnpm|yarn|uv|uvx|pipx|ruby|perl|(?:electron|python|pypy)[\d.]*)"
)
_VALUE_OPTIONS = frozenset({"-r", "--require", "--import", "--loader", "--experimental-loader", "-W", "-X", "-C"})
_INLINE_OPTIONS = frozenset({"-c", "-e", "-p", "--eval", "--print"})  # followed by code, not by a file name
# Words before the script: subcommands, and programs that run others.
_RUNNER_WORDS = frozenset({"exec", "run", "x", "dlx", "tool", "npm", "npx", "npm-cli.js", "npx-cli.js", "pnpm", "yarn"})
_COMM_BYTES = 15  # bytes of a program's name that Linux keeps


@value_class
class Process:
    """One process. `terminal` identifies its controlling terminal; empty if it has none.

    `session` is the leader of its session, `foreground` the process group that has the terminal now. `exe` is the path
    of its program (empty if unreadable), `comm` the kernel's name for it. `marks` are the agents' variables in its
    environment.
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
        """All its names in lower case: of its program and its script, and its own title."""
        paths = [self.exe, self.comm, _own_title(self.argv), *self.scripts]
        found = {PurePath(path).name.lower().removeprefix("-") for path in paths}
        found |= {name.removesuffix(ending) for name in found for ending in (".js", ".mjs", ".cjs", ".py", ".exe")}
        return frozenset(found - {""})

    @property
    def scripts(self) -> tuple[str, ...]:
        """The words up to an interpreter's script; none if it is not an interpreter."""
        own = {PurePath(self.exe).name.lower(), PurePath(_own_title(self.argv)).name.lower(), self.comm.lower()}
        if not any(_INTERPRETERS.fullmatch(name) for name in own):
            return ()
        found: list[str] = []
        before = ""
        for word in " ".join(self.argv[:1]).split()[1:] or self.argv[1:]:
            if word in _INLINE_OPTIONS:
                break
            before, option = word, before
            if word.startswith("-") or option in _VALUE_OPTIONS:
                continue
            found.append(word)
            if PurePath(word).name not in _RUNNER_WORDS:
                break
        return tuple(found)

    @property
    def shown(self) -> str:
        """Its name for people."""
        scripts = self.scripts
        return PurePath(scripts[-1] if scripts else _own_title(self.argv) or self.exe or self.comm).name or self.comm


@value_class
class Tree:
    """This process and its ancestors, the nearest first, and the leader of the group that has its terminal.

    The chain ends at a process whose parent is 0 or cannot be read.
    """

    chain: tuple[Process, ...]
    foreground: Process | None = None


def same_name(name: str, comm: str) -> bool:
    """Whether `comm` is `name`, which the kernel may have truncated."""
    return name == comm or (len(comm.encode()) == _COMM_BYTES and name.startswith(comm))


def _own_title(argv: tuple[str, ...]) -> str:
    """Return a process's own title without additions: "sshd: ada@pts/0", "tmux: server", "bash (qterm)"."""
    first = argv[0] if argv else ""
    return first if first.startswith("/") and ": " not in first else first.split(": ")[0].split(" ")[0]


_PROC = Path("/proc")
_MAX_ANCESTORS = 200  # far more than real trees have: a loop must end
_MAX_ENVIRONMENT = 1 << 20  # bytes of a process's environment
_PS = "/bin/ps"  # not by PATH, which the command's environment names
_TIMEOUT_SECONDS = 20.0
_FALSE_VALUES = frozenset({b"", b"0", b"false"})

FindProcess = Callable[[int], Process | None]


def process_tree(marks: Collection[str]) -> Tree:
    """Return the tree of this process; `marks` are the variables to look for in its ancestors."""
    return _proc_tree(marks) if Path("/proc/self/stat").exists() else _ancestors(os.getpid(), _ps_processes().get)


def all_processes() -> list[Process]:
    """Return all readable processes."""
    if not Path("/proc/self/stat").exists():
        return list(_ps_processes().values())
    looks = (_read_process(folder, frozenset()) for folder in _PROC.iterdir() if folder.name.isdigit())
    return [found for found in looks if found is not None]


def _proc_tree(marks: Collection[str]) -> Tree:
    wanted = frozenset(mark.encode() for mark in marks)
    # Not getpid(): in a PID namespace its number may be another process's in /proc.
    try:
        own = int(_PROC.joinpath("self").readlink().name)
    except (OSError, ValueError):
        return Tree(())
    return _ancestors(own, lambda pid: _read_process(_PROC / str(pid), wanted))


def _ps_processes() -> dict[int, Process]:
    return parse_ps(_ps("pid=,ppid=,tpgid=,tty=,comm="), _ps("pid=,args="), _session_leader)


def _ancestors(own: int, look: FindProcess) -> Tree:
    chain: list[Process] = []
    pid = own
    while pid and len(chain) < _MAX_ANCESTORS and (found := look(pid)) is not None:
        chain.append(found)
        pid = found.parent
    foreground = chain[0].foreground if chain else 0
    in_chain = foreground in {process.pid for process in chain}
    return Tree(tuple(chain), look(foreground) if foreground > 0 and not in_chain else None)


def _read_process(folder: Path, marks: frozenset[bytes]) -> Process | None:
    """Return one process from /proc, None if it is gone or hidden."""
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
        exe=_read_exe(folder),
        comm=os.fsdecode(comm),
        argv=tuple(os.fsdecode(word) for word in argv.rstrip(b"\0").split(b"\0")) if argv else (),
        marks=_read_marks(folder, marks),
    )


def _read_exe(folder: Path) -> str:
    try:
        return str((folder / "exe").readlink()).removesuffix(" (deleted)")
    except OSError:
        return ""


def _read_marks(folder: Path, wanted: frozenset[bytes]) -> frozenset[str]:
    try:
        with (folder / "environ").open("rb") as file:
            pairs = (pair.partition(b"=") for pair in file.read(_MAX_ENVIRONMENT).split(b"\0"))
            return frozenset(
                os.fsdecode(name) for name, _, value in pairs if name in wanted and value not in _FALSE_VALUES
            )
    except OSError:  # another user's
        return frozenset()


def parse_ps(table: str, words: str, session: Callable[[int], int]) -> dict[int, Process]:
    """Parse the output of `ps -axww` with pid, ppid, tpgid, tty, comm and with pid, args.

    `comm` is the whole path on macOS, and may have blanks. `session` returns the leader of a process's session.
    """
    arguments = dict(_split_pid(line) for line in words.splitlines() if line.strip())
    found = {}
    for line in table.splitlines():
        parts = line.split(None, 4)
        if len(parts) < 5 or not parts[0].isdigit():  # noqa: PLR2004 - a process without a name is ending
            continue
        pid, exe = int(parts[0]), parts[4].strip()
        command = arguments.get(pid, "")
        # The program's path may have blanks; its arguments are separated by blanks only.
        rest = command.removeprefix(exe).split() if command.startswith(exe) else command.split()[1:]
        first = exe if command.startswith(exe) else command.split(" ")[0]
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


def _split_pid(line: str) -> tuple[int, str]:
    number, _, rest = line.strip().partition(" ")
    return (int(number) if number.isdigit() else 0), rest.strip()


def _ps(columns: str) -> str:
    return read_output([_PS, "-axww", "-o", columns])


def read_output(command: list[str]) -> str:
    """Return what a command prints, in English. Raises OSError or TimeoutExpired."""
    done = subprocess.run(
        command,
        env={"LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=_TIMEOUT_SECONDS,
    )
    return done.stdout.decode("utf-8", "replace")


def _session_leader(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0
