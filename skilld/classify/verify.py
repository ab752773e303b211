"""A back-end's updates, checked in code: what may be proposed, what is kept as a learning, what is dropped.

Pure. The back-end is not trusted: its quote must stand in what the person typed, the change must be supported by it,
and neither the skill nor the session's standing instructions may say it already.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from skilld.classify.assent import is_bare_assent, question
from skilld.classify.endorse import Endorsed, endorsed
from skilld.classify.offline.provenance import own_words
from skilld.classify.offline.said import says_already
from skilld.classify.polarity import asks_to_remove, turns_round
from skilld.classify.quotes import as_typed
from skilld.classify.support import Support, adds_only, supports
from skilld.types import Kind, Message, SkillDoc, Update

# Words that a reason is made of, whoever gives it.
_REASONS = """asked asks for from now on always never stated as a preference how it is done here not to be done without
consent remembered or written down stop said before user person requested corrected correction wants prefers explicit
explicitly lasting rule standing request preference repeated instruction future work applies session agent"""
_PLACEHOLDER = "[REDACTED:"
_ENDS = re.compile(r"[.!?\n]+(?:\s|$)|\n")
_BLANKS = re.compile(r"[ \t]+")
_TELLING = 4  # words by which a quote tells its turn, whatever number the model gave it
_LONGEST_QUOTE = 600  # characters kept of one


@dataclass(frozen=True, slots=True)
class Checked:
    """An update that may be proposed.

    `by_assent`: its content is not in the person's own words but in those that they said yes to, so a person must look.
    `taken_up` are those words, as far as commands and addresses may come from them.
    """

    update: Update
    by_assent: bool = False
    taken_up: str = ""


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
        said = _turn(messages, update)
        if said is None:
            faults.append("it names a turn that is not there")
            continue
        skill = next((doc for doc in skills if doc.number == update.skill), None)
        tidy, support, taken_up = _checked(update, said, skill)
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
            proposed.append(Checked(tidy, support.by_assent, taken_up))
    return Verdict(tuple(_each_once(proposed)), tuple(learned), tuple(dropped), tuple(faults), tuple(foreign))


@dataclass(frozen=True, slots=True)
class _Said:
    """A human turn: all of it, what of it the person typed, and the agent's text directly before."""

    turn: int
    text: str
    typed: str
    offer: str


def _checked(update: Update, said: _Said, skill: SkillDoc | None) -> tuple[Update, Support, str]:
    """Return the update tidied, with the quote as it was typed; whether the turn supports it; and what it takes up.

    A question of the agent's and a quotation of the person's own were read before they were said yes to, word by word;
    of a longer text of the agent's that cannot be known.
    """
    tidy = replace(update, turn=said.turn, change=_tidy(update.change))
    if not adds_only(update.reason, f"{said.typed}\n{update.change}\n{_REASONS}"):
        tidy = replace(tidy, reason="")  # it reaches the commit message, so it may say no more than the rest
    if _PLACEHOLDER in update.change:
        return tidy, Support("it would hold a secret"), ""
    quote = as_typed(update.quote, said.typed)[:_LONGEST_QUOTE].strip()
    own = _support(replace(tidy, quote=quote), said, skill) if quote else Support("it quotes words that nobody typed")
    if own.ok:
        return replace(tidy, quote=quote), own, question(said.offer) if own.by_assent else ""
    taken_up = endorsed(said.text, said.typed, said.offer)
    if taken_up and (quote or as_typed(update.quote, taken_up.words)) and _carries(taken_up, tidy, said, skill):
        tidy = replace(tidy, quote=taken_up.by[:_LONGEST_QUOTE])
        return tidy, Support(by_assent=True), taken_up.words if taken_up.quoted else ""
    return replace(tidy, quote=quote), own, ""


def _support(update: Update, said: _Said, skill: SkillDoc | None) -> Support:
    offer = said.offer if is_bare_assent(said.typed, said.offer) else ""
    support = supports(update.change, said.typed, skill.text if skill else "", offer=offer)
    if support.by_assent:
        return (
            Support("it says the opposite of what was offered")
            if turns_round(update.change, offer, complaint=False)
            else support
        )
    sentence = _sentence(update.quote, said.typed)
    removes = update.kind is Kind.REMOVE_STEP
    if not asks_to_remove(sentence) if removes else turns_round(update.change, sentence):
        return Support("it says the opposite of the words it quotes")
    return replace(support, foreign=not support.ok)


def _carries(taken_up: Endorsed, update: Update, said: _Said, skill: SkillDoc | None) -> bool:
    """Whether the change stands in the words that the person made their own, and is not turned round."""
    ground = f"{said.typed}\n{taken_up.words}"
    support = supports(update.change, ground, skill.text if skill else "")
    return support.ok and not turns_round(update.change, taken_up.words, complaint=False)


def _is_said(update: Update, text: str) -> bool:
    """Whether a text says an update already. A line that is to change says nearly the same, one to remove all of it."""
    if update.kind is Kind.REMOVE_STEP:
        return False
    covered = 1.0 if update.kind is Kind.CHANGE_STEP else 0.8
    return says_already(update.change, text, covered=covered)


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
    same = one.update.skill == other.update.skill and one.update.kind is other.update.kind
    return same and says_already(other.update.change, one.update.change)


def _sentence(quote: str, typed: str) -> str:
    """Return the sentence around a quote: what it was cut from may deny it ("never" left out)."""
    at = typed.find(quote)
    if at < 0:
        return quote
    begin = max((match.end() for match in _ENDS.finditer(typed, 0, at)), default=0)
    end = _ENDS.search(typed, at + len(quote))
    return typed[begin : end.start() if end else len(typed)]


def _turn(messages: Sequence[Message], update: Update) -> _Said | None:
    """Return the human turn that an update goes back to: the one it names, or the only other one that has its quote."""
    said = [_said(messages, index) for index, message in enumerate(messages) if message.turn is not None]
    named = next((one for one in said if one.turn == update.turn), None)
    if named and not as_typed(update.quote, named.typed) and len(update.quote.split()) >= _TELLING:
        holding = [one for one in said if as_typed(update.quote, one.typed)]
        return holding[0] if len(holding) == 1 else named
    return named


def _said(messages: Sequence[Message], index: int) -> _Said:
    message, before = messages[index], messages[index - 1] if index else None
    typed = own_words(message.text, [other.text for other in messages[:index] if not other.by_person])
    return _Said(message.turn or 0, message.text, typed, "" if before is None or before.by_person else before.text)


def _tidy(change: str) -> str:
    """Return the change as one line of text without a bullet of its own."""
    return _BLANKS.sub(" ", " ".join(change.split())).removeprefix("- ").removeprefix("* ")
