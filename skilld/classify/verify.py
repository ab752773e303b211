"""A back-end's updates, checked in code: what may be proposed, what is kept as a learning, what is dropped.

Pure. The back-end is not trusted: its quote must stand in what the person typed, the change must be supported by it,
and neither the skill nor the session's standing instructions may say it already.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from skilld.classify.evidence import judged, turn_of
from skilld.classify.offline.said import says_already
from skilld.classify.support import adds_only
from skilld.types import Kind, Message, SkillDoc, Update

# Words that a reason is made of, whoever gives it.
_REASONS = """asked asks for hold from now on always never stated as a preference how it is done here not to be done
without consent remembered or written down stop said before user person requested corrected correction wants prefers
explicit explicitly lasting rule standing request preference repeated instruction future work applies session agent"""
_NEW_SENTENCE = re.compile(
    r"(?<=\w)[ \t]*\n\s*(?:[-*] )?(?=[^\W\d_a-z])"
)  # what a line break ends, without a full stop
_BLANKS = re.compile(r"[ \t]+")


@dataclass(frozen=True, slots=True)
class Checked:
    """An update that may be proposed.

    `by_assent`: its content is not in the person's own words but in those that they said yes to, so a person must look.
    `taken_up` are those words, as far as commands and addresses may come from them. `beyond` are the parts of the
    change that hold none of the words that it rests on.
    """

    update: Update
    by_assent: bool = False
    taken_up: str = ""
    beyond: tuple[str, ...] = ()


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
        said = turn_of(messages, update)
        if said is None:
            faults.append("it names a turn that is not there")
            continue
        skill = next((doc for doc in skills if doc.number == update.skill), None)
        tidy, support, taken_up = judged(_tidied(update, said.typed), said, skill)
        if not support.ok:
            faults.append(support.why_not)
            if support.foreign:
                foreign.append(tidy)
        elif skill is None:
            learned.append((tidy, "no skill was in use"))
        elif _is_said(tidy, skill.text):
            dropped.append("the skill says it already")
        elif instructions and _is_said(tidy, instructions):
            dropped.append("the project's standing instructions say it already")
        elif update.confidence < sure:
            learned.append((tidy, "it is not sure enough, or not about this skill"))
        else:
            proposed.append(Checked(tidy, support.by_assent, taken_up, support.beyond))
    return Verdict(tuple(_each_once(proposed)), tuple(learned), tuple(dropped), tuple(faults), tuple(foreign))


def _is_said(update: Update, text: str) -> bool:
    """Whether a text says an update already. A line that is to change says nearly the same, one to remove all of it."""
    if update.kind is Kind.REMOVE_STEP:
        return False
    if update.kind is Kind.CHANGE_STEP:
        return says_already(update.change, text, covered=1.0, whole=True)
    return says_already(update.change, text)


def _each_once(proposed: Sequence[Checked]) -> list[Checked]:
    """Return the updates without those that another one of the same skill says too, in more words or first."""
    kept: list[Checked] = []
    for item in proposed:
        if any(_covers(other, item) for other in kept):
            continue
        kept = [other for other in kept if not _covers(item, other)]
        kept.append(item)
    return kept


def _covers(one: Checked, other: Checked) -> bool:
    """Whether one update says what another one does, and neither takes away what the other puts in."""
    mine, theirs = one.update, other.update
    alike = mine.skill == theirs.skill and (mine.kind is Kind.REMOVE_STEP) == (theirs.kind is Kind.REMOVE_STEP)
    return alike and says_already(theirs.change, mine.change)


def _tidied(update: Update, typed: str) -> Update:
    """Return the update with its change as one line without a bullet of its own, and no reason that says more."""
    lines = _NEW_SENTENCE.sub(". ", update.change)
    change = _BLANKS.sub(" ", " ".join(lines.split())).removeprefix("- ").removeprefix("* ")
    if adds_only(update.reason, f"{typed}\n{update.change}\n{_REASONS}"):
        return replace(update, change=change)
    return replace(update, change=change, reason="")  # it reaches the commit message
