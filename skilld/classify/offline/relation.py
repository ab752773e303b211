"""Whether an ask has to do with a skill: shared words, words of one family, or the skill named outright.

What was heard and a skill in, yes or no out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from skilld.classify.offline.choices import choices
from skilld.classify.offline.cues import Cue
from skilld.classify.offline.listen import Heard
from skilld.classify.offline.sections import Block, sections
from skilld.classify.offline.topics import TOPICS
from skilld.types import SkillDoc
from skilld.words import stems

_FAMILIES = tuple(stems(family) for family in TOPICS["near"])
_WEAK = stems(TOPICS["weak"])
_NAMED = re.compile(r"\b(?:th(?:e|is)|your|our|in) (?:\w+ )?skill\b|\bto (?:the )?skill\b", re.IGNORECASE)
_RULE_FILE = re.compile(r"\b(?:claude|agents?|gemini|skill|conventions)\.md\b|\.mdc\b", re.IGNORECASE)
_PER_FILE = re.compile(
    r"\b(?:as (?:is )?(?:per|specified|stated|described|required|documented|written)|according to|per)(?: by| in)?"
    r" (?:the |our |your )?@?[\w./-]+\.mdc?\b",
    re.IGNORECASE,
)
# A turn that begins so answers what the agent just did, and it did that by the skill.
_REACTS = re.compile(
    r"^\W*(?:(?:no|nope|nah|stop|wrong|nein|non|não|нет|нє|ne|nie)\b(?![-\s]+(?:problem|worries|need|idea|one|longer)\b)"
    r"|不[，,!。\s]|不是|不对|别|いや|いいえ|違|아니)",
    re.IGNORECASE,
)
_COMMON_SHARE = 2
_ROOT = 6  # letters that make two words one, across endings and languages ("commituj", "commits")


def related(heard: Heard, change: str, skill: SkillDoc, before: Sequence[str] = ()) -> bool:
    """Whether `change` belongs to `skill`: it shares a topic word with it, or a family, or names it.

    `before` is what the agent said just before: what is said of work that the skill guides belongs to the skill too.
    """
    if _NAMED.search(heard.quote) or skill.name.replace("-", " ").lower() in heard.quote.lower():
        return True
    text = _prose(skill)
    known = stems(f"{skill.name} {text}")
    asked = stems(change)
    if _near(asked, known) or choices(change).keys() & choices(text).keys():
        return True
    agent = stems(" ".join(before))
    return bool(asked & agent - _WEAK) and len(agent & known - _WEAK) >= _COMMON_SHARE


def reacts(heard: Heard, turn: str) -> bool:
    """Whether the ask stands in a turn that begins by objecting to what the agent just did, in its first line."""
    return bool(_REACTS.match(turn)) and "\n" not in turn[: heard.start].strip()


def points_to_rule(heard: Heard) -> bool:
    """Whether the person points to a rule that exists already, by its file: then there is nothing to write down."""
    return bool(_PER_FILE.search(heard.quote) or (heard.cue is Cue.REMINDER and _RULE_FILE.search(heard.quote)))


def _near(asked: frozenset[str], known: frozenset[str]) -> bool:
    roots = {stem[:_ROOT] for stem in known - _WEAK if len(stem) >= _ROOT}
    return (
        bool(asked & known - _WEAK)
        or any(stem[:_ROOT] in roots for stem in asked - _WEAK if len(stem) >= _ROOT)
        or any(asked & family and len(known & family) >= _COMMON_SHARE for family in _FAMILIES)
    )


def _prose(skill: SkillDoc) -> str:
    return "\n".join(
        f"{section.heading}\n" + "\n".join(block.text for block in section.blocks if block.kind is not Block.OTHER)
        for section in sections(skill.text)
    )
