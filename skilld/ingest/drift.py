"""Detects whether a client's new version writes records that older ones did not: kinds and counts, nobody's words.

For each agent and version, `record_survey` counts how many sessions had which kinds of records. A new version drifts if
a share of its records is of kinds that no earlier version wrote, or if a kind that was in every earlier session is in
none of its sessions; for a declared format, also if a share is of kinds that the format does not know. This module is
arithmetic and loads little, because `skilld status` shows the result.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from skilld.agents import ADAPTERS
from skilld.agents.base import mapping
from skilld.values import value_class

MAX_KINDS = 100  # kept of each version
_MAX_SAMPLES = 3  # shown of each agent
_MIN_SHARE = 0.05
_MIN_RECORDS, _MIN_SESSIONS = 30, 3  # fewer are no evidence


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
            "counts": dict(self.counts.most_common(MAX_KINDS)),
            "within": dict(self.within.most_common(MAX_KINDS)),
        }

    def add(self, other: RecordKinds) -> None:
        """Add the records of other sessions."""
        self.sessions += other.sessions
        self.records += other.records
        self.strange += other.strange
        self.counts.update(other.counts)
        self.within.update(other.within)
        self.samples = dict([*self.samples.items(), *other.samples.items()][:MAX_KINDS])


@value_class
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
    from skilld.agents.declared import DeclaredAdapter

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
