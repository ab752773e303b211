"""Skills: from a name or path in a log to a checked SKILL.md on this machine; listing them; making new ones.

`spec` is the Agent Skills specification as a check, `compose` writes a text that passes it, `landing` says where that
goes.
"""

from __future__ import annotations

from skilld.skills.find import Places, Skill, Source, Unusable, find, inventory, opt_out, read, text

__all__ = ["Places", "Skill", "Source", "Unusable", "find", "inventory", "opt_out", "read", "text"]
