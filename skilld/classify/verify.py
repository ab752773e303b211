"""A back-end's updates, checked in code: what may be proposed, what is kept as a learning, what is dropped.

Pure. The back-end is not trusted: its quote must stand in what the person typed, the change must be supported by it,
and neither the skill nor the session's standing instructions may say it already.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from skilld.classify.assent import is_bare_assent
from skilld.classify.offline.provenance import own_words
from skilld.classify.offline.said import says_already
from skilld.classify.polarity import turns_round
from skilld.classify.support import Support, adds_only, stands_in, supports
from skilld.text import fold
from skilld.types import Message, SkillDoc, Update

# Words that a reason is made of, whoever gives it.
_REASONS = """asked asks for from now on always never stated as a preference how it is done here not to be done without
consent remembered or written down stop said before user person requested corrected correction wants prefers explicit
explicitly lasting rule standing request preference repeated instruction future work applies session agent"""
_PLACEHOLDER = "[REDACTED:"
_ENDS = re.compile(r"[.!?\n]+(?:\s|$)|\n")
_BLANKS = re.compile(r"[ \t]+")


@dataclass(frozen=True, slots=True)
class Checked:
    """An update that may be proposed. `by_assent`: its content comes from the agent's offer, so a person must look."""

    update: Update
    by_assent: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """The updates of a batch after the checks. `learned` and `dropped` carry why, as a clause for the person.

    `faults` say what was wrong with updates that a back-end should never have made. `foreign` are those among them
    whose quote is right and whose change is in other words than the person's.
    """

    proposed: tuple[Checked, ...] = ()
    learned: tuple[tuple[Update, str], ...] = ()
    dropped: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    foreign: tuple[Update, ...] = ()

    def __add__(self, other: Verdict) -> Verdict:
        return Verdict(
            self.proposed + other.proposed,
            self.learned + other.learned,
            self.dropped + other.dropped,
            self.faults + other.faults,
            self.foreign + other.foreign,
        )


def verify(
    updates: Sequence[Update],
    messages: Sequence[Message],
    skills: Sequence[SkillDoc],
    instructions: str = "",
    *,
    sure: float = 0.5,
) -> Verdict:
    """Check the updates of one batch against its messages and skills; below the confidence `sure` none is proposed."""
    proposed: list[Checked] = []
    learned: list[tuple[Update, str]] = []
    dropped: list[str] = []
    faults: list[str] = []
    foreign: list[Update] = []
    for update in updates:
        said = _turn(messages, update.turn)
        if said is None:
            faults.append("it names a turn that is not there")
            continue
        index, text, offer = said
        typed = own_words(text, [m.text for m in messages[:index] if not m.by_person])
        tidy = replace(update, change=_tidy(update.change), quote=_as_typed(update.quote, typed))
        if not adds_only(update.reason, f"{typed}\n{update.change}\n{_REASONS}"):
            tidy = replace(tidy, reason="")  # it reaches the commit message, so it may say no more than the rest
        skill = next((doc for doc in skills if doc.number == update.skill), None)
        support = _support(tidy, typed, offer, skill)
        if not support.ok:
            faults.append(support.why_not)
            if support.foreign:
                foreign.append(tidy)
        elif skill is None:
            learned.append((tidy, "no skill was in use"))
        elif says_already(tidy.change, skill.text):
            dropped.append("the skill says it already")
        elif instructions and says_already(tidy.change, instructions):
            dropped.append("the project's standing instructions say it already")
        elif update.confidence < sure:
            learned.append((tidy, "it is not sure enough, or not about this skill"))
        else:
            proposed.append(Checked(tidy, support.by_assent))
    return Verdict(tuple(proposed), tuple(learned), tuple(dropped), tuple(faults), tuple(foreign))


def _support(update: Update, typed: str, offer: str, skill: SkillDoc | None) -> Support:
    if not stands_in(update.quote, typed):
        return Support("it quotes words that nobody typed")
    if _PLACEHOLDER in update.change:
        return Support("it would hold a secret")
    if turns_round(update.change, _sentence(update.quote, typed)):
        return Support("it says the opposite of the words it quotes")
    taken_up = offer if is_bare_assent(typed, offer) else ""
    support = supports(update.change, typed, skill.text if skill else "", offer=taken_up)
    return replace(support, foreign=not support.ok)


def _sentence(quote: str, typed: str) -> str:
    """Return the sentence around a quote: what it was cut from may deny it ("never" left out)."""
    at = typed.find(quote)
    if at < 0:
        return quote
    begin = max((match.end() for match in _ENDS.finditer(typed, 0, at)), default=0)
    end = _ENDS.search(typed, at + len(quote))
    return typed[begin : end.start() if end else len(typed)]


def _turn(messages: Sequence[Message], turn: int) -> tuple[int, str, str] | None:
    """Return the place and text of a human turn, and the agent's text directly before it."""
    for index, message in enumerate(messages):
        if message.turn == turn:
            before = messages[index - 1] if index else None
            return index, message.text, "" if before is None or before.by_person else before.text
    return None


def _as_typed(quote: str, typed: str) -> str:
    """Return the quote with its white space folded; a model's surrounding quotation marks are not part of it."""
    folded = fold(quote)
    bare = folded.strip("\"'\u201c\u201d")
    return bare if not stands_in(folded, typed) and stands_in(bare, typed) else folded


def _tidy(change: str) -> str:
    """Return the change as one line of text without a bullet of its own."""
    return _BLANKS.sub(" ", " ".join(change.split())).removeprefix("- ").removeprefix("* ")
