"""`skilld setup --statusline PLACE`: makes another program show how many proposals are waiting, and undoes that.

Only on request. Every other byte of that program's settings stays the same; `skilld uninstall` removes skilld's part.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from skilld import console
from skilld.cli import common
from skilld.cli.sync import FileChange
from skilld.errors import SkilldError
from skilld.exchange import foreign_settings
from skilld.files import read_regular
from skilld.store.meta import STATUSLINES
from skilld.values import value_class

NONE = "none"
_MAX_BYTES = 4 << 20
_COMMAND = "skilld statusline"
# The interval is in seconds: without one the line is refreshed only with messages.
_CLAUDE_MEMBER = ("statusLine", {"type": "command", "command": _COMMAND, "refreshInterval": 10})
_TMUX_LINE = f'set -ag status-right " #({_COMMAND})"\n'
_STARSHIP_SECTION = f'[custom.skilld]\ncommand = "{_COMMAND}"\nwhen = true\nformat = "([$output]($style) )"\n'


@value_class
class _StatusLineHost:
    """A program with a status line: its settings file, and how skilld's part is added to its text and removed."""

    title: str
    path: Callable[[], Path]
    add_to: Callable[[str | None], str]
    remove_from: Callable[[str], str]
    manual_step: str  # what the person can add if skilld cannot


def _path_from_variable(variable: str, usual: Path) -> Path:
    moved = Path(os.environ.get(variable, ""))
    return moved if moved.is_absolute() else usual


def _config_folder() -> Path:
    return _path_from_variable("XDG_CONFIG_HOME", common.home() / ".config")


def _tmux_file() -> Path:
    newer = _config_folder() / "tmux/tmux.conf"
    return newer if newer.exists() else common.home() / ".tmux.conf"


HOSTS = {
    "claude-code": _StatusLineHost(
        "Claude Code",
        lambda: _path_from_variable("CLAUDE_CONFIG_DIR", common.home() / ".claude") / "settings.json",
        lambda text: foreign_settings.put_member(text, *_CLAUDE_MEMBER),
        lambda text: foreign_settings.remove_member(text, *_CLAUDE_MEMBER),
        f"in Claude Code's statusLine setting, have the command also run {_COMMAND}",
    ),
    "starship": _StatusLineHost(
        "starship",
        lambda: _path_from_variable("STARSHIP_CONFIG", _config_folder() / "starship.toml"),
        lambda text: foreign_settings.put_block(text, _STARSHIP_SECTION),
        foreign_settings.remove_block,
        f"add a [custom.skilld] section with the command {_COMMAND}",
    ),
    "tmux": _StatusLineHost(
        "tmux",
        _tmux_file,
        lambda text: foreign_settings.put_block(text, _TMUX_LINE),
        foreign_settings.remove_block,
        f'add " #({_COMMAND})" to status-right',
    ),
}


def install_status_line(name: str) -> None:
    """Make a program show the status line; `none` removes it everywhere. Raises SkilldError if that is not safe."""
    if name == NONE:
        for one in removals():
            one.write()
            console.say(f"Removed skilld's status line from {console.message(str(one.path))}.")
        return
    host = HOSTS[name]
    path = host.path().resolve()  # people link their settings to a repository
    before = _read_text(path)
    shows = f"shows how many proposals are waiting (set up in {console.message(str(path))})"
    if before is not None and host.remove_from(before) != before:
        console.say(f"{host.title} already {shows}")
        return
    try:
        after = host.add_to(before)
    except SkilldError as error:
        raise SkilldError(error.title, f"{path}: {error.cause}", f"To do it yourself: {host.manual_step}.") from error
    meta = common.store().meta
    # Stored before writing, so that nothing is forgotten; `created`, so that a new file is removed again.
    meta.set(STATUSLINES, {**meta.get(STATUSLINES, {}), str(path): {"place": name, "created": before is None}})
    FileChange(path, _encode(before), _encode(after)).write()
    console.say(f"{host.title} now {shows}")
    console.say(f"To undo: skilld setup --statusline {NONE}")


def removals() -> list[FileChange]:
    """Return the changes that remove skilld's part from each file. Raises SkilldError if one cannot be read."""
    found = []
    known = common.store_or_empty().meta.get(STATUSLINES, {})
    usual = {str(host.path().resolve()): {"place": name, "created": False} for name, host in HOSTS.items()}
    for path, one in {**usual, **known}.items():
        host = HOSTS[one["place"]]
        try:
            before = _read_text(Path(path))
            after = None if before is None else host.remove_from(before)
        except SkilldError:
            if path in known:
                raise
            continue  # skilld never wrote to it
        if before is None or after == before:
            continue
        if one["created"] and (not after or (host.title == "Claude Code" and foreign_settings.is_empty(after))):
            after = None
        found.append(FileChange(Path(path), _encode(before), _encode(after)))
    return found


def _encode(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")


def _read_text(path: Path) -> str | None:
    """Return the text of a settings file; None if there is none. Raises SkilldError if it cannot be read."""
    try:
        return read_regular(path, _MAX_BYTES)[0].decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise SkilldError("Cannot read the file", f"{path}: {error}") from error
