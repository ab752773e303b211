"""Jobs that are a verb of the program's own: the daemon starts it, and it finds by itself what there is to do."""

from __future__ import annotations

from dataclasses import dataclass

from skilld.codec import TaggedUnion


@dataclass(frozen=True, slots=True)
class Mine(TaggedUnion):
    """Past sessions, to be mined."""


@dataclass(frozen=True, slots=True)
class Mend(TaggedUnion):
    """Rules that are not kept, to be mended."""


@dataclass(frozen=True, slots=True)
class SyncTeams(TaggedUnion):
    """The teams that the person joined, to be synced."""


@dataclass(frozen=True, slots=True)
class SyncMachines(TaggedUnion):
    """The person's machines, to be synced."""


Errand = Mine | Mend | SyncTeams | SyncMachines
