"""What a transcript shows of the work besides words: the client's version, and the files that were touched.

Both are hints from a log: they choose among files that are there, and are never opened or joined into a path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from skilld.agents import ADAPTERS
from skilld.ingest.source import source_of
from skilld.types import RawLine

_VERSION = re.compile(rb'"version":\s*"\d')
# Keys under which clients log the file of a tool call. Within a text the quotation marks would be escaped.
_PATH = re.compile(
    rb'(?<!\\)"(?:file_?[pP]ath|absolute_path|notebook_path|path|filename)"\s*:\s*("(?:[^"\\]|\\.){1,1000}")'
)
_PATCHED = re.compile(rb"\*\*\* (?:Add|Update|Delete) File: ([^\\\n\"]{1,1000})")
_MAX_TOUCHED = 200


@dataclass(frozen=True, slots=True)
class Worked:
    """The client's version (empty: not told), and the newest files touched; relative ones from the session's folder."""

    version: str = ""
    touched: tuple[str, ...] = ()


def worked(agent: str, session: str, sources: Iterable[tuple[str, int]]) -> Worked:
    """Return what the transcripts of a session show, each as far as an offset; what cannot be read shows nothing."""
    info = ADAPTERS[agent].INFO
    version, touched = "", dict[str, None]()
    for path, end in sources:
        try:
            for item in source_of(info).whole(Path(path), end=end, session=session, own=True):
                if isinstance(item, RawLine):
                    version = _version(item.data) or version
                    for one in _paths(item.data):
                        touched.pop(one, None)
                        touched[one] = None
        except OSError:
            continue
    return Worked(version, tuple(touched)[-_MAX_TOUCHED:])


def _version(line: bytes) -> str:
    if not _VERSION.search(line):
        return ""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    found = record.get("version") if isinstance(record, dict) else ""
    return found if isinstance(found, str) else ""


def _paths(line: bytes) -> Iterable[str]:
    for found in _PATH.findall(line):
        try:
            path = json.loads(found)
        except ValueError:
            continue
        if "\0" not in path and path.isprintable():
            yield path
    yield from (found.decode("utf-8", "replace") for found in _PATCHED.findall(line))
