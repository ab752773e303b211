"""Whether a person gave a command: at a terminal, below a program in which people type, with no agent in between."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum

from skilld.caller.programs import agent_mark, agent_title
from skilld.caller.tree import Process, Tree, same_name
from skilld.values import value_class

# Programs in which people type: terminals, editors with a terminal, multiplexers, and login programs.

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
# Display managers and compositors only start programs for the person who logged in there.
_LOGIN_PROGRAMS = """login sshd sshd-session dropbear etserver in.telnetd tailscaled
    gdm-session-worker gdm-wayland-session gdm-x-session sddm-helper lightdm greetd lxdm ly xdm
    gnome-shell plasmashell kwin_wayland sway i3 hyprland niri river labwc wayfire xfce4-session mate-session
    cinnamon-session lxqt-session loginwindow"""
TERMINAL_NAMES = frozenset(f"{_TERMINALS} {_EDITORS} {_MULTIPLEXERS} {_LOGIN_PROGRAMS}".split())

# Programs with other names, by a part of their path, their script's path or (Java) any argument.
_TERMINAL_PATHS = (
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
_JAVA_ARGUMENTS = ("-didea.", "com.intellij.", "org.eclipse.")
FIRST_PID = 1  # the process that adopts orphans
_WSL_PREFIX = "relay("  # the parent of a shell in the Windows subsystem for Linux is `Relay(123)`


def is_terminal(process: Process, others: Collection[str] = ()) -> bool:
    """Whether people type in this program; `others` are names from the settings."""
    names = process.names
    known = TERMINAL_NAMES | {name.lower() for name in others}
    if names & known or any(same_name(name, process.comm.lower()) for name in known):
        return True
    paths = " ".join([process.exe, *process.argv[:1], *process.scripts]).lower()
    if any(part in paths for part in _TERMINAL_PATHS) or process.comm.lower().startswith(_WSL_PREFIX):
        return True
    if "java" in names:
        return any(argument.lower().startswith(_JAVA_ARGUMENTS) for argument in process.argv)
    # Emacs in a terminal is below that terminal; in its own window, or as a server, it counts as one.
    is_emacs = any(name.split("-")[0] == "emacs" for name in names)
    return is_emacs and not process.terminal and not {"--batch", "-batch"} & set(process.argv)


def is_containers_first(chain: tuple[Process, ...]) -> bool:
    """Whether a chain ends in a container's shell at a terminal: entered from outside, or its first process.

    The first process adopts every orphan, so it must have the same terminal as the command.
    """
    top = chain[-1]
    if top.parent or not top.terminal:
        return False
    return top.pid != FIRST_PID or (top.session == top.pid and top.terminal == chain[0].terminal)


class DoubtKind(Enum):
    """Why a command is not a person's."""

    AGENT = "agent"  # an ancestor is one, or it has the terminal
    MARK = "mark"  # a variable of an agent is set
    NO_TERMINAL = "no terminal"
    ORPHAN = "orphan"  # no ancestor is a program in which people type


@value_class
class Doubt:
    """The reason why a command may not be a person's, also in words."""

    why: DoubtKind
    words: str


def judge_caller(tree: Tree, env: Mapping[str, str], terminals: Collection[str] = ()) -> Doubt | None:
    """Return why the first process of a tree was not started by a person, None if it was.

    `env` is its own, `terminals` are additional programs in which this person types.
    """
    if doubt := find_agent(tree, env, terminals):
        return doubt
    chain = tree.chain
    if not chain:
        return Doubt(DoubtKind.ORPHAN, "skilld cannot see the processes on this machine")
    if not chain[0].terminal:
        return Doubt(DoubtKind.NO_TERMINAL, "this command is not running in a terminal")
    if _terminal_index(chain, terminals) is None:
        top = chain[-1] if chain[-1].parent or len(chain) == 1 else chain[-2]
        end = f"{top.shown} (process {top.pid})"
        return Doubt(
            DoubtKind.ORPHAN,
            (f"this command was started from {end}, not from a login session or a terminal that skilld recognizes"),
        )
    return None


def find_agent(tree: Tree, env: Mapping[str, str], terminals: Collection[str] = ()) -> Doubt | None:
    """Return the agent that gave a command, by its ancestors or a variable; None if there is no sign of one."""
    chain = tree.chain
    place = _terminal_index(chain, terminals)
    for index, process in enumerate(chain):
        # Ancestors of a terminal matter, because an agent can open one, but not the process that adopted it.
        if place is not None and index > place and process.pid == FIRST_PID:
            continue
        if title := agent_title(process):
            return Doubt(DoubtKind.AGENT, f"this command was run by {title} (process {process.pid})")
    if mark := agent_mark(env):
        return Doubt(DoubtKind.MARK, f"{mark} is set, so a coding agent is running this command")
    if tree.foreground is not None and (title := agent_title(tree.foreground)):
        return Doubt(DoubtKind.AGENT, f"{title} (process {tree.foreground.pid}) is using this terminal")
    for process in chain[1:]:
        if process.marks:
            name = min(process.marks)
            return Doubt(
                DoubtKind.MARK,
                f"{name} is set in the environment of {process.shown} (process {process.pid}), "
                "so a coding agent started it",
            )
    return None


def _terminal_index(chain: tuple[Process, ...], terminals: Collection[str]) -> int | None:
    """Return the index of the nearest ancestor in which people type."""
    for index, process in enumerate(chain[1:], 1):
        if is_terminal(process, terminals):
            return index
    return len(chain) - 1 if chain and is_containers_first(chain) else None
