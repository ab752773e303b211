"""Whether a client's new version writes records that older ones did not: kinds and counts, nobody's words.

Of each agent and version it is kept in how many sessions which kinds of records stood. A new version drifts where a
share of its records is of kinds that no version before it wrote, or where a kind that stood in each session before
is in none; where the format is a table, also where a share is of kinds that it does not know. `look` is the
daemon's, some files at a time; the rest is arithmetic. What is kept is JSON.
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
_MAX_READ = 2 << 20  # bytes of its file: reading on for the end of a huge line took the daemon to 88 MB
_VERSIONS, _KINDS, _FILES, _SAMPLES = 3, 100, 200, 3  # that are kept of each agent
_SHARE = 0.05
_RECORDS, _SESSIONS = 30, 3  # fewer tell nothing
_PLACES = ("version", "cli_version", "cliVersion", "clientVersion")
_BELOW = ("", "payload", "data", "origin", "head", "meta")
_NUMBER = re.compile(r"\d{1,6}\.\d{1,6}(?:\.[\w.+-]{1,30})?")


@dataclass
class Kinds:
    """What stood in the sessions of one version: records and sessions of each kind, and shapes of unknown ones."""

    sessions: int = 0
    records: int = 0
    strange: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    within: Counter[str] = field(default_factory=Counter)
    samples: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Kinds:
        """Return what `as_json` gave."""
        sessions, records, strange = (
            number if isinstance(number := kept.get(key), int) else 0 for key in ("sessions", "records", "strange")
        )
        counts, within = (Counter(dict(mapping(kept.get(key)))) for key in ("counts", "within"))
        return cls(sessions, records, strange, counts, within, dict(mapping(kept.get("samples"))))

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON, the most frequent kinds only."""
        known = {"sessions": self.sessions, "records": self.records, "strange": self.strange, "samples": self.samples}
        return {
            **known,
            "counts": dict(self.counts.most_common(_KINDS)),
            "within": dict(self.within.most_common(_KINDS)),
        }

    def add(self, other: Kinds) -> None:
        """Take in what stood in other sessions."""
        self.sessions += other.sessions
        self.records += other.records
        self.strange += other.strange
        self.counts.update(other.counts)
        self.within.update(other.within)
        self.samples = dict([*self.samples.items(), *other.samples.items()][:_KINDS])


@dataclass(frozen=True, slots=True)
class Drift:
    """How an agent's version differs: `kind` is new, or missing where `sample` is None; `share` of all records."""

    agent: str
    version: str
    kind: str
    share: float
    sample: Any = None

    @property
    def told(self) -> str:
        """The line that is shown of it."""
        title = ADAPTERS[self.agent].INFO.title if self.agent in ADAPTERS else self.agent
        name = f"{title} {self.version}".rstrip()
        if self.sample is None:
            return f"{name} no longer writes records that skilld reads ({self.kind}); turns may be missed"
        return f"{name} writes records of an unknown kind ({self.kind or 'no kind given'}); turns may be missed"


def survey(path: Path, adapter: Adapter) -> tuple[str, Kinds]:
    """Return the version of the client and the kinds of records in one session. Raises OSError."""
    version, found, size = "", Kinds(sessions=1), 0
    records = record_reader(adapter, path)
    for item in source_of(adapter.INFO).whole(path, end=_MAX_READ):
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
            if kind not in found.samples and (is_strange or len(found.samples) < _KINDS):
                found.samples[kind] = shape_of(record)
        if size >= _MAX_BYTES:
            break
    found.within = Counter(dict.fromkeys(found.counts, 1))
    return version, found


def version_of(path: Path, adapter: Adapter) -> str:
    """Return the version of the client that wrote a session, "" if its first records name none. Raises OSError."""
    if adapter.INFO.queries:
        return ""
    size, records = 0, record_reader(adapter, path)
    for item in source_of(adapter.INFO).whole(path, end=_MAX_READ):
        if isinstance(item, RawLine):
            size += len(item.data)
            found = next((version for record, _ in records(item) if (version := version_in(record))), "")
            if found or size >= _MAX_BYTES:
                return found
    return ""


def version_in(record: Record) -> str:
    """Return the client's version that a record names, "" if it names none."""
    for below in _BELOW:
        place = mapping(record.get(below)) if below else record
        found = next((string(place.get(key)) for key in _PLACES if _NUMBER.fullmatch(string(place.get(key)))), "")
        if found:
            return found
        if below == "head" and (inner := string(mapping(place.get("origin")).get("version"))):
            return inner if _NUMBER.fullmatch(inner) else ""
    return ""


def look(kept: Mapping[str, Any], files: Iterable[tuple[str, Path]], *, most: int = 8) -> dict[str, Any]:
    """Return what is kept, with the first `most` of these files (agent and path) that were not looked through yet."""
    agents = {name: dict(mapping(known)) for name, known in kept.items()}
    for agent, path in files:
        known = agents.setdefault(agent, {})
        mark = sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:12]
        seen = [short(each) for each in known.get("files", ())]
        if mark in seen or ADAPTERS[agent].INFO.queries:
            continue
        known["files"] = [*seen, mark][-_FILES:]
        try:
            version, found = survey(path, ADAPTERS[agent])
        except OSError:
            continue
        versions = dict(mapping(known.get("versions")))
        all_of_it = Kinds.of(mapping(versions.pop(version, {})))
        all_of_it.add(found)
        known["versions"] = dict([*versions.items(), (version, all_of_it.as_json())][-_VERSIONS:])
        most -= 1
        if most <= 0:
            break
    return agents


def drifts(kept: Mapping[str, Any]) -> Iterator[Drift]:
    """Yield what is other in the newest version of each agent, the largest share first; at most three of each."""
    for agent, known in kept.items():
        versions = {name: Kinds.of(mapping(each)) for name, each in mapping(mapping(known).get("versions")).items()}
        if not versions:
            continue
        newest = max(versions, key=_order)
        now, before = versions.pop(newest), Kinds()
        for each in versions.values():
            before.add(each)
        found = [*_new(agent, newest, now, before), *_gone(agent, newest, now, before)]
        yield from sorted(found, key=lambda each: -each.share)[:_SAMPLES]


def _order(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:4]]


def _new(agent: str, version: str, now: Kinds, before: Kinds) -> Iterator[Drift]:
    if now.records < _RECORDS:
        return
    for kind, count in now.counts.items():
        is_new = before.sessions >= _SESSIONS and kind not in before.counts
        is_strange = now.strange >= _SHARE * now.records and _unknown(agent, kind)
        if (is_new or is_strange) and count >= _SHARE * now.records:
            yield Drift(agent, version, kind, round(count / now.records, 2), now.samples.get(kind, {}))


def _unknown(agent: str, kind: str) -> bool:
    """Whether a table knows no record that has nothing but what names its kind."""
    adapter = ADAPTERS.get(agent)
    record: dict[str, Any] = {}
    for mark in kind.split():
        place, _, found = mark.partition("=")
        top, _, below = place.partition(".")
        record = {**record, top: {**mapping(record.get(top)), below: found} if below else found}
    return isinstance(adapter, DeclaredAdapter) and not any(adapter.format.kinds_of(record))


def _gone(agent: str, version: str, now: Kinds, before: Kinds) -> Iterator[Drift]:
    if before.sessions < _SESSIONS or now.sessions < _SESSIONS:
        return
    for kind, sessions in before.within.items():
        if sessions == before.sessions and kind not in now.within:
            yield Drift(agent, version, kind, round(before.counts[kind] / max(1, before.records), 2))
