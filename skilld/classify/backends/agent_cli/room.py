"""The private folder in which a client answers one question: empty to look at, gone afterwards.

It lies where nobody else can put a file into a folder above it: clients look for instructions, settings and variables
in all of them, and in the world's /tmp these could be anyone's.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from skilld.classify.backends.agent_cli.own import ROOM_PREFIX


@dataclass(frozen=True, slots=True)
class Room:
    """One private folder: `work` to work in, `temporary` for what the client throws away, and files beside them."""

    folder: Path

    @property
    def work(self) -> Path:
        """The empty folder that is the client's current one."""
        return self.folder / "work"

    @property
    def temporary(self) -> Path:
        """What stands in TMPDIR: Gemini CLI writes the whole question there when a call fails (0.61.0)."""
        return self.folder / "tmp"

    def write(self, name: str, text: str) -> Path:
        """Write a file below the folder and return its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


@contextmanager
def room(home: Path, environment: Mapping[str, str]) -> Iterator[Room]:
    """Make a room and take it away again. Raises OSError where there is no place for one."""
    made = Room(Path(tempfile.mkdtemp(prefix=ROOM_PREFIX, dir=_place(home, environment))).resolve())
    try:
        made.work.mkdir()
        made.temporary.mkdir()
        yield made
    finally:
        shutil.rmtree(made.folder, ignore_errors=True)


def _place(home: Path, environment: Mapping[str, str]) -> Path:
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and _is_private(Path(runtime)):  # noqa: PTH117 - Path("") would be the current folder
        return Path(runtime)
    moved = Path(environment.get("XDG_CACHE_HOME", ""))
    cache = moved if moved.is_absolute() else home / ".cache"
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    return cache


def _is_private(folder: Path) -> bool:
    try:
        facts = folder.stat()
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid() and not stat.S_IMODE(facts.st_mode) & 0o077
