"""Whether a person gave a command: at a terminal, below a program people type in, with no agent in between."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from skilld.caller.tree import Process, Tree, same_name

# The programs in which people type: terminals, editors that have one, multiplexers, and what logs people in.

_TERMINALS = """alacritty apple_terminal aterm blackbox black-box contour cool-retro-term cosmic-term deepin-terminal
    eterm foot footclient ghostty gnome-terminal gnome-terminal-server guake hyper iterm iterm2 itermserver kgx konsole
    gnome-console kitty lxterminal lxterm mate-terminal mintty mlterm pantheon-terminal io.elementary.terminal ptyxis
    ptyxis-agent qterminal rio roxterm rxvt urxvt urxvtd sakura st stterm tabby terminal terminal.app terminator
    terminology terminus termite tilda tilix uxterm waveterm warp warp-terminal wezterm wezterm-gui windowsterminal
    xfce4-terminal xterm yakuake zutty ttyd gotty wetty jupyter-lab jupyter-notebook jupyter-server
    jupyterhub-singleuser sessionleader"""
_EDITORS = """antigravity code code-insiders code-oss code-server code-tunnel codium vscodium openvscode-server cursor
    eclipse fleet gvim kate kdevelop kiro neovide nova positron rstudio rsession studio sublime_text
    trae void windsurf zed zed-editor idea idea64 pycharm webstorm goland clion rider phpstorm rubymine rustrover
    datagrip dataspell aqua"""
_MULTIPLEXERS = "abduco byobu dtach mosh-server screen shpool tmux tmux-server wezterm-mux-server zellij"
# What a display manager or a compositor starts was started by the person who logged in there.
_LOGINS = """login sshd sshd-session dropbear etserver in.telnetd tailscaled
    gdm-session-worker gdm-wayland-session gdm-x-session sddm-helper lightdm greetd lxdm ly xdm
    gnome-shell plasmashell kwin_wayland sway i3 hyprland niri river labwc wayfire xfce4-session mate-session
    cinnamon-session lxqt-session loginwindow"""
NAMES = frozenset(f"{_TERMINALS} {_EDITORS} {_MULTIPLEXERS} {_LOGINS}".split())

# Programs of other names, by a part of their path, of their script's or (Java) of any argument.
_PATHS = (
    "/.vscode-server/",
    "/.cursor-server/",
    "/.windsurf-server/",
    "/code-server/",
    "/visual studio code.app/",
    "/cursor.app/",
    "/windsurf.app/",
    "/iterm.app/",
    "/terminal.app/",
)
_JAVA = ("-didea.", "com.intellij.", "org.eclipse.")
FIRST = 1  # the process that takes in orphans
_WSL = "relay("  # a shell of the Windows subsystem for Linux hangs on `Relay(123)`


def is_terminal(process: Process, others: Collection[str] = ()) -> bool:
    """Whether people type in this program; `others` are names that the person's settings add."""
    names = process.names
    known = NAMES | {name.lower() for name in others}
    if names & known or any(same_name(name, process.comm.lower()) for name in known):
        return True
    paths = " ".join([process.exe, *process.argv[:1], *process.scripts]).lower()
    if any(part in paths for part in _PATHS) or process.comm.lower().startswith(_WSL):
        return True
    if "java" in names:
        return any(argument.lower().startswith(_JAVA) for argument in process.argv)
    # Emacs in a terminal hangs on that one; in a window of its own, or as a server, it is one.
    is_emacs = any(name.split("-")[0] == "emacs" for name in names)
    return is_emacs and not process.terminal and not {"--batch", "-batch"} & set(process.argv)


def is_containers_first(chain: tuple[Process, ...]) -> bool:
    """Whether a chain ends in the shell of a container: entered from outside, or its first process, at a terminal.

    The first process takes in every orphan, so it must have the very terminal of the command.
    """
    top = chain[-1]
    if top.parent or not top.terminal:
        return False
    return top.pid != FIRST or (top.session == top.pid and top.terminal == chain[0].terminal)


_OFF = frozenset({"", "0", "false"})
_PLATFORM = r"(?:[-_.](?:x86_64|x64|amd64|aarch64|arm64|linux|darwin|macos|win32|musl|unknown|gnu|apple|baseline)\b.*)?"


class Why(Enum):
    """Why a command is not a person's."""

    AGENT = "agent"  # one is on the way, or has the terminal
    MARK = "mark"  # a variable says so
    NO_TERMINAL = "no terminal"
    ORPHAN = "orphan"  # nothing in which people type is above it


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a command is not taken for a person's, in words."""

    why: Why
    words: str


class Agents:
    """The programs of agents, as `skilld.agents.programs` lists them: (title, names, packages, marks)."""

    def __init__(self, known: Iterable[tuple[str, Sequence[str], Sequence[str], Sequence[str]]]) -> None:
        self._titles: dict[str, str] = {}
        self._packages: list[tuple[str, str]] = []
        self.marks: dict[str, str] = {}
        for title, names, packages, marks in known:
            self._titles |= dict.fromkeys(names, title)
            self._packages += [(package, title) for package in packages]
            self.marks |= dict.fromkeys(marks, title)
        longest_first = sorted(self._titles, key=len, reverse=True)
        self._name = re.compile(f"({'|'.join(map(re.escape, longest_first))}){_PLATFORM}")

    def title(self, process: Process) -> str:
        """Return which agent a process is; empty if it is none that is known."""
        for name in sorted(process.names):
            if found := self._name.fullmatch(name):
                return self._titles[found[1]]
        comm = process.comm.lower()
        if cut := next((name for name in self._titles if name != comm and same_name(name, comm)), ""):
            return self._titles[cut]
        paths = "\n".join([process.exe, *process.argv[:1], *process.scripts]).lower()
        return next((title for package, title in self._packages if package in f"{paths}/"), "")

    def marked(self, environment: Mapping[str, str]) -> str:
        """Return the first variable by which an agent marks the commands it runs; empty if none is set."""
        return next((name for name in sorted(self.marks) if environment.get(name, "").lower() not in _OFF), "")


def judge(tree: Tree, environment: Mapping[str, str], agents: Agents, terminals: Collection[str] = ()) -> Doubt | None:
    """Return why the first process of a tree was not started by a person; None if it was.

    `environment` is its own, `terminals` are further programs in which this person types.
    """
    if doubt := agent_in(tree, environment, agents, terminals):
        return doubt
    chain = tree.chain
    if not chain:
        return Doubt(Why.ORPHAN, "skilld cannot see the processes on this machine")
    if not chain[0].terminal:
        return Doubt(Why.NO_TERMINAL, "this command is not running in a terminal")
    if _place(chain, terminals) is None:
        top = chain[-1] if chain[-1].parent or len(chain) == 1 else chain[-2]
        end = f"{top.shown} (process {top.pid})"
        return Doubt(
            Why.ORPHAN,
            (f"this command was started from {end}, not from a login session or a terminal that skilld recognizes"),
        )
    return None


def agent_in(
    tree: Tree, environment: Mapping[str, str], agents: Agents, terminals: Collection[str] = ()
) -> Doubt | None:
    """Return which agent a command comes from, by the processes above it or a variable; None if none is seen."""
    chain = tree.chain
    place = _place(chain, terminals)
    for index, process in enumerate(chain):
        # What a terminal has above it matters, for an agent can open one; but not who took it in as an orphan.
        if place is not None and index > place and process.pid == FIRST:
            continue
        if title := agents.title(process):
            return Doubt(Why.AGENT, f"this command was run by {title} (process {process.pid})")
    if mark := agents.marked(environment):
        return Doubt(Why.MARK, f"{mark} is set, so a coding agent is running this command")
    if tree.foreground is not None and (title := agents.title(tree.foreground)):
        return Doubt(Why.AGENT, f"{title} (process {tree.foreground.pid}) is using this terminal")
    for process in chain[1:]:
        if process.marks:
            name = min(process.marks)
            return Doubt(
                Why.MARK,
                f"{name} is set in the environment of {process.shown} (process {process.pid}), "
                "so a coding agent started it",
            )
    return None


def _place(chain: tuple[Process, ...], terminals: Collection[str]) -> int | None:
    """Return the nearest process above the first in which people type."""
    for index, process in enumerate(chain[1:], 1):
        if is_terminal(process, terminals):
            return index
    return len(chain) - 1 if chain and is_containers_first(chain) else None
