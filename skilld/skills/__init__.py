"""Skills: from a name or path in a log to a checked SKILL.md on this machine; listing them; making new ones.

`spec` checks the Agent Skills specification, `compose` writes a text that passes it, and `new_skill_path` returns where
it goes.
"""

from __future__ import annotations

from skilld.skills.find import Places, Skill, Source, Unusable, find, inventory, read, text
from skilld.skills.project_config import is_left_alone, opt_out

__all__ = ["Places", "Skill", "Source", "Unusable", "find", "inventory", "is_left_alone", "opt_out", "read", "text"]
