"""Skills: from the name or path that a log claims to a checked SKILL.md on this machine."""

from __future__ import annotations

from skilld.skills.find import Places, Unusable, find, read

__all__ = ["Places", "Unusable", "find", "read"]
