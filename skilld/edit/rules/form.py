"""Lint family of form: text that instructs nobody: a question, somebody's document in quotation marks, a bare command.

A skill is made of instructions. What reads otherwise came in by mistake, or is a text that was meant for the agent of
that moment. They only ever flag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skilld.edit.change import Change
from skilld.edit.findings import Finding, flag

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


def check(change: Change) -> Iterator[Finding]:
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
