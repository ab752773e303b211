"""A process as the kernel shows it, and the processes that matter to who gave a command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
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
    """One process. `terminal` is its controlling terminal, in any form that tells two apart; empty where it has none.

    `session` is the process that leads its session. `foreground` is the process group that has the terminal now. `exe`
    is the path of its program (empty where it cannot be read), `comm` the name that the kernel keeps. `marks` are the
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
        """The words up to the script that an interpreter runs; none where it is no interpreter."""
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
