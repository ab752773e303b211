"""How the short tables of the other languages become patterns.

These languages put the cue where English does: in front of the instruction, behind it, or right behind its first verb.
"""

from __future__ import annotations

from skilld.classify.offline.cues.base import Cue, Language, Pattern, compiled

RULE_FILES = r"(?:\b[A-Za-z-]+\.md\b|[\w/.-]+\.mdc\b|\bskills?\b|\bcursorrules\b)"


def language(
    code: str,
    *,
    openers: str,
    frames: str,
    lasting: str,
    never_again: str,
    adverb: str,
    subjects: str,
    memory: str,
    stop: str,
    vetoes: str,
    retracts: str,
    asks: str,
    told: str = "",
) -> Language:
    """Build a language from its words, each argument an alternation in verbose syntax.

    `frames` ("from now on"), `lasting` ("each time you") and `never_again` are enough at either end of a clause; only
    the first are cut from an instruction. `adverb` needs the clause to begin with it, or with one word that is
    none of `subjects` and so most likely a verb. `told` are openings that make any clause an instruction ("I want you
    to", "you must").
    """
    ends = "|".join((frames, lasting, never_again))
    patterns = [
        _p(Cue.LASTING, 0.85, rf"^(?:{ends})\b[\s,:–—-]*\S+\s+\S"),
        _p(Cue.LASTING, 0.8, rf"^(?!(?:{subjects})\b)\w+\b.*\b(?:{ends})\s*[.!]*$"),
        _p(Cue.ADVERB, 0.75, rf"^(?:{adverb})\s+(?!(?:{subjects})\b)\w+.*\s\S"),
        _p(Cue.ADVERB, 0.75, rf"^(?!(?:{subjects})\b)\w+\s+(?:{adverb})\b\s*\S"),
        _p(Cue.ADVERB, 0.65, rf"^(?!(?:{subjects})\b)\w+\s+.*[\s,](?:{adverb})\s*[.!]*$"),
        _p(Cue.MEMORY, 0.8, memory),
        _p(Cue.STOP, 0.75, stop),
    ]
    if told:
        patterns.append(_p(Cue.ADVERB, 0.75, rf"^(?:{told})\b.*\b(?:{adverb}|{ends})\b"))
    return Language(
        code=code,
        openers=compiled(rf"^(?:(?:{openers})(?:\s*[,.!:;–—-]+\s*|\s+))+"),
        patterns=tuple(patterns),
        vetoes=compiled(rf"\b(?:{vetoes})\b"),
        frames=compiled(rf"(?:^|[\s,–—-]+)(?:{frames})(?:[\s,:–—-]+|(?=[.!]|$))"),
        retracts=compiled(rf"\b(?:{retracts})"),
        asks=compiled(rf"^(?:{asks})\b"),
    )


def _p(cue: Cue, strength: float, source: str) -> Pattern:
    return Pattern(cue, strength, compiled(source))
