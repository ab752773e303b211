"""A draft: a SKILL.md as a value, what each kind of skill must have, and back to text.

Texts enter and leave; nothing here reads a file. Everything a kind needs stands in the SKILL.md itself: short facts
under `metadata.skilld-*`, steps and examples as sections of its body that agents read.
"""

from __future__ import annotations

from skilld.draft.faults import faults
from skilld.draft.leaving import Said, carried, cleared, cleared_body
from skilld.draft.skill_md import EXAMPLE, input_schema, read, write
from skilld.draft.values import Draft, SkillKind, Variable

__all__ = [
    "EXAMPLE",
    "Draft",
    "Said",
    "SkillKind",
    "Variable",
    "carried",
    "cleared",
    "cleared_body",
    "faults",
    "input_schema",
    "read",
    "write",
]
