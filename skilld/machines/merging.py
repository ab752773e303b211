"""What several machines know of one person's rules, as one: a union that is the same in any order. Pure.

Of each slot one record holds. A machine that changes what it knows gives it the next `rev`; two that did so at the same
time are told apart by what they decided: what wrote a file goes before what did not, then the later one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from skilld.team.records import MAX_HEARD, Record, What, encode, slot
from skilld.text import folded
from skilld.words import content_stems, denies, same

Slot = tuple[str, str]
_WRITES = frozenset({"accepted", "reverted"})


def joined(*sets: Iterable[Record]) -> dict[Slot, Record]:
    """Return the union of records: of each slot the highest, with the sessions that any of them names."""
    kept: dict[Slot, Record] = {}
    for record in (one for records in sets for one in records):
        at = slot(record)
        kept[at] = together(kept[at], record) if at in kept else record
    return kept


def together(one: Record, other: Record) -> Record:
    """Return the higher of two records of one slot, with the sessions of both, the newest of many."""
    heard = sorted({*one.heard, *other.heard})[-MAX_HEARD:]
    return replace(max(one, other, key=rank), heard=tuple(heard))


def rank(record: Record) -> tuple[int, bool, str, bytes]:
    """Return what two records of one slot are compared by."""
    return record.rev, *weight(record), encode(replace(record, heard=()))


def weight(record: Record) -> tuple[bool, str]:
    """Return which of two decisions that knew nothing of each other holds."""
    return record.said in _WRITES, record.at


@dataclass(frozen=True, slots=True)
class Group:
    """Records that say the same in one file, in whatever words, the one with the group's `key` first."""

    key: str
    records: tuple[Record, ...]

    @property
    def best(self) -> Record:
        """What holds of them."""
        return max(self.records, key=rank)

    @property
    def heard(self) -> frozenset[str]:
        """The sessions in which it was said."""
        return frozenset(one for record in self.records for one in record.heard)


class Groups:
    """The proposals of all machines, each group a rule of one file."""

    def __init__(self, known: Iterable[Record]) -> None:
        self._of: dict[str, list[tuple[Record, frozenset[str]]]] = {}  # by file: the first of each group
        self._records: dict[str, list[Record]] = {}
        decided = (one for one in known if one.what is What.DECIDED)
        for record in sorted(decided, key=lambda one: one.key):
            self.add(record)

    def add(self, record: Record) -> str:
        """Put a record into the group that says the same, or into one of its own; returns the group's key."""
        leader = self.find(record.rule, record.place) or record.key
        if leader == record.key:
            self._of.setdefault(record.place, []).append((record, content_stems(record.rule)))
        self._records.setdefault(leader, []).append(record)
        return leader

    def find(self, rule: str, place: str) -> str:
        """Return the key of the group that says a rule; empty where none does."""
        stems = content_stems(rule)
        near = (one for one, others in self._of.get(place, ()) if same(stems, others) or one.rule == rule)
        return next((one.key for one in near if _is_same(one.rule, rule)), "")

    def get(self, key: str) -> Group | None:
        """Return the group of a key, if there is one."""
        return Group(key, tuple(self._records[key])) if key in self._records else None

    def of(self, rule: str, place: str) -> Group | None:
        """Return the group that says a rule, if one does."""
        return self.get(self.find(rule, place))

    def all(self) -> list[Group]:
        """Return all groups, by their keys."""
        return [Group(key, tuple(records)) for key, records in sorted(self._records.items())]


def _is_same(one: str, other: str) -> bool:
    from skilld.classify.said_already import is_same_change  # the tables of languages: 0.1 s

    return folded(one) == folded(other) or (denies(one) == denies(other) and is_same_change(one, other))
