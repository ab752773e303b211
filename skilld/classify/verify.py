"""A back-end's updates, checked in code: what may be proposed, what is kept as a learning, what is dropped.

Pure. The back-end is not trusted: its quote must stand in what the person typed, the change must be supported by it,
and neither the skill nor the session's standing instructions may say it already.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from skilld.classify.offline.provenance import own_words
from skilld.classify.offline.said import says_already
from skilld.classify.support import stands_in, supports
from skilld.text import fold
from skilld.types import Message, SkillDoc, Update

CONFIDENT = 0.5  # below it nothing is proposed
_ASSENT_WORDS = 8  # a bare assent is at most so long
_PLACEHOLDER = "[REDACTED:"
_BLANKS = re.compile(r"[ \t]+")


@dataclass(frozen=True, slots=True)
class Checked:
    """An update that may be proposed. `by_assent`: its content comes from the agent's offer, so a person must look."""

    update: Update
    by_assent: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """The updates of a batch after the checks. `learned` and `dropped` carry why, as a clause for the person."""

    proposed: tuple[Checked, ...] = ()
    learned: tuple[tuple[Update, str], ...] = ()
    dropped: tuple[str, ...] = ()


def verify(
    updates: Sequence[Update], messages: Sequence[Message], skills: Sequence[SkillDoc], instructions: str = ""
) -> Verdict:
    """Check the updates of one batch against its messages and skills."""
    proposed: list[Checked] = []
    learned: list[tuple[Update, str]] = []
    dropped: list[str] = []
    for update in updates:
        said = _turn(messages, update.turn)
        if said is None:
            dropped.append("it names a turn that is not there")
            continue
        index, text, offer = said
        typed = own_words(text, [m.text for m in messages[:index] if not m.by_person])
        tidy = replace(update, change=_tidy(update.change), quote=_as_typed(update.quote, typed))
        skill = next((doc for doc in skills if doc.number == update.skill), None)
        why, by_assent = _why_not(tidy, typed, offer, skill)
        if why:
            dropped.append(why)
        elif skill is None:
            learned.append((tidy, "no skill was in use"))
        elif says_already(tidy.change, skill.text):
            dropped.append("the skill says it already")
        elif instructions and says_already(tidy.change, instructions):
            dropped.append("the project's standing instructions say it already")
        elif update.confidence < CONFIDENT:
            learned.append((tidy, "it is not sure enough, or not about this skill"))
        else:
            proposed.append(Checked(tidy, by_assent))
    return Verdict(tuple(proposed), tuple(learned), tuple(dropped))


def _why_not(update: Update, typed: str, offer: str, skill: SkillDoc | None) -> tuple[str, bool]:
    if not stands_in(update.quote, typed):
        return "it quotes words that nobody typed", False
    if _PLACEHOLDER in update.change:
        return "it would hold a secret", False
    support = supports(update.change, typed, skill.text if skill else "", offer=offer if _is_assent(typed) else "")
    return support.why_not, support.by_assent


def _turn(messages: Sequence[Message], turn: int) -> tuple[int, str, str] | None:
    """Return the place and text of a human turn, and the agent's text directly before it."""
    for index, message in enumerate(messages):
        if message.turn == turn:
            before = messages[index - 1] if index else None
            return index, message.text, "" if before is None or before.by_person else before.text
    return None


def _is_assent(typed: str) -> bool:
    return len(typed.split()) <= _ASSENT_WORDS


def _as_typed(quote: str, typed: str) -> str:
    """Return the quote with its white space folded; a model's surrounding quotation marks are not part of it."""
    folded = fold(quote)
    bare = folded.strip("\"'\u201c\u201d")
    return bare if not stands_in(folded, typed) and stands_in(bare, typed) else folded


def _tidy(change: str) -> str:
    """Return the change as one line of text without a bullet of its own."""
    return _BLANKS.sub(" ", " ".join(change.split())).removeprefix("- ").removeprefix("* ")
