"""The paths of skilld's files: the platform's folders, with HOME and the XDG variables.

Reads the environment; only `private_dir` creates folders, with mode 0700.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import platformdirs

from skilld.errors import SkilldError
from skilld.files import access_remedy, denied_place
from skilld.values import value_class

MAX_PATH_LENGTH = 4096  # bytes; no system takes a longer one

_APP = "skilld"
_KEPT = "skilld stores its data there"


@value_class
class Places:
    """The folders and files of one installation."""

    config: Path
    state: Path
    data: Path

    @property
    def settings_file(self) -> Path:
        """The person's settings."""
        return self.config / "config.toml"

    @property
    def database(self) -> Path:
        """What the program remembers."""
        return self.state / "skilld.db"

    @property
    def lock(self) -> Path:
        """The running daemon holds it through the kernel; its content is only a hint."""
        return self.state / "daemon.lock"

    @property
    def log(self) -> Path:
        """The daemon's log, unless journald takes it."""
        return self.state / "skilld.log"

    @property
    def crashes(self) -> Path:
        """Reports of bugs in skilld."""
        return self.state / "crashes"

    @property
    def edits(self) -> Path:
        """A folder for each file that is open in the person's editor."""
        return self.state / "edits"

    @property
    def repositories(self) -> Path:
        """Repositories of skilld's own, for skills that git does not track."""
        return self.data / "repos"

    @property
    def archive(self) -> Path:
        """Skills that the person archived."""
        return self.data / "archive"

    @property
    def evals(self) -> Path:
        """Evaluation cases that must not be in the skills' repositories."""
        return self.data / "evals"

    @property
    def redaction_key(self) -> Path:
        """The key that makes placeholders stable on this machine and meaningless elsewhere."""
        return self.state / "redaction.key"


def places() -> Places:
    """Return the places for the current environment."""
    return Places(
        config=_xdg_folder("XDG_CONFIG_HOME", platformdirs.user_config_dir(_APP, appauthor=False)),
        state=_xdg_folder("XDG_STATE_HOME", platformdirs.user_state_dir(_APP, appauthor=False)),
        data=_xdg_folder("XDG_DATA_HOME", platformdirs.user_data_dir(_APP, appauthor=False)),
    )


def is_relocated() -> bool:
    """Whether variables put the settings, the state or the data outside their usual folders."""
    home = Path(os.environ.get("HOME") or Path.home())
    usual = {"XDG_CONFIG_HOME": ".config", "XDG_STATE_HOME": ".local/state", "XDG_DATA_HOME": ".local/share"}
    return any(os.environ.get(name, str(home / below)) not in {"", str(home / below)} for name, below in usual.items())


def _xdg_folder(variable: str, default: str) -> Path:
    base = os.environ.get(variable, "")
    return Path(base) / _APP if Path(base).is_absolute() else Path(default)


def private_dir(path: Path) -> Path:
    """Create `path` with mode 0700 if it is missing, and return it.

    Raises SkilldError if it has another owner or is open to others: its content could not be trusted.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = path.stat()
    except OSError as error:
        if link := dangling_link(path):
            cause = f"{link} is a link to {os.path.realpath(link)}, which does not exist"
            raise SkilldError(f"Cannot use {path}", cause, "Create or mount that folder.") from error
        remedy = "" if error.errno == errno.EROFS else "Check who owns that folder."
        raise SkilldError(f"Cannot use {path}", error.strerror or str(error), remedy) from error
    _check_private(path, facts, "700")
    return path


def access_error(error: OSError) -> SkilldError:
    """Return the error that says which file or folder the person may not use, or cannot write, and what to do."""
    named = Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else Path()
    place = denied_place(named)
    if error.errno == errno.EROFS:
        place = next((one for one in (place, *place.parents) if one.exists()), place)
        return SkilldError(f"Cannot write to {place}", "its file system is read-only", access_remedy(place, ""))
    own = places()
    with suppress(SkilldError, OSError):
        for folder in (own.state, own.config, own.data):
            if place == folder and folder.stat().st_uid != os.geteuid():
                return SkilldError(f"{place} belongs to another user", _KEPT, access_remedy(place, "", inside=True))
    return SkilldError(f"No access to {place}", error.strerror or str(error), access_remedy(place, "u+rwX"))


def dangling_link(path: Path) -> Path | None:
    """Return the part of a path that is a link to nothing, if there is one: a disk may not be mounted."""
    return next((one for one in (path, *path.parents) if one.is_symlink() and not one.exists()), None)


def check_private(places: Places, only: Iterable[Path] | None = None) -> None:
    """Raise SkilldError if a file or folder of skilld's state, or one of `only`, is another user's or open to others.

    Links are not checked, nor is the settings file, which is among the state on macOS: its reader checks it.
    """
    state = private_dir(places.state)
    for path in sorted(set(state.iterdir() if only is None else only) - {places.settings_file}):
        with suppress(OSError):  # a write-ahead log disappears with its last reader; who opens a file reports the rest
            facts = path.lstat()
            if not stat.S_ISLNK(facts.st_mode):
                _check_private(path, facts, "go=")


def _check_private(path: Path, facts: os.stat_result, closed: str) -> None:
    if facts.st_uid != os.geteuid():
        raise SkilldError(f"{path} belongs to another user", _KEPT, access_remedy(path, "", inside=True))
    if stat.S_IMODE(facts.st_mode) & 0o077:
        raise SkilldError(f"{path} is accessible to other users", _KEPT, access_remedy(path, closed))


def possible_folder(named: str | None) -> str | None:
    """Return the folder that a transcript names, None if its path is too long for any system, or has a NUL.

    Searching all parents for a project takes quadratic time: 4 s for a path of 64,000 characters.
    """
    return None if named is None or len(named) > MAX_PATH_LENGTH or "\0" in named else named
