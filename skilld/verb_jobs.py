"""Jobs that run a verb of skilld, which looks for its own work."""

from __future__ import annotations

from dataclasses import dataclass

from skilld.codec import TaggedUnion


@dataclass(frozen=True, slots=True)
class MineSessions(TaggedUnion):
    """Mine past sessions: `skilld mine`."""


@dataclass(frozen=True, slots=True)
class MendRules(TaggedUnion):
    """Propose remedies for rules that are not followed: `skilld effect`."""


@dataclass(frozen=True, slots=True)
class SyncTeams(TaggedUnion):
    """Sync the teams that the person joined: `skilld team sync`."""


@dataclass(frozen=True, slots=True)
class SyncMachines(TaggedUnion):
    """Sync the person's machines: `skilld machines sync`."""


VerbJob = MineSessions | MendRules | SyncTeams | SyncMachines
