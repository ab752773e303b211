"""Lint family T-14: an edit that takes a rule out of a skill, or makes it weaker.

A removal may be just what the person asked for, so it is flagged, never refused; it is never applied without a look.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from skilld.edit.change import Change
from skilld.edit.findings import Finding, flag
from skilld.text import folded

_FORBIDS = re.compile(
    r"\b(?:never|don['’]?t|do not|must not|mustn['’]?t|may not|cannot|can['’]?t|shall not|should not|shouldn['’]?t"
    r"|avoid|forbidden|prohibited|refuse|not allowed|no longer than|at most|only if|only after|unless|without|nunca"
    r"|jamais|niemals|nie)\b",
    re.IGNORECASE,
)
_DEMANDS = re.compile(
    r"\b(?:always|must|required?|ensure|make sure|confirm|ask|approv\w+|review\w*|verif\w+|validat\w+|check\w*"
    r"|test\w*|lint\w*|back ?up|sign\w*|encrypt\w*|sanitiz\w+|escap\w+|audit\w*|warn\w*|stop|abort|siempre|immer"
    r"|toujours)\b",
    re.IGNORECASE,
)
_HEDGES = re.compile(
    r"\b(?:usually|normally|generally|preferably|ideally|if (?:possible|needed|convenient|time|you want|unsure)"
    r"|when(?:ever)? (?:possible|convenient|needed)|optional(?:ly)?|may|might|can|could|consider|try to"
    r"|where (?:possible|practical)|feel free|except|unless|not required|at your discretion)\b",
    re.IGNORECASE,
)
_SAME = 0.5  # share of characters from which a new line counts as the old one reworded
_MOST_LINES, _LONGEST = 40, 400  # lines, and characters of one, among which a reworded one is looked for


def check(change: Change) -> Iterator[Finding]:
    """Flag every instruction that goes away, and every rule that comes back weaker."""
    looked_for = 0
    for line in change.removed:
        text = line.strip()
        if not re.search(r"\w", text) or folded(text) in change.added_folded:
            continue
        looked_for += 1
        heir = _heir(text, change.added) if looked_for <= _MOST_LINES else None
        guards = bool(_FORBIDS.search(text) or _DEMANDS.search(text))
        if heir is None:
            rule, what = ("guard-removed", "a safeguard") if guards else ("instruction-removed", "an instruction")
            yield flag(rule, f"It removes {what}", text)
        elif _weaker(text, heir):
            yield flag("guard-weakened", "It makes a rule weaker", f"{text} -> {heir.strip()}")


def _heir(text: str, added: tuple[str, ...]) -> str | None:
    """Return the added line that most likely takes the place of a removed one."""
    old = text.casefold()[:_LONGEST]
    ratios = [
        (SequenceMatcher(None, old, line.strip().casefold()[:_LONGEST]).ratio(), line) for line in added[:_MOST_LINES]
    ]
    ratio, line = max(ratios, default=(0.0, ""))
    return line if ratio >= _SAME else None


def _weaker(old: str, new: str) -> bool:
    lost_ban = len(_FORBIDS.findall(old)) > len(_FORBIDS.findall(new))
    lost_demand = bool(_DEMANDS.search(old)) and not _DEMANDS.search(new)
    hedged = len(_HEDGES.findall(new)) > len(_HEDGES.findall(old))
    return lost_ban or lost_demand or (hedged and bool(_FORBIDS.search(old) or _DEMANDS.search(old)))
