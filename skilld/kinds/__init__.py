"""Kinds of skill: a SKILL.md as a value, what each kind must have, and back to text.

Texts enter and leave; nothing here reads a file. Everything a kind needs stands in the SKILL.md itself: short facts
under `metadata.skilld-*`, steps and examples as sections of its body that agents read.
"""

from __future__ import annotations

from skilld.kinds.draft import Draft, SkillKind, Variable
from skilld.kinds.faults import faults
from skilld.kinds.skill_md import input_schema, read, write

__all__ = ["Draft", "SkillKind", "Variable", "faults", "input_schema", "read", "write"]
