"""The programs in which people type: terminals, editors that have one, multiplexers, and what logs people in. Pure."""

from __future__ import annotations

from collections.abc import Collection

from skilld.decide.who.values import Process, same_name

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
