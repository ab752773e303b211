"""Looking through folders for transcripts that changed, without a look at each file where nothing can have happened.

A folder's own time changes when a file comes or goes, not when one grows. So between full sweeps a folder is passed
over that has not changed and in which nothing grew lately: with 20,000 files a full sweep takes 130 ms of the
processor, and this 10. What the watcher and this both miss, the next full sweep finds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_SUFFIX = ".jsonl"
# A file that comes within the same tick of a file system's clock as our look leaves the folder's time as it was.
_TICK = 2.0  # seconds, that of FAT, the coarsest


@dataclass(slots=True)
class _Folder:
    """What the last look at a folder found: its own time (None: not to be relied on), the newest file's, folders."""

    changed: int | None
    newest: float
    below: list[str]


class Folders:
    """Remembers of each folder when something happened in it."""

    def __init__(self) -> None:
        self._known: dict[str, _Folder] = {}

    def changed(
        self, root: Path, seen: Mapping[str, tuple[int, float]], now: float, *, quiet_since: float | None
    ) -> Iterator[str]:
        """Yield the paths below `root` of files whose size and time are not as in `seen`.

        Folders that did not change, and in which nothing grew since the Unix time `quiet_since`, are passed over; None:
        none is. Folders that vanish or cannot be read are passed over too.
        """
        stack = [str(root)]
        while stack:
            folder = stack.pop()
            try:
                facts = os.stat(folder)  # noqa: PTH116 - a Path for each of thousands costs more than the look
                known = self._known.get(folder)
                quiet = known and quiet_since is not None and known.newest < quiet_since
                if known is None or not quiet or known.changed != facts.st_mtime_ns:
                    before = known.below if known else []
                    settled = facts.st_mtime < now - _TICK
                    known = self._known[folder] = _Folder(facts.st_mtime_ns if settled else None, 0.0, [])
                    yield from _look(folder, known, seen)
                    for new in set(known.below).difference(before):  # it may have been here before, and be another
                        self._known.pop(new, None)
                stack += known.below
            except OSError:
                self._known.pop(folder, None)


def _look(folder: str, known: _Folder, seen: Mapping[str, tuple[int, float]]) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                known.below.append(entry.path)
            elif entry.name.endswith(_SUFFIX) and entry.is_file(follow_symlinks=False):
                try:
                    facts = entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # gone this moment; the others in the folder are not
                    continue
                known.newest = max(known.newest, facts.st_mtime)
                if seen.get(entry.path) != (facts.st_size, facts.st_mtime):
                    yield entry.path
