"""Take one update to the turn it names: whether its quote stands there, and the words carry its change.

Pure. Messages, an update and a skill in; the update with its quote as it was typed, and the judgement out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from skilld.classify.assent import is_bare_assent, question
from skilld.classify.clauses import beyond, without_beyond
from skilld.classify.endorse import Endorsed, endorsed
from skilld.classify.offline.provenance import own_words, without_quotations
from skilld.classify.passed_back import passed_back
from skilld.classify.polarity import asks_to_remove, turns_round
from skilld.classify.quotes import as_typed
from skilld.classify.support import Support, supports
from skilld.types import Kind, Message, SkillDoc, Update
from skilld.words import count_words

_PLACEHOLDER = "[REDACTED:"
_ENDS = re.compile(r"(?<![.!?]{2})[.!?]++(?:\s|$)|\n")
_TELLING = 4  # words by which a quote tells its turn, whatever number the model gave it
_SENTENCE_WORDS = 4  # with fewer a quotation is a term or a command
_LONGEST_QUOTE = 600  # characters kept of one


@dataclass(frozen=True, slots=True)
class Said:
    """A human turn: all of it, what of it the person typed, and the agent's text directly before."""

    turn: int
    text: str
    typed: str
    offer: str


def judged(update: Update, said: Said, skill: SkillDoc | None) -> tuple[Update, Support, str]:
    """Return the update with the quote as it was typed, whether the turn supports it, and what it takes up.

    A question of the agent's and a quotation of the person's own were read before they were said yes to, word by word;
    of a longer text of the agent's that cannot be known.
    """
    update = replace(update, turn=said.turn)
    if _PLACEHOLDER in update.change:
        return update, Support("it would hold a secret"), ""
    quote = as_typed(update.quote, said.typed)[:_LONGEST_QUOTE].strip()
    quoted = replace(update, quote=quote)
    own = Support("it quotes words that nobody typed")
    if quote:
        assents = is_bare_assent(said.typed, said.offer)
        ground = f"{said.typed}\n{said.offer}" if assents else said.typed
        quoted, own = _at_its_most(quoted, ground, skill, lambda one: _support(one, said, skill))
    if own.ok:
        taken_over = not own.by_assent and _only_quoted(quoted, said.typed, skill)
        own = replace(own, by_assent=True) if taken_over else own
        return quoted, own, question(said.offer) if own.by_assent else ""
    taken_up = endorsed(said.text, said.typed, said.offer) or passed_back(said.text, said.typed, said.offer)
    if taken_up and (quote or as_typed(update.quote, taken_up.words)):
        update = replace(update, quote=taken_up.by[:_LONGEST_QUOTE])
        ground = f"{said.typed}\n{taken_up.words}"
        update, carried = _at_its_most(update, ground, skill, lambda one: _carries(taken_up, one, said, skill))
        if carried.ok:
            return update, replace(carried, by_assent=True), taken_up.words if taken_up.quoted else ""
    return quoted, own, ""


def _at_its_most(
    update: Update, ground: str, skill: SkillDoc | None, judge: Callable[[Update], Support]
) -> tuple[Update, Support]:
    """Judge an update without the clauses that nobody said, where the rest stands without them, else as it is.

    The outcome names those that are left. What is to go is named in the skill's words.
    """
    if update.kind is Kind.REMOVE_STEP and skill:
        ground = f"{ground}\n{skill.text}"
    less = replace(update, change=without_beyond(update.change, ground))
    for one in (less, update):
        support = judge(one)
        if support.ok:
            return one, replace(support, beyond=tuple(beyond(one.change, ground)))
    return update, support


def _support(update: Update, said: Said, skill: SkillDoc | None) -> Support:
    offer = said.offer if is_bare_assent(said.typed, said.offer) else ""
    support = supports(update.change, said.typed, skill.text if skill else "", offer=offer)
    if support.by_assent:
        if turns_round(update.change, offer, complaint=False):
            return Support("it says the opposite of what was offered", foreign=True)
        return support
    sentence = _sentence(update.quote, said.typed)
    removes = update.kind is Kind.REMOVE_STEP
    if not asks_to_remove(sentence) if removes else turns_round(update.change, sentence):
        # Which of two ways to say no is meant, patterns do not always see: the person's own words leave it no doubt.
        return Support("it says the opposite of the words it quotes", foreign=not removes)
    return replace(support, foreign=not support.ok)


def _only_quoted(update: Update, typed: str, skill: SkillDoc | None) -> bool:
    """Whether only a sentence in quotation marks says it: perhaps the person's own rule, perhaps what somebody said."""
    plain = without_quotations(typed, least=_SENTENCE_WORDS)
    return plain != typed and not supports(update.change, plain, skill.text if skill else "").ok


def _carries(taken_up: Endorsed, update: Update, said: Said, skill: SkillDoc | None) -> Support:
    """Return whether the change stands in the words that the person made their own, and is not turned round."""
    if turns_round(update.change, taken_up.words, complaint=False):
        return Support("it says the opposite of what it takes up")
    return supports(update.change, f"{said.typed}\n{taken_up.words}", skill.text if skill else "")


def _sentence(quote: str, typed: str) -> str:
    """Return the sentence around a quote: what it was cut from may deny it ("never" left out)."""
    at = typed.find(quote)
    if at < 0:
        return quote
    begin = max((match.end() for match in _ENDS.finditer(typed, 0, at)), default=0)
    end = _ENDS.search(typed, at + len(quote))
    return typed[begin : end.start() if end else len(typed)]


def turn_of(messages: Sequence[Message], update: Update) -> Said | None:
    """Return the human turn that an update goes back to: the one it names, or the only other one that has its quote."""
    said = [_said(messages, index) for index, message in enumerate(messages) if message.turn is not None]
    named = next((one for one in said if one.turn == update.turn), None)
    if named and not as_typed(update.quote, named.typed) and _tells(update.quote):
        holding = [one for one in said if as_typed(update.quote, one.typed)]
        return holding[0] if len(holding) == 1 else named
    return named


def _tells(quote: str) -> bool:
    """Whether a quote is long enough to tell its turn."""
    return count_words(quote) >= _TELLING


def _said(messages: Sequence[Message], index: int) -> Said:
    message, before = messages[index], messages[index - 1] if index else None
    typed = own_words(message.text, [other.text for other in messages[:index] if not other.by_person])
    return Said(message.turn or 0, message.text, typed, "" if before is None or before.by_person else before.text)
