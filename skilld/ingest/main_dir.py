"""The folder in which most of a session's work was done: names of files in tool calls in, one folder out.

A session is often started above the part of a project it is about. The names are found in the bytes of records, by the
keys under which all agents give files to their tools; what a record says otherwise is not looked at, but for a word
that the call failed. A call that failed is no work, nor is what is put down in a folder for temporary files. Pure.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

# Keys of tool calls, within JSON or within JSON in a string of JSON. A name with an escape in it is not taken.
_FILE = re.compile(
    rb'"(?:file_?[pP]ath|absolute_path|notebook_path|target_file|path)\\*"\s*:\s*\\*"([^"\\]{1,1024})\\*"'
)
_FOLDER = re.compile(rb'"(?:workdir|dir_path)\\*"\s*:\s*\\*"([^"\\]{1,1024})\\*"')
_PATCH = re.compile(rb"\*\*\* (?:Update|Add|Delete) File: ([^\\\n\"*]{1,1024})")
_CALL = re.compile(rb'"(?:id|call_?[iI][dD]|tool_?[cC]all_?[iI]d|tool_use_id)"\s*:\s*"([^"\\]{1,256})"')
_FAILED = re.compile(
    rb'(?<!\\)"(?:is_?[eE]rror"\s*:\s*true|success"\s*:\s*false|status"\s*:\s*"(?:error|failed|failure)")'
)
_TEMPORARY = tuple(
    map(PurePosixPath, ("/tmp", "/var/tmp", "/private/tmp", "/var/folders", "/private/var/folders", "/dev/shm"))  # noqa: S108 - names
)
_SKILL_FILE = "SKILL.md"
_MAX_MENTIONS = 100_000  # mentions that are counted


class Work:
    """Counts in which folders files were touched."""

    def __init__(self) -> None:
        self._folders: Counter[str] = Counter()
        self._calls: dict[bytes, list[str]] = {}  # the folders that each call named
        self._seen = 0

    def see(self, record: bytes) -> None:
        """Take in one record."""
        if self._seen >= _MAX_MENTIONS:
            return
        named = [*_mentioned(record)]
        failed = [match.start() for match in _FAILED.finditer(record)]
        if not named and not failed:
            return
        calls = [(match.start(), match[1]) for match in _CALL.finditer(record)]
        for position, folder in named:
            self._seen += 1
            self._folders[folder] += 1
            if call := _call_at(calls, position):
                self._calls.setdefault(call, []).append(folder)
        for position in failed:
            self._folders.subtract(self._calls.pop(_call_at(calls, position), ()))

    def main_dir(self, cwd: str | None) -> str | None:
        """Return the deepest folder that holds more than half of what was touched; `cwd` where none below / does."""
        touched = {folder: count for folder, count in self._folders.items() if count > 0}
        if cwd is None or not _is_temporary(cwd):
            touched = {folder: count for folder, count in touched.items() if not _is_temporary(folder)}
        return deepest(touched, cwd) or cwd


def _mentioned(record: bytes) -> Iterator[tuple[int, str]]:
    """Yield the folders that the tool calls of a record name, each with its place in the record."""
    for pattern in (_FILE, _PATCH):
        for match in pattern.finditer(record):
            path = PurePosixPath(match[1].decode("utf-8", "replace").strip())
            if path.name != _SKILL_FILE:
                yield match.start(), str(path.parent)
    for match in _FOLDER.finditer(record):
        yield match.start(), match[1].decode("utf-8", "replace")


def _call_at(calls: Sequence[tuple[int, bytes]], position: int) -> bytes:
    """Return the id of the call that something in a record belongs to: the last one before it, else the first."""
    before = bisect_right(calls, position, key=lambda call: call[0])
    return calls[max(before - 1, 0)][1] if calls else b""


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
