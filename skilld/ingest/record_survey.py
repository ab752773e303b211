"""Records which kinds of records each version of an agent's client writes: kinds and counts, nobody's words.

The daemon calls `update_survey` with a few files at a time, and `drift` compares the versions. The survey is stored
as JSON.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from skilld.agents import ADAPTERS
from skilld.agents.base import Adapter, mapping, short, string
from skilld.agents.declared import DeclaredAdapter, Record
from skilld.agents.tools import record_reader
from skilld.ingest.drift import MAX_KINDS, RecordKinds
from skilld.ingest.explain import kind_of, shape_of
from skilld.ingest.source import source_of
from skilld.types import RawLine

_MAX_BYTES = 1 << 20  # of records of one session, from its start
_MAX_READ = 2 << 20  # bytes of its file: reading to the end of a huge line took the daemon to 88 MB
_MAX_VERSIONS, _MAX_FILES = 3, 200  # kept for each agent
_MAX_ADDED = 8  # files in one go
_VERSION_KEYS = ("version", "cli_version", "cliVersion", "clientVersion")
_VERSION_PARENTS = ("", "payload", "data", "origin", "head", "meta")
_VERSION_PATTERN = re.compile(r"\d{1,6}\.\d{1,6}(?:\.[\w.+-]{1,30})?")


def survey(path: Path, adapter: Adapter) -> tuple[str, RecordKinds]:
    """Return the client's version and the kinds of records in one session. Raises OSError."""
    version, found = "", RecordKinds(sessions=1)
    for record in _first_records(path, adapter):
        version = version or version_in(record)
        kind = kind_of(record)[:200]
        found.counts[kind] += 1
        found.records += 1
        is_strange = isinstance(adapter, DeclaredAdapter) and not any(
            adapter.format.kinds_of(adapter.format.shape(record))
        )
        found.strange += is_strange
        if kind not in found.samples and (is_strange or len(found.samples) < MAX_KINDS):
            found.samples[kind] = shape_of(record)
    found.within = Counter(dict.fromkeys(found.counts, 1))
    return version, found


def version_of(path: Path, adapter: Adapter) -> str:
    """Return the client's version in a session, "" if its first records name none. Raises OSError."""
    return "" if adapter.INFO.queries else next(filter(None, map(version_in, _first_records(path, adapter))), "")


def _first_records(path: Path, adapter: Adapter) -> Iterator[Record]:
    size, records = 0, record_reader(adapter)
    for item in source_of(adapter.INFO, path).read_all(path, end=_MAX_READ):
        if isinstance(item, RawLine):
            size += len(item.data)
            yield from (record for record, _ in records(item))
            if size >= _MAX_BYTES:
                return


def version_in(record: Record) -> str:
    """Return the client's version that a record names, "" if it names none."""
    for below in _VERSION_PARENTS:
        place = mapping(record.get(below)) if below else record
        found = next(
            (string(place.get(key)) for key in _VERSION_KEYS if _VERSION_PATTERN.fullmatch(string(place.get(key)))), ""
        )
        if found:
            return found
        if below == "head" and (inner := string(mapping(place.get("origin")).get("version"))):
            return inner if _VERSION_PATTERN.fullmatch(inner) else ""
    return ""


def update_survey(kept: Mapping[str, Any], files: Iterable[tuple[str, Path]]) -> dict[str, Any]:
    """Return the survey with the first few of these files (agent and path) that are not in it yet added."""
    agents = {name: dict(mapping(known)) for name, known in kept.items()}
    left = _MAX_ADDED
    for agent, path in files:
        known = agents.setdefault(agent, {})
        mark = sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:12]
        seen = [short(each) for each in known.get("files", ())]
        if mark in seen or ADAPTERS[agent].INFO.queries:
            continue
        known["files"] = [*seen, mark][-_MAX_FILES:]
        try:
            version, found = survey(path, ADAPTERS[agent])
        except OSError:
            continue
        versions = dict(mapping(known.get("versions")))
        all_of_it = RecordKinds.from_json(mapping(versions.pop(version, {})))
        all_of_it.add(found)
        known["versions"] = dict([*versions.items(), (version, all_of_it.as_json())][-_MAX_VERSIONS:])
        left -= 1
        if left == 0:
            break
    return agents
