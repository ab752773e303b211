"""A small skill, and the linter's findings when one bullet is added to it or a piece of it replaced."""

from __future__ import annotations

from skilld.edit.lint import Severity, lint

SKILL = b"""---
name: notes
description: Writes notes.
---

# Notes

## Steps

1. Read `git log`.
2. Write the notes, see docs/style.md.

## Rules

- Never publish without a review.
- Keep it short.
"""


def skill_with_bullet(text: str) -> bytes:
    """Return the skill with `text` as one more bullet at its end, further lines indented."""
    return SKILL + ("- " + text.replace("\n", "\n  ") + "\n").encode()


def lint_bullet(text: str, said: str | None = None) -> dict[str, Severity]:
    """Return rule and severity of each finding for one more bullet; the person said `said`, by default the text."""
    out: dict[str, Severity] = {}
    for finding in reversed(lint(SKILL, skill_with_bullet(text), text if said is None else said)):
        out[finding.rule] = finding.severity
    return out


def lint_replacement(old: str, new: str, said: str | None = None) -> dict[str, Severity]:
    """Return rule and severity of each finding for a replaced piece of the skill."""
    after = SKILL.replace(old.encode(), new.encode())
    return {finding.rule: finding.severity for finding in lint(SKILL, after, new if said is None else said)}
