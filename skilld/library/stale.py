"""Which skills are not used any more. Pure. A stale skill is named as such in lists, and nothing else happens to it."""

from __future__ import annotations

DAYS = 90
_DAY = 86400.0


def is_stale(*, used: float, changed: float, watched: float, now: float) -> bool:
    """Whether a skill was neither used nor changed for DAYS days.

    All are Unix times: of the last use (0: none known), of the last change of its file, and since when uses were
    counted. Before uses were counted for as long as that, nothing is called stale.
    """
    return now - max(used, changed) > DAYS * _DAY and now - watched > DAYS * _DAY
