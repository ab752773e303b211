"""The front matter of a skill that is made: of our own writing or refused, and laid open to the rules.

A new skill's bytes go in; findings come out, and the bytes that the rules of all families judge as added: its
description, which every agent reads before the rest, stands there as the first paragraph of the body.
"""

from __future__ import annotations

from skilld.edit.findings import Finding, refuse
from skilld.errors import SkilldError
from skilld.markdown.skill_file import SkillFile, parse
from skilld.skills.compose import compose
from skilld.skills.front import front


def laid_open(after: bytes) -> tuple[list[Finding], bytes]:
    """Return what speaks against the front matter, and the skill as one body. Raises as `parse` does."""
    skill = parse(after)
    said = front(skill.front)
    findings = [] if _is_ours(skill) else [refuse("front-matter", "Its front matter is not as skilld writes one")]
    body = SkillFile(bom=False, front="", body=skill.body).data
    return findings, said.description.encode("utf-8") + b"\n\n" + body


def _is_ours(skill: SkillFile) -> bool:
    """Whether the front matter is, byte for byte, what `compose` writes of its name, description and marks."""
    said = front(skill.front)
    if skill.bom or any(not key.startswith("skilld-") for key in said.metadata):
        return False
    try:
        again = compose(said.name, said.description, "body", said.metadata)
    except SkilldError:
        return False
    return parse(again.encode("utf-8")).front == skill.front
