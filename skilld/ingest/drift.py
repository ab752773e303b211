"""Detects whether a client's new version writes records that older ones did not: kinds and counts, nobody's words.

For each agent and version, it is recorded how many sessions had which kinds of records. A new version drifts if a share
of its records is of kinds that no earlier version wrote, or if a kind that was in every earlier session is in none of
its sessions; for a declared format, also if a share is of kinds that the format does not know. The daemon calls
`update_survey` with a few files at a time; the rest is arithmetic. The survey is stored as JSON.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from skilld.agents import ADAPTERS
from skilld.agents.base import Adapter, mapping, short, string
from skilld.agents.declared import Record
from skilld.agents.declared_adapter import DeclaredAdapter
from skilld.agents.tools import record_reader
from skilld.ingest.explain import kind_of, shape_of
from skilld.ingest.source import source_of
from skilld.types import RawLine

_MAX_BYTES = 1 << 20  # of records of one session, from its start
_MAX_READ = 2 << 20  # bytes of its file: reading to the end of a huge line took the daemon to 88 MB
_MAX_VERSIONS, _MAX_KINDS, _MAX_FILES, _MAX_SAMPLES = 3, 100, 200, 3  # kept for each agent
_MIN_SHARE = 0.05
_MIN_RECORDS, _MIN_SESSIONS = 30, 3  # fewer are no evidence
_VERSION_KEYS = ("version", "cli_version", "cliVersion", "clientVersion")
_VERSION_PARENTS = ("", "payload", "data", "origin", "head", "meta")
_VERSION_PATTERN = re.compile(r"\d{1,6}\.\d{1,6}(?:\.[\w.+-]{1,30})?")


@dataclass
class RecordKinds:
    """Records in the sessions of one version: `counts` and sessions (`within`) by kind, and shapes of unknown kinds."""

    sessions: int = 0
    records: int = 0
    strange: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    within: Counter[str] = field(default_factory=Counter)
    samples: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> RecordKinds:
        """Return the value that `as_json` was made from."""
        sessions, records, strange = (
            number if isinstance(number := kept.get(key), int) else 0 for key in ("sessions", "records", "strange")
        )
        counts, within = (Counter(dict(mapping(kept.get(key)))) for key in ("counts", "within"))
        return cls(sessions, records, strange, counts, within, dict(mapping(kept.get("samples"))))

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON, with only the most frequent kinds."""
        known = {"sessions": self.sessions, "records": self.records, "strange": self.strange, "samples": self.samples}
        return {
            **known,
            "counts": dict(self.counts.most_common(_MAX_KINDS)),
            "within": dict(self.within.most_common(_MAX_KINDS)),
        }

    def add(self, other: RecordKinds) -> None:
        """Add the records of other sessions."""
        self.sessions += other.sessions
        self.records += other.records
        self.strange += other.strange
        self.counts.update(other.counts)
        self.within.update(other.within)
        self.samples = dict([*self.samples.items(), *other.samples.items()][:_MAX_KINDS])


@dataclass(frozen=True, slots=True)
class Drift:
    """A difference in an agent's version: `kind` is new, or missing if `sample` is None; `share` of all records."""

    agent: str
    version: str
    kind: str
    share: float
    sample: Any = None

    @property
    def message(self) -> str:
        """The line shown to the person."""
        title = ADAPTERS[self.agent].INFO.title if self.agent in ADAPTERS else self.agent
        name = f"{title} {self.version}".rstrip()
        if self.sample is None:
            return f"{name} no longer writes records that skilld reads ({self.kind}); turns may be missed"
        return f"{name} writes records of an unknown kind ({self.kind or 'no kind given'}); turns may be missed"


def survey(path: Path, adapter: Adapter) -> tuple[str, RecordKinds]:
    """Return the client's version and the kinds of records in one session. Raises OSError."""
    version, found, size = "", RecordKinds(sessions=1), 0
    records = record_reader(adapter, path)
    for item in source_of(adapter.INFO).read_all(path, end=_MAX_READ):
        if not isinstance(item, RawLine):
            continue
        size += len(item.data)
        for record, _ in records(item):
            version = version or version_in(record)
            kind = kind_of(record)[:200]
            found.counts[kind] += 1
            found.records += 1
            is_strange = isinstance(adapter, DeclaredAdapter) and not any(
                adapter.format.kinds_of(adapter.format.shape(record))
            )
            found.strange += is_strange
            if kind not in found.samples and (is_strange or len(found.samples) < _MAX_KINDS):
                found.samples[kind] = shape_of(record)
        if size >= _MAX_BYTES:
            break
    found.within = Counter(dict.fromkeys(found.counts, 1))
    return version, found


def version_of(path: Path, adapter: Adapter) -> str:
    """Return the client's version in a session, "" if its first records name none. Raises OSError."""
    if adapter.INFO.queries:
        return ""
    size, records = 0, record_reader(adapter, path)
    for item in source_of(adapter.INFO).read_all(path, end=_MAX_READ):
        if isinstance(item, RawLine):
            size += len(item.data)
            found = next((version for record, _ in records(item) if (version := version_in(record))), "")
            if found or size >= _MAX_BYTES:
                return found
    return ""


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


def update_survey(kept: Mapping[str, Any], files: Iterable[tuple[str, Path]], *, limit: int = 8) -> dict[str, Any]:
    """Return the survey with the first `limit` of these files (agent and path) that are not in it yet added."""
    agents = {name: dict(mapping(known)) for name, known in kept.items()}
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
        limit -= 1
        if limit <= 0:
            break
    return agents


def drifts(kept: Mapping[str, Any]) -> Iterator[Drift]:
    """Yield the differences in each agent's newest version, largest share first; at most three for each agent."""
    for agent, known in kept.items():
        versions = {
            name: RecordKinds.from_json(mapping(each)) for name, each in mapping(mapping(known).get("versions")).items()
        }
        if not versions:
            continue
        newest = max(versions, key=lambda version: [int(number) for number in re.findall(r"\d+", version)[:4]])
        now, before = versions.pop(newest), RecordKinds()
        for each in versions.values():
            before.add(each)
        found = [*_new_kinds(agent, newest, now, before), *_missing_kinds(agent, newest, now, before)]
        yield from sorted(found, key=lambda each: -each.share)[:_MAX_SAMPLES]


def _new_kinds(agent: str, version: str, now: RecordKinds, before: RecordKinds) -> Iterator[Drift]:
    if now.records < _MIN_RECORDS:
        return
    for kind, count in now.counts.items():
        is_new = before.sessions >= _MIN_SESSIONS and kind not in before.counts
        is_strange = now.strange >= _MIN_SHARE * now.records and _is_unknown(agent, kind)
        if (is_new or is_strange) and count >= _MIN_SHARE * now.records:
            yield Drift(agent, version, kind, round(count / now.records, 2), now.samples.get(kind, {}))


def _is_unknown(agent: str, kind: str) -> bool:
    """Whether a declared format does not match a record that consists of the names of this kind."""
    adapter = ADAPTERS.get(agent)
    record: dict[str, Any] = {}
    for mark in kind.split():
        place, _, found = mark.partition("=")
        top, _, below = place.partition(".")
        record = {**record, top: {**mapping(record.get(top)), below: found} if below else found}
    return isinstance(adapter, DeclaredAdapter) and not any(adapter.format.kinds_of(record))


def _missing_kinds(agent: str, version: str, now: RecordKinds, before: RecordKinds) -> Iterator[Drift]:
    if before.sessions < _MIN_SESSIONS or now.sessions < _MIN_SESSIONS:
        return
    for kind, sessions in before.within.items():
        if sessions == before.sessions and kind not in now.within:
            yield Drift(agent, version, kind, round(before.counts[kind] / max(1, before.records), 2))
