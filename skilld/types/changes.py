"""What became of proposals when a branch was read or written: values that go from a worker to the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from skilld.types.proposals import Operation, Proposal, State


@dataclass(frozen=True, slots=True)
class CommitChange:
    """A proposal is another commit now."""

    proposal: str
    commit: str
    base: str


@dataclass(frozen=True, slots=True)
class EditChange:
    """A proposal's edit is made by other operations now."""

    proposal: str
    operations: tuple[Operation, ...]
    note: str


@dataclass(frozen=True, slots=True)
class StateChange:
    """A proposal came to another state from `before`; this holds only where it is still in that one."""

    proposal: str
    before: State
    after: State
    commit: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class AutoApply:
    """A proposal was applied unasked."""

    proposal: str
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What became of proposals that were there, `remade` with another edit for the same words.

    `rests` has the warning about each repository's base by its address, empty where there is nothing to warn of.
    """

    moved: tuple[CommitChange, ...] = ()
    refitted: tuple[EditChange, ...] = ()
    decisions: tuple[StateChange, ...] = ()
    applied: tuple[AutoApply, ...] = ()
    remade: tuple[Proposal, ...] = ()
    rests: Mapping[str, str] = field(default_factory=dict)
    homes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AddressChange:
    """A proposal's repository, and its skill there, have another address now."""

    proposal: str
    repo: str
    path: str
