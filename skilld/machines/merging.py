"""Merges what several machines know about one person's rules, with the same result in any order. Pure.

One record per slot is valid. A machine that changes a record gives it the next `rev`; if two did so at the same time, a
decision that wrote a file wins over one that did not, then the later one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from skilld.team.candidates import is_same_with_negation
from skilld.team.records import MAX_HEARD, Record, RecordType, encode, record_slot
from skilld.values import value_class
from skilld.words import content_stems, is_same_ask

Slot = tuple[str, str]
_WRITING_STATES = frozenset({"accepted", "reverted"})


def merge_records(*sets: Iterable[Record]) -> dict[Slot, Record]:
    """Return the union of records: for each slot the highest one, with the sessions of all of them."""
    kept: dict[Slot, Record] = {}
    for record in (one for records in sets for one in records):
        at = record_slot(record)
        kept[at] = combine(kept[at], record) if at in kept else record
    return kept


def combine(one: Record, other: Record) -> Record:
    """Return the higher of two records of one slot, with the sessions of both, the newest of many."""
    heard = sorted({*one.heard, *other.heard})[-MAX_HEARD:]
    return replace(max(one, other, key=rank), heard=tuple(heard))


def rank(record: Record) -> tuple[int, bool, str, bytes]:
    """Return the sort key for records of one slot."""
    return record.rev, *decision_weight(record), encode(replace(record, heard=()))


def decision_weight(record: Record) -> tuple[bool, str]:
    """Return the sort key for decisions that were made independently: the higher one wins."""
    return record.said in _WRITING_STATES, record.at


@value_class
class RuleGroup:
    """Records that say the same about one file, in any words, the one with the group's `key` first."""

    key: str
    records: tuple[Record, ...]

    @property
    def best(self) -> Record:
        """The valid one."""
        return max(self.records, key=rank)

    @property
    def heard(self) -> frozenset[str]:
        """The sessions in which it was said."""
        return frozenset(one for record in self.records for one in record.heard)


class RuleGroups:
    """The proposals of all machines, each group a rule of one file."""

    def __init__(self, known: Iterable[Record]) -> None:
        self._of: dict[str, list[tuple[Record, frozenset[str]]]] = {}  # by file: the first of each group
        self._records: dict[str, list[Record]] = {}
        decided = (one for one in known if one.what is RecordType.DECIDED)
        for record in sorted(decided, key=lambda one: one.key):
            self.add(record)

    def add(self, record: Record) -> str:
        """Add a record to the group that says the same, or to a new one; return the group's key."""
        leader = self.find(record.rule, record.place) or record.key
        if leader == record.key:
            self._of.setdefault(record.place, []).append((record, content_stems(record.rule)))
        self._records.setdefault(leader, []).append(record)
        return leader

    def find(self, rule: str, place: str) -> str:
        """Return the key of the group that says a rule; empty if none does."""
        stems = content_stems(rule)
        near = (one for one, others in self._of.get(place, ()) if is_same_ask(stems, others) or one.rule == rule)
        return next((one.key for one in near if is_same_with_negation(one.rule, rule)), "")

    def get(self, key: str) -> RuleGroup | None:
        """Return the group with a key, if there is one."""
        return RuleGroup(key, tuple(self._records[key])) if key in self._records else None

    def of(self, rule: str, place: str) -> RuleGroup | None:
        """Return the group that says a rule, if one does."""
        return self.get(self.find(rule, place))

    def all(self) -> list[RuleGroup]:
        """Return all groups, sorted by key."""
        return [RuleGroup(key, tuple(records)) for key, records in sorted(self._records.items())]
