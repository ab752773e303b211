"""The folder in which most of a session's work was done: tool events in, one folder out.

A session is often started above the part of a project it is about. A file that a call which failed names is no work,
nor is what is put down in a folder for temporary files. Pure.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from skilld.agents.tools import SEARCH_TOOLS, files_named, folder_of, patched_by
from skilld.types import ToolCall, ToolEvent, ToolOutcome

_TEMPORARY = tuple(
    map(PurePosixPath, ("/tmp", "/var/tmp", "/private/tmp", "/var/folders", "/private/var/folders", "/dev/shm"))  # noqa: S108 - names
)
_SKILL_FILE = "SKILL.md"
_MAX_MENTIONS = 100_000  # mentions that are counted


class Work:
    """Counts in which folders files were touched."""

    def __init__(self) -> None:
        self._folders: Counter[str] = Counter()
        self._calls: dict[str, list[str]] = {}  # the folders of the files that each call named
        self._seen = 0

    def see(self, event: ToolEvent) -> None:
        """Take in one event, calls before their results."""
        if isinstance(event, ToolCall):
            if event.call_id not in self._calls and self._seen < _MAX_MENTIONS:
                self._call(event)
        elif event.outcome not in {ToolOutcome.OK, ToolOutcome.UNKNOWN} and event.call_id in self._calls:
            self._folders.subtract(self._calls[event.call_id])
            self._calls[event.call_id] = []

    def _call(self, call: ToolCall) -> None:
        named = [*_folders_of_files(call)]
        if call.call_id:
            self._calls[call.call_id] = named
        if folder := folder_of(call):  # a command that fails is work all the same
            named = [*named, folder]
        self._seen += 1 + len(named)
        self._folders.update(named)

    def main_dir(self, cwd: str | None) -> str | None:
        """Return the deepest folder that holds more than half of what was touched; `cwd` where none below / does."""
        touched = {folder: count for folder, count in self._folders.items() if count > 0}
        if cwd is None or not _is_temporary(cwd):
            touched = {folder: count for folder, count in touched.items() if not _is_temporary(folder)}
        return deepest(touched, cwd) or cwd


def _folders_of_files(call: ToolCall) -> Iterator[str]:
    if call.name.lower() in SEARCH_TOOLS:
        return  # looking for something is no work yet, and what is named may be a folder
    for name in (*files_named(call.input), *patched_by(call)):
        path = PurePosixPath(name)
        if path.name != _SKILL_FILE:
            yield str(path.parent)


def _is_temporary(folder: str) -> bool:
    path = PurePosixPath(os.path.normpath(folder))
    return any(path.is_relative_to(place) for place in _TEMPORARY)


def deepest(folders: Mapping[str, int], cwd: str | None) -> str | None:
    """Return the deepest folder with more than half of all counts in or below it, None where that is / or nothing.

    Relative names are taken from `cwd`, or not at all where there is none.
    """
    counts: Counter[PurePosixPath] = Counter()
    total = 0
    for name, count in folders.items():
        path = os.path.normpath(os.path.join(cwd or "", name))  # noqa: PTH118 - by name; no such file need be here
        if not path.startswith("/"):
            continue
        total += count
        for folder in (PurePosixPath(path), *PurePosixPath(path).parents):
            counts[folder] += count
    holding = [folder for folder, count in counts.items() if 2 * count > total]
    found = max(holding, key=lambda folder: len(folder.parts), default=PurePosixPath("/"))
    return str(found) if len(found.parts) > 1 else None
