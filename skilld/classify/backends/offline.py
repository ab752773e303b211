"""The built-in default: recognizes explicit wording with no key, no model and no network.

Messages and skills in, updates out; an update and a skill in, the line to be replaced out. Modest by intent: it speaks
only when the person was explicit, and what it cannot phrase well gets a confidence below 0.5.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from skilld.classify.backends import OFFLINE
from skilld.classify.contradiction import chooses_differently, contradicted_block, stems, topic_stems
from skilld.classify.conversation_style import PROJECT_SCOPE
from skilld.classify.offline.choices import turned_down
from skilld.classify.offline.detector import (
    Match,
    joined,
    leaning_on,
    listen,
    narrowed,
    orders,
    plain,
    statements,
)
from skilld.classify.offline.grammar import Cue
from skilld.classify.offline.phrasing import phrase, phrase_joined
from skilld.classify.offline.placement import (
    asks_for_step,
    described,
    is_for,
    is_of_one_thing,
    points_to_rule,
    reacts,
    related,
    replacement,
    section_for,
    takes_up,
)
from skilld.classify.offline.product import builds, demands, of_work, specifies, spoken
from skilld.classify.offline.withdrawn import still_standing
from skilld.classify.said_already import says_already
from skilld.classify.subject import fill_pronoun, text_before_quote
from skilld.skills.spec import front
from skilld.types import Kind, Message, Operation, SkillDoc, Update
from skilld.words import content_stems, is_about, other_tongue

_UNCLEAR = 0.4  # heard, but not to be proposed in these words
_OPENING = 2000  # characters of a skill by which its language is told
_UNRELATED = 0.45  # clear, but nothing to do with the skill in use
_NO_LONGER = re.compile(r"no need to\b|no longer\b", re.IGNORECASE)

_REASONS = {
    Cue.LASTING: "You stated this as a lasting rule.",
    Cue.ADVERB: "You asked for this as a standing rule.",
    Cue.MEMORY: "You asked for this to be remembered or written down.",
    Cue.STOP: "You asked the agent to stop doing this.",
    Cue.PREFERENCE: "You stated this as a preference.",
    Cue.CONVENTION: "You said that this is how things are done here.",
    Cue.CONDUCT: "You said how the agent should behave.",
    Cue.PRACTICE: "You stated this as a general practice.",
    Cue.CORRECTION: "You corrected what the skill says.",
    Cue.TAKEN_UP: "You rejected a line of the skill, or asked for more than it says.",
    Cue.CONSENT: "You want to be asked before this is done.",
    Cue.REMINDER: "You have said this before.",
}


# What a product can be told in the words of a rule: "never more than three", behind "the form should ask for a number".
_OF_PRODUCTS = frozenset({Cue.ADVERB, Cue.PRACTICE, Cue.PREFERENCE, Cue.TAKEN_UP})
_OUTRIGHT = frozenset(Cue) - _OF_PRODUCTS
_STANDING = frozenset({Cue.LASTING, Cue.ADVERB, Cue.MEMORY})  # of what stands before: "do that from now on"
_LEANING = 3  # stems of words that may only say that what stands before them lasts
_LAST_WORK = 3  # messages of the agent that tell what work is going on
_TALK_OF_IT = 2  # turns that a talk about the product goes on


class Offline:
    """The offline back-end."""

    name = OFFLINE

    def detect(
        self, messages: Sequence[Message], skills: Sequence[SkillDoc], *, instructions: str = ""
    ) -> list[Update]:
        """Return the lasting things said in `messages`, the batch in order.

        With no `skills` the updates have skill None. What was taken back is left out, and what points to a rule in a
        skill or in `instructions` (the text of the CLAUDE.md or AGENTS.md that the session loads); what they say
        already is not: `verify` finds the line. A confidence below 0.5 means: keep it as a learning, do not propose it.
        """
        rules_are_loaded = bool(skills or instructions)
        updates: list[Update] = []
        talk = 0  # turns that a talk about the product may still go on
        for i, message in enumerate(messages):
            if message.turn is None:
                continue
            agent = [earlier.text for earlier in messages[:i] if not earlier.by_person]
            said_so = (part for one in listen(message.text, agent) for part in _halved(one))
            heard = [one for one in said_so if not (rules_are_loaded and points_to_rule(one))]
            if skills:
                said = (_clearest(one, heard, skills, agent) for one in plain(message.text, agent))
                heard += [one for one in said if one is not None]
                taken_up = [one for one in statements(message.text, agent) if takes_up(one, skills, agent[-1:])]
                heard += _apart(taken_up, heard)
            heard = [one for one in heard if not is_of_one_thing(one, skills)]
            if talk:
                kept = [one for one in heard if not _goes_on_with(one)]
                talk, heard = (_TALK_OF_IT if len(kept) < len(heard) else talk - 1), kept
            if _speaks_of_product(message.text):
                talk = _TALK_OF_IT
            # With one skill in use there is no doubt which work an objection is about.
            answered = skills[0] if len(skills) == 1 and agent else None
            updates += [
                _update(one, message, agent, skills, answered if reacts(one, message.text) else None) for one in heard
            ]
        return still_standing(_once(updates), messages) if updates else []

    def edit(self, update: Update, skill: SkillDoc) -> list[Operation]:
        """Return the operation that puts `update.change` in place of the line it contradicts; none if it adds."""
        operation = replacement(update.change, skill.text)
        return [operation] if operation else []


def _clearest(said: Match, heard: Sequence[Match], skills: Sequence[SkillDoc], agent: Sequence[str]) -> Match | None:
    """Return what counts of what was said of a kind of things: all of it, or the first part that stands on its own."""
    if not _counts(said, heard, skills, agent):
        return None
    clear = (one for one in narrowed(said) if phrase(one).clear and _counts(one, heard, skills, agent))
    return next(clear, said)


def _halved(heard: Match) -> tuple[Match, ...]:
    """Return the two rules of what was heard where both stand on their own, else the whole."""
    return heard.halves if heard.halves and all(phrase(one).clear for one in heard.halves) else (heard,)


def _apart(found: Sequence[Match], heard: Sequence[Match]) -> list[Match]:
    """Return what was found without what is part of something else that was, or was heard already."""
    kept: list[Match] = []
    for one in found:
        if not any(one.quote in other.quote or other.quote in one.quote for other in (*heard, *kept)):
            kept.append(one)
    return kept


def _speaks_of_product(text: str) -> bool:
    """Whether a turn says what a product must do, and lays down nothing outright."""
    return specifies(text) or (builds(text) and not any(one.cue in _OUTRIGHT for one in listen(text)))


def _goes_on_with(heard: Match) -> bool:
    """Whether what was heard behind a talk about the product is part of it."""
    of_it = heard.cue in _OF_PRODUCTS or (heard.cue in _STANDING and (demands(heard.quote) or not orders(heard)))
    return of_it and not of_work(heard.quote)


def _in_use(skills: Sequence[SkillDoc], turn: int) -> list[SkillDoc]:
    """Return the skills that words of a turn can be about, the one used last before it first.

    One that was used only further on is meant by nothing said before, unless no other is there.
    """
    known = [doc for doc in skills if not doc.used or min(doc.used) <= turn]
    return sorted(known, key=lambda doc: -max((after for after in doc.used if after < turn), default=-1)) or list(
        skills
    )


def _subject(skill: SkillDoc) -> frozenset[str]:
    """Return the stems of what a skill says it is for."""
    return content_stems(f"{skill.name.replace('-', ' ')} {front(skill.text).description}")


def _counts(said: Match, heard: Sequence[Match], skills: Sequence[SkillDoc], agent: Sequence[str]) -> bool:
    """Whether plain words, not heard as lasting already, are about a skill in use, or correct a line of it."""
    if any(said.quote in one.quote for one in heard):
        return False
    change = phrase(said).text
    if said.demands and not any(is_for(said.said, skill) for skill in skills):
        return False
    if said.cue is Cue.PRACTICE and any(_about(said, change, skill, skills, agent[-1:]) for skill in skills):
        return True
    for skill in skills:
        old = contradicted_block(change, skill.text)
        if old and not topic_stems(change) - topic_stems(old.text) and chooses_differently(change, old.text):
            return True
    return False


def _about(heard: Match, change: str, skill: SkillDoc, skills: Sequence[SkillDoc], before: Sequence[str]) -> bool:
    """Whether what was heard is about the work that `skill` guides.

    In another language than the skill's no word of both is alike: then the only skill in use is meant, as by an answer
    to what the agent just spoke of.
    """
    opening = skill.text[:_OPENING]
    translated = other_tongue(change, opening) or heard.language not in spoken(opening)
    refused = turned_down(change) if heard.cue is Cue.PRACTICE and not translated else ""
    if refused and not stems(refused) & stems(skill.text):
        return False  # "the red one, not the blue one": of what the skill wants nothing is turned down
    if related(heard, change, skill, before):
        return True
    if len(skills) > 1:
        return False
    if described(change, skill):
        return True
    if before and topic_stems(change) & topic_stems(before[-1]):
        return True
    return translated


def _update(
    heard: Match, message: Message, agent: Sequence[str], skills: Sequence[SkillDoc], answered: SkillDoc | None
) -> Update:
    said = phrase(heard)
    if (
        not said.clear
        and heard.cue in _STANDING
        and (heard.cue is not Cue.LASTING or len(stems(said.text)) <= _LEANING)
    ):
        meant = ((one, phrased) for one in leaning_on(heard, message.text) if (phrased := phrase(one)).clear)
        heard, said = next(meant, (heard, said))
    if said.clear and (both := joined(heard, message.text)) and _lacks_subject(heard, said.text, message.text):
        heard, said = both, phrase_joined(both)
    last = _LAST_WORK if len(skills) == 1 else 1
    quote = heard.quote.replace("-", " ").lower()
    named = [doc for doc in skills if doc.name.replace("-", " ").lower() in quote]
    in_use = sorted(_in_use(skills, message.turn or 0), key=lambda doc: not is_about(quote, _subject(doc)))
    lasting_step = heard.cue is Cue.LASTING and asks_for_step(heard.quote)
    asked = heard.quote if lasting_step else said.text  # "step" is what tells that it is about the skill's steps
    skill = next((doc for doc in named or in_use if _about(heard, asked, doc, skills, agent[-last:])), answered)
    target = skill or (in_use[0] if in_use else None)
    confidence = heard.strength if said.clear else min(heard.strength, _UNCLEAR)
    if target and not skill and not PROJECT_SCOPE.search(heard.quote):  # that has a place of its own
        confidence = min(confidence, _UNRELATED)
    return Update(
        skill=target.number if target else None,
        section=section_for(heard.quote, said.text, target.text).heading if target else "",
        change=said.text,
        reason=_REASONS[heard.cue],
        kind=_kind(heard, said.text, target),
        turn=message.turn or 0,
        quote=heard.quote,
        confidence=confidence,
    )


def _lacks_subject(heard: Match, change: str, text: str) -> bool:
    return fill_pronoun(change, text_before_quote(heard.quote, text)) is None


def _kind(heard: Match, change: str, target: SkillDoc | None) -> Kind:
    if target and replacement(change, target.text):
        return Kind.CHANGE_STEP
    if _NO_LONGER.match(change):
        return Kind.REMOVE_STEP
    if heard.cue in {Cue.STOP, Cue.REMINDER, Cue.CONSENT, Cue.CONDUCT, Cue.CORRECTION, Cue.TAKEN_UP}:
        return Kind.CORRECTION
    if heard.cue is Cue.MEMORY or asks_for_step(heard.quote):
        return Kind.ADD_STEP
    return Kind.FACT if heard.cue is Cue.CONVENTION else Kind.PREFERENCE


def _once(updates: Sequence[Update]) -> list[Update]:
    """Return `updates` with an ask that was made twice kept in its clearest form."""
    kept: list[Update] = []
    for update in updates:
        twin = next((i for i, other in enumerate(kept) if says_already(update.change, other.change)), None)
        if twin is None:
            kept.append(update)
        elif update.confidence > kept[twin].confidence:
            kept[twin] = update
    return kept
