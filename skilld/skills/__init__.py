"""Skills: from the name or path that a log claims to a checked SKILL.md on this machine, a list of them all, new ones.

`spec` is the Agent Skills specification as a check, `compose` writes a text that passes it, `landing` says where that
goes.
"""

from __future__ import annotations

from skilld.skills.find import Places, Skill, Source, Unusable, find, inventory, opt_out, read, text

__all__ = ["Places", "Skill", "Source", "Unusable", "find", "inventory", "opt_out", "read", "text"]
