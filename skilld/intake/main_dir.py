"""The folder in which most of a session's work was done: names of files in tool calls in, one folder out.

A session is often started above the part of a project it is about. The names are found in the bytes of records, by the
keys under which all agents give files to their tools; what a record says otherwise is not looked at. Pure.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import PurePosixPath

# Keys of tool calls, within JSON or within JSON in a string of JSON. A name with an escape in it is not taken.
_FILE = re.compile(
    rb'\\*"(?:file_?[pP]ath|absolute_path|notebook_path|target_file|path)\\*"\s*:\s*\\*"([^"\\]{1,1024})\\*"'
)
_FOLDER = re.compile(rb'\\*"(?:workdir|dir_path)\\*"\s*:\s*\\*"([^"\\]{1,1024})\\*"')
_PATCH = re.compile(rb"\*\*\* (?:Update|Add|Delete) File: ([^\\\n\"*]{1,1024})")
_SKILL_FILE = "SKILL.md"
_MOST = 100_000  # mentions that are counted


class Work:
    """Counts in which folders files were touched."""

    def __init__(self) -> None:
        self._folders: Counter[str] = Counter()

    def see(self, record: bytes) -> None:
        """Take in one record."""
        if self._folders.total() >= _MOST:
            return
        for name in (*_FILE.findall(record), *_PATCH.findall(record)):
            path = PurePosixPath(name.decode("utf-8", "replace").strip())
            if path.name != _SKILL_FILE:
                self._folders[str(path.parent)] += 1
        for name in _FOLDER.findall(record):
            self._folders[name.decode("utf-8", "replace")] += 1

    def main_dir(self, cwd: str | None) -> str | None:
        """Return the deepest folder that holds more than half of what was touched; `cwd` where none below / does."""
        return deepest(self._folders, cwd) or cwd


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
