"""Lint families of form and T-14: text that instructs nobody, and edits that take a rule out or weaken it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from skilld.edit.change import Change
from skilld.edit.findings import Finding, flag
from skilld.text import folded

_ITEM = r"(?:^|\n)[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?"
_ASKS = re.compile(
    r"(?:what|who|whose|where|why|how)\s+(?:is|are|was|were|am|does|do|did|can|could|would|should|many|much)\b",
    re.IGNORECASE,
)
_REPROACH = re.compile(
    r"\bwhy\s+(?:did|do|does|are|were|is|was|would|have|had)\w*(?:n['’]?t)?\s+(?:you|we|I)\b", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"(?<=[.!?？。])\s+|\n+")
_ONE_OFF = re.compile(
    rf"{_ITEM}(?:(?:please|(?:can|could|would|will) you)[,\s]+)*(?:help (?:me|us)|I (?:need|want) you to"
    r"|(?:write|draft|summari[sz]e|translate|compose|generate) (?:me|us|a|an|this)\b[^.\n]{0,60}"
    r"\b(?:based on|about|from|for|of) (?:this|the following|these)\b)",
    re.IGNORECASE,
)
_LONG_QUOTE = 60  # characters in quotation marks from which they hold a text, not a name or a phrase to use
_QUOTATION = re.compile(
    rf"\"[^\"\n]{{{_LONG_QUOTE},}}\"|“[^”\n]{{{_LONG_QUOTE},}}”|«[^»\n]{{{_LONG_QUOTE},}}»|「[^」\n]{{30,}}」"
    rf"|„[^“”\n]{{{_LONG_QUOTE},}}[“”]|(?<!\w)'[^\n]{{{_LONG_QUOTE},2000}}'(?!\w)"
)
_MARKER = re.compile(r"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?")


def check_form(change: Change) -> Iterator[Finding]:
    """Flag what is no instruction."""
    said = _MARKER.sub("", change.prose, count=1).strip()
    if _is_question(said):
        yield flag("question", "It only asks something, where a skill says what to do", said)
    for match in change.matches(_ONE_OFF, change.prose):
        yield flag("one-off", "It asks for one piece of work, where a skill says what always holds", match[0])
    for match in change.matches(_QUOTATION):
        yield flag("quotation", "It carries a whole text in quotation marks", match[0])
    if change.spans and not re.search(r"\w", said) and not change.code:
        yield flag("bare-command", "It is a command without a word on when to run it", " ".join(change.spans))


def _is_question(said: str) -> bool:
    """Whether a text does nothing but ask. "Why are you not using tabs?" is how people object, and no such thing."""
    sentences = [sentence for sentence in _SENTENCE_END.split(said) if re.search(r"\w", sentence)]
    asks = bool(_ASKS.match(said)) or all(sentence.endswith(("?", "？")) for sentence in sentences)
    return bool(sentences) and asks and not _REPROACH.search(said)


# Lint family T-14: an edit that takes a rule out of a skill, or makes it weaker.
#
# A removal may be just what the person asked for, so it is flagged, never refused; it is never applied without a
# look.

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


def check_guards(change: Change) -> Iterator[Finding]:
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
