"""Skills: from the name or path that a log claims to a checked SKILL.md on this machine."""

from __future__ import annotations

from skilld.skills.find import Places, Unusable, find, read
from skilld.skills.narrow import why_left_alone

__all__ = ["Places", "Unusable", "find", "read", "why_left_alone"]
