"""Jobs that run a verb of skilld, which looks for its own work."""

from __future__ import annotations

from skilld.codec import TaggedUnion
from skilld.values import value_class


@value_class
class MineSessions(TaggedUnion):
    """Mine past sessions: `skilld mine`."""


@value_class
class MendRules(TaggedUnion):
    """Propose remedies for rules that are not followed: `skilld effect`."""


@value_class
class SyncTeams(TaggedUnion):
    """Sync the teams that the person joined: `skilld team sync`."""


@value_class
class SyncMachines(TaggedUnion):
    """Sync the person's machines: `skilld machines sync`."""


VerbJob = MineSessions | MendRules | SyncTeams | SyncMachines
