"""`skilld setup --statusline PLACE`: makes another program show how many proposals are waiting, and undoes that.

Only on request. Every other byte of that program's settings stays the same; `skilld uninstall` removes our part.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from skilld import console
from skilld.cli import common
from skilld.cli.sync import FileChange
from skilld.errors import SkilldError
from skilld.exchange import foreign
from skilld.files import read_plain

NONE = "none"
_MAX_BYTES = 4 << 20
_COMMAND = "skilld statusline"
# The interval in seconds: without one it is shown anew only with messages.
_MEMBER = ("statusLine", {"type": "command", "command": _COMMAND, "refreshInterval": 10})
_TMUX = f'set -ag status-right " #({_COMMAND})"\n'
_STARSHIP = f'[custom.skilld]\ncommand = "{_COMMAND}"\nwhen = true\nformat = "([$output]($style) )"\n'


@dataclass(frozen=True, slots=True)
class _Place:
    """A program with a status line: its settings file, and how our part is put into its text and taken out."""

    title: str
    path: Callable[[], Path]
    put: Callable[[str | None], str]
    take_out: Callable[[str], str]
    by_hand: str  # what the person can add if we cannot


def _moved(variable: str, usual: Path) -> Path:
    moved = Path(os.environ.get(variable, ""))
    return moved if moved.is_absolute() else usual


def _config() -> Path:
    return _moved("XDG_CONFIG_HOME", common.home() / ".config")


def _tmux() -> Path:
    newer = _config() / "tmux/tmux.conf"
    return newer if newer.exists() else common.home() / ".tmux.conf"


PLACES = {
    "claude-code": _Place(
        "Claude Code",
        lambda: _moved("CLAUDE_CONFIG_DIR", common.home() / ".claude") / "settings.json",
        lambda text: foreign.put_member(text, *_MEMBER),
        lambda text: foreign.without_member(text, *_MEMBER),
        f"in Claude Code's statusLine setting, have the command also run {_COMMAND}",
    ),
    "starship": _Place(
        "starship",
        lambda: _moved("STARSHIP_CONFIG", _config() / "starship.toml"),
        lambda text: foreign.put_block(text, _STARSHIP),
        foreign.without_block,
        f"add a [custom.skilld] section with the command {_COMMAND}",
    ),
    "tmux": _Place(
        "tmux",
        _tmux,
        lambda text: foreign.put_block(text, _TMUX),
        foreign.without_block,
        f'add " #({_COMMAND})" to status-right',
    ),
}


def show_in(name: str) -> None:
    """Make a program show the status line; `none` removes it everywhere. Raises SkilldError if that is not safe."""
    if name == NONE:
        for one in removals():
            one.write()
            console.say(f"Removed skilld's status line from {console.plain(str(one.path))}.")
        return
    from skilld.store.meta import STATUSLINES

    place = PLACES[name]
    path = place.path().resolve()  # people link their settings to a repository
    before = _text(path)
    if before is not None and place.take_out(before) != before:
        console.say(
            f"{place.title} already shows how many proposals are waiting (set up in {console.plain(str(path))})"
        )
        return
    try:
        after = place.put(before)
    except SkilldError as error:
        raise SkilldError(error.title, f"{path}: {error.cause}", f"To do it by hand: {place.by_hand}.") from error
    meta = common.store().meta
    # Noted before writing, so that nothing is forgotten; `created`, so that a file we made is removed again.
    meta.set(STATUSLINES, {**meta.get(STATUSLINES, {}), str(path): {"place": name, "created": before is None}})
    FileChange(path, _bytes(before), _bytes(after)).write()
    console.say(f"{place.title} now shows how many proposals are waiting (set up in {console.plain(str(path))})")
    console.say(f"To undo: skilld setup --statusline {NONE}")


def removals() -> list[FileChange]:
    """Return the changes that remove our part from each file that has it. Raises SkilldError if one is unreadable."""
    return list(_removals())


def _removals() -> Iterator[FileChange]:
    from skilld.store.meta import STATUSLINES

    known = common.stored().meta.get(STATUSLINES, {})
    usual = {str(place.path().resolve()): {"place": name, "created": False} for name, place in PLACES.items()}
    for path, one in {**usual, **known}.items():
        place = PLACES[one["place"]]
        try:
            before = _text(Path(path))
            after = None if before is None else place.take_out(before)
        except SkilldError:
            if path in known:
                raise
            continue  # we never wrote to this one
        if before is None or after == before:
            continue
        if one["created"] and (not after or (place.title == "Claude Code" and foreign.is_empty(after))):
            after = None
        yield FileChange(Path(path), _bytes(before), _bytes(after))


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")


def _text(path: Path) -> str | None:
    """Return the text of a settings file; None if there is none. Raises SkilldError if it cannot be read."""
    try:
        return read_plain(path, _MAX_BYTES)[0].decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise SkilldError("Cannot read the file", f"{path}: {error}") from error
